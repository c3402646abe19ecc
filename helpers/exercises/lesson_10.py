"""Exercises of lesson 10: max pooling over the tokens, F1 of each class, and a text without each of its words."""
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


def slow_f1(counts):
    scores = []
    for c in range(len(counts)):
        right = counts[c, c].item()
        truth = sum(counts[c, answer].item() for answer in range(len(counts)))
        answered = sum(counts[label, c].item() for label in range(len(counts)))
        precision = right / answered if answered else 0.0
        recall = right / truth if truth else 0.0
        scores.append(2 * precision * recall / (precision + recall) if right else 0.0)
    return torch.tensor(scores)


def slow_without_each(ids):
    rows, tokens = [], ids.tolist()
    for i in range(1, len(tokens)):                          # the class token, at 0, stays
        rows.append(tokens[:i] + tokens[i + 1:])
    return torch.tensor(rows)


def masked(x, lengths, value):
    padding = torch.arange(x.shape[1]) >= lengths.unsqueeze(-1)
    return x.masked_fill(padding.unsqueeze(-1), value)


def precision(counts):
    return counts.diagonal() / counts.sum(0).clamp(min=1)


def recall(counts):
    return counts.diagonal() / counts.sum(1).clamp(min=1)


def harmonic(precision, recall, least=1e-9):
    return 2 * precision * recall / (precision + recall).clamp(min=least)


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
        }),
    "f1": Exercise(
        slow_f1,
        [(torch.tensor([[2, 0], [3, 1]]),),
         (torch.tensor([[4, 1], [0, 0]]),),                  # a class that is never true
         (torch.tensor([[1, 9], [9, 3]]),),                  # precision and recall that together are below 1
         (torch.tensor([[8, 2, 0], [1, 9, 0], [3, 1, 0]]),)],
        {
            "this is the plain mean of precision and recall; F1 is their harmonic mean, 2 P R / (P + R)":
                lambda counts: (precision(counts) + recall(counts)) / 2,
            "a class of which nothing is right gives 0 / 0, which is NaN; it needs to give 0":
                lambda counts: 2 * precision(counts) * recall(counts) / (precision(counts) + recall(counts)),
            "a class that was never the answer has a precision of 0 / 0, which is NaN; its F1 needs to be 0":
                lambda counts: harmonic(counts.diagonal() / counts.sum(0), recall(counts)),
            "a class that is never true has a recall of 0 / 0, which is NaN; its F1 needs to be 0":
                lambda counts: harmonic(precision(counts), counts.diagonal() / counts.sum(1)),
            "you clamp precision + recall to 1, but the sum of two shares may be smaller; clamp to a tiny number":
                lambda counts: harmonic(precision(counts), recall(counts), least=1),
            "this is precision; F1 needs recall as well":
                lambda counts: precision(counts),
            "this is recall; F1 needs precision as well":
                lambda counts: recall(counts),
            "the factor 2 is missing: with precision and recall both 1, F1 is 1":
                lambda counts: counts.diagonal() / (counts.sum(0) + counts.sum(1)).clamp(min=1),
            "this is accuracy, one share for all classes; each class needs its own F1":
                lambda counts: counts.diagonal().sum() / counts.sum(),
        }),
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
        }),
}
