"""Exercises of lesson 02: cosine attention, scaled bilinear scores."""
import math

import torch
import torch.nn.functional as F

from helpers.exercises.exercise import Exercise, numbers


def slow_cosine_weights(query, key, temperature):
    weights = torch.zeros(len(query), len(key))
    for i in range(len(query)):
        for j in range(len(key)):
            dot = sum(q * k for q, k in zip(query[i], key[j]))
            lengths = query[i].square().sum().sqrt() * key[j].square().sum().sqrt()
            weights[i, j] = math.exp(dot / lengths / temperature)
        weights[i] = weights[i] / weights[i].sum()
    return weights


def slow_scaled_scores(query, key, W):
    scores = torch.zeros(len(query), len(key))
    for i in range(len(query)):
        for j in range(len(key)):
            scores[i, j] = sum(q * (row * key[j]).sum() for q, row in zip(query[i], W)) / math.sqrt(W.numel())
    return scores


def cosines(query, key):
    return F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT


EXERCISES = {
    "cosine_weights": Exercise(
        slow_cosine_weights,
        [(torch.tensor([[0.0, 2.0], [1.0, 1.0]]), torch.tensor([[1.0, 0.0], [3.0, 4.0], [0.0, 2.0]]), 0.5),
         (numbers(4, 3, seed=2), numbers(3, 3, seed=3), 2.0),
         (numbers(3, 6, seed=4), numbers(3, 6, seed=5), 1.0)],
        {
            "these are dot products; divide them by the norms of query and key":
                lambda query, key, t: (query @ key.mT / t).softmax(-1),
            "the keys still have their norms, so long ones get more; normalise them, too":
                lambda query, key, t: (F.normalize(query, dim=-1) @ key.mT / t).softmax(-1),
            "the queries still have their norms; normalise them, too":
                lambda query, key, t: (query @ F.normalize(key, dim=-1).mT / t).softmax(-1),
            "the temperature is missing; divide the cosines by it, before the softmax":
                lambda query, key, t: cosines(query, key).softmax(-1),
            "you multiply the cosines by the temperature; divide, so that a high one makes attention soft":
                lambda query, key, t: (cosines(query, key) * t).softmax(-1),
            "the softmax runs over the queries, so the columns sum to 1; take it over the last axis":
                lambda query, key, t: (cosines(query, key) / t).softmax(0),
            "you normalise over the wrong axis, all vectors together; each vector needs norm 1, so pass dim=-1":
                lambda query, key, t: (F.normalize(query, dim=0) @ F.normalize(key, dim=0).mT / t).softmax(-1),
            "you divide the weights by the temperature; divide the cosines, before the softmax":
                lambda query, key, t: cosines(query, key).softmax(-1) / t,
            "these are the scores; the softmax is missing":
                lambda query, key, t: cosines(query, key) / t,
            "the norms are [T_q] and [T_k]; their product needs a number for every pair, so make it [T_q, 1] times [T_k]":
                lambda query, key, t: (query @ key.mT / (query.norm(dim=-1) * key.norm(dim=-1)) / t).softmax(-1),
            "F.cosine_similarity compares row by row; for every pair it needs query.unsqueeze(1) and dim=-1":
                lambda query, key, t: (F.cosine_similarity(query, key) / t).softmax(-1),
            "a norm is one number for each row, so it needs a second axis to divide by: keepdim=True":
                lambda query, key, t: (query / query.norm(dim=-1) @ (key / key.norm(dim=-1)).mT / t).softmax(-1),
        }),
    "scaled_scores": Exercise(
        slow_scaled_scores,
        [(torch.tensor([[1.0, 0.0], [1.0, 1.0]]), torch.tensor([[2.0, 1.0]]), torch.tensor([[1.0, 2.0], [0.0, 1.0]])),
         (numbers(5, 2, seed=6), numbers(4, 3, seed=7), numbers(2, 3, seed=8))],
        {
            "the divisor depends on how many queries there are; count the products in one score, d_query x d_key":
                lambda query, key, W: query @ W @ key.mT / query.numel() ** 0.5,
            "the divisor depends on how many keys there are; count the products in one score, d_query x d_key":
                lambda query, key, W: query @ W @ key.mT / key.numel() ** 0.5,
            "the divisor is missing":
                lambda query, key, W: query @ W @ key.mT,
            "you divide by the root of d_query alone, but each score is a sum of d_query x d_key products":
                lambda query, key, W: query @ W @ key.mT / len(W) ** 0.5,
            "you divide by the root of d_key alone, but each score is a sum of d_query x d_key products":
                lambda query, key, W: query @ W @ key.mT / len(W[0]) ** 0.5,
            "you divide by the variance; divide by its root":
                lambda query, key, W: query @ W @ key.mT / W.numel(),
            "you divide by d_query; divide by a root, and count the products in a score, d_query x d_key":
                lambda query, key, W: query @ W @ key.mT / len(W),
            "you divide by d_key; divide by a root, and count the products in a score, d_query x d_key":
                lambda query, key, W: query @ W @ key.mT / len(W[0]),
            "you divide by the root of d_query + d_key; count the products in a score":
                lambda query, key, W: query @ W @ key.mT / sum(W.shape) ** 0.5,
            "this depends on the numbers in these tensors; find a divisor that depends on their sizes alone":
                lambda query, key, W: query @ W @ key.mT / (query @ W @ key.mT).std(),
            "rows and columns are exchanged; a row is a query":
                lambda query, key, W: (query @ W @ key.mT).mT / W.numel() ** 0.5,
            "the key goes through W, whose rows belong to the query: query @ W @ key.mT":
                lambda query, key, W: query @ W.mT @ key.mT / W.numel() ** 0.5,
            "these are the weights; return the scores, without a softmax":
                lambda query, key, W: (query @ W @ key.mT / W.numel() ** 0.5).softmax(-1),
        }),
}
