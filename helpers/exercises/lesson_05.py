"""Exercises of lesson 05: the split into heads, permutation equivariance, and cross-attention with several heads."""
import math

import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_split_heads(x, num_heads):
    B, T, d_model = x.shape
    d_head = d_model // num_heads
    heads = torch.zeros(B, num_heads, T, d_head)
    for b in range(B):
        for t in range(T):
            for h in range(num_heads):
                heads[b, h, t] = x[b, t, h * d_head:(h + 1) * d_head]
    return heads


def slow_unshuffle(output, order):
    original = torch.zeros_like(output)
    for row, place in enumerate(order.tolist()):
        original[place] = output[row]
    return original


def slow_cross_heads(query, memory, W_q, W_k, W_v, num_heads):
    q, k, v = query @ W_q, memory @ W_k, memory @ W_v
    d_head = q.shape[1] // num_heads
    output = torch.zeros_like(q)
    for h in range(num_heads):
        head = slice(h * d_head, (h + 1) * d_head)
        for i in range(len(q)):
            scores = [float(q[i, head] @ k[j, head]) / math.sqrt(d_head) for j in range(len(k))]
            total = sum(math.exp(score) for score in scores)
            for j in range(len(k)):
                output[i, head] += math.exp(scores[j]) / total * v[j, head]
    return output


def split(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(0, 1)            # [H, T, d_head]


def cut_by_view(x, num_heads):
    return x.reshape(num_heads, len(x), -1)


def interleaved(x, num_heads):
    return x.unflatten(-1, (-1, num_heads)).permute(2, 0, 1)           # [H, T, d_head]


def attend(query, memory, W_q, W_k, W_v, num_heads, axis=-1, scale=None, cut=split):
    q, k, v = cut(query @ W_q, num_heads), cut(memory @ W_k, num_heads), cut(memory @ W_v, num_heads)
    return (q @ k.mT / (scale or math.sqrt(q.shape[-1]))).softmax(axis) @ v            # [H, T_q, d_head]


def without_softmax(query, memory, W_q, W_k, W_v, num_heads, weigh=lambda scores: scores):
    q, k, v = split(query @ W_q, num_heads), split(memory @ W_k, num_heads), split(memory @ W_v, num_heads)
    return weigh(q @ k.mT / math.sqrt(q.shape[-1])) @ v                # [H, T_q, d_head]


def merged(heads):
    return heads.transpose(0, 1).flatten(1)                            # [T_q, d_model]


EXERCISES = {
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
            "your pieces hold num_heads numbers; there should be num_heads pieces "
            "(`split` takes the size of a piece, `chunk` the number of pieces)":
                lambda x, h: x.unflatten(-1, (-1, h)).transpose(1, 2),
            "the heads stand before the batch; they belong in the second axis":
                lambda x, h: torch.stack(x.chunk(h, -1)),
        }),
    "unshuffle": Exercise(
        slow_unshuffle,
        [(torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([1, 2, 0])),
         (numbers(5, 3, seed=7), torch.tensor([3, 0, 4, 1, 2]))],
        {
            "`output[order]` shuffles once more; row i has to go back to place order[i]":
                lambda output, order: output[order],
            "the rows are still shuffled": lambda output, order: output.clone(),
            "the rows are in reverse; the order to undo is given in `order`":
                lambda output, order: output.flip(0),
        }),
    "cross_heads": Exercise(
        slow_cross_heads,
        [(torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0], [0.0]]), torch.eye(2), torch.tensor([[1.0, 1.0]]),
          torch.tensor([[3.0, 5.0]]), 2),
         (numbers(3, 4, seed=8), numbers(5, 2, seed=9), numbers(4, 4, seed=10), numbers(2, 4, seed=11),
          numbers(2, 4, seed=12), 2),
         (numbers(4, 6, seed=13), numbers(2, 3, seed=14), numbers(6, 6, seed=15), numbers(3, 6, seed=16),
          numbers(3, 6, seed=17), 3)],
        {
            "the two sequences are exchanged; queries come from `query`, keys and values from `memory`":
                lambda query, memory, *rest: merged(attend(memory, query, *rest)),
            "the scores are not scaled; divide them by the root of d_head":
                lambda *case: merged(attend(*case, scale=1)),
            "you divide the scores by the root of d_model; divide by the root of d_head, the size of one head":
                lambda *case: merged(attend(*case, scale=math.sqrt(case[0].shape[1]))),
            "you divide the scores by the root of the number of keys; divide by the root of d_head, the size of one head":
                lambda *case: merged(attend(*case, scale=math.sqrt(len(case[1])))),
            "you divide the scores by d_head; divide by its root":
                lambda *case: merged(attend(*case, scale=case[0].shape[1] // case[5])),
            "there is one softmax for all heads; every head needs its own weights":
                lambda query, memory, W_q, W_k, W_v, h: merged(attend(query, memory, W_q, W_k, W_v, 1)),
            "the softmax runs over the queries; take it over the last axis, the keys":
                lambda *case: merged(attend(*case, axis=-2)),
            "the softmax runs over the heads; take it over the last axis, the keys":
                lambda *case: merged(attend(*case, axis=0)),
            "keys and values are exchanged; compare queries with keys, and average values":
                lambda query, memory, W_q, W_k, W_v, h: merged(attend(query, memory, W_q, W_v, W_k, h)),
            "there is no softmax; each row of scores has to become weights that sum to 1":
                lambda *case: merged(without_softmax(*case)),
            "one view or reshape cuts the heads, which mixes positions and heads; split the last axis, then transpose":
                lambda *case: merged(attend(*case, cut=cut_by_view)),
            "a head takes every num_heads-th number; it needs a contiguous piece":
                lambda *case: merged(attend(*case, cut=interleaved)),
            "the heads take every num_heads-th number and are merged so, too; cut and merge contiguous pieces":
                lambda *case: attend(*case, cut=interleaved).permute(1, 2, 0).flatten(1),
            "the heads are merged number by number; lay their outputs side by side, whole":
                lambda *case: attend(*case).permute(1, 2, 0).flatten(1),
            "the heads are cut and merged by one view or reshape each, which mixes positions and heads; transpose, too":
                lambda *case: attend(*case, cut=cut_by_view).reshape(len(case[0]), -1),
            "the heads are merged by one reshape, which mixes positions and heads; transpose first":
                lambda *case: attend(*case).reshape(len(case[0]), -1),
            "the heads are merged without exchanging axes; put the positions first, then flatten the last two axes":
                lambda *case: attend(*case).flatten(1),
            "the heads are still to be merged; put the positions first, then flatten the last two axes":
                attend,
            "the positions are first, and the heads are still to be merged; flatten the last two axes":
                lambda *case: attend(*case).transpose(0, 1),
            "you average the heads; lay them side by side":
                lambda *case: attend(*case).mean(0),
            "the weights of a query do not sum to 1; divide its exponentials by their sum":
                lambda *case: merged(without_softmax(*case, weigh=torch.exp)),
            "the heads are merged in another order; the first head comes first":
                lambda *case: merged(attend(*case).flip(0)),
        }),
}
