"""Exercise of lesson 16: mean ablation."""
import torch

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
}
