"""Exercises of lesson 03: a window mask, and a mean that skips padding."""
import torch

from helpers.exercises.exercise import Exercise


def slow_window_mask(T, reach):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        for j in range(T):
            mask[i, j] = abs(i - j) <= reach
    return mask


def slow_masked_mean(x, lengths):
    means = torch.zeros(x.shape[0], x.shape[2])
    for b in range(len(x)):
        for t in range(int(lengths[b])):
            means[b] += x[b, t] / lengths[b]
    return means


def distance(T):
    return torch.arange(T).unsqueeze(1) - torch.arange(T)


def masked_sum(x, lengths):
    real = torch.arange(x.shape[1]) < lengths.unsqueeze(-1)
    return (x * real.unsqueeze(-1)).sum(1)


generator = torch.Generator().manual_seed(3)

EXERCISES = {
    "window_mask": Exercise(
        slow_window_mask,
        [(5, 1), (4, 0), (6, 3)],
        {
            "True and False are exchanged; True means may look":
                lambda T, reach: distance(T).abs() > reach,
            "it reaches one place too few; a distance equal to reach is still inside":
                lambda T, reach: distance(T).abs() < reach,
            "it sees only the past; the window goes both ways":
                lambda T, reach: (distance(T) >= 0) & (distance(T) <= reach),
            "one side is without a limit; take the absolute value of the distance":
                lambda T, reach: distance(T) <= reach,
        }),
    "masked_mean": Exercise(
        slow_masked_mean,
        [(torch.randn(3, 4, 2, generator=generator), torch.tensor([2, 4, 1])),
         (torch.randn(2, 3, 5, generator=generator), torch.tensor([0, 3]))],
        {
            "the padding is averaged in; use the lengths":
                lambda x, lengths: x.mean(1),
            "the sum skips the padding, but is divided by T; divide by the length":
                lambda x, lengths: masked_sum(x, lengths) / x.shape[1],
            "a sentence of length 0 gives NaN, which is 0 / 0; it needs to give zeros":
                lambda x, lengths: masked_sum(x, lengths) / lengths.unsqueeze(-1),
            "this is the sum; divide it by the length":
                masked_sum,
        }),
}
