"""Exercises of lesson 12: the targets of an answer, constrained decoding, and diversity."""
import math

import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_answer_targets(rows, sep):
    targets = torch.zeros_like(rows[:, 1:])
    for b in range(rows.shape[0]):
        answering = False
        for t in range(rows.shape[1] - 1):
            if rows[b, t] == sep:
                answering = True
            if answering:
                targets[b, t] = rows[b, t + 1]
    return targets


def slow_allowed_probs(logits, allowed, temperature):
    rows = []
    for row, may in zip(logits.tolist(), allowed.tolist()):
        exps = [math.exp(value / temperature) if ok else 0.0 for value, ok in zip(row, may)]
        rows.append([e / sum(exps) for e in exps])
    return torch.tensor(rows)


def slow_different_good(ids, good):
    total = 0
    for answers, is_good in zip(ids.tolist(), good.tolist()):
        total += len({tuple(answer) for answer, ok in zip(answers, is_good) if ok})
    return torch.tensor(total / len(ids))


def from_the_separator(rows, sep):
    return (rows == sep).cumsum(-1) > 0


def came_before(ids):
    """Whether an equal answer stands before each of ids [N, S, T]: [N, S]."""
    return (ids.unsqueeze(1) == ids.unsqueeze(2)).all(-1).tril(-1).any(-1)


EXERCISES = {
    "answer_targets": Exercise(
        slow_answer_targets,
        [(torch.tensor([[9, 5, 7, 3]]), 5), (torch.tensor([[8, 6, 4, 9, 3], [7, 4, 6, 3, 0]]), 4),
         (torch.tensor([[5, 6, 7, 4, 8, 9, 10, 3], [11, 12, 4, 13, 14, 3, 0, 0]]), 4)],
        {
            "the first line is among the targets, too; they begin with the id that follows the separator":
                lambda rows, sep: rows[:, 1:],
            "each position has the id that is read there; it needs the one that follows":
                lambda rows, sep: (rows * from_the_separator(rows, sep))[:, :-1],
            "the separator itself is a target; the targets begin one position later":
                lambda rows, sep: rows[:, 1:] * from_the_separator(rows, sep)[:, 1:],
            "the answer's first token is not learned; the position of the separator predicts it":
                lambda rows, sep: rows[:, 1:] * (from_the_separator(rows, sep) & (rows != sep))[:, :-1],
            "these are the ids of the first line; the targets are those of the answer":
                lambda rows, sep: rows[:, 1:] * ~from_the_separator(rows, sep)[:, :-1],
            "only the answer's first token is a target; so are all that follow it":
                lambda rows, sep: rows[:, 1:] * (rows == sep)[:, :-1],
            "where nothing is to be learned you have -100, torch's default; here it is 0, the id of <pad>":
                lambda rows, sep: rows[:, 1:].masked_fill(~from_the_separator(rows, sep)[:, :-1], -100),
        }),
    "allowed_probs": Exercise(
        slow_allowed_probs,
        [(torch.tensor([[0.0, 1.0, 2.0]]), torch.tensor([[True, False, True]]), 1.0),
         (torch.tensor([[2.0, 0.0, 1.0, 1.0], [0.0, 3.0, 1.0, 2.0]]),
          torch.tensor([[False, True, True, False], [True, False, False, True]]), 0.5),
         (numbers(3, 6, seed=4), torch.tensor([[True] * 6, [False, True] * 3, [False] * 5 + [True]]), 2.0)],
        {
            "the allowed probabilities do not sum to 1; mask the logits before the softmax, or divide by the sum":
                lambda logits, allowed, temperature: (logits / temperature).softmax(-1) * allowed,
            "forbidden tokens have the logit 0, which the softmax makes e^0; they need minus infinity":
                lambda logits, allowed, temperature: (logits / temperature).masked_fill(~allowed, 0.0).softmax(-1),
            "these are the forbidden tokens; keep those that are allowed":
                lambda logits, allowed, temperature: (logits / temperature).masked_fill(allowed, -1e4).softmax(-1),
            "the temperature is missing; the logits are divided by it":
                lambda logits, allowed, temperature: logits.masked_fill(~allowed, -torch.inf).softmax(-1),
            "you multiply by the temperature; divide by it":
                lambda logits, allowed, temperature: (logits * temperature).masked_fill(~allowed, -torch.inf).softmax(-1),
            "the temperature divides the probabilities; it has to divide the logits, before the softmax":
                lambda logits, allowed, temperature: logits.masked_fill(~allowed, -torch.inf).softmax(-1) / temperature,
            "the softmax is over the rows; each row needs the sum 1":
                lambda logits, allowed, temperature: (logits / temperature).masked_fill(~allowed, -1e4).softmax(0),
            "all allowed tokens are equally likely; their logits decide":
                lambda logits, allowed, temperature: allowed / allowed.sum(-1, keepdim=True),
        }),
    "different_good": Exercise(
        slow_different_good,
        [(torch.tensor([[[5], [6], [5]]]), torch.tensor([[True, False, True]])),
         (torch.tensor([[[4, 5], [4, 6], [4, 5], [7, 8]], [[4, 5], [4, 5], [9, 9], [9, 9]]]),
          torch.tensor([[True, True, True, False], [True, True, False, False]])),
         (torch.tensor([[[4, 5, 6], [4, 5, 6], [4, 6, 5], [7, 5, 6], [7, 5, 6]],
                        [[8, 9, 4], [8, 4, 9], [9, 8, 4], [8, 9, 4], [6, 6, 6]], [[5, 5, 5]] * 5]),
          torch.tensor([[True, True, True, False, False], [True, True, True, True, False], [False] * 5]))],
        {
            "an answer that comes twice is counted twice":
                lambda ids, good: good.sum(-1).float().mean(),
            "bad answers are counted, too":
                lambda ids, good: (~came_before(ids)).sum(-1).float().mean(),
            "this is the sum over the lines; take the mean":
                lambda ids, good: (good & ~came_before(ids)).sum().float(),
            "this is a share of the S answers; the number is needed":
                lambda ids, good: (good & ~came_before(ids)).float().mean(),
            "answers are equal only if all their tokens are; you compare the first token":
                lambda ids, good: (good & ~came_before(ids[..., :1])).sum(-1).float().mean(),
            "answers with the same tokens in another order are different; you count them as one":
                lambda ids, good: (good & ~came_before(ids.sort(-1).values)).sum(-1).float().mean(),
            "equal answers to different lines are counted once; each line has its own":
                lambda ids, good: torch.tensor(len(ids[good].unique(dim=0)) / len(ids)),
            "each answer equals itself, so none is left; compare it only with those before it, by tril(-1)":
                lambda ids, good: (good & ~(ids.unsqueeze(1) == ids.unsqueeze(2)).all(-1).tril().any(-1)).sum(-1).float().mean(),
            "an answer that comes again is not counted at all; count it once":
                lambda ids, good: (good & ~came_before(ids) & ~came_before(ids.flip(1)).flip(1)).sum(-1).float().mean(),
        }),
}
