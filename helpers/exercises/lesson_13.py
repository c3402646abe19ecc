"""Exercises of lesson 13: which text each token belongs to, and the curve of GELU."""
import math

import torch

from helpers.exercises.exercise import Exercise


def slow_segments_of(ids, sep, pad):
    rows = []
    for row in ids.tolist():
        segment, segments = 0, []
        for i in row:
            segments.append(0 if i == pad else segment)
            if i == sep:
                segment = 1
        rows.append(segments)
    return torch.tensor(rows)


def slow_gelu(x):
    values = []
    for value in x.tolist():
        below = (1 + math.erf(value / math.sqrt(2))) / 2      # the share of N(0, 1) below value
        values.append(value * below)
    return torch.tensor(values)


def ends_before(ids, sep):
    """How many [SEP] stand before each position."""
    return (ids == sep).cumsum(1) - (ids == sep).long()


EXERCISES = {
    "segments_of": Exercise(
        slow_segments_of,
        [(torch.tensor([[4, 5, 0, 8, 5, 1]]), 5, 1), (torch.tensor([[2, 9, 3, 0], [2, 3, 7, 3]]), 3, 0),
         (torch.tensor([[2, 9, 8, 3, 7, 6, 3], [2, 5, 3, 9, 3, 0, 0], [2, 9, 9, 3, 0, 0, 0]]), 3, 0)],
        {
            "the first [SEP] belongs to the text that it ends; its segment is 0":
                lambda ids, sep, pad: ((ids == sep).cumsum(1) > 0).long() * (ids != pad),
            "the padding is in segment 1; it needs to be 0":
                lambda ids, sep, pad: (ends_before(ids, sep) > 0).long(),
            "the padding is in a third segment, 2; it needs to be 0":
                lambda ids, sep, pad: ends_before(ids, sep),
            "0 and 1 are exchanged; the first text has segment 0":
                lambda ids, sep, pad: (ends_before(ids, sep) == 0).long(),
            "the last [SEP] belongs to the text that it ends; its segment is 1 where there are two texts":
                lambda ids, sep, pad: (ends_before(ids, sep) > 0).long() * (ids != pad) * (ids != sep),
            "you take 0 for the padding; its id is `pad`":
                lambda ids, sep, pad: (ends_before(ids, sep) > 0).long() * (ids != 0),
        }),
    "gelu": Exercise(
        slow_gelu,
        [(torch.tensor([1.0, 0.0, -1.0]),), (torch.tensor([-3.0, -0.5, 0.5, 3.0]),),
         (torch.linspace(-5, 5, 21),)],
        {
            "this is ReLU, which is x or 0; GELU takes a share of x":
                lambda x: x.relu(),
            "this is the share alone, Phi(x); multiply it by x":
                lambda x: (1 + torch.erf(x / 2**0.5)) / 2,
            "erf needs x / sqrt(2); it is made for a normal distribution of variance 1/2":
                lambda x: x * (1 + torch.erf(x)) / 2,
            "this is the approximation by tanh, near but not the same; torch.erf is exact":
                lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
            "this is x * sigmoid(1.702 x), an approximation; torch.erf is exact":
                lambda x: x * (1.702 * x).sigmoid(),
            "this is x * sigmoid(x), which is SiLU; GELU takes the share from torch.erf":
                lambda x: x * x.sigmoid(),
            "erf goes from -1 to 1 and a share from 0 to 1; take (1 + erf) / 2":
                lambda x: x * torch.erf(x / 2**0.5),
        }),
}
