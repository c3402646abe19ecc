"""Exercises of lesson 02: a width for every key, several additive scores at once, cosine attention, scaled bilinear scores."""
import math

import torch
import torch.nn.functional as F

from helpers.exercises.exercise import Exercise, numbers


def slow_distance_weights(query, key, width):
    weights = torch.zeros(len(query), len(key))
    for i in range(len(query)):
        for j in range(len(key)):
            squared = sum((q - k) ** 2 for q, k in zip(query[i], key[j]))
            weights[i, j] = math.exp(-squared / width[j] ** 2 / 2)
        weights[i] = weights[i] / weights[i].sum()
    return weights


def slow_additive_scores(query, key, W_q, W_k, w_v):
    scores = torch.zeros(len(w_v), len(query), len(key))
    for h in range(len(w_v)):
        for i in range(len(query)):
            for j in range(len(key)):
                total = (W_q[h] * query[i]).sum(-1) + (W_k[h] * key[j]).sum(-1)
                scores[h, i, j] = sum(w * math.tanh(x) for w, x in zip(w_v[h], total))
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


def slow_scaled_scores(query, key, W):
    scores = torch.zeros(len(query), len(key))
    for i in range(len(query)):
        for j in range(len(key)):
            scores[i, j] = sum(q * (row * key[j]).sum() for q, row in zip(query[i], W)) / math.sqrt(W.numel())
    return scores


def half_square(x):
    return x.square().sum(-1) / 2


def half_distance(query, key):
    return (query.unsqueeze(1) - key).square().sum(-1) / 2


def hidden(query, key, W_q, W_k):
    """Of every score and pair the sum of query and key, each carried to the hidden size: [H, T_q, T_k, d_hidden]."""
    return (query @ W_q.mT).unsqueeze(2) + (key @ W_k.mT).unsqueeze(1)


def weighed(x, w_v):
    return (x * w_v[:, None, None]).sum(-1)


def cosines(query, key):
    return F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT


PAIRS = [(torch.tensor([[0.0, 2.0], [1.0, 1.0]]), torch.tensor([[1.0, 0.0], [3.0, 4.0], [0.0, 2.0]])),
         (numbers(4, 3, seed=2), numbers(3, 3, seed=3))]
LARGE = numbers(8, 6, seed=4), numbers(7, 6, seed=5)            # all differences would be 336 numbers, the result is 56
WIDTHS = [torch.tensor([1.0, 2.0, 0.5]), torch.tensor([1.5, 0.8, 2.0]), torch.tensor([1.0, 2.0, 1.5, 0.8, 3.0, 1.2, 2.5])]

