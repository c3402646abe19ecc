"""Exercises of lesson 08: exact match, and the probability of an answer."""
import torch

from helpers.exercises.exercise import Exercise, numbers


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


def same_rows(ids, target):
    return (ids == target).all(-1)


def chosen(scores, ids):
    """The probability of the id that was written at each step, [T]."""
    return scores.softmax(-1)[torch.arange(len(ids)), ids]


EXERCISES = {
    "exact_match_of": Exercise(
        slow_exact_match,
        [(torch.tensor([[7, 5, 0]]), torch.tensor([[7, 5, 6]])),
         (torch.tensor([[7, 5, 6]]), torch.tensor([[7, 5, 0]])),
         (torch.tensor([[7, 0, 5]]), torch.tensor([[7, 5, 0]])),
         (torch.tensor([[5, 5, 3]]), torch.tensor([[5, 3, 3]])),                    # the same set of ids
         (torch.tensor([[5, 3], [4, 6]]), torch.tensor([[3, 5], [4, 6]])),          # another order
         (torch.tensor([[6, 2], [4, 6]]), torch.tensor([[3, 5], [3, 8]])),          # the same sum, or product
         (torch.tensor([[5, 6, 3], [7, 4, 3]]), torch.tensor([[5, 8, 3], [7, 4, 3]])),
         (torch.tensor([[5, 6, 3], [7, 4, 3], [4, 4, 0], [6, 3, 0]]),
          torch.tensor([[5, 6, 3], [7, 4, 9], [9, 4, 0], [6, 3, 0]]))],
        {
            "this is the share of ids that agree; a row counts only if all of it agrees":
                lambda ids, target: (ids == target).float().mean(),
            "a row counts as soon as one id agrees; all of them need to":
                lambda ids, target: (ids == target).any(-1).float().mean(),
            "these are the verdicts on the rows; their mean is the share":
                lambda ids, target: same_rows(ids, target).float(),
            "you compare down the columns; a row lies along the last axis":
                lambda ids, target: (ids == target).all(0).float().mean(),
            "this is the number of rows that agree; divide it by the number of rows":
                lambda ids, target: same_rows(ids, target).float().sum(),
            "you ignore the order of the ids in a row; compare position by position":
                lambda ids, target: same_rows(ids.sort(-1).values, target.sort(-1).values).float().mean(),
            "you compare the sums of the rows; compare position by position":
                lambda ids, target: (ids.sum(-1) == target.sum(-1)).float().mean(),
            "you ignore positions where the target is 0; an answer that goes on behind the target is wrong":
                lambda ids, target: ((ids == target) | (target == 0)).all(-1).float().mean(),
            "you ignore positions where the answer is 0; an answer that ends too early is wrong":
                lambda ids, target: ((ids == target) | (ids == 0)).all(-1).float().mean(),
            "you ignore positions where either is 0; an answer that is too short or too long is wrong":
                lambda ids, target: ((ids == target) | (ids == 0) | (target == 0)).all(-1).float().mean(),
            "all rows are judged together; each counts by itself":
                lambda ids, target: (ids == target).all().float(),
        }),
    "confidence": Exercise(
        slow_confidence,
        [(torch.tensor([[100.0, 0.0], [0.0, 0.0]]), torch.tensor([0, 1])),
         (numbers(2, 5, seed=8), torch.tensor([1, 0])),
         (3 * numbers(4, 5, seed=9), torch.tensor([1, 0, 4, 2]))],
        {
            "this is the logarithm of the probability; `exp` undoes it":
                lambda scores, ids: chosen(scores, ids).log().sum(),
            "this is the mean of the probabilities; all ids have to be right together, so multiply":
                lambda scores, ids: chosen(scores, ids).mean(),
            "this is the geometric mean of the probabilities; the probability of the whole is their product":
                lambda scores, ids: chosen(scores, ids).log().mean().exp(),
            "this is the sum of the probabilities; all ids have to be right together, so multiply":
                lambda scores, ids: chosen(scores, ids).sum(),
            "these are the largest probabilities of each step; the ids say which were chosen":
                lambda scores, ids: scores.softmax(-1).max(-1).values.prod(),
            "the softmax runs over the steps; take it over the vocabulary, the last axis":
                lambda scores, ids: scores.softmax(0)[torch.arange(len(ids)), ids].prod(),
            "you multiply logits; a softmax makes probabilities of them":
                lambda scores, ids: scores[torch.arange(len(ids)), ids].prod(),
            "these are the probabilities of the steps; multiply them":
                chosen,
            "the exponential of 100 overflows; softmax subtracts the largest logit first":
                lambda scores, ids: (
                    (scores.exp() / scores.exp().sum(-1, keepdim=True))[torch.arange(len(ids)), ids].prod()),
        }),
}
