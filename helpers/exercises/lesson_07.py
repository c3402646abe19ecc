"""Exercises of lesson 07: the target shifted by one, a pre-norm decoder layer, the number of parameters, attention from a cache."""
import torch
import torch.nn.functional as F
from torch import nn

from helpers.exercises.exercise import Exercise, numbers


def slow_shift_right(target, bos):
    rows = []
    for row in target:                                       # [T]
        rows.append(torch.cat([torch.tensor([bos]), row[:-1]]))
    return torch.stack(rows)


def slow_decoder_layer(x, memory, up, down):
    def norm(row):                                           # RMS norm: the mean stays, no scale, no shift
        return row / row.square().mean().sqrt()

    def look(query, rows):                                   # each row is a key and its own value
        weights = torch.stack([query @ row for row in rows]).div(len(query) ** 0.5).softmax(0)
        return sum(weight * row for weight, row in zip(weights, rows))

    x, T = list(x), range(len(x))
    normed = [norm(row) for row in x]
    x = [x[t] + look(normed[t], normed[:t + 1]) for t in T]
    x = [x[t] + look(norm(x[t]), memory) for t in T]
    x = [x[t] + (norm(x[t]) @ up).relu() @ down for t in T]
    return torch.stack(x)


def slow_count_parameters(vocab_size, d_model, d_ff, num_layers):
    with torch.device("meta"):                               # tensors with a shape and without numbers
        parts = [nn.Embedding(vocab_size, d_model)]          # one table for source, target and output
        for _ in range(num_layers):
            parts += [nn.TransformerEncoderLayer(d_model, 1, d_ff), nn.TransformerDecoderLayer(d_model, 1, d_ff)]
        parts += [nn.LayerNorm(d_model), nn.LayerNorm(d_model)]                    # at the end of each stack
    return torch.tensor(sum(p.numel() for part in parts for p in part.parameters()))


def slow_attend_from_cache(q, k, v, kept_k, kept_v):
    keys, values, output = list(kept_k), list(kept_v), []
    for t in range(len(q)):
        keys.append(k[t])
        values.append(v[t])
        weights = torch.stack([q[t] @ key for key in keys]).div(len(q[t]) ** 0.5).softmax(0)
        output.append(sum(weight * value for weight, value in zip(weights, values)))
    return torch.stack(output)


def rms_norm(x, dim=-1):
    return x / x.square().mean(dim, keepdim=True).sqrt()


def layer_norm(x):
    return rms_norm(x - x.mean(-1, keepdim=True))


def as_it_is(x):
    return x


def attend(q, k, v, mask=None, power=0.5):
    scores = q @ k.mT / q.shape[-1] ** power
    return (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1) @ v


def lower(T_q, T_k, last=0):
    """True up to the diagonal, which begins in column `last`."""
    return torch.ones(T_q, T_k).tril(last).bool()


def before(norm, add=torch.add):
    """What surrounds a sublayer, from a norm before it and the way in which its result is added."""
    return lambda x, sublayer: add(x, sublayer(norm(x)))


def result_alone(x, update):
    return update


PRE_NORM = before(rms_norm)


def only(number, around):
    """What surrounds the three sublayers where this one is surrounded otherwise."""
    return tuple(around if i == number else PRE_NORM for i in range(3))


def layer(x, memory, up, down, around=(PRE_NORM,) * 3, order=(0, 1, 2), mask=lower, power=0.5, memory_mask=None,
          activation=torch.relu):
    """A decoder layer with one thing or another wrong."""
    sublayers = [lambda y: attend(y, y, y, mask(len(x), len(x)), power),
                 lambda y: attend(y, memory, memory, memory_mask, power), lambda y: activation(y @ up) @ down]
    for number in order:
        x = around[number](x, sublayers[number])
    return x


def self_attends(*case, keys=rms_norm, values=rms_norm, mask=lower, power=0.5):
    """A decoder layer whose self-attention has other keys, values, mask or scale, and where the mask leaves nothing returns 0."""
    def around(x, sublayer):
        return x + attend(rms_norm(x), keys(x), values(x), mask(len(x), len(x)), power).nan_to_num()
    return layer(*case, around=only(0, around))


