"""Exercises of lesson 16: mean ablation, and what a row of weights fetches."""
import torch
import torch.nn.functional as F

from helpers.exercises.exercise import Exercise, numbers


def slow_mean_ablate(weights, heads):
    ablated = weights.clone()
    for head in heads.tolist():
        mean = torch.zeros_like(weights[0, head])
        for text in range(len(weights)):
            mean += weights[text, head] / len(weights)
        for text in range(len(weights)):
            ablated[text, head] = mean
    return ablated


def slow_what_counts(weights, v):
    rows = []
    for row in weights.tolist():
        parts = []
        for weight, value in zip(row, v.tolist()):
            length = sum(number**2 for number in value) ** 0.5
            parts.append(weight * length)
        rows.append([part / sum(parts) for part in parts])
    return torch.tensor(rows)


def with_others(weights, heads, others):
    """A copy of the weights in which these heads have others."""
    changed = weights.clone()
    changed[:, heads] = others
    return changed


WEIGHTS = torch.tensor([[[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.0, 0.4, 0.6]],
                        [[0.1, 0.8, 0.1], [0.0, 0.1, 0.9], [1.0, 0.0, 0.0]]])      # two heads, three tokens
LARGER = numbers(3, 6, 6, seed=15).softmax(-1)
BATCH = numbers(2, 3, 2, 2, seed=17).softmax(-1)                               # small: a failing case is printed whole
V = torch.tensor([[3.0, 4.0], [0.0, 1.0], [0.6, 0.8]])

EXERCISES = {
    "mean_ablate": Exercise(
        slow_mean_ablate,
        [(torch.tensor([[[[1.0, 0.0], [0.5, 0.5]]], [[[0.0, 1.0], [0.3, 0.7]]]]), torch.tensor([0])),
         (BATCH, torch.tensor([1])), (BATCH, torch.tensor([0, 2]))],
        {
            "you change all heads; leave the weights of the others as they were":
                lambda weights, heads: weights.mean(0, keepdim=True).expand_as(weights).clone(),
            "you add up the texts of the batch; divide the sum by their number":
                lambda weights, heads: with_others(weights, heads, weights[:, heads].sum(0, keepdim=True)),
            "you take the mean over the heads; take it over the texts of the batch, for each head by itself":
                lambda weights, heads: with_others(weights, heads, weights[:, heads].mean(1, keepdim=True)),
            "you take the mean over the queries; take it over the texts of the batch":
                lambda weights, heads: with_others(weights, heads, weights[:, heads].mean(-2, keepdim=True)),
            "all keys get the same weight, as by a mean over the keys; take the mean over the texts of the batch":
                lambda weights, heads: with_others(weights, heads, weights[:, heads].mean(-1, keepdim=True)),
            "you take one mean for all heads; each head keeps its own mean over the texts":
                lambda weights, heads: with_others(weights, heads, weights[:, heads].mean((0, 1), keepdim=True)),
            "you take the mean over the texts and the queries; each query keeps its own mean over the texts":
                lambda weights, heads: with_others(weights, heads, weights[:, heads].mean((0, -2), keepdim=True)),
            "you set the weights to 0, which switches the heads off; set them to their mean over the texts":
                lambda weights, heads: with_others(weights, heads, 0.0),
            "you pick texts by the numbers of the heads; the heads are the second axis":
                lambda weights, heads: weights.index_copy(0, heads.clamp(max=len(weights) - 1),
                                                          weights.mean(0, keepdim=True).expand(len(heads), -1, -1, -1)),
        }),
    "what_counts": Exercise(
        slow_what_counts,
        [(WEIGHTS[0, :2], V), (WEIGHTS[1], V), (LARGER[0], numbers(6, 4, seed=16))],
        {
            "each row needs to sum to 1; divide by the sum over its keys":
                lambda weights, v: weights * v.norm(dim=-1),
            "you divide by the sum over the queries; divide by the sum over the keys of one query":
                lambda weights, v: (weights * v.norm(dim=-1)) / (weights * v.norm(dim=-1)).sum(0),
            "you divide by the sum of the whole table; divide each row by its own sum":
                lambda weights, v: weights * v.norm(dim=-1) / (weights * v.norm(dim=-1)).sum(),
            "each row has norm 1, the root of the sum of squares; it needs to sum to 1":
                lambda weights, v: F.normalize(weights * v.norm(dim=-1), dim=-1),
            "you divide by the largest number of the row; divide by its sum":
                lambda weights, v: weights * v.norm(dim=-1) / (weights * v.norm(dim=-1)).amax(-1, keepdim=True),
            "you multiply by the square of the norm; multiply by the norm":
                lambda weights, v: F.normalize(weights * v.square().sum(-1), p=1, dim=-1),
            "you multiply by the sum of the absolute values; the norm is the root of the sum of squares":
                lambda weights, v: F.normalize(weights * v.abs().sum(-1), p=1, dim=-1),
            "these are the weights alone; the norm is missing, or the same for all keys, so that it cancels":
                lambda weights, v: weights.clone(),
            "the softmax changes the ratios; divide each row by its sum":
                lambda weights, v: (weights * v.norm(dim=-1)).softmax(-1),
        }),
}
