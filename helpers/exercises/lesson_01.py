"""Exercises of lesson 01: an average by hand, nearest neighbours, a map that leaves each point out, and averages of a batch."""
import math

import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_kernel_average(query, key, value, width):
    scores = torch.stack([-((query - x) / width) ** 2 / 2 for x in key])
    return sum(weight * number for weight, number in zip(scores.softmax(0), value))


def slow_nearest_weights(query, key, k):
    weights = torch.zeros(len(query), len(key))
    for i in range(len(query)):
        distances = [abs(float(query[i]) - float(x)) for x in key]
        nearest = sorted(range(len(key)), key=lambda j: distances[j])[:k]
        for j in nearest:
            weights[i, j] = 1 / k
    return weights


def slow_leave_one_out_weights(x, width):
    weights = torch.zeros(len(x), len(x))
    for i in range(len(x)):
        others = [j for j in range(len(x)) if j != i]
        weights[i, others] = (-((x[i] - x[others]) / width) ** 2 / 2).softmax(0)
    return weights


def slow_average_batch(query, key, value, width):
    averages = torch.zeros(len(query), query.shape[1], value.shape[2])
    for b in range(len(query)):
        for i in range(query.shape[1]):
            scores = torch.stack([-((query[b, i] - x) / width) ** 2 / 2 for x in key[b]])
            for weight, row in zip(scores.softmax(0), value[b]):
                averages[b, i] += weight * row
    return averages


def nearest(closeness, k, share):
    order = closeness.argsort(dim=-1, descending=True, stable=True)
    return torch.zeros_like(closeness).scatter(-1, order[:, :k], share)


def up_to_the_kth(query, key, k):
    distance = (query.unsqueeze(1) - key).abs()
    return (distance <= distance.sort(-1).values[:, k - 1:k]) / k


def gaussian_scores(x, width):
    return -(((x.unsqueeze(1) - x) / width) ** 2) / 2


def exponentials_first(x, width):
    hidden = gaussian_scores(x, width).exp().fill_diagonal_(0)
    return hidden / hidden.sum(1, keepdim=True)


def scores_of(query, key, width):
    return -(((query - key) / width) ** 2) / 2


def exponentials(scores):
    return scores.exp() / scores.exp().sum(-1, keepdim=True)


def batch_scores(query, key, width):
    return -(((query.unsqueeze(2) - key.unsqueeze(1)) / width) ** 2) / 2


FLATS = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([10.0, 20.0, 60.0])
points = torch.tensor([-1.1, 0.3, 0.8, 2.0, 3.7])
quarters = [(4 * numbers(40, seed=seed)).round() / 4 for seed in (3, 4)]      # their distances are exact
TIES = torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0])

