"""Exercises of lesson 17: what a run costs, merging outputs over two halves of the keys."""
import math

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from helpers.exercises.exercise import Exercise, numbers


def slow_training_cost(layers, d_model, d_ff, d_kv, T, D, rate):
    with torch.device("meta"), FlopCounterMode(display=False) as counter:      # one text in one layer
        x = torch.empty(T, d_model, requires_grad=True)
        q = nn.Linear(d_model, d_model)(x)
        k, v = (nn.Linear(d_model, d_kv)(x).repeat(1, d_model // d_kv) for _ in range(2))      # heads share them
        attended = nn.Linear(d_model, d_model)(q @ k.mT @ v)  # one head counts as much as many
        nn.Linear(d_ff, d_model)(nn.Linear(d_model, d_ff)(attended)).sum().backward()
    flops = counter.get_total_flops() * layers * D / T
    return torch.tensor([flops / 1e18, flops / rate / 86_400])


def slow_merge(output_a, lse_a, output_b, lse_b):
    rows = []
    for a, x, b, y in zip(output_a.tolist(), lse_a.tolist(), output_b.tolist(), lse_b.tolist()):
        largest = max(x, y)
        sum_a, sum_b = math.exp(x - largest), math.exp(y - largest)
        rows.append([(sum_a * one + sum_b * other) / (sum_a + sum_b) for one, other in zip(a, b)])
    return torch.tensor(rows)


def of_run(layers, d_model, d_ff, d_kv, T, D, rate, passes=3, of_weight=2, width=None, day=86_400, without=0):
    """The cost by the formula. width: of the scores and averages, 2 * d_model without one; without: so many of the weights."""
    weights = 2 * d_model**2 + 2 * d_model * d_kv + 2 * d_model * d_ff - without
    flops = passes * D * layers * (of_weight * weights + 2 * (2 * d_model if width is None else width) * T)
    return torch.tensor([flops / 1e18, flops / rate / day])


def weighed(output_a, weight_a, output_b, weight_b):
    """The average of two outputs, by any weights [T]."""
    share = (weight_a / (weight_a + weight_b)).unsqueeze(-1)
    return share * output_a + (1 - share) * output_b


def shifted(output_a, lse_a, output_b, lse_b, largest):
    """The two averaged by their exponentials, relative to that of `largest`."""
    sum_a, sum_b = (lse_a - largest).exp().unsqueeze(-1), (lse_b - largest).exp().unsqueeze(-1)
    return (sum_a * output_a + sum_b * output_b) / (sum_a + sum_b)


EXERCISES = {
    "training_cost": Exercise(
        slow_training_cost,
        [(1, 2, 8, 2, 3, 3e15, 1.25e13), (2, 4, 12, 2, 5, 1e15, 1e13), (12, 768, 3072, 256, 1024, 1e10, 1e13),
         (6, 512, 1024, 128, 2048, 3e9, 2e12)],
        {
            "this is the forward pass alone; the backward pass takes twice as much again":
                lambda *of: of_run(*of, passes=1),
            "this is the backward pass alone; add the forward pass":
                lambda *of: of_run(*of, passes=2),
            "one FLOP for each weight; a multiplication and an addition are two":
                lambda *of: of_run(*of, of_weight=1),
            "6 FLOPs for each weight and token are the matrices alone; add scores and averages":
                lambda *of: of_run(*of, width=0),
            "scores or averages are missing; each takes 2 * d_model * T for a token":
                lambda *of: of_run(*of, width=of[1]),
            "keys and values have d_kv columns, not d_model":
                lambda *of: of_run(*of, without=2 * of[1] * (of[3] - of[1])),
            "the feed-forward network is d_ff wide, not 4 * d_model":
                lambda *of: of_run(*of, without=2 * of[1] * (of[2] - 4 * of[1])),
            "the feed-forward network has two matrices":
                lambda *of: of_run(*of, without=of[1] * of[2]),
            "the output projection of attention is missing":
                lambda *of: of_run(*of, without=of[1]**2),
            "keys or values are missing; both are d_kv wide":
                lambda *of: of_run(*of, without=of[1] * of[3]),
            "heads that share keys still have scores and averages of their own, so these take d_model, not d_kv":
                lambda *of: of_run(*of, width=2 * of[3]),
            "scores and averages are those of a whole text, T times too many; a token has T of each":
                lambda *of: of_run(*of, width=2 * of[1] * of[4]),
            "this is one layer; multiply by their number":
                lambda layers, *of: of_run(1, *of),
            "D is the number of tokens, not of texts":
                lambda layers, d, d_ff, d_kv, T, D, rate: of_run(layers, d, d_ff, d_kv, T, D * T, rate),
            "these are seconds; a day has 86,400":
                lambda *of: of_run(*of, day=1),
            "these are hours; a day has 24":
                lambda *of: of_run(*of, day=3600),
            "these are FLOPs, not units of 10^18":
                lambda *of: of_run(*of) * torch.tensor([1e18, 1.0]),
        },
        without="get_total_flops"),
    "merge": Exercise(
        slow_merge,
        [(torch.tensor([[1.0, 3.0]]), torch.tensor([0.0]), torch.tensor([[5.0, 7.0]]), torch.tensor([1.0])),
         (torch.tensor([[1.0], [2.0]]), torch.tensor([200.0, -200.0]),
          torch.tensor([[5.0], [6.0]]), torch.tensor([199.0, -200.0])),
         (torch.tensor([[1.0], [2.0]]), torch.tensor([0.0, 200.0]),
          torch.tensor([[5.0], [6.0]]), torch.tensor([200.0, 0.0])),
         (numbers(4, 3, seed=16), torch.tensor([0.0, 2.0, -1.0, 5.0]),
          numbers(4, 3, seed=17), torch.tensor([0.0, 1.0, 3.0, 4.5]))],
        {
            "both halves count alike; the one with the larger sum of exponentials needs to count more":
                lambda a, x, b, y: (a + b) / 2,
            "the shares are exchanged; each output needs that of its own keys":
                lambda a, x, b, y: weighed(a, (y - x).sigmoid(), b, (x - y).sigmoid()),
            "exponentials of 200 overflow; subtract the larger of the two first":
                lambda a, x, b, y: weighed(a, x.exp(), b, y.exp()),
            "exponentials of 200 overflow to infinity; subtract the larger of the two `lse` first":
                lambda a, x, b, y: shifted(a, x, b, y, 0),
            "these are not yet averages; divide by the sum of both shares":
                lambda a, x, b, y: sum((lse - torch.maximum(x, y)).exp().unsqueeze(-1) * one for one, lse in ((a, x), (b, y))),
            "this softmax goes over the queries; take it over the two halves":
                lambda a, x, b, y: x.softmax(0).unsqueeze(-1) * a + y.softmax(0).unsqueeze(-1) * b,
            "you subtract one maximum for all queries, and exponentials underflow; each query needs its own":
                lambda a, x, b, y: shifted(a, x, b, y, torch.cat([x, y]).max()),
            "you always subtract the first `lse`, and the other exponential overflows; subtract the larger":
                lambda a, x, b, y: shifted(a, x, b, y, x),
            "the shares are taken of the logarithms; take them of the sums, their exponentials":
                lambda a, x, b, y: weighed(a, x, b, y),
            "the two are added, not averaged; each output is divided by its own sum already":
                lambda a, x, b, y: a + b,
            "only the half with the larger sum counts; both do, by their shares":
                lambda a, x, b, y: torch.where((x > y).unsqueeze(-1), a, b),
            "the shares are [T] and the outputs [T, d]; `unsqueeze(-1)` makes the shares [T, 1], one for each row":
                lambda a, x, b, y: (x - y).sigmoid() * a + (y - x).sigmoid() * b,
            "clamped, `lse` of 200 and of 199 are the same; subtract the larger of the two instead":
                lambda a, x, b, y: weighed(a, x.clamp(max=80).exp(), b, y.clamp(max=80).exp()),
            "clamped from both sides, `lse` of 200 and of 199 are the same; subtract the larger of the two instead":
                lambda a, x, b, y: weighed(a, x.clamp(-80, 80).exp(), b, y.clamp(-80, 80).exp()),
            "you subtract the smaller `lse`, and the exponential of the other overflows; subtract the larger":
                lambda a, x, b, y: shifted(a, x, b, y, torch.minimum(x, y)),
        }),
}
