"""Four ways to give attention the positions of tokens: sinusoidal, learned, rotary, ALiBi."""
import torch
from torch import Tensor, nn

from helpers.masks import check_floating, check_whole


def frequencies(d: int, base: float, device=None) -> Tensor:
    """The angle, in radians, by which each pair of columns turns in one step: [d / 2]."""
    if d < 2 or d % 2 or not base > 0:
        raise ValueError(f"d={d}, base={base}: d needs to be even, for sines and cosines in pairs, base above 0")
    return base ** (-torch.arange(0, d, 2, device=device) / d)


def sinusoids(T: int, d: int, offset: int = 0, base: float = 10_000.0) -> Tensor:
    """Rows of sines and cosines for positions offset to offset + T - 1, [T, d].

    Columns 2i and 2i + 1 are the sine and the cosine of position / base^(2i / d).
    Raises ValueError for an odd d, T below 0 or a base that is not above 0. Source: Vaswani et al. 2017, section 3.5.
    """
    check_whole(0, T=T)
    positions = torch.arange(offset, offset + T).unsqueeze(1)
    angles = positions * frequencies(d, base)                              # [T, d / 2]
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)        # [T, d]


class SinusoidalPositions(nn.Module):
    """Adds sines and cosines: x [B, T, d_model] to the same; offset is the position of the first token.

    The first max_len positions are kept in a buffer; later ones are computed when they are needed.
    Raises TypeError for integers, ValueError for vectors of another size.
    """

    def __init__(self, d_model: int, base: float = 10_000.0, max_len: int = 512):
        super().__init__()
        self.base = base
        self.register_buffer("table", sinusoids(max_len, d_model, base=base), persistent=False)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        check_vectors(x, self.table.shape[1])
        last = offset + x.shape[-2]
        if 0 <= offset and last <= len(self.table):
            rows = self.table[offset:last]
        else:
            rows = sinusoids(x.shape[-2], self.table.shape[1], offset, self.base)
        return x + rows.to(x)


class LearnedPositions(nn.Module):
    """Adds a learned row for each position up to max_len: x [B, T, d_model] to the same.

    Raises ValueError for positions from max_len on and other vectors. Source: Gehring et al. 2017, section 3.1.
    """

    def __init__(self, max_len: int, d_model: int):
        super().__init__()
        check_whole(max_len=max_len, d_model=d_model)
        self.table = nn.Parameter(torch.randn(max_len, d_model) * d_model**-0.5)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        check_vectors(x, self.table.shape[1])
        T, max_len = x.shape[-2], len(self.table)
        if offset < 0 or offset + T > max_len:
            raise ValueError(f"positions {offset} to {offset + T - 1}: this table has rows for 0 to {max_len - 1}")
        return x + self.table[offset:offset + T]


def rotate(x: Tensor, offset: int = 0, base: float = 10_000.0) -> Tensor:
    """Turn each pair of columns of queries or keys, [..., T, d_head], further at each position.

    The dot product of a turned query and key then depends on their content and the signed offset between
    them. Pairs are neighbours, as in the paper; many libraries pair column j with j + d_head / 2. Raises
    ValueError for an odd d_head, TypeError for integers. Source: Su et al. 2021 (RoPE), section 3.2.
    """
    check_vectors(x)
    positions = torch.arange(offset, offset + x.shape[-2], device=x.device).unsqueeze(1)
    angles = positions * frequencies(x.shape[-1], base, x.device)          # [T, d_head / 2]
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)


def alibi_bias(num_heads: int, T_q: int, T_k: int | None = None, device=None) -> Tensor:
    """What is added to the scores so that distant keys count for less: [H, T_q, T_k].

    Head h of 1 to H has the slope 2^(-8h / H). Aligned to the last key, as `causal_mask` is.
    Raises ValueError for numbers below 0. Source: Press et al. 2022 (ALiBi), section 3.
    """
    T_k = T_q if T_k is None else T_k
    check_whole(0, num_heads=num_heads, T_q=T_q, T_k=T_k)
    queries = torch.arange(T_k - T_q, T_k, device=device)                  # from below 0 where T_q > T_k
    distance = (queries.unsqueeze(1) - torch.arange(T_k, device=device)).abs()             # [T_q, T_k]
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1, device=device) / num_heads)
    return -slopes.view(-1, 1, 1) * distance                               # [H, T_q, T_k]


def check_vectors(x, d=None):
    """Raise TypeError for integers, which would cut sines and cosines to -1, 0 and 1; ValueError unless x is [..., T, d]."""
    check_floating(x=x)
    if x.dim() < 2 or d not in (None, x.shape[-1]):
        raise ValueError(f"x has shape {list(x.shape)}: it needs to be [..., T, {d or 'd'}]")