def crosses(*case, keys=lambda y, memory: memory, values=lambda y, memory: memory, power=0.5):
    """A decoder layer whose cross-attention has other keys, values or scale, from the normalised x and the memory."""
    memory = case[1]

    def around(x, sublayer):
        y = rms_norm(x)
        return x + attend(y, keys(y, memory), values(y, memory), power=power)
    return layer(*case, around=only(1, around))


def count(vocab_size, d, d_ff, num_layers, tables=1, projections=4, biases=4, inner=1, outer=1, crossing=1, norms=5, norm=2,
          last=2, layers=True, extra=0):
    """The number of parameters with one thing or another wrong: how many of what there are."""
    attention = projections * d * d + biases * d
    layer = (2 + crossing) * attention + 2 * (2 * d * d_ff + inner * d_ff + outer * d) + norms * norm * d
    return torch.tensor(tables * vocab_size * d + (num_layers if layers else 1) * layer + last * norm * d + extra * vocab_size)


def too_early(T_q, T_k):
    return lower(T_q, T_k, T_k - T_q - 1)


def opposite(T_q, T_k):
    return ~lower(T_q, T_k, T_k - T_q)


def from_cache(q, k, v, kept_k, kept_v, mask=None, power=0.5):
    """mask: from the numbers of queries and keys to the mask."""
    mask = mask and mask(len(q), len(kept_k) + len(k))
    return attend(q, torch.cat([kept_k, k]), torch.cat([kept_v, v]), mask, power)


def aligned(T_q, T_k):
    """The causal mask of the last T_q of T_k tokens."""
    return lower(T_q, T_k, T_k - T_q)


def over_root_of_keys(q, k, v, kept_k, kept_v):
    scale = (q.shape[-1] / (len(kept_k) + len(k))) ** 0.5
    return from_cache(q * scale, k, v, kept_k, kept_v, aligned)


def along_the_queries(q, k, v, kept_k, kept_v):
    keys, values = torch.cat([kept_k, k]), torch.cat([kept_v, v])
    scores = q @ keys.mT / q.shape[-1] ** 0.5
    return scores.masked_fill(~aligned(*scores.shape), -torch.inf).softmax(0) @ values


