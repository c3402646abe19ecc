"""Exercises of lesson 04: clipped precision, and each row's last output."""
from collections import Counter

import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_clipped_precisions(answer, reference, most):
    precisions = []
    for n in range(1, most + 1):
        left = [tuple(reference[i:i + n]) for i in range(len(reference) - n + 1)]
        grams, hits = [tuple(answer[i:i + n]) for i in range(len(answer) - n + 1)], 0
        for gram in grams:
            if gram in left:
                left.remove(gram)                         # it counts no more often than it is there
                hits += 1
        precisions.append(hits / len(grams))
    return torch.tensor(precisions)


def slow_last_outputs(outputs, lengths):
    rows = []
    for b in range(len(outputs)):
        rows.append(outputs[b, int(lengths[b]) - 1])
    return torch.stack(rows)


def grams(words, n):
    return [tuple(words[i:i + n]) for i in range(len(words) - n + 1)]


def hits(answer, reference, n, key=tuple):
    """How many n-grams two texts share, each as often as both have it."""
    shared = Counter(map(key, grams(answer, n))) & Counter(map(key, grams(reference, n)))
    return sum(shared.values())


def precisions(most, share):
    return torch.tensor([share(n) for n in range(1, most + 1)])


EXERCISES = {
    "clipped_precisions": Exercise(
        slow_clipped_precisions,
        [("cat the dog".split(), "the cat".split(), 2),
         ("the the the cat".split(), "the cat sees the dog".split(), 2),
         ("le chat le chat dort".split(), "le petit chat dort le jour".split(), 3)],
        {
            "an n-gram counts each time the answer has it; count it only as often as the reference has it":
                lambda answer, reference, most: precisions(most, lambda n: (
                    sum(gram in grams(reference, n) for gram in grams(answer, n)) / len(grams(answer, n)))),
            "you divide by the n-grams of the reference; precision is a share of the answer's":
                lambda answer, reference, most: precisions(most, lambda n: (
                    hits(answer, reference, n) / len(grams(reference, n)))),
            "you divide by the number of words in the answer; divide by the number of its n-grams":
                lambda answer, reference, most: precisions(most, lambda n: (
                    hits(answer, reference, n) / len(answer))),
            "n-grams that occur twice are counted once; count each, up to as often as the reference has it":
                lambda answer, reference, most: precisions(most, lambda n: (
                    len({*grams(answer, n)} & {*grams(reference, n)}) / len({*grams(answer, n)}))),
            "the order of words within an n-gram is ignored; `cat the` is not `the cat`":
                lambda answer, reference, most: precisions(most, lambda n: (
                    hits(answer, reference, n, key=frozenset) / len(grams(answer, n)))),
            "the first number is for pairs; it needs to be for single words":
                lambda answer, reference, most: slow_clipped_precisions(answer, reference, most + 1)[1:],
        }),
    "last_outputs": Exercise(
        slow_last_outputs,
        [(torch.tensor([[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]]), torch.tensor([2, 1])),
         (numbers(2, 4, 3, seed=4), torch.tensor([1, 3])),
         (numbers(3, 5, 2, seed=5), torch.tensor([5, 2, 3]))],
        {
            "you take the last position, which is padding where a row is shorter":
                lambda outputs, lengths: outputs[:, -1],
            "a row of length 3 ends at position 2; subtract 1 from its length":
                lambda outputs, lengths: outputs[torch.arange(len(outputs)), lengths % outputs.shape[1]],
            "`[:, lengths - 1]` takes every length for every row; index the rows with torch.arange, too":
                lambda outputs, lengths: outputs[:, lengths - 1],
            "every row ends where the longest one does; each has its own length":
                lambda outputs, lengths: outputs[:, lengths.max() - 1],
        }),
}
