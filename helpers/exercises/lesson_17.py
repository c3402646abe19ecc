"""Exercises of lesson 17: what a run costs, merging outputs over two halves of the keys, a process's part of the loss, rounding."""
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


def slow_part_of_loss(losses, masked, rank, world):
    own, tokens = 0.0, 0
    for row, (of_row, chosen) in enumerate(zip(losses.tolist(), masked.tolist())):
        for loss, is_masked in zip(of_row, chosen):
            if is_masked:
                tokens += 1                                   # of the whole batch
                if row % world == rank:
                    own += loss
    return torch.tensor(world * own / tokens)


def slow_keep_digits(x, digits):
    numbers = []
    for value in x.tolist():
        m, e = math.frexp(value)                              # value = m * 2**e, 0.5 <= |m| < 1
        whole = round(m * 2**digits)                          # a tie goes to the even one
        numbers.append(math.ldexp(whole, e - digits))
    return torch.tensor(numbers)


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


def part(losses, masked, rank, world, times=None, by=None):
    """The sum of the process's masked losses, times `times` (without one the world size), by `by` (the batch's masked tokens)."""
    own = (losses * masked)[rank::world].sum()
    return own * (world if times is None else times) / (masked.sum() if by is None else by)


def with_digits(x, digits, rounding=torch.round):
    m, e = torch.frexp(x)
    return torch.ldexp(rounding(m * 2**digits), e - digits)


def powers_of_whole_numbers(x, digits):
    m, e = torch.frexp(x)
    return (m * 2**digits).round() * 2**(e - digits)


def power_of_the_exponent(x, digits):
    m, e = torch.frexp(x)
    return (m * 2**digits).round() / 2**digits * 2**e


def not_moved_back(x, digits):
    m, e = torch.frexp(x)
    return torch.ldexp((m * 2**digits).round(), e)


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
    "part_of_loss": Exercise(
        slow_part_of_loss,
        [(torch.tensor([[1.0, 2.0], [9.0, 7.0]]), torch.tensor([[True, True], [True, False]]), 1, 2),
         (torch.tensor([[1.0, 2.0, 3.0], [10.0, 5.0, 5.0]]), torch.tensor([[True, True, True], [True, False, False]]), 0, 2),
         (numbers(2, 3, seed=22).square(), torch.tensor([[False, False, False], [True, True, False]]), 0, 2),
         (numbers(6, 3, seed=20).square(), numbers(6, 3, seed=21) > -0.3, 1, 3),
         (numbers(5, 4, seed=18).square(), numbers(5, 4, seed=19) > 0.2, 1, 3)],
        {
            "this is the mean over the process's own tokens; divide its sum by the masked tokens of the whole batch":
                lambda x, m, rank, world: x[rank::world][m[rank::world]].mean(),
            "this is world times the mean over the process's own tokens; divide by the masked tokens of the whole batch":
                lambda x, m, rank, world: part(x, m, rank, world, by=m[rank::world].sum()),
            "the average over the processes divides by `world`; multiply by it":
                lambda x, m, rank, world: part(x, m, rank, world, times=1),
            "the average over the processes divides by `world` already; multiply by it instead":
                lambda x, m, rank, world: part(x, m, rank, world, times=1 / world),
            "you divide by the number of texts; divide by the masked tokens of the whole batch":
                lambda x, m, rank, world: part(x, m, rank, world, by=len(x)),
            "you divide by all tokens; divide by the masked ones":
                lambda x, m, rank, world: part(x, m, rank, world, by=m.numel()),
            "all losses of the process are added; only those of masked tokens count":
                lambda x, m, rank, world: world * x[rank::world].sum() / m.sum(),
            "all tokens are taken, in the sum and in the number; only masked ones count":
                lambda x, m, rank, world: world * x[rank::world].sum() / m.numel(),
            "this is the mean over all tokens of the process; add its masked losses, and divide by all masked tokens":
                lambda x, m, rank, world: x[rank::world].mean(),
            "`masked` is the wrong way round; True means that the token counts":
                lambda x, m, rank, world: part(x, ~m, rank, world),
            "this is the mean of the whole batch; the process takes its own rows alone":
                lambda x, m, rank, world: x[m].mean(),
            "this is the sum of the whole batch, times world; the process takes its own rows alone":
                lambda x, m, rank, world: world * x[m].mean(),
            "these are neighbouring rows; the process takes `rank`, `rank + world`, and so on":
                lambda x, m, rank, world: world * sum(
                    torch.where(ours, of, 0).sum() for of, ours in zip(x.tensor_split(world)[rank], m.tensor_split(world)[rank])
                ) / m.sum(),
            "these are `len // world` neighbouring rows; the process takes `rank`, `rank + world`, and so on":
                lambda x, m, rank, world: world * (x * m)[rank * (len(x) // world):(rank + 1) * (len(x) // world)].sum() / m.sum(),
            "one row alone is taken; the process takes `rank`, `rank + world`, and so on":
                lambda x, m, rank, world: world * (x * m)[rank].sum() / m.sum(),
            "these are rows from `rank` on; the process takes each `world`-th of them, `[rank::world]`":
                lambda x, m, rank, world: world * (x * m)[rank:].sum() / m.sum(),
        }),
    "keep_digits": Exercise(
        slow_keep_digits,
        [(torch.tensor([5.5, 9.0]), 3), (torch.tensor([-2e-5, 7e-5]), 4),
         (torch.tensor([123456.0, -98765.0]), 4),
         (torch.tensor([0.1, 0.625, 0.6875, 2.5, 3.5, -10.5]), 3),
         (torch.tensor([0.0, 1.0, -1.00390625, 1.00390625, 1.01171875, 3.14159, 257.0, -257.0]), 8)],
        {
            "digits are cut off; the nearest number may be above":
                lambda x, digits: with_digits(x, digits, torch.trunc),
            "floor always goes down; the nearest number may be above":
                lambda x, digits: with_digits(x, digits, torch.floor),
            "`2**` of negative whole numbers gives 0 in torch; `torch.ldexp` takes them":
                powers_of_whole_numbers,
            "`2**e` of a negative whole e gives 0 in torch; `torch.ldexp` takes it":
                power_of_the_exponent,
            "the digits are moved before the point and not back; `torch.ldexp` needs e - digits":
                not_moved_back,
            "these are digits behind the point; count them from the first 1 of each number":
                lambda x, digits: (x * 2**digits).round() / 2**digits,
            "one digit too many; m is at least 0.5, so its first digit behind the point is a 1":
                lambda x, digits: with_digits(x, digits + 1),
            "one digit too few; the first 1 counts as a digit":
                lambda x, digits: with_digits(x, digits - 1),
            "a tie always goes up here; it needs to go to the even one, as torch.round does":
                lambda x, digits: with_digits(x, digits, lambda v: (v + 0.5).floor()),
            "a tie goes away from 0 here; it needs to go to the even one, as torch.round does":
                lambda x, digits: with_digits(x, digits, lambda v: v.sign() * (v.abs() + 0.5).floor()),
        }),
}
