"""Exercises of lesson 00: the weighted average, and a weight that is cut."""
import torch

from helpers.exercises.exercise import Exercise


def slow_weighted_average(weights, values):
    output = torch.zeros(values.shape[1])
    for weight, value in zip(weights, values):
        output = output + weight * value
    return output


def slow_cut(weights, key):
    after = torch.zeros(len(weights))
    for k in range(len(weights)):
        if k != key:
            after[k] = weights[k] / (1 - weights[key])
    return after


def without(weights, key):
    """The weights with a 0 at `key`; they do not sum to 1."""
    return weights * (torch.arange(len(weights)) != key)


def in_equal_parts(weights, key):
    """The weight at `key` shared out equally among the others that are not 0."""
    rest = without(weights, key)
    return rest + weights[key] * (rest > 0) / (rest > 0).sum()


def to_runner_up(weights, key):
    """The weights with the one at `key` moved to the largest of the others."""
    rest = without(weights, key)
    return rest + weights[key] * (torch.arange(len(weights)) == rest.argmax())


EXERCISES = {
    "weighted_average": Exercise(
        slow_weighted_average,
        [(torch.tensor([0.9, 0.1]), torch.tensor([[11.0, 1.0, 0.0], [3.0, 1.0, 5.0]])),
         (torch.tensor([0.2, 0.3, 0.5]), torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]))],
        {
            "all values count alike; multiply each by its weight":
                lambda weights, values: values.mean(0),
            "these are the weighted values one by one; add them up":
                lambda weights, values: weights.unsqueeze(-1) * values,
            "`values @ weights` gives the weights to the columns; each belongs to a row, so the weights come first":
                lambda weights, values: values @ weights,
            "`weights * values` gives the weights to the columns; each belongs to a whole row":
                lambda weights, values: weights * values,
            "you divide by the number of values; the weights sum to 1, so the sum is the average already":
                lambda weights, values: weights @ values / len(weights),
            "you sum along the wrong axis; the result needs one number for each column of the values":
                lambda weights, values: (weights.unsqueeze(-1) * values).sum(-1),
            "only the value with the largest weight is left; each counts as much as its weight":
                lambda weights, values: values[weights.argmax()],
            "a softmax makes other shares of what are shares already; use the weights as they are":
                lambda weights, values: weights.softmax(0) @ values,
        },
        at_once=True),
    "cut": Exercise(
        slow_cut,
        [(torch.tensor([0.5, 0.3, 0.2]), 0), (torch.tensor([0.5, 0.3, 0.2]), 2), (torch.tensor([0.1, 0.4, 0.4, 0.1]), 1),
         (torch.tensor([0.0, 0.9, 0.1, 0.0, 0.0]), 1)],
        {
            "the rest sums to less than 1; divide it by what is left, 1 minus the weight at `key` before it became 0 (a "
            "weight read by `weights[key]` earlier becomes 0, too; take `float(weights[key])`)":
                without,
            "the largest weight is cut; cut the one at `key`":
                lambda weights, key: slow_cut(weights, int(weights.argmax())),
            "each of the others gets an equal part of the weight that is cut; it needs to grow in proportion":
                lambda weights, key: torch.where(torch.arange(len(weights)) == key, 0, weights + weights[key] / (len(weights) - 1)),
            "the weight at `key` stays, and each other gets an equal part of it; set it to 0, and divide the rest by its sum":
                lambda weights, key: weights + weights[key] / (len(weights) - 1) * (torch.arange(len(weights)) != key),
            "the largest of the others gets the whole weight that is cut; each needs to grow in proportion":
                to_runner_up,
            "the cut weight is divided by the rest as well, and stays; set it to 0":
                lambda weights, key: weights / (1 - weights[key]),
            "a softmax gives the cut weight, 0, a new share; divide by the sum":
                lambda weights, key: without(weights, key).softmax(-1),
            "a softmax makes other shares of what are shares already; divide the rest by its sum":
                lambda weights, key: weights.masked_fill(torch.arange(len(weights)) == key, -torch.inf).softmax(-1),
            "each weight that is not 0 gets an equal part of the weight that is cut; it needs to grow in proportion":
                in_equal_parts,
            "the rest grows by the share that is cut, which is too little; divide it by what is left":
                lambda weights, key: without(weights, key) * (1 + weights[key]),
            "the entry at `key` is gone; it needs to stay, as 0":
                lambda weights, key: torch.cat([weights[:key], weights[key + 1:]]) / (1 - weights[key]),
            "you divide by the weight that is cut; divide by what is left of the row, 1 minus that weight":
                lambda weights, key: without(weights, key) / weights[key],
            "all weight is on the key, as `force` does; a cut takes it away from there":
                lambda weights, key: (torch.arange(len(weights)) == key).float(),
        }),
}
