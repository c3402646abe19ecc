"""Exercises of lesson 06: the rotation from one position to another, rotary positions as in Llama, ALiBi."""
import math

import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_shift_matrix(delta, d, base=10_000.0):
    M = torch.zeros(d, d)
    for j in range(0, d, 2):
        angle = delta / base ** (j / d)
        M[j, j], M[j, j + 1] = math.cos(angle), math.sin(angle)
        M[j + 1, j], M[j + 1, j + 1] = -math.sin(angle), math.cos(angle)
    return M


def slow_rotate_halves(x, base=10_000.0):
    T, d = x.shape
    turned = torch.zeros(T, d)
    for m in range(T):
        for i in range(d // 2):
            angle = m / base ** (2 * i / d)
            a, b = x[m, i], x[m, i + d // 2]
            turned[m, i] = a * math.cos(angle) - b * math.sin(angle)
            turned[m, i + d // 2] = a * math.sin(angle) + b * math.cos(angle)
    return turned


def slow_alibi_row(num_heads, T):
    row = torch.zeros(num_heads, 1, T)
    for h in range(num_heads):
        slope = 2 ** (-8 * (h + 1) / num_heads)
        for n in range(T):
            row[h, 0, n] = -slope * (T - 1 - n) + slope * (T - 1)      # the last query's, less its first number
    return row


def turned_halves(x, angles, sign=-1):
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() + sign * b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


def mixed_layout(x, angles):
    """Halves are exchanged as pairs, but the angles stand as for neighbours."""
    a, b = x.chunk(2, -1)
    angles = angles.repeat_interleave(2, -1)
    return x * angles.cos() + torch.cat([-b, a], -1) * angles.sin()


def angles_of(x, base=10_000.0, first=0, step=2):
    T, d = x.shape
    return torch.arange(first, first + T).unsqueeze(1) * base ** (-step * torch.arange(d // 2) / d)


def row_of(slopes, T):
    return slopes.view(-1, 1, 1) * torch.arange(T)


def slopes_of(num_heads, first=1):
    return 2.0 ** (-8 * torch.arange(first, first + num_heads) / num_heads)


def from_angles(angles, d):
    M = torch.zeros(d, d)
    for j, angle in enumerate(angles):
        a, b = 2 * j, 2 * j + 1
        M[a, a] = M[b, b] = math.cos(angle)
        M[a, b], M[b, a] = math.sin(angle), -math.sin(angle)
    return M


def in_halves(M):
    """A matrix of pairs (2j, 2j + 1), with its rows and columns in the order of pairs (j, j + d / 2)."""
    order = torch.arange(len(M)).view(-1, 2).mT.flatten()
    return M[order][:, order]


def mirrored(M):
    """A symmetric matrix: what is below the diagonal becomes what is above it."""
    return M.triu() + M.triu(1).mT


def interleaved(x):
    """The two halves of the columns, side by side: column i of each to 2i and 2i + 1."""
    return x.view(len(x), 2, -1).mT.flatten(1)


def turned_neighbours(x, base):
    """Neighbours (2i, 2i + 1) turned, as the paper does."""
    order = torch.arange(x.shape[1]).view(-1, 2).mT.flatten()
    return turned_halves(x[:, order], angles_of(x, base))[:, order.argsort()]


EXERCISES = {
    "shift_matrix": Exercise(
        slow_shift_matrix,
        [(1, 2), (-1, 2), (2, 4), (3, 4, 100.0), (5, 6)],
        {
            "this turns back, to the position delta before; exchange the signs of the sines":
                lambda delta, d, base=10_000.0: slow_shift_matrix(delta, d, base).mT,
            "both sines have a plus; in a rotation one of them has a minus":
                lambda delta, d, base=10_000.0: mirrored(slow_shift_matrix(delta, d, base)),
            "both sines have a minus; in a rotation only one has":
                lambda delta, d, base=10_000.0: mirrored(slow_shift_matrix(delta, d, base).mT),
            "`delta` is ignored; each pair turns by delta times its frequency":
                lambda delta, d, base=10_000.0: slow_shift_matrix(1, d, base),
            "this turns forward for a negative `delta`, too; its sign says in which direction":
                lambda delta, d, base=10_000.0: slow_shift_matrix(abs(delta), d, base),
            "the frequencies fall too slowly; pair j has base ** (-2j / d)":
                lambda delta, d, base=10_000.0: (
                    from_angles([delta / base ** (j / d) for j in range(d // 2)], d)),
            "all pairs turn by the same angle; each has a frequency of its own":
                lambda delta, d, base=10_000.0: from_angles([float(delta)] * (d // 2), d),
            "`base` is ignored; the frequencies depend on it":
                lambda delta, d, base=10_000.0: slow_shift_matrix(delta, d),
            "this is the identity, which leaves every position where it is; put a rotation on its diagonal for each pair":
                lambda delta, d, base=10_000.0: torch.eye(d),
            "each column is paired with the one half the width away; pair columns 2j and 2j + 1":
                lambda delta, d, base=10_000.0: in_halves(slow_shift_matrix(delta, d, base)),
        }),
    "rotate_halves": Exercise(
        slow_rotate_halves,
        [(torch.tensor([[1.0, 0.0], [1.0, 0.0]]),), (numbers(3, 4, seed=0),), (numbers(3, 4, seed=1), 100.0),
         (numbers(4, 6, seed=2),)],
        {
            "the angles are laid out for neighbours, each twice in a row; columns i and i + d / 2 turn by the same angle":
                lambda x, base=10_000.0: mixed_layout(x, angles_of(x, base)),
            "neighbouring columns are paired; pair column i with column i + d / 2":
                lambda x, base=10_000.0: turned_neighbours(x, base),
            "the pairs are right, but their results stand side by side; put them back into columns i and i + d / 2":
                lambda x, base=10_000.0: interleaved(turned_halves(x, angles_of(x, base))),
            "the pairs turn the other way; the first column of a pair gets a cos - b sin":
                lambda x, base=10_000.0: turned_halves(x, -angles_of(x, base)),
            "both columns are sums; the first column of a pair gets a cos - b sin":
                lambda x, base=10_000.0: turned_halves(x, angles_of(x, base), sign=1),
            "the positions begin at 1; the first row is not turned":
                lambda x, base=10_000.0: turned_halves(x, angles_of(x, base, first=1)),
            "the frequencies fall too slowly; pair i has base ** (-2i / d)":
                lambda x, base=10_000.0: turned_halves(x, angles_of(x, base, step=1)),
            "all pairs turn by the same angle; each has a frequency of its own":
                lambda x, base=10_000.0: turned_halves(x, angles_of(x, step=0)),
            "`base` is ignored; the frequencies depend on it":
                lambda x, base=10_000.0: turned_halves(x, angles_of(x)),
        }),
    "alibi_row": Exercise(
        slow_alibi_row,
        [(1, 2), (2, 3), (4, 4)],
        {
            "far keys are preferred; later keys are nearer to the query, so the bias grows with the key's position":
                lambda num_heads, T: -slow_alibi_row(num_heads, T),
            "this is the table for all queries; one row, the same for all of them, is enough":
                lambda num_heads, T: (
                    -slopes_of(num_heads).view(-1, 1, 1) * (torch.arange(T).view(-1, 1) - torch.arange(T)).abs()),
            "this is the table for all queries, its future changed; one row, the same for all of them, is enough":
                lambda num_heads, T: (
                    -slopes_of(num_heads).view(-1, 1, 1) * (torch.arange(T).view(-1, 1) - torch.arange(T))),
            "this row gives the right weights, but is not 0 at the first key; subtract its first number":
                lambda num_heads, T: row_of(slopes_of(num_heads), T) - slopes_of(num_heads).view(-1, 1, 1) * (T - 1),
            "this row gives the right weights, but is not 0 at the first key; count the keys from 0":
                lambda num_heads, T: row_of(slopes_of(num_heads), T) + slopes_of(num_heads).view(-1, 1, 1),
            "the axis of the queries is missing; it has length 1":
                lambda num_heads, T: slow_alibi_row(num_heads, T)[:, 0],
            "the heads are counted from 0, so the first slope is 1; they are 2 ** (-8h / H) for h from 1 to H":
                lambda num_heads, T: row_of(slopes_of(num_heads, first=0), T),
            "the slopes fall too fast; divide the exponent by the number of heads, 2 ** (-8h / H)":
                lambda num_heads, T: row_of(2.0 ** (-8 * torch.arange(1, num_heads + 1)), T),
            "the exponent lacks 8 / H; the slopes are 2 ** (-8h / H)":
                lambda num_heads, T: row_of(2.0 ** -torch.arange(1, num_heads + 1), T),
            "all heads have the slope of the first; each has its own":
                lambda num_heads, T: row_of(slopes_of(num_heads)[:1].expand(num_heads), T),
            "all heads have the slope of the last; each has its own":
                lambda num_heads, T: row_of(slopes_of(num_heads)[-1:].expand(num_heads), T),
            "all heads have the slope 1/2; each has its own":
                lambda num_heads, T: row_of(torch.full((num_heads,), 0.5), T),
            "the slopes are missing; each head multiplies the positions of the keys by its own":
                lambda num_heads, T: row_of(torch.ones(num_heads), T),
        }),
}
