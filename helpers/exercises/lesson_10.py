"""Exercises of lesson 10: the largest number over the real words, and how often an answer can be trusted."""
import torch

from helpers.exercises.exercise import Exercise


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


def hidden(x, lengths):
    return torch.arange(x.shape[1]) >= lengths[:, None]


generator = torch.Generator().manual_seed(10)
words = torch.randn(3, 4, 2, generator=generator) - 1
words[1, 2:], words[2, 1:] = 5.0, 0.0

EXERCISES = {
    "max_pool": Exercise(
        slow_max_pool,
        [(words, torch.tensor([4, 2, 1])), (words[:1, :2], torch.tensor([2]))],
        {
            "the padding takes part, and wins where it is larger than the words":
                lambda x, lengths: x.amax(1),
            "the padding became 0, which is larger than a negative number: it has to become -inf":
                lambda x, lengths: x.masked_fill(hidden(x, lengths)[..., None], 0.0).amax(1),
            "it is the mean over the real words; the largest is asked for":
                lambda x, lengths: x.masked_fill(hidden(x, lengths)[..., None], 0.0).sum(1) / lengths[:, None],
            "the largest is taken within each word; it is to be taken over the words, for each of the d_model numbers":
                lambda x, lengths: x.amax(2),
            "the last real word is left out: there are `lengths` of them, from 0 to lengths - 1":
                lambda x, lengths: x.masked_fill(hidden(x, (lengths - 1).clamp(min=1))[..., None], -torch.inf).amax(1),
        }),
    "precision": Exercise(
        slow_precision,
        [(torch.tensor([[8, 2, 0], [1, 9, 0], [3, 1, 0]]),), (torch.tensor([[5, 0], [3, 2]]),)],
        {
            "it divides by the sum of each row, the truth; that is recall. Precision asks about a column, the answers":
                lambda counts: counts.diagonal() / counts.sum(1),
            "a class that was never the answer gives 0 / 0, which is NaN; it is to be 0":
                lambda counts: counts.diagonal() / counts.sum(0),
            "it divides by all examples; each class has its own column":
                lambda counts: counts.diagonal() / counts.sum(),
            "these are the right answers, counted; divide them by the answers given":
                lambda counts: counts.diagonal().float(),
            "it is one share for all; one for each class is asked for":
                lambda counts: counts.diagonal().sum() / counts.sum(),
        }),
}
