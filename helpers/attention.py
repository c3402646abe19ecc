"""Attention: score every key against the query, softmax, average the values.

The scores differ from one kind of attention to the next; the rest is the same, and stands once.
"""
import math

import torch.nn.functional as F
from torch import nn

from helpers.masks import check_mask, masked_softmax


class Attention(nn.Module):
    """What all kinds of attention share; a subclass says how to `score`.

    forward: query [..., T_q, d_query], key [..., T_k, d_key], value [..., T_k, d_value], and
    a boolean mask that broadcasts to the scores [..., T_q, T_k], True = may look.
    Returns [..., T_q, d_value]; a query that may look at nothing gets zeros.
    Raises ValueError for sizes that do not match.
    """

    def __init__(self, dropout=0.0):
        super().__init__()
        self.attention_weights = nn.Identity()  # does nothing, so that it can be watched
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        check_sizes(query, key, value)
        scores = self.score(query, key)                                    # [..., T_q, T_k]
        weights = self.attention_weights(masked_softmax(scores, mask))
        return self.dropout(weights) @ value                               # [..., T_q, d_value]


class DotProductAttention(Attention):
    """q . k / sqrt(d), for queries and keys of one size d. Source: Vaswani et al. 2017, eq. 1."""

    def score(self, query, key):
        check_same_size(query, key)
        return query / math.sqrt(query.shape[-1]) @ key.mT                 # [..., T_q, T_k]


class BilinearAttention(Attention):
    """q . (W k), for different sizes. Source: Luong et al. 2015, section 3.1, "general"."""

    def __init__(self, d_query, d_key, dropout=0.0):
        super().__init__(dropout)
        self.W = nn.Linear(d_key, d_query, bias=False)

    def score(self, query, key):
        check_layer_sizes(query, key, self.W.out_features, self.W.in_features)
        return query @ self.W(key).mT                                      # [..., T_q, T_k]


class AdditiveAttention(Attention):
    """w_v . tanh(W_q q + W_k k). Source: Bahdanau et al. 2015, appendix A.1.2."""

    def __init__(self, d_query, d_key, d_hidden, dropout=0.0):
        super().__init__(dropout)
        self.W_q = nn.Linear(d_query, d_hidden, bias=False)
        self.W_k = nn.Linear(d_key, d_hidden, bias=False)
        self.w_v = nn.Linear(d_hidden, 1, bias=False)

    def score(self, query, key):
        check_layer_sizes(query, key, self.W_q.in_features, self.W_k.in_features)
        q = self.W_q(query).unsqueeze(-2)                                  # [..., T_q, 1, d_hidden]
        k = self.W_k(key).unsqueeze(-3)                                    # [..., 1, T_k, d_hidden]
        return self.w_v((q + k).tanh()).squeeze(-1)                        # [..., T_q, T_k]


def attend(q, k, v, mask, wire, dropout):
    """Dot-product attention whose weights pass the wire; fused by torch when nobody watches it."""
    if not is_watched(wire):
        return F.scaled_dot_product_attention(q, k, v, mask, dropout.p * dropout.training)
    scores = (q / math.sqrt(q.shape[-1])) @ k.mT                           # [B, H, T_q, T_k]
    weights = wire(masked_softmax(scores, mask))
    return dropout(weights) @ v                                            # [B, H, T_q, d_head]


class MultiHeadAttention(nn.Module):
    """Several dot-product attentions side by side. Source: Vaswani et al. 2017, section 3.2.2.

    forward: query [B, T_q, d_model], key and value [B, T_k, d_model] to [B, T_q, d_model].
    mask: boolean, True = may look; [T_q, T_k], [B, 1, T_k] or [B, T_q, T_k].
    """

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        check_heads(d_model, num_heads)
        self.num_heads, self.dropout = num_heads, nn.Dropout(dropout)
        self.q_proj, self.k_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.v_proj, self.out_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.attention_weights = nn.Identity()  # does nothing, so that it can be watched

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)       # [B, H, T, d_head]

    def forward(self, query, key, value, mask=None):
        check_model_sizes(query, key, value, self.q_proj.in_features)
        return self.look(query, *self.keys_and_values(key, value), mask)

    def keys_and_values(self, key, value):
        return self.split(self.k_proj(key)), self.split(self.v_proj(value))   # [B, H, T_k, d_head]

    def look(self, query, k, v, mask=None):
        q = self.split(self.q_proj(query))                                 # [B, H, T_q, d_head]
        heads = attend(q, k, v, for_heads(mask, q, k), self.attention_weights, self.dropout)
        return self.out_proj(heads.transpose(1, 2).flatten(2))             # [B, T_q, d_model]


def check_sizes(query, key, value):
    """Raise unless there is a value for every key and all three agree in their leading axes."""
    sizes = f"query {list(query.shape)}, key {list(key.shape)}, value {list(value.shape)}"
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise ValueError(f"{sizes}: each needs at least two axes, [T, d]")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"{sizes}: {key.shape[-2]} keys, {value.shape[-2]} values, but every key needs its value")
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        raise ValueError(f"{sizes}: all axes before the last two must be the same")


def check_same_size(query, key):
    """Raise unless queries and keys are vectors of the same size."""
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"queries of size {query.shape[-1]}, keys of size {key.shape[-1]}: a dot product needs "
                         "the same size (BilinearAttention and AdditiveAttention do not)")


def check_layer_sizes(query, key, d_query, d_key):
    """Raise unless queries and keys have the sizes that a layer was made for."""
    if (query.shape[-1], key.shape[-1]) != (d_query, d_key):
        raise ValueError(f"queries of size {query.shape[-1]}, keys of size {key.shape[-1]}: this layer was made for "
                         f"d_query={d_query} and d_key={d_key}")


def is_watched(wire):
    """Is anything hooked to the wire, or put in its place? Then the weights have to pass it."""
    return bool(wire._forward_hooks or wire._forward_pre_hooks) or type(wire) is not nn.Identity


def for_heads(mask, q, k):
    """The mask with an axis for the heads; raise unless it fits queries q and keys k, [B, H, T, d_head]."""
    if mask is None:
        return None
    check_mask(mask, (q.shape[0], q.shape[2], k.shape[2]))
    if mask.dim() < 2:
        raise ValueError(f"the mask has shape {list(mask.shape)}: it needs to be [T_q, T_k], [B, 1, T_k] or [B, T_q, T_k]")
    return mask.unsqueeze(1) if mask.dim() == 3 else mask[None, None]


def check_heads(d_model, num_heads):
    """Raise unless d_model splits into equal heads."""
    if d_model < 1 or num_heads < 1 or d_model % num_heads:
        raise ValueError(f"d_model={d_model} does not divide into num_heads={num_heads} equal heads")


def check_model_sizes(query, key, value, d_model):
    """Raise unless all three are `[B, T, d_model]` for one B, with a value for every key."""
    check_sizes(query, key, value)
    sizes = [list(x.shape) for x in (query, key, value)]
    if any(len(size) != 3 or size[-1] != d_model for size in sizes):
        raise ValueError(f"query, key and value have shapes {sizes}: each needs to be [B, T, {d_model}]")
