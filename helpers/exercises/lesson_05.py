"""Exercises of lesson 05: self-attention in six steps, and the split into heads."""
import math

import torch

from helpers.exercises.exercise import Exercise


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


def case(T, d, d_head, d_value):
    return tuple(torch.randn(shape, generator=generator) for shape in ((T, d), (d, d_head), (d, d_head), (d, d_value)))


generator = torch.Generator().manual_seed(5)

EXERCISES = {
    "self_attention": Exercise(
        slow_self_attention,
        [case(3, 4, 2, 2), case(5, 3, 4, 6)],
        {
            "the scores are not scaled; divide them by the root of the size of a query":
                lambda x, W_q, W_k, W_v: attend(x, W_q, W_k, W_v, scale=1),
            "the scores are divided by the root of d, the size of a word; it is the size of a query that counts":
                lambda x, W_q, W_k, W_v: attend(x, W_q, W_k, W_v, scale=math.sqrt(x.shape[1])),
            "the softmax runs over the queries; it needs the last axis, the keys":
                lambda x, W_q, W_k, W_v: attend(x, W_q, W_k, W_v, axis=0),
            "queries and keys have changed places":
                lambda x, W_q, W_k, W_v: attend(x, W_k, W_q, W_v),
        }),
    "split_heads": Exercise(
        slow_split_heads,
        [(torch.randn(2, 3, 8, generator=generator), 2), (torch.randn(1, 5, 6, generator=generator), 3)],
        {
            "the shape is right, but one view or reshape mixes positions and heads; cut first, then transpose":
                lambda x, h: x.reshape(x.shape[0], h, x.shape[1], -1),
            "the axes of heads and positions are still to be exchanged":
                lambda x, h: x.unflatten(-1, (h, -1)),
            "a head takes every so-manieth number; it needs a piece that lies together":
                lambda x, h: x.unflatten(-1, (-1, h)).permute(0, 3, 1, 2),
        }),
}
