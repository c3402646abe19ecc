"""Exercises of lesson 12: the targets of an answer, and the size of a nucleus."""
import torch

from helpers.exercises.exercise import Exercise


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


def slow_nucleus_size(scores, p):
    sizes = []
    for row in scores.softmax(-1):
        reached, size = 0.0, 0
        for probability in sorted(row.tolist(), reverse=True):
            if reached < p:
                reached, size = reached + probability, size + 1
        sizes.append(size)
    return torch.tensor(sizes)


def from_the_separator(rows, sep):
    return (rows == sep).cumsum(-1) > 0


def falling(scores):
    return scores.softmax(-1).sort(descending=True).values


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
        }),
    "nucleus_size": Exercise(
        slow_nucleus_size,
        [(torch.tensor([[0.0, 0.0, 50.0]]), 0.8),
         (torch.tensor([[0.0, 0.0, 0.0, 0.0], [2.0, 1.0, 3.0, 0.0]]), 0.6),
         (torch.tensor([[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [0.5, 0.1, 0.4, 0.2, 0.0, 0.3]]), 0.95)],
        {
            "the token that reaches p is part of the nucleus; yours is one too small":
                lambda scores, p: (falling(scores).cumsum(-1) < p).sum(-1),
            "you count from the least likely token; sort the other way":
                lambda scores, p: (falling(scores).flip(-1).cumsum(-1) < p).sum(-1) + 1,
            "you count tokens that have more than p by themselves; their sum has to reach it":
                lambda scores, p: (scores.softmax(-1) > p).sum(-1),
            "the tokens are not sorted; the likeliest has to come first":
                lambda scores, p: (scores.softmax(-1).cumsum(-1) < p).sum(-1) + 1,
            "you sum logits; a softmax makes probabilities of them":
                lambda scores, p: (scores.sort(descending=True).values.cumsum(-1) < p).sum(-1) + 1,
        }),
}