EXERCISES = {
    "distance_weights": Exercise(
        slow_distance_weights,
        [(*pair, width) for pair, width in zip([*PAIRS, LARGE], WIDTHS)],
        {
            "the term of the query is missing; divided by the width of each key, it differs from key to key, and counts":
                lambda query, key, width: ((query @ key.mT - half_square(key)) / width**2).softmax(-1),
            "the term of the key is missing; it differs from key to key, and counts":
                lambda query, key, width: ((query @ key.mT - half_square(query).unsqueeze(-1)) / width**2).softmax(-1),
            "these are dot products; both squared norms are missing":
                lambda query, key, width: (query @ key.mT / width**2).softmax(-1),
            "the width is not squared":
                lambda query, key, width: (-half_distance(query, key) / width).softmax(-1),
            "the widths are missing":
                lambda query, key, width: (-half_distance(query, key)).softmax(-1),
            "you multiply by the squared width; divide, so that a wide key reaches farther":
                lambda query, key, width: (-half_distance(query, key) * width**2).softmax(-1),
            "only the last term is divided by the squared width; put all three into brackets":
                lambda query, key, width: (
                    query @ key.mT - half_square(query).unsqueeze(-1) - half_square(key) / width**2).softmax(-1),
            "only the dot product is divided by the squared width; put all three terms into brackets":
                lambda query, key, width: (
                    query @ key.mT / width**2 - half_square(query).unsqueeze(-1) - half_square(key)).softmax(-1),
            "the halves are missing: this is dot - |q|^2 - |k|^2":
                lambda query, key, width: ((
                    query @ key.mT - 2 * half_square(query).unsqueeze(-1) - 2 * half_square(key)) / width**2).softmax(-1),
            "the half is missing: this is -|q - k|^2":
                lambda query, key, width: (-2 * half_distance(query, key) / width**2).softmax(-1),
            "the norms are not squared":
                lambda query, key, width: ((query @ key.mT - query.norm(dim=-1, keepdim=True) / 2 - key.norm(dim=-1) / 2)
                                           / width**2).softmax(-1),
            "the sign is wrong; the nearest key needs the largest score":
                lambda query, key, width: (half_distance(query, key) / width**2).softmax(-1),
            "both squared norms have the wrong sign; take them away from the dot product":
                lambda query, key, width: ((query @ key.mT + half_square(query).unsqueeze(-1) + half_square(key))
                                           / width**2).softmax(-1),
            "this is the distance; the score needs its square":
                lambda query, key, width: (-torch.cdist(query, key) / 2 / width**2).softmax(-1),
            "these are the scores; the softmax is missing":
                lambda query, key, width: -half_distance(query, key) / width**2,
            "the softmax runs over the queries, so the columns sum to 1; take it over the last axis":
                lambda query, key, width: (-half_distance(query, key) / width**2).softmax(0),
            "sum() without an axis adds the numbers of all queries, and of all keys; each needs its own sum: sum(-1)":
                lambda query, key, width: ((query @ key.mT - query.square().sum() / 2 - key.square().sum() / 2)
                                           / width**2).softmax(-1),
            "sum() without an axis adds the numbers of all queries; each query needs its own sum: sum(-1)":
                lambda query, key, width: ((query @ key.mT - query.square().sum() / 2 - half_square(key))
                                           / width**2).softmax(-1),
            "sum() without an axis adds the numbers of all keys; each key needs its own sum: sum(-1)":
                lambda query, key, width: ((query @ key.mT - half_square(query).unsqueeze(-1) - key.square().sum() / 2)
                                           / width**2).softmax(-1),
            "the query's term is one number for each row, so it needs a second axis: keepdim=True or unsqueeze(-1)":
                lambda query, key, width: ((query @ key.mT - half_square(query) - half_square(key)) / width**2).softmax(-1),
            "the query's term is one number for each row; it needs a second axis: keepdim=True or unsqueeze(-1)":
                lambda query, key, width: (
                    -(query.square().sum(-1) - 2 * query @ key.mT + key.square().sum(-1)) / 2 / width**2).softmax(-1),
            "a key's width and its term are one number for each column, so they need no second axis: leave out unsqueeze(-1)":
                lambda query, key, width: (-half_distance(query, key) / width.unsqueeze(-1) ** 2).softmax(-1),
            "a product of matrices needs the keys as columns: query @ key.mT":
                lambda query, key, width: query @ key,
        },
        most=112,
        without="cdist",
        at_once=True),
    "additive_scores": Exercise(
        slow_additive_scores,
        [(torch.tensor([[1.0], [0.0]]), torch.tensor([[0.5], [-1.0], [2.0]]), torch.tensor([[[1.0], [0.5]]]),
          torch.tensor([[[2.0], [1.0]]]), torch.tensor([[1.0, 2.0]])),
         (numbers(4, 2, seed=6), numbers(5, 3, seed=7), numbers(3, 6, 2, seed=8), numbers(3, 6, 3, seed=9),
          numbers(3, 6, seed=10))],
        {
            "the tanh is missing":
                lambda query, key, W_q, W_k, w_v: weighed(hidden(query, key, W_q, W_k), w_v),
            "the tanh comes after the sum of query and key, and you take it of each alone":
                lambda query, key, W_q, W_k, w_v: weighed(
                    (query @ W_q.mT).tanh().unsqueeze(2) + (key @ W_k.mT).tanh().unsqueeze(1), w_v),
            "the tanh comes before w_v, not after":
                lambda query, key, W_q, W_k, w_v: weighed(hidden(query, key, W_q, W_k), w_v).tanh(),
            "w_v is missing: multiply the hidden numbers by it before you add them":
                lambda query, key, W_q, W_k, w_v: hidden(query, key, W_q, W_k).tanh().sum(-1),
            "the sum over the d_hidden numbers is missing: sum(-1)":
                lambda query, key, W_q, W_k, w_v: hidden(query, key, W_q, W_k).tanh() * w_v[:, None, None],
            "the scores stay apart, and you add them over H as well":
                lambda query, key, W_q, W_k, w_v: weighed(hidden(query, key, W_q, W_k).tanh(), w_v).sum(0),
            "you use the first w_v for all scores; each has its own":
                lambda query, key, W_q, W_k, w_v: hidden(query, key, W_q, W_k).tanh() @ w_v[0],
            "you multiply what comes from query and key; add it":
                lambda query, key, W_q, W_k, w_v: weighed(
                    ((query @ W_q.mT).unsqueeze(2) * (key @ W_k.mT).unsqueeze(1)).tanh(), w_v),
            "you subtract what comes from the key; add it to what comes from the query":
                lambda query, key, W_q, W_k, w_v: weighed(hidden(query, -key, W_q, W_k).tanh(), w_v),
            "these are the weights; return the scores, without a softmax":
                lambda query, key, W_q, W_k, w_v: weighed(hidden(query, key, W_q, W_k).tanh(), w_v).softmax(-1),
            "rows and columns are exchanged; a row is a query":
                lambda query, key, W_q, W_k, w_v: weighed(hidden(query, key, W_q, W_k).tanh(), w_v).mT,
            "every query meets every key, so insert an axis into both: [H, T_q, 1, d_hidden] and [H, 1, T_k, d_hidden]":
                lambda query, key, W_q, W_k, w_v: query @ W_q.mT + key @ W_k.mT,
            "H is the first axis, so the new axes come later: the query is [H, T_q, 1, d_hidden], the key [H, 1, T_k, d_hidden]":
                lambda query, key, W_q, W_k, w_v: (query @ W_q.mT).unsqueeze(1) + key @ W_k.mT,
            "H is the first axis of the key, too: insert one after it, [H, 1, T_k, d_hidden]":
                lambda query, key, W_q, W_k, w_v: (query @ W_q.mT).unsqueeze(2) + key @ W_k.mT,
            "W_q is [H, d_hidden, d_query], so for the rows of query it is query @ W_q.mT":
                lambda query, key, W_q, W_k, w_v: query @ W_q,
            "W_k is [H, d_hidden, d_key], so for the rows of key it is key @ W_k.mT":
                lambda query, key, W_q, W_k, w_v: key @ W_k,
            "w_v is [H, d_hidden], so to multiply [H, T_q, T_k, d_hidden] it needs two axes in between: w_v[:, None, None]":
                lambda query, key, W_q, W_k, w_v: (hidden(query, key, W_q, W_k).tanh() * w_v).sum(-1),
            "w_v is [H, d_hidden], and @ would need it with its axes in other places; multiply by w_v[:, None, None], and add":
                lambda query, key, W_q, W_k, w_v: hidden(query, key, W_q, W_k).tanh() @ w_v,
        },
        at_once=True),
    "cosine_weights": Exercise(
        slow_cosine_weights,
        [(*pair, temperature) for pair, temperature in zip([*PAIRS, (LARGE[0][:3], LARGE[1][:3])], (0.5, 2.0, 1.0))],
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
