"""Exercises of lesson 15: how much a head looks so many places away, and what in a row really counts."""
import torch

from helpers.exercises.exercise import Exercise


def slow_looks_away(weights, offset):
    means = []
    for head in weights.tolist():
        found = []
        for q, row in enumerate(head):
            if 0 <= q + offset < len(row):                  # there is a piece at that distance
                found.append(row[q + offset])
        means.append(sum(found) / len(found))
    return torch.tensor(means)


def slow_what_counts(weights, v):
    rows = []
    for row in weights.tolist():
        parts = []
        for weight, value in zip(row, v.tolist()):
            length = sum(number**2 for number in value) ** 0.5
            parts.append(weight * length)
        rows.append([part / sum(parts) for part in parts])
    return torch.tensor(rows)


def diagonal(weights, offset):
    """The weights so many places away: [H, T - abs(offset)]."""
    return weights.diagonal(offset, -2, -1)


GENERATOR = torch.Generator().manual_seed(0)
WEIGHTS = torch.randn(3, 6, 6, generator=GENERATOR).softmax(-1)
V = torch.randn(6, 4, generator=GENERATOR) * torch.tensor([0.05, 1, 2, 1, 0.5, 1]).unsqueeze(1)

EXERCISES = {
    "looks_away": Exercise(
        slow_looks_away,
        [(WEIGHTS, -1), (WEIGHTS, 1), (WEIGHTS[:1], 0), (WEIGHTS, -3)],
        {
            "the direction is wrong: with offset -1 a query looks at the piece before it":
                lambda weights, offset: diagonal(weights, -offset).mean(-1),
            "divide by the number of queries that have such a piece: at the ends there is none":
                lambda weights, offset: diagonal(weights, offset).sum(-1) / weights.shape[-1],
            "the first and the last piece are no neighbours: this goes round in a circle":
                lambda weights, offset: weights.roll(-offset, -1).diagonal(0, -2, -1).mean(-1),
            "this is the sum over the queries; it needs to be their mean":
                lambda weights, offset: diagonal(weights, offset).sum(-1),
            "this is one number for all heads: each needs its own":
                lambda weights, offset: diagonal(weights, offset).mean().expand(len(weights)),
        }),
    "what_counts": Exercise(
        slow_what_counts,
        [(WEIGHTS[0], V), (WEIGHTS[1, :2], V)],
        {
            "each row needs to sum to 1: divide by the sum over its keys":
                lambda weights, v: weights * v.norm(dim=-1),
            "this divides by the sum over the queries; a row is the keys of one query":
                lambda weights, v: (weights * v.norm(dim=-1)) / (weights * v.norm(dim=-1)).sum(0),
            "this takes the square of the length":
                lambda weights, v: torch.nn.functional.normalize(weights * v.square().sum(-1), p=1, dim=-1),
            "this is the weights alone: the length of the value is missing":
                lambda weights, v: weights.clone(),
        }),
}
