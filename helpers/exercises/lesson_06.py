"""Exercises of lesson 06: places in binary, and the rotation from one place to another."""
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


EXERCISES = {
    "binary_places": Exercise(
        slow_binary_places,
        [(5, 3), (16, 4), (3, 5)],
        {
            "the smallest bit comes first; turn the columns round":
                lambda T, bits: slow_binary_places(T, bits).flip(1),
            "the rows begin at 1; the first place is 0":
                lambda T, bits: slow_binary_places(T + 1, bits)[1:],
            "bits are 0 or 1; take the remainder of a division by 2":
                lambda T, bits: (torch.arange(T).unsqueeze(1) // 2 ** torch.arange(bits - 1, -1, -1)).float(),
        }),
    "shift_matrix": Exercise(
        slow_shift_matrix,
        [(1, 4), (5, 6), (3, 4, 100.0)],
        {
            "this turns back, to the place delta before; exchange the signs of the sines":
                lambda delta, d, base=10_000.0: slow_shift_matrix(delta, d, base).mT,
            "the frequencies fall too slowly; pair j has base ** (-2j / d)":
                lambda delta, d, base=10_000.0: from_angles([delta / base ** (j / d) for j in range(d // 2)], d),
            "all pairs turn by the same angle; each has a frequency of its own":
                lambda delta, d, base=10_000.0: from_angles([float(delta)] * (d // 2), d),
        }),
}
