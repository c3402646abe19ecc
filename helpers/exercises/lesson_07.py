"""Exercises of lesson 07: the target shifted by one, a pre-norm decoder layer, attention from a cache."""
import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_shift_right(target, bos):
    rows = []
    for row in target.tolist():
        rows.append([bos, *row[:-1]])
    return torch.tensor(rows)


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


def slow_attend_from_cache(q, k, v, kept_k, kept_v):
    keys, values, output = list(kept_k), list(kept_v), []
    for t in range(len(q)):
        keys.append(k[t])
        values.append(v[t])
        weights = torch.stack([q[t] @ key for key in keys]).div(len(q[t]) ** 0.5).softmax(0)
        output.append(sum(weight * value for weight, value in zip(weights, values)))
    return torch.stack(output)


def rms_norm(x):
    return x / x.square().mean(-1, keepdim=True).sqrt()


def layer_norm(x):
    return rms_norm(x - x.mean(-1, keepdim=True))


def attend(q, k, v, mask=None, scaled=True):
    scores = q @ k.mT / (q.shape[-1] ** 0.5 if scaled else 1)
    return (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1) @ v


def lower(T_q, T_k, last=0):
    """True up to the diagonal, which begins in column `last`."""
    return torch.ones(T_q, T_k).tril(last).bool()


def before(norm, add):
    """What surrounds a sublayer, from a norm before it and the way in which its result is added."""
    return lambda x, layer: add(x, layer(norm(x)))


PRE_NORM = before(rms_norm, torch.add)


def layer(x, memory, up, down, around=PRE_NORM, order=(0, 1, 2), causal=True, scaled=True, memory_mask=None,
          activation=torch.relu):
    """A decoder layer with one thing or another wrong."""
    mask = lower(len(x), len(x)) if causal else None
    sublayers = [lambda y: attend(y, y, y, mask, scaled), lambda y: attend(y, memory, memory, memory_mask, scaled),
                 lambda y: activation(y @ up) @ down]
    for number in order:
        x = around(x, sublayers[number])
    return x


def from_cache(q, k, v, kept_k, kept_v, mask=None, scaled=True):
    return attend(q, torch.cat([kept_k, k]), torch.cat([kept_v, v]), mask, scaled)


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
            "`bos` replaced the first id, and nothing was shifted":
                lambda target, bos: torch.cat([torch.full_like(target[:, :1], bos), target[:, 1:]], 1),
            "the result is one longer than the target; drop the last id":
                lambda target, bos: torch.cat([torch.full_like(target[:, :1], bos), target], 1),
            "the batch is shifted, one row to the next; shift along the positions, the last axis":
                lambda target, bos: torch.cat([torch.full_like(target[:1], bos), target[:-1]]),
        }),
    "decoder_layer": Exercise(
        slow_decoder_layer,
        [(numbers(2, 2, seed=3), numbers(2, 2, seed=1), torch.eye(2), torch.eye(2)),
         *((numbers(T, 4, seed=T), numbers(5, 4, seed=7), numbers(4, 6, seed=8), numbers(6, 4, seed=9)) for T in (1, 3))],
        {
            "the residual connection is missing; add what each sublayer returns to its input":
                lambda *case: layer(*case, around=before(rms_norm, lambda x, update: update)),
            "this is post-norm; with pre-norm the sublayer reads a normalised copy, and the sum is left alone":
                lambda *case: layer(*case, around=lambda x, sublayer: rms_norm(x + sublayer(x))),
            "you add to the normalised copy; add to x itself":
                lambda *case: layer(*case, around=lambda x, sublayer: rms_norm(x) + sublayer(rms_norm(x))),
            "the norm is missing; each sublayer reads a normalised copy of x":
                lambda *case: layer(*case, around=before(lambda x: x, torch.add)),
            "this is layer norm; RMS norm does not subtract the mean":
                lambda *case: layer(*case, around=before(layer_norm, torch.add)),
            "the memory is normalised once more; it comes finished from the encoder":
                lambda x, memory, up, down: layer(x, rms_norm(memory), up, down),
            "self-attention sees the future; row t may look at rows 0 to t":
                lambda *case: layer(*case, causal=False),
            "cross-attention has the causal mask; every row may look at the whole memory":
                lambda x, memory, *case: layer(x, memory, *case, memory_mask=lower(len(x), len(memory))),
            "cross-attention is missing; it comes between self-attention and feed-forward":
                lambda *case: layer(*case, order=(0, 2)),
            "feed-forward comes before cross-attention; exchange them":
                lambda *case: layer(*case, order=(0, 2, 1)),
            "cross-attention comes before self-attention; exchange them":
                lambda *case: layer(*case, order=(1, 0, 2)),
            "the scores are not divided by the root of d":
                lambda *case: layer(*case, scaled=False),
            "the ReLU between `up` and `down` is missing":
                lambda *case: layer(*case, activation=lambda x: x),
        }),
    "attend_from_cache": Exercise(
        slow_attend_from_cache,
        [tuple(numbers(rows, 1, seed=seed) for seed, rows in enumerate((2, 2, 2, 1, 1), 20)),
         tuple(numbers(rows, 4, seed=seed) for seed, rows in enumerate((3, 3, 3, 0, 0), 40)),
         tuple(numbers(rows, 4, seed=seed) for seed, rows in enumerate((3, 3, 3, 5, 5), 30))],
        {
            "what the cache holds is ignored; the kept keys and values come first, then the new ones":
                lambda q, k, v, *kept: attend(q, k, v, lower(len(q), len(q))),
            "the mask is aligned to the first key; new token t may look at all kept tokens and at the new ones up to t":
                lambda q, k, v, *kept: from_cache(q, k, v, *kept, lower(len(q), len(kept[0]) + len(q))),
            "the new tokens see their future; new token t may look at all kept tokens and at the new ones up to t":
                lambda *case: from_cache(*case),
            "the new tokens stand before the kept ones; the kept ones come first":
                lambda q, k, v, kept_k, kept_v: from_cache(
                    q, kept_k, kept_v, k, v, lower(len(q), len(q) + len(kept_k), len(kept_k))),
            "a new token sees the kept ones and itself alone; it may also look at the new ones before it":
                lambda q, k, v, *kept: from_cache(q, k, v, *kept, torch.cat(
                    [torch.ones(len(q), len(kept[0])), torch.eye(len(q))], 1).bool()),
            "the scores are not divided by the root of d":
                lambda q, k, v, *kept: from_cache(
                    q, k, v, *kept, lower(len(q), len(q) + len(kept[0]), len(kept[0])), scaled=False),
        }),
}
