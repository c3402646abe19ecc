"""Exercises of lesson 16: mean ablation, and what a head fetches."""
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


def slow_fetched_shares(weights, values):
    shares = torch.zeros_like(weights)
    for head in range(len(weights)):
        for query, row in enumerate(weights[head]):
            parts = [weight * value.norm() for weight, value in zip(row, values[head])]      # one for each key
            for key, part in enumerate(parts):
                shares[head, query, key] = part / sum(parts)
    return shares


def with_others(weights, heads, others):
    """A copy of the weights in which these heads have others."""
    changed = weights.clone()
    changed[:, heads] = others
    return changed


def with_texts(weights, texts, others):
    """A copy of the weights in which these texts have others."""
    changed = weights.clone()
    changed[texts] = others
    return changed


def asked_for(weights, heads):
    """True for the heads that are asked for: [H, 1, 1]."""
    return torch.isin(torch.arange(weights.shape[1]), heads)[:, None, None]


def of_sum(parts, dim=-1):
    """The parts, divided by their sum."""
    return parts / parts.sum(dim, keepdim=True)


def by_key(values, norm=torch.linalg.vector_norm):
    """A norm of each value, or what stands in for it: [H, 1, T], for the keys."""
    return norm(values, dim=-1).unsqueeze(-2)


def by_query(values):
    """The same norms, but for the queries: [H, T, 1]."""
    return by_key(values).mT


BATCH = numbers(2, 3, 2, 2, seed=17).softmax(-1)                               # small: a failing case is printed whole

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
            "you take the mean over all heads, `mean(1)`; take it over the texts of the batch, `mean(0)`, for each head by itself":
                lambda weights, heads: with_others(weights, heads, weights.mean(1, keepdim=True)),
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
            "you pick texts by the numbers of the heads, `[heads]`; the heads are the second axis, `[:, heads]`":
                lambda weights, heads: with_texts(weights, heads, weights[heads].mean(0)),
            "you put the means into the texts with the numbers of the heads; the heads are the second axis, `[:, heads]`":
                lambda weights, heads: with_texts(weights, heads, weights.mean(0)),
            "you put each head's mean into the text with its number; the heads are the second axis, `[:, heads]`, on the left, too":
                lambda weights, heads: with_texts(weights, heads, weights.mean(0)[heads]),
            "you change the first of the heads alone; change each of them":
                lambda weights, heads: with_others(weights, heads[:1], weights[:, heads[:1]].mean(0, keepdim=True)),
            "you change the last of the heads alone; change each of them":
                lambda weights, heads: with_others(weights, heads[-1:], weights[:, heads[-1:]].mean(0, keepdim=True)),
            "you change the heads that are not asked for, and leave those that are":
                lambda weights, heads: torch.where(asked_for(weights, heads), weights, weights.mean(0, keepdim=True)),
            "you return the chosen heads alone; return all heads, of which these have the means":
                lambda weights, heads: weights[:, heads].mean(0, keepdim=True).expand(len(weights), -1, -1, -1),
            "you return the means alone; put them into a copy of the weights, for each text":
                lambda weights, heads: weights[:, heads].mean(0),
            "you return the means alone, as a batch of one text; put them into a copy of the weights, for each text":
                lambda weights, heads: weights[:, heads].mean(0, keepdim=True),
        }),
    "fetched_shares": Exercise(
        slow_fetched_shares,
        [(torch.tensor([[[0.5, 0.5], [0.75, 0.25]]]), torch.tensor([[[3.0, 4.0], [9.0, -12.0]]])),
         (BATCH[0], numbers(3, 2, 2, seed=18)), (numbers(2, 3, 3, seed=19).softmax(-1), numbers(2, 3, 2, seed=20))],
        {
            "you leave the rows undivided; divide each row by its sum":
                lambda weights, values: weights * by_key(values),
            "you take norms over the keys, `dim=1`; the numbers of one value are the last axis, `dim=-1`":
                lambda weights, values: of_sum(weights * values.norm(dim=1).unsqueeze(1)),
            "you divide each column by its sum; divide each row, so that the shares of a query sum to 1":
                lambda weights, values: of_sum(weights * by_key(values), -2),
            "you divide by the sum of the whole map; divide each row by its own sum":
                lambda weights, values: of_sum(weights * by_key(values), (-2, -1)),
            "you divide each row by its length, as `F.normalize` does; divide by its sum, which is `p=1`":
                lambda weights, values: F.normalize(weights * by_key(values), dim=-1),
            "you take the softmax of each row; divide it by its sum":
                lambda weights, values: (weights * by_key(values)).softmax(-1),
            "you get the weights back; a number that a whole row is multiplied by is divided away, so give each key its own norm":
                lambda weights, values: of_sum(weights * by_query(values)),
            "you multiply by the norms of the queries' values and leave the rows undivided; take those of the keys, and divide":
                lambda weights, values: weights * by_query(values),
            "you take the norms of the values alone; multiply each by the weight":
                lambda weights, values: of_sum(by_key(values).expand_as(weights)),
            "you take the square of the norm; a norm is the root of the sum of squares":
                lambda weights, values: of_sum(weights * by_key(values) ** 2),
            "you add up the absolute numbers of a value; its norm is the root of the sum of squares":
                lambda weights, values: of_sum(weights * by_key(values.abs(), torch.sum)),
            "you add up the numbers of a value; its norm is the root of the sum of squares":
                lambda weights, values: of_sum(weights * by_key(values, torch.sum)),
            "you divide by the norm of a value; multiply by it":
                lambda weights, values: of_sum(weights / by_key(values)),
            "you take the mean norm over the heads; each head keeps the norms of its own values":
                lambda weights, values: of_sum(weights * by_key(values).mean(0, keepdim=True)),
            "you return the vectors that are fetched; return the share of each key":
                lambda weights, values: weights @ values,
        }),
}
