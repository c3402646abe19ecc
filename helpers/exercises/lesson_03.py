"""Exercises of lesson 03: a window mask, and a mean that skips padding."""
import torch

from helpers.exercises.exercise import Exercise, numbers


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


EXERCISES = {
    "window_mask": Exercise(
        slow_window_mask,
        [(2, 3), (3, 1), (4, 0), (6, 3)],
        {
            "True and False are exchanged; True marks what a query may see":
                lambda T, reach: distance(T).abs() > reach,
            "the window is one position too narrow; a distance equal to reach is inside":
                lambda T, reach: distance(T).abs() < reach,
            "a query sees only the past; the window goes both ways":
                lambda T, reach: (distance(T) >= 0) & (distance(T) <= reach),
            "a query sees only the future; the window goes both ways":
                lambda T, reach: (distance(T) <= 0) & (distance(T) >= -reach),
            "the future is without a limit; take the absolute value of the distance":
                lambda T, reach: distance(T) <= reach,
            "the past is without a limit; take the absolute value of the distance":
                lambda T, reach: distance(T) >= -reach,
            "reach is the whole width of your window; it counts the positions on each side":
                lambda T, reach: distance(T).abs() <= reach // 2,
        }),
    "masked_mean": Exercise(
        slow_masked_mean,
        [(torch.tensor([[[1.0, 2.0], [3.0, 6.0], [9.0, 9.0]], [[4.0, 0.0], [8.0, 8.0], [8.0, 8.0]]]),
          torch.tensor([2, 1])),
         (numbers(3, 4, 2, seed=3), torch.tensor([2, 4, 1])),
         (numbers(2, 3, 5, seed=4), torch.tensor([0, 3]))],
        {
            "the padding is averaged in; use the lengths":
                lambda x, lengths: x.mean(1),
            "the sum skips the padding, but you divide it by T; divide by the length":
                lambda x, lengths: masked_sum(x, lengths) / x.shape[1],
            "a sentence of length 0 gives NaN, which is 0 / 0; it needs to give zeros":
                lambda x, lengths: masked_sum(x, lengths) / lengths.unsqueeze(-1),
            "this is the sum; divide it by the length":
                masked_sum,
        }),
}
