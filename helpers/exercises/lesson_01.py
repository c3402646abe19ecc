"""Exercises of lesson 01: nearest neighbours as attention, and a map that leaves each point out."""
import math

import torch

from helpers.exercises.exercise import Exercise


def slow_nearest_weights(query, key, k):
    weights = torch.zeros(len(query), len(key))
    for i in range(len(query)):
        distances = [abs(float(query[i]) - float(x)) for x in key]
        nearest = sorted(range(len(key)), key=lambda j: distances[j])[:k]
        for j in nearest:
            weights[i, j] = 1 / k
    return weights


def slow_leave_one_out_weights(x, width):
    n = len(x)
    weights = torch.zeros(n, n)
    for i in range(n):
        for j in range(n):
            if j != i:
                weights[i, j] = math.exp(-((x[i] - x[j]) / width) ** 2 / 2)
        weights[i] = weights[i] / weights[i].sum()
    return weights


def nearest(closeness, k, share):
    return torch.zeros_like(closeness).scatter(-1, closeness.topk(k).indices, share)


def gaussian_scores(x, width):
    return -(((x.unsqueeze(1) - x) / width) ** 2) / 2


generator = torch.Generator().manual_seed(1)
numbers = torch.randn(9, generator=generator)

EXERCISES = {
    "nearest_weights": Exercise(
        slow_nearest_weights,
        [(torch.tensor([0.0, 2.2]), torch.tensor([1.0, 2.0, 4.0]), 2), (numbers[:4], numbers[4:], 3), (numbers[:2], numbers, 1)],
        {
            "the k weights of a row are 1 each, so the row sums to k; divide by k":
                lambda query, key, k: nearest(-(query.unsqueeze(1) - key).abs(), k, 1.0),
            "these are the farthest keys; topk takes the largest, so give it the negative distance":
                lambda query, key, k: nearest((query.unsqueeze(1) - key).abs(), k, 1 / k),
            "a key far to one side counts as near; take the absolute value of the difference":
                lambda query, key, k: nearest(-(query.unsqueeze(1) - key), k, 1 / k),
        }),
    "leave_one_out_weights": Exercise(
        slow_leave_one_out_weights,
        [(torch.tensor([0.0, 1.0, 3.0]), 1.0), (numbers, 0.7), (numbers[:2], 2.0)],
        {
            "each point still sees itself, so the diagonal is not 0":
                lambda x, width: gaussian_scores(x, width).softmax(-1),
            "the diagonal is 0, but was set after the softmax, so the rows sum to less than 1":
                lambda x, width: gaussian_scores(x, width).softmax(-1).fill_diagonal_(0),
            "the difference is multiplied by the width; divide by it, so that a larger width looks farther":
                lambda x, width: gaussian_scores(x, 1 / width).fill_diagonal_(-math.inf).softmax(-1),
        }),
}
