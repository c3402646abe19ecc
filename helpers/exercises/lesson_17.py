"""Exercises of lesson 17: what a run costs, what a training step keeps in memory."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from helpers.exercises.exercise import Exercise


def slow_training_cost(layers, d_model, d_ff, d_kv, T, D, rate):
    with torch.device("meta"), FlopCounterMode(display=False) as counter:      # one text in one layer
        x = torch.empty(T, d_model, requires_grad=True)
        q = nn.Linear(d_model, d_model)(x)
        k, v = (nn.Linear(d_model, d_kv)(x).repeat(1, d_model // d_kv) for _ in range(2))      # heads share them
        attended = nn.Linear(d_model, d_model)(q @ k.mT @ v)  # one head counts as much as many
        nn.Linear(d_ff, d_model)(nn.Linear(d_model, d_ff)(attended)).sum().backward()
    flops = counter.get_total_flops() * layers * D / T
    return torch.tensor([flops / 1e18, flops / rate / 86_400])


def slow_training_memory(layers, d_model, d_ff, heads, T, texts):
    shapes = 4 * [(d_model, d_model)] + [(d_model, d_ff), (d_ff, d_model)]
    matrices = [nn.Parameter(torch.randn(shape)) for _ in range(layers) for shape in shapes]
    kept, x = {}, torch.randn(texts, T, d_model)

    def pack(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        for i in range(0, len(matrices), 6):
            *to_qkv, to_output, up, down = matrices[i:i + 6]
            q, k, v = ((x @ to).view(texts, T, heads, -1).transpose(1, 2) for to in to_qkv)
            weights = (q @ k.mT / (d_model // heads)**0.5).softmax(-1)
            x = x + (weights @ v).transpose(1, 2).flatten(2) @ to_output
            x = x + F.gelu(x @ up) @ down
    activations = sum(kept[address] for address in kept.keys() - {matrix.data_ptr() for matrix in matrices})
    x.sum().backward()
    adam = torch.optim.Adam(matrices)
    adam.step()
    averages = [adam.state[matrix][name] for matrix in matrices for name in ("exp_avg", "exp_avg_sq")]
    of_parameters = sum(one.nbytes for one in [*matrices, *(matrix.grad for matrix in matrices), *averages])
    return torch.tensor([of_parameters, activations]) / 1e3


def of_run(layers, d_model, d_ff, d_kv, T, D, rate, passes=3, of_weight=2, width=None, day=86_400, without=0):
    """The cost by the formula. width: of the scores and averages, 2 * d_model without one; without: so many of the weights."""
    weights = 2 * d_model**2 + 2 * d_model * d_kv + 2 * d_model * d_ff - without
    flops = passes * D * layers * (of_weight * weights + 2 * (2 * d_model if width is None else width) * T)
    return torch.tensor([flops / 1e18, flops / rate / day])


def of_step(layers, d_model, d_ff, heads, T, texts, copies=4, vectors=6, wide=2, tables=1, rows=1, of_number=4, weights=None):
    """The memory by the formula. copies: of each parameter; vectors, wide: of a token; tables: of each head; rows: of a
    table, for each token; of_number: bytes; weights: of a layer."""
    weights = 4 * d_model**2 + 2 * d_model * d_ff if weights is None else weights
    of_token = vectors * d_model + wide * d_ff + tables * heads * rows * T
    return torch.tensor([of_number * copies * layers * weights, of_number * texts * T * layers * of_token]) / 1e3


EXERCISES = {
    "training_cost": Exercise(
        slow_training_cost,
        [(1, 2, 8, 2, 3, 3e15, 1.25e13), (2, 4, 12, 2, 5, 1e15, 1e13), (12, 768, 3072, 256, 1024, 1e10, 1e13),
         (6, 512, 1024, 128, 2048, 3e9, 2e12)],
        {
            "this is the forward pass alone; the backward pass takes twice as much again":
                lambda *of: of_run(*of, passes=1),
            "this is the backward pass alone; add the forward pass":
                lambda *of: of_run(*of, passes=2),
            "one FLOP for each weight; a multiplication and an addition are two":
                lambda *of: of_run(*of, of_weight=1),
            "6 FLOPs for each weight and token are the matrices alone; add scores and averages":
                lambda *of: of_run(*of, width=0),
            "scores or averages are missing; each takes 2 * d_model * T for a token":
                lambda *of: of_run(*of, width=of[1]),
            "scores and averages have a backward pass, too; here they are counted forward alone":
                lambda *of: of_run(*of, width=2 * of[1] / 3),
            "keys and values have d_kv columns, not d_model":
                lambda *of: of_run(*of, without=2 * of[1] * (of[3] - of[1])),
            "the feed-forward network is d_ff wide, not 4 * d_model":
                lambda *of: of_run(*of, without=2 * of[1] * (of[2] - 4 * of[1])),
            "12 * d_model**2 are the weights of the page's layer; here keys and values are d_kv wide, the network d_ff":
                lambda *of: of_run(*of, without=2 * of[1] * (of[3] + of[2] - 5 * of[1])),
            "the feed-forward network has two matrices":
                lambda *of: of_run(*of, without=of[1] * of[2]),
            "the output projection of attention is missing":
                lambda *of: of_run(*of, without=of[1]**2),
            "keys or values are missing; both are d_kv wide":
                lambda *of: of_run(*of, without=of[1] * of[3]),
            "heads that share keys still have scores and averages of their own, so these take d_model, not d_kv":
                lambda *of: of_run(*of, width=2 * of[3]),
            "scores and averages are those of a whole text, T times too many; a token has T of each":
                lambda *of: of_run(*of, width=2 * of[1] * of[4]),
            "this is one layer; multiply by their number":
                lambda layers, *of: of_run(1, *of),
            "D is the number of tokens, not of texts":
                lambda layers, d, d_ff, d_kv, T, D, rate: of_run(layers, d, d_ff, d_kv, T, D * T, rate),
            "these are seconds; a day has 86,400":
                lambda *of: of_run(*of, day=1),
            "these are hours; a day has 24":
                lambda *of: of_run(*of, day=3600),
            "these are FLOPs, not units of 10^18":
                lambda *of: of_run(*of) * torch.tensor([1e18, 1.0]),
        },
        without="get_total_flops"),
    "training_memory": Exercise(
        slow_training_memory,
        [(1, 2, 4, 1, 3, 1), (2, 8, 24, 2, 5, 3), (2, 64, 128, 4, 32, 2), (3, 48, 96, 6, 20, 4)],
        {
            "these are the parameters alone; each also has a gradient and Adam's two averages":
                lambda *of: of_step(*of, copies=1),
            "Adam's two averages are missing":
                lambda *of: of_step(*of, copies=2),
            "the gradients are missing, or one of Adam's two averages":
                lambda *of: of_step(*of, copies=3),
            "attention has four matrices: for q, k, v and the output":
                lambda layers, d, d_ff, *of: of_step(layers, d, d_ff, *of, weights=3 * d**2 + 2 * d * d_ff),
            "the feed-forward network has two matrices":
                lambda layers, d, d_ff, *of: of_step(layers, d, d_ff, *of, weights=4 * d**2 + d * d_ff),
            "the feed-forward network is d_ff wide, not 4 * d_model":
                lambda layers, d, d_ff, *of: of_step(layers, d, 4 * d, *of),
            "12 * d_model**2 are the weights of the page's layer; here the network is d_ff wide":
                lambda layers, d, *of: of_step(layers, d, *of, weights=12 * d**2),
            "16 * d_model + 4 numbers are those of the page's layer; here the network is d_ff wide, and there are no norms":
                lambda layers, d, d_ff, heads, T, texts: of_step(
                    layers, d, d_ff, heads, T, texts, vectors=16 + 4 / d, wide=0),
            "both are the page's formulas; here the network is d_ff wide, and there are no norms":
                lambda layers, d, d_ff, heads, T, texts: of_step(
                    layers, d, d_ff, heads, T, texts, vectors=16 + 4 / d, wide=0, weights=12 * d**2),
            "the activations are those of one layer; multiply by their number":
                lambda *of: of_step(*of) / torch.tensor([1, of[0]]),
            "the activations are those of one text; multiply by `texts`":
                lambda *of: of_step(*of[:-1], 1),
            "these layers have no norms, so each keeps 6 vectors of d_model numbers for a token, not 8":
                lambda *of: of_step(*of, vectors=8),
            "these layers have no norms: 6 vectors of d_model numbers for a token, not 8, and none of the norms' 4 numbers":
                lambda *of: of_step(*of, vectors=8 + 4 / of[1]),
            "one vector is missing; it keeps the input, q, k, v, attention's output, and the input of the network":
                lambda *of: of_step(*of, vectors=5),
            "a layer's output is the input of the next; count it once":
                lambda *of: of_step(*of, vectors=7),
            "two vectors are d_ff wide, one before GELU and one after":
                lambda *of: of_step(*of, wide=1),
            "attention is explicit: add its tables of weights":
                lambda *of: of_step(*of, tables=0),
            "this attention is not fused: it keeps T weights for each head and token, not one number":
                lambda *of: of_step(*of, rows=1 / of[4]),
            "softmax keeps its result, the weights; the scores are not kept":
                lambda *of: of_step(*of, tables=2),
            "each head has a table of its own":
                lambda *of: of_step(*of, tables=1 / of[3]),
            "a token has one row of each table, T weights; T * T are those of a whole text":
                lambda *of: of_step(*of, rows=of[4]),
            "these are numbers; each takes 4 bytes":
                lambda *of: of_step(*of, of_number=1),
            "these are bytes; a kB has 1000":
                lambda *of: of_step(*of) * 1e3,
            "a kB is 1000 bytes here, not 1024":
                lambda *of: of_step(*of) * 1e3 / 1024,
            "these are MB; a kB has 1000 bytes":
                lambda *of: of_step(*of) / 1e3,
        }),
}
