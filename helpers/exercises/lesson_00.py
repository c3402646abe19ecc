"""Exercise of lesson 00: the weighted average."""
import torch

from helpers.exercises.exercise import Exercise


def slow_weighted_average(weights, values):
    output = torch.zeros(values.shape[1])
    for weight, value in zip(weights, values):
        output = output + weight * value
    return output


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
            "you divide by the number of values; the weights sum to 1, so the sum is the average already":
                lambda weights, values: weights @ values / len(weights),
            "you sum along the wrong axis; the result needs one number for each column of the values":
                lambda weights, values: (weights.unsqueeze(-1) * values).sum(-1),
            "only the value with the largest weight is left; each counts as much as its weight":
                lambda weights, values: values[weights.argmax()],
        }),
}
