"""Exercises of lesson 03: a window mask, a test that finds wrong masks, and the leaks of a mask through several layers."""
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.exercises.exercise import Exercise, numbers


def slow_window_mask(T, reach):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        for j in range(T):
            mask[i, j] = abs(i - j) <= reach
    return mask


@dataclass
class Suspect:
    """An attention of words to the words of their sentence, x [B, T, d] and lengths [B] -> [B, T, d].

    mask: of the lengths and T; it may be wrong.
    """

    name: str
    mask: Callable[[Tensor, int], Tensor]

    def __call__(self, x: Tensor, lengths: Tensor) -> Tensor:
        scores = x @ x.mT / math.sqrt(x.shape[-1])                              # [B, T, T]
        return scores.masked_fill(~self.mask(lengths, x.shape[1]), -torch.inf).softmax(-1) @ x

    def __repr__(self):
        return f"suspect {self.name}"


def real(lengths, T):
    return (torch.arange(T) < lengths.unsqueeze(-1)).unsqueeze(1)               # [B, 1, T]


def past(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


SUSPECTS = {suspect.name: suspect for suspect in (
    Suspect("A", lambda lengths, T: real(lengths, T) & past(T)),
    Suspect("B", lambda lengths, T: torch.ones(T, T, dtype=torch.bool)),
    Suspect("C", lambda lengths, T: real(lengths.roll(1), T) & past(T)),
    Suspect("D", lambda lengths, T: ~real(lengths, T) & past(T)),
    Suspect("E", real))}


class Rounded(Suspect):
    """The last digits of its outputs follow the width of the batch, as those of a matrix product may."""

    def __call__(self, x: Tensor, lengths: Tensor) -> Tensor:
        return super().__call__(x, lengths) * (1 + 2e-7 * x.shape[1])


@dataclass(repr=False)
class Shifted(Suspect):
    """Right but for one number of the first two words, which padding moves by 1e-3, up or down as `signs` say."""

    column: int
    signs: tuple[int, int]

    def __call__(self, x: Tensor, lengths: Tensor) -> Tensor:
        output, shift = super().__call__(x, lengths), 1e-3 * (lengths < x.shape[1]).unsqueeze(1)
        output[:, :2, self.column] += shift * torch.tensor(self.signs)
        return output


SHIFTED = [Shifted("H", SUSPECTS["A"].mask, *how) for how in ((-1, (1, -1)), (-1, (1, 1)), (0, (-1, -1)))]
EARLY = Suspect("F", lambda lengths, T: real(lengths, T) & past(T) | (distance(T) == 1 - T))    # query 0 sees the last key
SOUND = Rounded("G", SUSPECTS["A"].mask)


def slow_harmed(attention, x, lengths):
    return compared(attention, x, lengths, apart)


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


def compared(attention, x, lengths, differ, cut=True):
    """Whether each sentence's output in the batch and alone `differ`, [B]; cut: alone it is without its padding."""
    together = attention(x, lengths)
    return torch.stack([torch.as_tensor(differ(
        together[i, :n], attention(x[i:i + 1, :n if cut else None], lengths[i:i + 1])[0, :n]))
        for i, n in enumerate(lengths.tolist())])


def apart(a, b):
    return not torch.allclose(a, b, atol=1e-5)


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
    mask = past(T)
    mask[tuple(zip(*holes))] = True
    return mask


EXERCISES = {
    "window_mask": Exercise(
        slow_window_mask,
        [(2, 3), (3, 1), (4, 0), (6, 3)],
        {
            "the window is one position too wide; reach counts the positions on each side":
                lambda T, reach: distance(T).abs() <= reach + 1,
            "no query sees itself; a distance of 0 is inside":
                lambda T, reach: (distance(T).abs() <= reach) & (distance(T) != 0),
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
    "harmed": Exercise(
        slow_harmed,
        [(SUSPECTS["B"], numbers(2, 3, 2, seed=3), torch.tensor([2, 3])),
         (SUSPECTS["C"], numbers(2, 3, 2, seed=3), torch.tensor([2, 3])),
         (SUSPECTS["D"], numbers(2, 3, 2, seed=3), torch.tensor([2, 3])),
         (SUSPECTS["A"], numbers(2, 3, 2, seed=3), torch.tensor([2, 3])),
         (EARLY, numbers(2, 3, 2, seed=3), torch.tensor([2, 3])),
         (SOUND, numbers(2, 3, 2, seed=3), torch.tensor([2, 3])),
         *((shifted, numbers(2, 3, 2, seed=3), torch.tensor([2, 3])) for shifted in SHIFTED),
         (SUSPECTS["C"], numbers(3, 4, 3, seed=4), torch.tensor([2, 4, 3]))],
        {
            "NaN passes your test: NaN > 1e-5 is False, and equal_nan=True accepts it; ask whether all numbers are close":
                lambda attention, x, lengths: compared(attention, x, lengths, lambda a, b: ((a - b).abs() > 1e-5).any()),
            "outputs that are equal only up to rounding count as harmed; compare them with a tolerance":
                lambda attention, x, lengths: compared(attention, x, lengths, lambda a, b: not torch.equal(a, b)),
            "the outputs are added up, or averaged, before they are compared, and errors cancel; compare each number":
                lambda attention, x, lengths: compared(attention, x, lengths, lambda a, b: apart(a.mean(0), b.mean(0))),
            "only the first number of each output is compared; a batch may change any":
                lambda attention, x, lengths: compared(attention, x, lengths, lambda a, b: apart(a[:, 0], b[:, 0])),
            "only outputs that the batch makes larger count as changed; take the absolute value":
                lambda attention, x, lengths: compared(attention, x, lengths, lambda a, b: not (a - b < 1e-5).all()),
            "only outputs that the batch makes smaller count as changed; take the absolute value":
                lambda attention, x, lengths: compared(attention, x, lengths, lambda a, b: not (b - a < 1e-5).all()),
            "your tolerance is too wide; rounding changes the seventh digit":
                lambda attention, x, lengths: compared(attention, x, lengths, lambda a, b: not torch.allclose(a, b, atol=0.1)),
            "only the last word of each sentence is compared; a batch may change any":
                lambda attention, x, lengths: compared(attention, x, lengths, lambda a, b: apart(a[-1], b[-1])),
            "alone, each sentence is given the lengths of the whole batch; it needs its own, lengths[i:i + 1]":
                lambda attention, x, lengths: torch.tensor([
                    apart(attention(x, lengths)[i, :n], attention(x[i:i + 1, :n], lengths)[0])
                    for i, n in enumerate(lengths.tolist())]),
            "alone, the sentence still has its padding; cut it to its length":
                lambda attention, x, lengths: compared(attention, x, lengths, apart, cut=False),
            "True and False are exchanged; True marks a sentence that the batch changes":
                lambda attention, x, lengths: ~slow_harmed(attention, x, lengths),
            "one sentence that differs marks the whole batch; give each sentence a verdict of its own":
                lambda attention, x, lengths: slow_harmed(attention, x, lengths).any().expand(len(x)),
            "only the first sentence is compared":
                lambda attention, x, lengths: slow_harmed(attention, x, lengths) & (torch.arange(len(x)) == 0),
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
