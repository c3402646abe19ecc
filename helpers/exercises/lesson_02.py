"""Exercises of lesson 02: scores by distance from one matrix product, and cosine attention."""
import math

import torch
import torch.nn.functional as F

from helpers.exercises.exercise import Exercise


def slow_distance_scores(query, key):
    scores = torch.zeros(len(query), len(key))
    for i in range(len(query)):
        for j in range(len(key)):
            scores[i, j] = -sum((q - k) ** 2 for q, k in zip(query[i], key[j])) / 2
    return scores


def slow_cosine_weights(query, key, temperature):
    weights = torch.zeros(len(query), len(key))
    for i in range(len(query)):
        for j in range(len(key)):
            dot = sum(q * k for q, k in zip(query[i], key[j]))
            lengths = query[i].square().sum().sqrt() * key[j].square().sum().sqrt()
            weights[i, j] = math.exp(dot / lengths / temperature)
        weights[i] = weights[i] / weights[i].sum()
    return weights


def half_square(x):
    return x.square().sum(-1) / 2


numbers = torch.randn(12, 3, generator=torch.Generator().manual_seed(2))
PAIRS = [(numbers[:2], numbers[2:5]), (numbers[5:9], numbers[9:])]

EXERCISES = {
    "distance_scores": Exercise(
        slow_distance_scores,
        PAIRS,
        {
            "the halves are missing: this is dot - |q|^2 - |k|^2":
                lambda query, key: query @ key.mT - 2 * half_square(query).unsqueeze(-1) - 2 * half_square(key),
            "the term of the key is missing; unlike the query's, the softmax would not drop it":
                lambda query, key: query @ key.mT - half_square(query).unsqueeze(-1),
            "the term of the query is missing; the softmax would drop it, but these are the scores":
                lambda query, key: query @ key.mT - half_square(key),
            "the sign is wrong: the nearest key needs the largest score":
                lambda query, key: half_square(query).unsqueeze(-1) + half_square(key) - query @ key.mT,
        }),
    "cosine_weights": Exercise(
        slow_cosine_weights,
        [(*pair, temperature) for pair, temperature in zip(PAIRS, (0.5, 2.0))],
        {
            "the keys still have their lengths, so long ones get more; normalise them too":
                lambda query, key, t: (F.normalize(query, dim=-1) @ key.mT / t).softmax(-1),
            "the queries still have their lengths; normalise them too":
                lambda query, key, t: (query @ F.normalize(key, dim=-1).mT / t).softmax(-1),
            "the cosines are multiplied by the temperature; divide, so that a high one makes attention soft":
                lambda query, key, t: (F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT * t).softmax(-1),
            "the softmax runs over the queries, so the columns sum to 1; it needs the last axis":
                lambda query, key, t: (F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT / t).softmax(0),
        }),
}
