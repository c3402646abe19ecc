"""Exercises of lesson 10: max pooling over the tokens, and how often an answer can be trusted."""
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


def slow_precision(counts):
    shares = []
    for answer in range(len(counts)):
        given = sum(row[answer].item() for row in counts)
        shares.append(counts[answer, answer].item() / given if given else 0.0)
    return torch.tensor(shares)


def masked(x, lengths, value):
    padding = torch.arange(x.shape[1]) >= lengths.unsqueeze(-1)
    return x.masked_fill(padding.unsqueeze(-1), value)


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
    "precision": Exercise(
        slow_precision,
        [(torch.tensor([[2, 0], [3, 1]]),), (torch.tensor([[8, 2, 0], [1, 9, 0], [3, 1, 0]]),)],
        {
            "you divide by the sum of a row, which is recall; precision divides by a column, the answers":
                lambda counts: counts.diagonal() / counts.sum(1),
            "a class that was never the answer gives 0 / 0, which is NaN; it needs to give 0":
                lambda counts: counts.diagonal() / counts.sum(0),
            "you divide by all examples; each class has its own column":
                lambda counts: counts.diagonal() / counts.sum(),
            "these are the right answers, counted; divide them by the answers given":
                lambda counts: counts.diagonal().float(),
            "this is one share for all classes; each needs its own":
                lambda counts: counts.diagonal().sum() / counts.sum(),
        }),
}
