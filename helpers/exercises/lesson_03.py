"""Exercises of lesson 03: a window mask, a mean that skips padding, and the leaks of a mask through several layers."""
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


def slow_leaks(mask, num_layers):
    T = len(mask)
    knows = torch.eye(T, dtype=torch.bool)                   # [i, j]: does position i know token j?
    for _ in range(num_layers):
        before = knows.clone()
        for i in range(T):
            for j in range(T):
                if mask[i, j]:
                    knows[i] = knows[i] | before[j]
    return torch.tensor([knows[i, i + 1] for i in range(T - 1)])


def distance(T):
    return torch.arange(T).unsqueeze(1) - torch.arange(T)


def masked_sum(x, lengths):
    real = torch.arange(x.shape[1]) < lengths.unsqueeze(-1)
    return (x * real.unsqueeze(-1)).sum(1)


def reached(mask, num_layers):
    """[i, j]: whether token j reaches position i in exactly `num_layers` steps that the mask allows."""
    return torch.linalg.matrix_power(mask.double(), num_layers) > 0


def overwritten(mask, num_layers):
    """As slow_leaks, but each position reads what others have come to know in the same layer."""
    knows = torch.eye(len(mask), dtype=torch.bool)
    for _ in range(num_layers):
        for i, row in enumerate(mask):
            knows[i] = knows[i] | knows[row].any(0)
    return knows.diagonal(1)


def kept(mask):
    """The mask, and each position's look at itself, which stands for what it keeps."""
    return mask | torch.eye(len(mask), dtype=torch.bool)


def causal_but(T, *holes):
    """The causal mask, and in addition the cells of `holes`."""
    mask = torch.ones(T, T, dtype=torch.bool).tril()
    mask[tuple(zip(*holes))] = True
    return mask


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
         (numbers(3, 4, 3, seed=3), torch.tensor([2, 4, 1])),
         (numbers(4, 5, 4, seed=4), torch.tensor([0, 5, 3, 1]))],
        {
            "the padding is averaged in; use the lengths":
                lambda x, lengths: x.mean(1),
            "the sum skips the padding, but you divide it by T; divide by the length":
                lambda x, lengths: masked_sum(x, lengths) / x.shape[1],
            "a sentence of length 0 gives NaN, which is 0 / 0; it needs to give zeros":
                lambda x, lengths: masked_sum(x, lengths) / lengths.unsqueeze(-1),
            "this is the sum; divide it by the length":
                masked_sum,
            "one vector of padding is averaged in; position t is real where t < length":
                lambda x, lengths: masked_sum(x, (lengths + 1).clamp(max=x.shape[1])) / lengths.clamp(min=1).unsqueeze(-1),
            "the last word is left out; position t is real where t < length":
                lambda x, lengths: masked_sum(x, lengths - 1) / lengths.clamp(min=1).unsqueeze(-1),
            "column j is divided by the length of sentence j; give the lengths a second axis, [B, 1]":
                lambda x, lengths: masked_sum(x, lengths) / lengths.clamp(min=1),
        }),
    "leaks": Exercise(
        slow_leaks,
        [(causal_but(4, (1, 2)), 1),
         (causal_but(4, (0, 3)), 2),
         (causal_but(5, (1, 3), (0, 4)), 1),
         (causal_but(5, (1, 2)) & ~torch.eye(5, dtype=torch.bool), 2),
         (causal_but(6, (1, 4), (3, 5)), 2)],
        {
            "you read the mask alone, which is right for one layer; each further layer passes on what the one before gathered":
                lambda mask, num_layers: mask.diagonal(1),
            "a position loses what it knew; it keeps that, and adds what the mask lets it read":
                lambda mask, num_layers: reached(mask, num_layers).diagonal(1),
            "positions read what others learned in the same layer; all read what was known before it":
                overwritten,
            "that is one layer too many":
                lambda mask, num_layers: reached(kept(mask), num_layers + 1).diagonal(1),
            "rows and columns are exchanged; mask[i, j] lets position i read position j":
                lambda mask, num_layers: reached(kept(mask.T), num_layers).diagonal(1),
            "True and False are exchanged; True marks a leak":
                lambda mask, num_layers: ~reached(kept(mask), num_layers).diagonal(1),
            "every position knows its own token and those before it; asked is whether it knows token i + 1":
                lambda mask, num_layers: reached(kept(mask), num_layers).diagonal(),
        }),
}
