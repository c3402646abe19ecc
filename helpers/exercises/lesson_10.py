"""Exercises of lesson 10: an interval for the difference of two accuracies, and a text without each of its words."""
import torch

from helpers.exercises.exercise import Exercise


def slow_interval(a, b, drawn):
    differences = []
    for row in drawn.tolist():
        right_a, right_b = sum(int(a[i]) for i in row), sum(int(b[i]) for i in row)
        differences.append((right_a - right_b) / len(row))
    return torch.quantile(torch.tensor(differences), torch.tensor([0.025, 0.975]))


def slow_without_each(ids):
    rows = []
    for i in range(1, len(ids)):                             # the class token, at 0, stays
        rows.append(torch.cat([ids[:i], ids[i + 1:]]))
    return torch.stack(rows)


def right_or_wrong(n, seed):
    return torch.rand(n, generator=torch.Generator().manual_seed(seed)) < 0.6


def ends(values, outside=0.05):
    """Between which two numbers all but a share of the values lie, half of that share on each side."""
    return values.quantile(torch.tensor([outside / 2, 1 - outside / 2]))


def rows_without(ids, places):
    """The ids without one of them, a row for each of the places."""
    return torch.stack([torch.cat([ids[:i], ids[i + 1:]]) for i in places])


EXERCISES = {
    "interval": Exercise(
        slow_interval,
        [(torch.tensor([True, True, False]), torch.tensor([True, False, False]), torch.tensor([[0, 0, 2], [1, 1, 2]])),
         (torch.tensor([True, True, False, True, True]), torch.tensor([False, True, True, False, True]),
          torch.tensor([[0, 0, 3, 1, 4], [2, 2, 1, 4, 0], [0, 1, 2, 3, 4], [3, 3, 0, 0, 1]])),
         (right_or_wrong(6, 1), right_or_wrong(6, 2), torch.randint(6, (8, 6), generator=torch.Generator().manual_seed(3)))],
        {
            "this is B minus A; the question asks for A minus B":
                lambda a, b, drawn: ends((b.float() - a.float())[drawn].mean(1)),
            "the ends are exchanged; the lower one comes first":
                lambda a, b, drawn: ends((a.float() - b.float())[drawn].mean(1)).flip(0),
            "these are the ends for 90 %; 2.5 % of the rows lie below an interval for 95 %, and 2.5 % above":
                lambda a, b, drawn: ends((a.float() - b.float())[drawn].mean(1), 0.1),
            "these are the smallest and the largest difference; leave out 2.5 % of the rows on each side":
                lambda a, b, drawn: ends((a.float() - b.float())[drawn].mean(1), 0.0),
            "this is the interval of A's accuracy; take B's off, row by row":
                lambda a, b, drawn: ends(a.float()[drawn].mean(1)),
            "each model got an interval of its own, and you took one from the other; take the differences row by row":
                lambda a, b, drawn: ends(a.float()[drawn].mean(1)) - ends(b.float()[drawn].mean(1)),
            "the mean runs over the rows of `drawn`; each row is one test, so take the mean along it":
                lambda a, b, drawn: ends((a.float() - b.float())[drawn].mean(0)),
            "these are numbers of examples; divide by the n of a row":
                lambda a, b, drawn: ends((a.float() - b.float())[drawn].sum(1)),
            "this is the interval of the single examples; take each row's mean first":
                lambda a, b, drawn: ends((a.float() - b.float())[drawn].flatten()),
        }, at_once=True),
    "without_each": Exercise(
        slow_without_each,
        [(torch.tensor([9, 5, 7]),), (torch.tensor([8, 4, 4, 7]),), (torch.tensor([8, 4, 6, 5, 6]),)],
        {
            "the class token is taken away, too; it stands first in every row":
                lambda ids: rows_without(ids, range(len(ids))),
            "you take the token before the one that is meant: row 0 is without token 1":
                lambda ids: rows_without(ids, range(len(ids) - 1)),
            "the token is replaced by padding; the rows need to be one shorter than `ids`":
                lambda ids: ids.masked_fill(torch.eye(len(ids)).bool(), 0)[1:],
            "the token is replaced by <unk>, which the model reads; the rows need to be one shorter than `ids`":
                lambda ids: ids.masked_fill(torch.eye(len(ids)).bool(), 1)[1:],
            "the rows are in reverse: row 0 is without token 1":
                lambda ids: slow_without_each(ids).flip(0),
            "the class token is missing in your rows; it stays in front of each":
                lambda ids: rows_without(ids, range(1, len(ids)))[:, 1:],
        }, at_once=True),
}
