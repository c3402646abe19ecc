"""Exercises of lesson 10: max pooling over the tokens, and a text without each of its words."""
import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_max_pool(x, lengths):
    rows = []
    for words, length in zip(x, lengths.tolist()):
        largest = words[0].clone()
        for word in words[1:length]:
            for d in range(len(word)):
                largest[d] = max(largest[d], word[d])
        rows.append(largest)
    return torch.stack(rows)


def slow_without_each(ids):
    rows = []
    for i in range(1, len(ids)):                             # the class token, at 0, stays
        rows.append(torch.cat([ids[:i], ids[i + 1:]]))
    return torch.stack(rows)


def masked(x, lengths, value):
    padding = torch.arange(x.shape[1]) >= lengths.unsqueeze(-1)
    return x.masked_fill(padding.unsqueeze(-1), value)


def rows_without(ids, places):
    """The ids without one of them, a row for each of the places."""
    return torch.stack([torch.cat([ids[:i], ids[i + 1:]]) for i in places])


EXERCISES = {
    "max_pool": Exercise(
        slow_max_pool,
        [(torch.tensor([[[-1.0, 2.0], [-3.0, 4.0], [5.0, 5.0]]]), torch.tensor([2])),
         (torch.tensor([[[-1e6, -1.0], [-2.0, -3e6], [0.0, 0.0]], [[-3.0, -1e6], [5.0, 5.0], [5.0, 5.0]]]),
          torch.tensor([2, 1])),
         (numbers(3, 4, 2, seed=10), torch.tensor([4, 2, 1]))],
        {
            "the padding takes part, and wins where it is larger than the tokens":
                lambda x, lengths: x.amax(1),
            "the padding became 0, which is larger than a negative number; mask it with -inf":
                lambda x, lengths: masked(x, lengths, 0.0).amax(1),
            "this is the mean over the tokens; take the largest":
                lambda x, lengths: masked(x, lengths, 0.0).sum(1) / lengths[:, None],
            "you take the largest number within each token; take it over the tokens":
                lambda x, lengths: x.amax(2),
            "the last token is left out; there are `lengths` of them, from 0 to lengths - 1":
                lambda x, lengths: masked(x, (lengths - 1).clamp(min=1), -torch.inf).amax(1),
            "the first padding takes part; the tokens end at lengths - 1":
                lambda x, lengths: masked(x, lengths + 1, -torch.inf).amax(1),
            "the mask is the wrong way round: the tokens are hidden, and the largest of the padding is taken":
                lambda x, lengths: x.masked_fill(
                    (torch.arange(x.shape[1]) < lengths.unsqueeze(-1)).unsqueeze(-1), -torch.inf).amax(1),
            "you cut all rows at the longest text; the padding of the shorter ones takes part":
                lambda x, lengths: x[:, :lengths.max()].amax(1),
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