EXERCISES = {
    "shift_right": Exercise(
        slow_shift_right,
        [(torch.tensor([[5, 6]]), 2), (torch.tensor([[4, 9, 3]]), 1),
         (torch.tensor([[5, 6, 7, 3], [8, 3, 0, 0]]), 2)],
        {
            "the last id comes back at the front, as with roll; `bos` belongs there":
                lambda target, bos: target.roll(1, 1),
            "the target is shifted the other way, so the decoder reads what it has to predict next":
                lambda target, bos: torch.cat([target[:, 1:], torch.full_like(target[:, :1], bos)], 1),
            "0 stands in front; `bos` belongs there":
                lambda target, bos: F.pad(target, (1, 0))[:, :-1],
            "`bos` replaced the first id, and nothing was shifted":
                lambda target, bos: torch.cat([torch.full_like(target[:, :1], bos), target[:, 1:]], 1),
            "the result is one longer than the target; drop the last id":
                lambda target, bos: torch.cat([torch.full_like(target[:, :1], bos), target], 1),
            "the batch is shifted, one row to the next; shift along the positions, the last axis":
                lambda target, bos: torch.cat([torch.full_like(target[:1], bos), target[:-1]]),
        }, at_once=True),
    "decoder_layer": Exercise(
        slow_decoder_layer,
        [(numbers(2, 2, seed=3), numbers(2, 2, seed=1), torch.eye(2), torch.eye(2)),
         *((numbers(T, 4, seed=T), numbers(5, 4, seed=7), numbers(4, 6, seed=8), numbers(6, 4, seed=9)) for T in (1, 3))],
        {
            "the residual connections are missing; add what each sublayer returns to its input":
                lambda *case: layer(*case, around=(before(rms_norm, result_alone),) * 3),
            **{f"the residual connection around {name} is missing; add what it returns to its input":
               lambda *case, number=number: layer(*case, around=only(number, before(rms_norm, result_alone)))
               for number, name in enumerate(("self-attention", "cross-attention", "feed-forward"))},
            "this is post-norm; with pre-norm the sublayer reads a normalised copy, and the sum is left alone":
                lambda *case: layer(*case, around=(lambda x, sublayer: rms_norm(x + sublayer(x)),) * 3),
            **{f"{name} is post-norm; with pre-norm it reads a normalised copy, and the sum is left alone":
               lambda *case, number=number: layer(*case, around=only(number, lambda x, sublayer: rms_norm(x + sublayer(x))))
               for number, name in enumerate(("self-attention", "cross-attention", "feed-forward"))},
            "you add to the normalised copy; add to x itself":
                lambda *case: layer(*case, around=(lambda x, sublayer: rms_norm(x) + sublayer(rms_norm(x)),) * 3),
            **{f"you add what {name} returns to the normalised copy; add it to x itself":
               lambda *case, number=number: layer(*case, around=only(
                   number, lambda x, sublayer: rms_norm(x) + sublayer(rms_norm(x))))
               for number, name in enumerate(("self-attention", "cross-attention", "feed-forward"))},
            "the norm is missing; each sublayer reads a normalised copy of x":
                lambda *case: layer(*case, around=(before(as_it_is),) * 3),
            **{f"{name} reads x as it is; it has a norm before it, too":
               lambda *case, number=number: layer(*case, around=only(number, before(as_it_is)))
               for number, name in enumerate(("self-attention", "cross-attention", "feed-forward"))},
            "only the queries of self-attention are normalised; its keys and values are read from the same normalised copy":
                lambda *case: self_attends(*case, keys=as_it_is, values=as_it_is),
            "the values of self-attention are not normalised; queries, keys and values are read from the same copy":
                lambda *case: self_attends(*case, values=as_it_is),
            "x is normalised once, at the start; each sublayer normalises the sum as it then stands":
                lambda x, *case: layer(x, *case, around=(before(lambda y: rms_norm(x)),) * 3),
            "cross-attention reads the copy that was normalised before self-attention; normalise the sum as it now stands":
                lambda x, *case: layer(x, *case, around=only(1, lambda y, sublayer: y + sublayer(rms_norm(x)))),
            "the result is normalised once more; a pre-norm layer returns the sum itself":
                lambda *case: rms_norm(layer(*case)),
            "this is layer norm; RMS norm does not subtract the mean":
                lambda *case: layer(*case, around=(before(layer_norm),) * 3),
            **{f"the norm before {name} is layer norm; RMS norm does not subtract the mean":
               lambda *case, number=number: layer(*case, around=only(number, before(layer_norm)))
               for number, name in enumerate(("self-attention", "cross-attention", "feed-forward"))},
            "this is layer norm, with its epsilon; RMS norm does not subtract the mean":
                lambda *case: layer(*case, around=(before(lambda x: F.layer_norm(x, x.shape[-1:])),) * 3),
            "the mean of the squares is taken over the tokens; take it over the numbers of each token, the last axis":
                lambda *case: layer(*case, around=(before(lambda x: rms_norm(x, 0)),) * 3),
            "one mean of the squares is taken for all tokens; each token has its own, over the last axis":
                lambda *case: layer(*case, around=(before(lambda x: rms_norm(x, (0, 1))),) * 3),
            "each row is divided by the root of the sum of its squares; RMS norm takes their mean":
                lambda *case: layer(*case, around=(before(lambda x: rms_norm(x) / x.shape[-1] ** 0.5),) * 3),
            "the mean of the squares has no root; divide by its root":
                lambda *case: layer(*case, around=(before(lambda x: x / x.square().mean(-1, keepdim=True)),) * 3),
            "an epsilon of 1e-5 shows in the result; leave it out here":
                lambda *case: layer(*case, around=(before(
                    lambda x: x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()),) * 3),
            "the memory is normalised once more; it comes finished from the encoder":
                lambda x, memory, up, down: layer(x, rms_norm(memory), up, down),
            "the values of cross-attention are normalised; the memory comes finished from the encoder":
                lambda *case: crosses(*case, values=lambda y, memory: rms_norm(memory)),
            "cross-attention takes its queries from the memory; they come from x, and keys and values from the memory":
                lambda *case: layer(*case, around=only(1, lambda x, sublayer: x + attend(case[1], *2 * [rms_norm(x)]))),
            "the memory is not read; keys and values of cross-attention are its rows":
                lambda *case: crosses(*case, keys=lambda y, memory: y, values=lambda y, memory: y),
            "self-attention sees the future; row t may look at rows 0 to t":
                lambda *case: layer(*case, mask=lambda *sizes: None),
            "the causal mask ends one column too late; row t may look at rows 0 to t":
                lambda *case: layer(*case, mask=lambda T, _: lower(T, T, 1)),
            "the causal mask ends one column too early; row t may look at itself, too":
                lambda *case: self_attends(*case, mask=too_early),
            "the causal mask ends one column too early, so that row 0 looks at nothing; row t may look at itself, too":
                lambda *case: layer(*case, mask=too_early),
            "the causal mask is `triu`, which leaves each row itself and what comes later; row t may look at rows 0 to t":
                lambda *case: layer(*case, mask=lambda T, _: lower(T, T).T),
            "the causal mask says the opposite; it is True where a row may look":
                lambda *case: self_attends(*case, mask=opposite),
            "cross-attention has the causal mask; every row may look at the whole memory":
                lambda x, memory, *case: layer(x, memory, *case, memory_mask=lower(len(x), len(memory))),
            "cross-attention is missing; it comes between self-attention and feed-forward":
                lambda *case: layer(*case, order=(0, 2)),
            "feed-forward comes before cross-attention; exchange them":
                lambda *case: layer(*case, order=(0, 2, 1)),
            "cross-attention comes before self-attention; exchange them":
                lambda *case: layer(*case, order=(1, 0, 2)),
            "the scores are not divided by the root of d":
                lambda *case: layer(*case, power=0),
            "the scores of self-attention are not divided by the root of d":
                lambda *case: self_attends(*case, power=0),
            "the scores of cross-attention are not divided by the root of d":
                lambda *case: crosses(*case, power=0),
            "the scores are divided by d; divide by its root":
                lambda *case: layer(*case, power=1),
            "the ReLU between `up` and `down` is missing":
                lambda *case: layer(*case, activation=lambda x: x),
            "the activation is GELU, not ReLU":
                lambda *case: layer(*case, activation=F.gelu),
        }, at_once=True),
    "count_parameters": Exercise(
        slow_count_parameters,
        [(10, 4, 8, 1), (7, 6, 15, 3), (37_000, 512, 2_048, 6)],
        {
            "the biases are missing; every linear layer but the output has one":
                lambda *sizes: count(*sizes, biases=0, inner=0, outer=0),
            "the biases of the attentions are missing; each of the four projections has one":
                lambda *sizes: count(*sizes, biases=0),
            "the biases of the feed-forward networks are missing; there are d_ff and d_model of them":
                lambda *sizes: count(*sizes, inner=0, outer=0),
            "both biases of a feed-forward network are counted with d_model numbers; the first has d_ff":
                lambda d_vocab, d, d_ff, n: count(d_vocab, d, d_ff, n, inner=0, outer=1) + 2 * n * d,
            "an attention has four projections: queries, keys, values, and the output":
                lambda *sizes: count(*sizes, projections=3, biases=3),
            "a decoder layer has two attentions: self-attention and cross-attention":
                lambda *sizes: count(*sizes, crossing=0),
            "a decoder layer has a second attention, which has a norm, too: cross-attention":
                lambda *sizes: count(*sizes, crossing=0, norms=4),
            "a decoder layer has three norms, one for each sublayer; or else the last bias of the feed-forward networks is missing":
                lambda *sizes: count(*sizes, norms=4),
            "the norms are missing: one for each sublayer, and one at the end of each stack":
                lambda *sizes: count(*sizes, norm=0),
            "the norms in the layers are missing: one for each sublayer":
                lambda *sizes: count(*sizes, norms=0),
            "a norm has a scale and a shift, d_model numbers each":
                lambda *sizes: count(*sizes, norm=1),
            "the last norm is missing; with pre-norm each of the two stacks ends in one":
                lambda *sizes: count(*sizes, last=0),
            "the biases of the attentions and the last norm of each stack are missing":
                lambda *sizes: count(*sizes, biases=0, last=0),
            "both stacks end in a norm, not one alone":
                lambda *sizes: count(*sizes, last=1),
            "the table is missing: vocab_size rows of d_model numbers":
                lambda *sizes: count(*sizes, tables=0),
            "the table is counted twice; source, target and output share one":
                lambda *sizes: count(*sizes, tables=2),
            "the table is counted three times; source, target and output share one":
                lambda *sizes: count(*sizes, tables=3),
            "the output layer has no bias; its weights are the shared table":
                lambda *sizes: count(*sizes, extra=1),
            "each stack has num_layers layers, not one":
                lambda *sizes: count(*sizes, layers=False),
        }, without="parameters"),
    "attend_from_cache": Exercise(
        slow_attend_from_cache,
        [tuple(numbers(rows, 1, seed=seed) for seed, rows in enumerate((2, 2, 2, 1, 1), 20)),
         tuple(numbers(rows, 4, seed=seed) for seed, rows in enumerate((3, 3, 3, 0, 0), 40)),
         tuple(numbers(rows, 4, seed=seed) for seed, rows in enumerate((3, 3, 3, 5, 5), 30))],
        {
            "what the cache holds is ignored; the kept keys and values come first, then the new ones":
                lambda q, k, v, *kept: attend(q, k, v, lower(len(q), len(q))),
            "only what the cache holds is read; the new keys and values come after it":
                lambda q, k, v, *kept: attend(q, *kept),
            "the mask is aligned to the first key; new token t may look at all kept tokens and at the new ones up to t":
                lambda *case: from_cache(*case, lower),
            "the new tokens see their future; new token t may look at all kept tokens and at the new ones up to t":
                lambda *case: from_cache(*case),
            "the mask ends one column too late; new token t may look at the new ones up to t":
                lambda *case: from_cache(*case, lambda T_q, T_k: lower(T_q, T_k, T_k - T_q + 1)),
            "the mask ends one column too early; a new token may look at itself, too":
                lambda *case: from_cache(*case, too_early).nan_to_num(),
            "the mask ends one column too early, which leaves nothing without a cache; a new token may look at itself, too":
                lambda *case: from_cache(*case, too_early),
            "the mask says the opposite; it is True where a token may look":
                lambda *case: from_cache(*case, opposite).nan_to_num(),
            "the new tokens stand before the kept ones; the kept ones come first":
                lambda q, k, v, kept_k, kept_v: from_cache(q, kept_k, kept_v, k, v, aligned),
            "kept and new values are joined in another order than the keys; the kept ones come first in both":
                lambda q, k, v, kept_k, kept_v: from_cache(q, k, kept_v, kept_k, v, aligned),
            "there are two softmaxes, over the kept and over the new tokens; one softmax goes over all":
                lambda q, k, v, *kept: attend(q, *kept) + attend(q, k, v, lower(len(q), len(q))),
            "a new token sees the kept ones and itself alone; it may also look at the new ones before it":
                lambda *case: from_cache(*case, lambda T_q, T_k: torch.cat(
                    [torch.ones(T_q, T_k - T_q), torch.eye(T_q)], 1).bool()),
            "keys and values are exchanged":
                lambda q, k, v, kept_k, kept_v: from_cache(q, v, k, kept_v, kept_k, aligned),
            "the scores are not divided by the root of d":
                lambda *case: from_cache(*case, aligned, power=0),
            "the scores are divided by the root of the number of keys; divide by the root of d":
                over_root_of_keys,
            "the softmax goes along the new tokens; the weights of each new token, over all keys, sum to 1":
                along_the_queries,
        }, at_once=True),
}