EXERCISES = {
    "kernel_average": Exercise(
        slow_kernel_average,
        [(torch.tensor(3.0), *FLATS, 1.0), (torch.tensor(3.0), *FLATS, 0.5), (torch.tensor(2.0), *FLATS, 2.0),
         (torch.tensor(60.0), *FLATS, 1.0), (torch.tensor(0.4), points, points.sin(), 0.7)],
        {
            "the width does nothing yet; divide the difference by it":
                lambda query, key, value, width: scores_of(query, key, 1.0).softmax(0) @ value,
            "you multiply the difference by the width; divide by it, so that a larger width looks farther":
                lambda query, key, value, width: scores_of(query, key, 1 / width).softmax(0) @ value,
            "you divide the score by the width; divide the difference, before the square":
                lambda query, key, value, width: (scores_of(query, key, 1.0) / width).softmax(0) @ value,
            "the / 2 of the Gaussian kernel is missing":
                lambda query, key, value, width: (2 * scores_of(query, key, width)).softmax(0) @ value,
            "the far keys get the most weight; the minus before the square is missing":
                lambda query, key, value, width: (-scores_of(query, key, width)).softmax(0) @ value,
            "the weights do not sum to 1; divide the exponentials by their sum, or take the softmax":
                lambda query, key, value, width: scores_of(query, key, width).exp() @ value,
            "the exponential of a very low score is 0, and 0/0 is NaN; take the softmax of the scores":
                lambda query, key, value, width: exponentials(scores_of(query, key, width)) @ value,
        }),
    "nearest_weights": Exercise(
        slow_nearest_weights,
        [(torch.tensor([0.0, 2.2]), torch.tensor([1.0, 2.0, 4.0]), 2), (torch.tensor([-2.0, 0.6]), points, 1),
         (torch.tensor([0.0, 3.0]), TIES, 2),
         (torch.tensor([1.5, -0.5, 0.0, 9.0]), points, 3), (*quarters, 3)],
        {
            "where two keys are equally near, more than k of them get a weight, and the row sums to more than 1":
                up_to_the_kth,
            "each of the k nearest keys has the weight 1, so the row sums to k; divide by k":
                lambda query, key, k: nearest(-(query.unsqueeze(1) - key).abs(), k, 1.0),
            "these are the farthest keys; sort from small to large, or pass largest=False to topk":
                lambda query, key, k: nearest((query.unsqueeze(1) - key).abs(), k, 1 / k),
            "a key far above the query counts as near; take the absolute value of the difference":
                lambda query, key, k: nearest(-(query.unsqueeze(1) - key), k, 1 / k),
            "a key far below the query counts as near; take the absolute value of the difference":
                lambda query, key, k: nearest(query.unsqueeze(1) - key, k, 1 / k),
        }, at_once=True),
    "leave_one_out_weights": Exercise(
        slow_leave_one_out_weights,
        [(torch.tensor([0.0, 30.0]), 1.0), (torch.tensor([0.0, 1e5]), 1.0), (torch.tensor([0.0, 1.0, 3.0]), 1.0),
         (torch.tensor([1.0, 1.0, 2.0]), 2.0), (points, 0.7), (numbers(40, seed=3), 0.7)],
        {
            "the exponential of a very low score is 0, and 0/0 is NaN; put -inf into the scores, and take their softmax":
                exponentials_first,
            "a point far away scores lower than the number that hides the diagonal, so a point sees itself; hide it by -inf":
                lambda x, width: gaussian_scores(x, width).fill_diagonal_(-1e9).softmax(-1),
            "a point far away scores lower than the diagonal does, so a point sees itself; put -inf on the diagonal":
                lambda x, width: gaussian_scores(x, width).fill_diagonal_(-100).softmax(-1),
            "0 times inf is NaN; put -inf on the diagonal with fill_diagonal_ or masked_fill":
                lambda x, width: (gaussian_scores(x, width) - torch.eye(len(x)) * torch.inf).softmax(-1),
            "each point still sees itself, so the diagonal is not 0":
                lambda x, width: gaussian_scores(x, width).softmax(-1),
            "the diagonal became 0 after the softmax, so the rows sum to less than 1; mask it before":
                lambda x, width: gaussian_scores(x, width).softmax(-1).fill_diagonal_(0),
            "you multiply the difference by the width; divide by it, so that a larger width looks farther":
                lambda x, width: gaussian_scores(x, 1 / width).fill_diagonal_(-math.inf).softmax(-1),
            "two points at the same x do not see each other; mask the diagonal, not the distance 0":
                lambda x, width: (
                    gaussian_scores(x, width).masked_fill(x.unsqueeze(1) == x, -math.inf).softmax(-1)),
            "the columns sum to 1; take the softmax over the last axis":
                lambda x, width: gaussian_scores(x, width).fill_diagonal_(-math.inf).softmax(0),
            "the / 2 of the Gaussian kernel is missing":
                lambda x, width: (2 * gaussian_scores(x, width)).fill_diagonal_(-math.inf).softmax(-1),
        }, at_once=True),
    "average_batch": Exercise(
        slow_average_batch,
        [(torch.tensor([[0.0], [2.0]]), torch.tensor([[0.0, 1.0], [2.0, 0.0]]),
          torch.tensor([[[0.0], [4.0]], [[6.0], [2.0]]]), 1.0),
         (torch.tensor([[0.0], [30.0]]), torch.tensor([[0.0, 1.0], [2.0, 0.0]]),
          torch.tensor([[[0.0], [4.0]], [[6.0], [2.0]]]), 1.0),
         (numbers(2, 4, seed=0), numbers(2, 3, seed=1), numbers(2, 3, 2, seed=2), 0.5),
         (numbers(40, 40, seed=3), numbers(40, 3, seed=4), numbers(40, 3, 2, seed=5), 0.5)],
        {
            "you multiply the difference by the width; divide by it, so that a larger width looks farther":
                lambda query, key, value, width: batch_scores(query, key, 1 / width).softmax(-1) @ value,
            "the softmax runs over the queries; take it over the last axis, so that the weights of a query sum to 1":
                lambda query, key, value, width: batch_scores(query, key, width).softmax(1) @ value,
            "every example averages the values of the first one; give each its own":
                lambda query, key, value, width: batch_scores(query, key, width).softmax(-1) @ value[:1],
            "the / 2 of the Gaussian kernel is missing":
                lambda query, key, value, width: (2 * batch_scores(query, key, width)).softmax(-1) @ value,
            "the exponential of a very low score is 0, and 0/0 is NaN; take the softmax of the scores":
                lambda query, key, value, width: exponentials(batch_scores(query, key, width)) @ value,
            "the scores are no weights yet; take their softmax":
                lambda query, key, value, width: batch_scores(query, key, width) @ value,
        }, at_once=True),
}
