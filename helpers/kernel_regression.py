"""Nadaraya-Watson kernel regression: an average of the values, weighted by kernels, which are given as logarithms."""
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from helpers.hooks import HookPoint
from helpers.masks import masked_softmax


def gaussian(u: Tensor) -> Tensor:
    """-u^2 / 2, the logarithm of exp(-u^2 / 2): falls smoothly; a key keeps some weight until it rounds to 0."""
    return -u**2 / 2


def boxcar(u: Tensor) -> Tensor:
    """0 within one width, -inf beyond, the logarithm of 1 and 0: the mean of the neighbours."""
    return (u.abs() <= 1).to(u.dtype).log()


def epanechnikov(u: Tensor) -> Tensor:
    """The logarithm of 1 - u^2 within one width, -inf beyond (Epanechnikov, 1969)."""
    near = u.abs() < 1
    return (1 - (u * near) ** 2).log().masked_fill(~near, -torch.inf)     # no logarithm of 0: its gradient is infinite


KERNELS = {"gaussian": gaussian, "boxcar": boxcar, "epanechnikov": epanechnikov}


def nadaraya_watson(query: Tensor, key: Tensor, value: Tensor, log_kernel: Callable = gaussian,
                    width: float = 1.0) -> tuple[Tensor, Tensor]:
    """Average the values, each weighted by how close its key is to the query.

    query `[T_q]`; key and value `[T_k]`, or `[T_q, T_k]` where every query has its own;
    width at least 1e-15, in the units of query and key.
    Returns the output `[T_q]` and the weights `[T_q, T_k]`. A query with no key in reach gets zeros.
    Raises ValueError for sizes that do not match or a width below 1e-15.
    Source: Nadaraya, On Estimating Regression (1964); Watson, Smooth Regression Analysis (1964).
    """
    check_sizes(query, key, value)
    check_width(width)
    scores = log_kernel((query.unsqueeze(-1) - key) / width)            # [T_q, T_k]
    weights = masked_softmax(scores, scores > -torch.inf)               # [T_q, T_k]
    return (weights * value).sum(-1), weights


class NadarayaWatson(nn.Module):
    """Nadaraya-Watson regression with a Gaussian kernel whose width is learned."""

    def __init__(self, width: float = 1.0):
        super().__init__()
        check_width(width)
        self.log_width = nn.Parameter(torch.tensor(math.log(width)))
        self.attention_weights = HookPoint()

    @property
    def width(self):
        return self.log_width.exp()

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        check_sizes(query, key, value)
        u = (query.unsqueeze(-1) - key) / self.width                    # [T_q, T_k]
        weights = self.attention_weights((-u**2 / 2).softmax(-1))       # [T_q, T_k]
        return (weights * value).sum(-1)                                # [T_q]


def check_sizes(query, key, value):
    """Raise unless query is `[T_q]`, and key and value are alike, `[T_k]` or `[T_q, T_k]`."""
    sizes = f"query {list(query.shape)}, key {list(key.shape)}, value {list(value.shape)}"
    if key.shape != value.shape:
        raise ValueError(f"{sizes}: every key needs its value, so the last two shapes must be the same")
    if query.dim() != 1 or key.dim() not in (1, 2) or key.dim() == 2 and len(key) != len(query):
        raise ValueError(f"{sizes}: they need to be [T_q], [T_k], [T_k] or [T_q], [T_q, T_k], [T_q, T_k]")


def check_width(width):
    """Raise unless `width` is a number above 0, and so far above that squares of distances in widths do not overflow."""
    if not width >= 1e-15:
        raise ValueError(f"width={float(width):g}: a kernel needs a width above 0, of 1e-15 or more")
