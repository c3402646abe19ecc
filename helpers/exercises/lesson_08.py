"""Exercises of lesson 08: exact match, and the probability of an answer."""
import torch

from helpers.exercises.exercise import Exercise


def slow_exact_match(ids, target):
    right = 0
    for row, wanted in zip(ids.tolist(), target.tolist()):
        if row == wanted:
            right += 1
    return torch.tensor(right / len(ids))


def slow_confidence(scores, ids):
    product = 1.0
    for t in range(len(ids)):
        probabilities = scores[t].softmax(-1)
        product = product * probabilities[ids[t]]
    return product


generator = torch.Generator().manual_seed(8)
written = torch.randint(4, 8, (6, 3), generator=generator)
wanted = written.clone()
wanted[1, 2], wanted[4, 0], wanted[5] = 9, 9, 0
chosen = torch.tensor([1, 0, 4, 2])

EXERCISES = {
    "exact_match_of": Exercise(
        slow_exact_match,
        [(written, wanted), (wanted[:2], wanted[:2]), (torch.tensor([[5, 3, 0]]), torch.tensor([[5, 6, 3]]))],
        {
            "that is the share of ids that agree; a row counts only if all of it agrees":
                lambda ids, target: (ids == target).float().mean(),
            "a row counts as soon as one id agrees; it needs all of them":
                lambda ids, target: (ids == target).any(-1).float().mean(),
            "these are the verdicts of the rows; their mean is the share":
                lambda ids, target: (ids == target).all(-1).float(),
            "it compares down the columns; a row is along the last axis":
                lambda ids, target: (ids == target).all(0).float().mean(),
            "that is the number of rows; the share divides it by how many there are":
                lambda ids, target: (ids == target).all(-1).float().sum(),
        }),
    "confidence": Exercise(
        slow_confidence,
        [(torch.randn(4, 5, generator=generator), chosen), (3 * torch.randn(2, 5, generator=generator), chosen[:2])],
        {
            "that is the logarithm of the probability; `exp` brings it back":
                lambda scores, ids: scores.log_softmax(-1)[torch.arange(len(ids)), ids].sum(),
            "that is the mean of the probabilities; all have to come true together, so multiply them":
                lambda scores, ids: scores.softmax(-1)[torch.arange(len(ids)), ids].mean(),
            "that is the sum of the probabilities; all have to come true together, so multiply them":
                lambda scores, ids: scores.softmax(-1)[torch.arange(len(ids)), ids].sum(),
            "these are the largest probabilities of each step; the ids say which were chosen":
                lambda scores, ids: scores.softmax(-1).max(-1).values.prod(),
            "the softmax runs over the steps; it belongs to the words, the last axis":
                lambda scores, ids: scores.softmax(0)[torch.arange(len(ids)), ids].prod(),
            "these are scores; a softmax makes probabilities of them":
                lambda scores, ids: scores[torch.arange(len(ids)), ids].prod(),
            "these are the probabilities of the steps; their product is that of the whole":
                lambda scores, ids: scores.softmax(-1)[torch.arange(len(ids)), ids],
        }),
}
