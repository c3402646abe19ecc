"""Exercises of lesson 04: clipped precision, and each row's last output."""
import torch

from helpers.exercises.exercise import Exercise


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


def precisions(most, share):
    return torch.tensor([share(n) for n in range(1, most + 1)])


generator = torch.Generator().manual_seed(4)

EXERCISES = {
    "clipped_precisions": Exercise(
        slow_clipped_precisions,
        [("the the the cat".split(), "the cat sees the dog".split(), 2),
         ("le chat le chat dort".split(), "le petit chat dort le jour".split(), 3)],
        {
            "a gram of the answer counts each time it occurs; it may count only as often as the reference has it":
                lambda answer, reference, most: precisions(most, lambda n: (
                    sum(gram in grams(reference, n) for gram in grams(answer, n)) / len(grams(answer, n)))),
            "it is divided by the grams of the reference; precision asks for the share of the answer's":
                lambda answer, reference, most: precisions(most, lambda n: (
                    float(slow_clipped_precisions(answer, reference, n)[-1]) * len(grams(answer, n)) / len(grams(reference, n)))),
            "grams that occur twice are counted once; count each, up to as often as the reference has it":
                lambda answer, reference, most: precisions(most, lambda n: (
                    len({*grams(answer, n)} & {*grams(reference, n)}) / len({*grams(answer, n)}))),
            "it begins with pairs; the first number is for single words":
                lambda answer, reference, most: slow_clipped_precisions(answer, reference, most + 1)[1:],
        }),
    "last_outputs": Exercise(
        slow_last_outputs,
        [(torch.randn(3, 5, 2, generator=generator), torch.tensor([5, 2, 3])),
         (torch.randn(2, 4, 3, generator=generator), torch.tensor([1, 3]))],
        {
            "it takes the last column, which is padding where a row is shorter":
                lambda outputs, lengths: outputs[:, -1],
            "a row of length 3 ends at place 2: one less than its length":
                lambda outputs, lengths: outputs[torch.arange(len(outputs)), lengths % outputs.shape[1]],
            "indexing with `[:, lengths - 1]` takes every length for every row; a row number belongs to each":
                lambda outputs, lengths: outputs[:, lengths - 1],
        }),
}
