"""Exercises of lesson 16: outputs over two halves of the keys made one, and numbers with fewer binary digits."""
import math

import torch

from helpers.exercises.exercise import Exercise


def slow_merge(output_a, lse_a, output_b, lse_b):
    rows = []
    for a, x, b, y in zip(output_a.tolist(), lse_a.tolist(), output_b.tolist(), lse_b.tolist()):
        largest = max(x, y)
        sum_a, sum_b = math.exp(x - largest), math.exp(y - largest)
        rows.append([(sum_a * one + sum_b * other) / (sum_a + sum_b) for one, other in zip(a, b)])
    return torch.tensor(rows)


def slow_keep_digits(x, digits):
    numbers = []
    for value in x.tolist():
        m, e = math.frexp(value)                              # value = m * 2**e, m from 0.5 to 1
        whole = round(m * 2**digits)                          # a tie goes to the even one
        numbers.append(math.ldexp(whole, e - digits))
    return torch.tensor(numbers)


def weighed(output_a, weight_a, output_b, weight_b):
    """The average of two outputs, by any weights [T]."""
    share = (weight_a / (weight_a + weight_b)).unsqueeze(-1)
    return share * output_a + (1 - share) * output_b


def with_digits(x, digits, rounding=torch.round):
    m, e = torch.frexp(x)
    return torch.ldexp(rounding(m * 2**digits), e - digits)


generator = torch.Generator().manual_seed(16)
output_a, output_b = torch.randn(2, 4, 3, generator=generator)
lse_a, lse_b = torch.tensor([0.0, 2.0, -1.0, 5.0]), torch.tensor([0.0, 1.0, 3.0, 4.5])
numbers = torch.tensor([0.0, 1.0, -1.00390625, 1.00390625, 1.01171875, 3.14159, 257.0, -257.0, 0.001, 123456.0, 0.3, -7e-5])

EXERCISES = {
    "merge": Exercise(
        slow_merge,
        [(output_a, lse_a, output_b, lse_b), (output_b, 200 * torch.ones(4), output_a, 199 + torch.arange(4.0))],
        {
            "both halves count alike; the one with the larger sum of exponentials needs to count more":
                lambda a, x, b, y: (a + b) / 2,
            "the shares are exchanged: each output needs that of its own keys":
                lambda a, x, b, y: weighed(a, (y - x).exp(), b, torch.ones_like(x)),
            "exponentials of 200 overflow; take the larger of the two away first":
                lambda a, x, b, y: weighed(a, x.exp(), b, y.exp()),
            "these are shares by the logarithms; the sums themselves are their exponentials":
                lambda a, x, b, y: weighed(a, x, b, y),
            "the two are added, not averaged: each output is divided by its own sum already":
                lambda a, x, b, y: a + b,
        }),
    "keep_digits": Exercise(
        slow_keep_digits,
        [(numbers, 8), (numbers, 4), (torch.tensor([0.1, 0.625, 0.6875, 2.5, 3.5, -10.5]), 3)],
        {
            "digits are cut off; the nearest number may be above":
                lambda x, digits: with_digits(x, digits, torch.trunc),
            "these are digits behind the point; they count from the first 1 of each number":
                lambda x, digits: (x * 2**digits).round() / 2**digits,
            "one digit too many: m begins with 0.5, so its first 1 is the first digit behind the point":
                lambda x, digits: with_digits(x, digits + 1),
            "one digit too few: the first 1 counts as a digit here":
                lambda x, digits: with_digits(x, digits - 1),
            "a tie always goes up here; it needs to go to the even one, as torch.round does":
                lambda x, digits: with_digits(x, digits, lambda v: (v + 0.5).floor()),
            "a tie goes away from 0 here; it needs to go to the even one, as torch.round does":
                lambda x, digits: with_digits(x, digits, lambda v: v.sign() * (v.abs() + 0.5).floor()),
        }),
}
