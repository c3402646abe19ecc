"""Attention: score each key against the query, apply the softmax, average the values.

The kinds of attention differ in their scoring function alone.
"""
import math
from itertools import islice

import torch.nn.functional as F
from torch import Tensor, nn

from helpers.hooks import HookPoint
from helpers.masks import check_floating, check_mask, masked_softmax


class Attention(nn.Module):
    """What all kinds of attention share; a subclass defines `score`.

    forward: query [..., T_q, d_query], key [..., T_k, d_key], value [..., T_k, d_value], and
    a boolean mask that broadcasts to the scores [..., T_q, T_k], True = may look.
    Returns [..., T_q, d_value]; a query that may look at nothing gets zeros.
    Raises ValueError for sizes that do not match, TypeError for dtypes.
    """

    def __init__(self, dropout: float = 0.0):
        super().__init__()
        self.attention_weights = HookPoint()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        check_sizes(query, key, value, self)
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

    def __init__(self, d_query: int, d_key: int, dropout: float = 0.0):
        super().__init__(dropout)
        self.W = nn.Linear(d_key, d_query, bias=False)

    def score(self, query, key):
        check_layer_sizes(query, key, self.W.out_features, self.W.in_features)
        return query @ self.W(key).mT                                      # [..., T_q, T_k]


class AdditiveAttention(Attention):
    """w_v . tanh(W_q q + W_k k). Source: Bahdanau et al. 2015, appendix A.1.2."""

    def __init__(self, d_query: int, d_key: int, d_hidden: int, dropout: float = 0.0):
        super().__init__(dropout)
        self.W_q = nn.Linear(d_query, d_hidden, bias=False)
        self.W_k = nn.Linear(d_key, d_hidden, bias=False)
        self.w_v = nn.Linear(d_hidden, 1, bias=False)

    def score(self, query, key):
        check_layer_sizes(query, key, self.W_q.in_features, self.W_k.in_features)
        q = self.W_q(query).unsqueeze(-2)                                  # [..., T_q, 1, d_hidden]
        k = self.W_k(key).unsqueeze(-3)                                    # [..., 1, T_k, d_hidden]
        return self.w_v((q + k).tanh()).squeeze(-1)                        # [..., T_q, T_k]


class MultiHeadAttention(nn.Module):
    """Several dot-product attentions side by side. Source: Vaswani et al. 2017, section 3.2.2.

    forward: query [B, T_q, d_model], key [B, T_k, d_key], value [B, T_k, d_value] to [B, T_q, d_model].
    mask: boolean, True = may look; [T_q, T_k], [B, 1, T_k] or [B, T_q, T_k].
    cache: a `KVCache` of helpers.transformer, which keeps the projected keys and values from call to call.
    d_key, d_value: d_model if not given. Raises ValueError or TypeError for sizes or a mask that do not fit.
    """

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
                 d_key: int | None = None, d_value: int | None = None):
        super().__init__()
        if d_model < 1 or num_heads < 1 or d_model % num_heads:
            raise ValueError(f"d_model={d_model} does not divide into num_heads={num_heads} equal heads")
        self.num_heads, self.dropout = num_heads, nn.Dropout(dropout)
        self.q_proj = nn.Linear(d_model, d_model, bias)
        self.k_proj = nn.Linear(d_key or d_model, d_model, bias)
        self.v_proj = nn.Linear(d_value or d_model, d_model, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)
        self.attention_scores, self.attention_weights = HookPoint(), HookPoint()

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None,
                cache=None) -> Tensor:
        check_projections(query, key, value, self)
        if cache is None:
            k, v = self.keys_and_values(key, value)                        # [B, H, T_k, d_head]
        elif key is query:                                                 # self-attention: new tokens join
            k, v = cache.append(self, *self.keys_and_values(key, value))
        else:                                                              # cross-attention: projected once
            k, v = cache.get(self) or cache.append(self, *self.keys_and_values(key, value))
        q = self.split(self.q_proj(query))                                 # [B, H, T_q, d_head]
        heads = self.attend(q, k, v, mask_for_heads(mask, q, k))           # [B, H, T_q, d_head]
        return self.out_proj(heads.transpose(1, 2).flatten(2))             # [B, T_q, d_model]

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)       # [B, H, T, d_head]

    def keys_and_values(self, key, value):
        return self.split(self.k_proj(key)), self.split(self.v_proj(value))

    def attend(self, q, k, v, mask):
        if not (self.attention_scores.used or self.attention_weights.used):     # the same in one fused step
            return F.scaled_dot_product_attention(q, k, v, mask, self.dropout.p * self.training)
        scores = self.attention_scores(q / math.sqrt(q.shape[-1]) @ k.mT)  # [B, H, T_q, T_k]
        weights = self.attention_weights(masked_softmax(scores, mask))
        return self.dropout(weights) @ v                                   # [B, H, T_q, d_head]


def check_sizes(query, key, value, layer):
    """Raise unless there is a value for every key, all three agree in their leading axes, and in dtype with the layer's weights."""
    check_floating(query=query, key=key, value=value, **dict(islice(layer.named_parameters(), 1)))
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
        raise ValueError(f"queries of size {query.shape[-1]}, keys of size {key.shape[-1]}: a dot product "
                         "needs the same size (BilinearAttention and AdditiveAttention do not)")


def check_layer_sizes(query, key, d_query, d_key):
    """Raise unless queries and keys have the sizes that a layer was made for."""
    if (query.shape[-1], key.shape[-1]) != (d_query, d_key):
        raise ValueError(f"queries of size {query.shape[-1]}, keys of size {key.shape[-1]}: "
                         f"this layer was made for d_query={d_query} and d_key={d_key}")


def mask_for_heads(mask, q, k):
    """The mask with an axis for the heads; raise unless it fits queries q and keys k, [B, H, T, d_head]."""
    if mask is None:
        return None
    check_mask(mask, (q.shape[0], q.shape[2], k.shape[2]))
    if mask.dim() < 2:
        raise ValueError(f"the mask has shape {list(mask.shape)}: it needs to be [T_q, T_k], [B, 1, T_k] or [B, T_q, T_k]")
    return mask.unsqueeze(1) if mask.dim() == 3 else mask[None, None]


def check_projections(query, key, value, layer):
    """Raise unless all three are [B, T, size], of the layer's sizes, with a value for every key."""
    check_sizes(query, key, value, layer)
    shapes = [list(x.shape) for x in (query, key, value)]
    wanted = [projection.in_features for projection in (layer.q_proj, layer.k_proj, layer.v_proj)]
    if any(len(shape) != 3 for shape in shapes) or [shape[-1] for shape in shapes] != wanted:
        raise ValueError(f"query, key and value have shapes {shapes}: they need to be "
                         + ", ".join(f"[B, T, {size}]" for size in wanted))
