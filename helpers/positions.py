"""Four ways to tell attention where a word stands."""
import torch
from torch import nn


def frequencies(d, base):
    """How far each pair of columns turns in one step, [d / 2]. Raises ValueError for an odd d."""
    if d < 2 or d % 2:
        raise ValueError(f"d={d}: sines and cosines come in pairs, so it needs to be even")
    return base ** (-torch.arange(0, d, 2) / d)


def sinusoids(T, d, offset=0, base=10_000.0):
    """Rows of sines and cosines for places offset to offset + T - 1, [T, d].

    Columns 2i and 2i + 1 are the sine and the cosine of place / base^(2i / d).
    Raises ValueError for an odd d. Source: Vaswani et al. 2017, section 3.5.
    """
    places = torch.arange(offset, offset + T).unsqueeze(1)
    angles = places * frequencies(d, base)                                 # [T, d / 2]
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)        # [T, d]


class SinusoidalPositions(nn.Module):
    """Adds sines and cosines: x [B, T, d_model] to the same; offset is the first word's place."""

    def __init__(self, base=10_000.0):
        super().__init__()
        self.base = base

    def forward(self, x, offset=0):
        return x + sinusoids(x.shape[-2], x.shape[-1], offset, self.base).to(x)


class LearnedPositions(nn.Module):
    """Adds a row that is learned for each place, up to max_len: x [B, T, d_model] to the same.

    Raises ValueError for places from max_len on. Source: Gehring et al. 2017, section 3.1.
    """

    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_len, d_model) * d_model**-0.5)

    def forward(self, x, offset=0):
        T, max_len = x.shape[-2], len(self.table)
        if offset < 0 or offset + T > max_len:
            raise ValueError(f"places {offset} to {offset + T - 1}: "
                             f"this table has rows for 0 to {max_len - 1}")
        return x + self.table[offset:offset + T]


def look_beside(attention, waves):
    """Start head 0 of a `MultiHeadAttention` one place to the left, head 1 one place to the right.

    waves: [T, d_head], what the first d_head numbers of its input hold at each place; both heads
    see these alone. Raises ValueError for fewer than two heads, and for waves of another width.
    Going one place on is a rotation: Vaswani et al. 2017, section 3.5.
    """
    d_head = attention.q_proj.out_features // attention.num_heads
    if attention.num_heads < 2 or waves.shape[1:] != (d_head,):
        raise ValueError(f"{attention.num_heads} heads of {d_head} numbers, waves of shape "
                         f"{list(waves.shape)}: it needs two heads, and waves [T, d_head]")
    turn = torch.linalg.lstsq(waves[:-1], waves[1:]).solution    # waves[:-1] @ turn = waves[1:]
    same, both = torch.eye(d_head), slice(2 * d_head)
    for project, matrices in ((attention.q_proj, [same, same]), (attention.k_proj, [turn.T, turn])):
        project.weight.data[both], project.bias.data[both] = 0, 0
        project.weight.data[both, :d_head] = 3 * torch.cat(matrices)               # a clear choice


def rotate(x, offset=0, base=10_000.0):
    """Turn each pair of columns of queries or keys, [..., T, d_head], further at each place.

    The dot product of a turned query and key then depends on the distance of their places alone.
    Pairs are neighbours, as in the paper; many libraries pair column j with j + d_head / 2.
    Raises ValueError for an odd d_head. Source: Su et al. 2021 (RoPE), section 3.2.
    """
    places = torch.arange(offset, offset + x.shape[-2], device=x.device).unsqueeze(1)
    angles = places * frequencies(x.shape[-1], base).to(x.device)          # [T, d_head / 2]
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)


def alibi_bias(num_heads, T_q, T_k=None, device=None):
    """What to add to the scores so that far keys count for less, [H, T_q, T_k].

    Head h of 1 to H has the slope 2^(-8h / H). Aligned to the last key, as `causal_mask` is.
    Source: Press et al. 2022 (ALiBi), section 3.
    """
    T_k = T_q if T_k is None else T_k
    places = torch.arange(T_k, device=device)
    distance = (places[T_k - T_q:].unsqueeze(1) - places).abs()            # [T_q, T_k]
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1, device=device) / num_heads)
    return -slopes.view(-1, 1, 1) * distance                               # [H, T_q, T_k]
