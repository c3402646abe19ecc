"""Exercises of lesson 06: positions in binary, and the rotation from one position to another."""
import math

import torch

from helpers.exercises.exercise import Exercise


def slow_binary_places(T, bits):
    table = torch.zeros(T, bits)
    for i in range(T):
        for j in range(bits):
            table[i, j] = (i >> (bits - 1 - j)) & 1
    return table


def slow_shift_matrix(delta, d, base=10_000.0):
    M = torch.zeros(d, d)
    for j in range(0, d, 2):
        angle = delta / base ** (j / d)
        M[j, j], M[j, j + 1] = math.cos(angle), math.sin(angle)
        M[j + 1, j], M[j + 1, j + 1] = -math.sin(angle), math.cos(angle)
    return M


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


EXERCISES = {
    "binary_places": Exercise(
        slow_binary_places,
        [(3, 2), (5, 3), (3, 5), (16, 4)],
        {
            "the smallest bit comes first; reverse the columns":
                lambda T, bits: slow_binary_places(T, bits).flip(1),
            "the rows begin at 1; the first position is 0":
                lambda T, bits: slow_binary_places(T + 1, bits)[1:],
            "bits are 0 or 1; take the remainder of a division by 2":
                lambda T, bits: (torch.arange(T).unsqueeze(1) // 2 ** torch.arange(bits - 1, -1, -1)).float(),
        }),
    "shift_matrix": Exercise(
        slow_shift_matrix,
        [(1, 2), (2, 4), (3, 4, 100.0), (5, 6)],
        {
            "this turns back, to the position delta before; exchange the signs of the sines":
                lambda delta, d, base=10_000.0: slow_shift_matrix(delta, d, base).mT,
            "the frequencies fall too slowly; pair j has base ** (-2j / d)":
                lambda delta, d, base=10_000.0: (
                    from_angles([delta / base ** (j / d) for j in range(d // 2)], d)),
            "all pairs turn by the same angle; each has a frequency of its own":
                lambda delta, d, base=10_000.0: from_angles([float(delta)] * (d // 2), d),
            "`base` is ignored; the frequencies depend on it":
                lambda delta, d, base=10_000.0: slow_shift_matrix(delta, d),
            "each column is paired with the one half the width away; pair columns 2j and 2j + 1":
                lambda delta, d, base=10_000.0: in_halves(slow_shift_matrix(delta, d, base)),
        }),
}
