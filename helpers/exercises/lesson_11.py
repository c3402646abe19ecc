"""Exercises of lesson 11: the targets of an answer, and the size of a nucleus."""
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
        [(torch.tensor([[5, 6, 7, 4, 8, 9, 10, 3], [11, 12, 4, 13, 14, 3, 0, 0]]), 4), (torch.tensor([[9, 5, 7, 3]]), 5)],
        {
            "the first line is among the targets too; they begin with the one that follows the separator":
                lambda rows, sep: rows[:, 1:],
            "each place has the id that is read there; it needs the one that follows":
                lambda rows, sep: (rows * from_the_separator(rows, sep))[:, :-1],
            "the separator itself is a target: they begin one place too early":
                lambda rows, sep: rows[:, 1:] * from_the_separator(rows, sep)[:, 1:],
            "the answer's first character is not learned: the place of the separator predicts it":
                lambda rows, sep: rows[:, 1:] * (from_the_separator(rows, sep) & (rows != sep))[:, :-1],
            "it gives the ids of the first line; the answer's are wanted":
                lambda rows, sep: rows[:, 1:] * ~from_the_separator(rows, sep)[:, :-1],
        }),
    "nucleus_size": Exercise(
        slow_nucleus_size,
        [(torch.tensor([[8.0, 4, 2, 1, 1], [1, 100, 1, 1, 1], [5, 6, 7, 8, 9]]).log(), 0.8),
         (torch.tensor([[0.0, 1, 2, 3, 4, 5], [0.5, 0.1, 0.4, 0.2, 0.0, 0.3]]), 0.95)],
        {
            "the word that reaches p belongs to them: it is one too few":
                lambda scores, p: (falling(scores).cumsum(-1) < p).sum(-1),
            "it counts from the least likely; sort the other way":
                lambda scores, p: (falling(scores).flip(-1).cumsum(-1) < p).sum(-1) + 1,
            "it counts words that have more than p by themselves; their sum has to reach it":
                lambda scores, p: (scores.softmax(-1) > p).sum(-1),
            "the words are not sorted: the likeliest have to come first":
                lambda scores, p: (scores.softmax(-1).cumsum(-1) < p).sum(-1) + 1,
        }),
}
