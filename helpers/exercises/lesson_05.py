"""Exercises of lesson 05: self-attention in six steps, and the split into heads."""
import math

import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_self_attention(x, W_q, W_k, W_v):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    output = torch.zeros(len(x), v.shape[1])
    for i in range(len(x)):
        scores = [float(sum(q[i] * k[j])) / math.sqrt(q.shape[1]) for j in range(len(x))]
        total = sum(math.exp(score) for score in scores)
        for j in range(len(x)):
            output[i] += math.exp(scores[j]) / total * v[j]
    return output


def slow_split_heads(x, num_heads):
    B, T, d_model = x.shape
    d_head = d_model // num_heads
    heads = torch.zeros(B, num_heads, T, d_head)
    for b in range(B):
        for t in range(T):
            for h in range(num_heads):
                heads[b, h, t] = x[b, t, h * d_head:(h + 1) * d_head]
    return heads


def attend(x, W_q, W_k, W_v, axis=-1, scale=None):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    return (q @ k.mT / (scale or math.sqrt(q.shape[1]))).softmax(axis) @ v


EXERCISES = {
    "self_attention": Exercise(
        slow_self_attention,
        [(torch.eye(2), torch.tensor([[1.0], [2.0]]), torch.tensor([[0.0], [1.0]]),
          torch.tensor([[3.0], [5.0]])),
         (numbers(3, 4, seed=5), numbers(4, 2, seed=6), numbers(4, 2, seed=7), numbers(4, 2, seed=8)),
         (numbers(5, 3, seed=9), numbers(3, 4, seed=10), numbers(3, 4, seed=11), numbers(3, 6, seed=12))],
        {
            "the scores are not scaled; divide them by the root of d_head, the dimension of a query":
                lambda x, W_q, W_k, W_v: attend(x, W_q, W_k, W_v, scale=1),
            "you divide the scores by the root of d, the dimension of x; divide by the root of d_head":
                lambda x, W_q, W_k, W_v: attend(x, W_q, W_k, W_v, scale=math.sqrt(x.shape[1])),
            "you divide the scores by d_head; divide by its root":
                lambda x, W_q, W_k, W_v: attend(x, W_q, W_k, W_v, scale=W_q.shape[1]),
            "the softmax runs over the queries; take it over the last axis, the keys":
                lambda x, W_q, W_k, W_v: attend(x, W_q, W_k, W_v, axis=0),
            "queries and keys are exchanged":
                lambda x, W_q, W_k, W_v: attend(x, W_k, W_q, W_v),
        }),
    "split_heads": Exercise(
        slow_split_heads,
        [(torch.arange(8.0).view(1, 2, 4), 2), (numbers(1, 5, 6, seed=5), 3), (numbers(2, 3, 8, seed=6), 2)],
        {
            "one view or reshape mixes positions and heads; split the last axis, then transpose":
                lambda x, h: x.reshape(x.shape[0], h, x.shape[1], -1),
            "the axes of heads and positions are still to be exchanged":
                lambda x, h: x.unflatten(-1, (h, -1)),
            "a head takes every num_heads-th number; it needs a contiguous piece":
                lambda x, h: x.unflatten(-1, (-1, h)).permute(0, 3, 1, 2),
        }),
}
