"""`checked`: weights and their tokens, as an explorer sends them to the browser."""
import numpy as np

from helpers.plots import as_numpy, broadcast_mask
from helpers.widgets.views import encoded, summaries_of

AXES = {0: [], 1: ["head"], 2: ["layer", "head"], 3: ["step", "layer", "head"]}


def checked(weights, query_tokens, key_tokens, mask, axes, labels) -> tuple[np.ndarray, dict]:
    """The weights with NaN in hidden cells, and the traits of an explorer that shows them."""
    values = as_numpy(weights).astype(np.float32)
    shape = list(values.shape)
    if values.ndim < 2 or values.size == 0:
        raise ValueError(f"weights of shape {shape}: an explorer needs at least one row and column")
    low, high = np.fmin.reduce(values, None), np.fmax.reduce(values, None)      # but for NaN
    if not (low >= 0 and high <= 1 + 1e-3):
        raise ValueError(f"values from {low:.3g} to {high:.3g}: weights lie between 0 and 1 (scores need a softmax first)")
    *sizes, T_q, T_k = shape
    axes = AXES.get(len(sizes)) if axes is None else list(axes)
    if axes is None or len(axes) != len(sizes) or len({*axes, "query", "key"}) < values.ndim:
        raise ValueError(f"axes={axes} for weights of shape {shape}: every axis before the last two needs a name of its own")
    for what, tokens, size in (("query_tokens", query_tokens, T_q), ("key_tokens", key_tokens, T_k)):
        if tokens is not None and len(tokens) != size:
            raise ValueError(f"{len(tokens)} {what} for weights of shape {shape}: {size} are needed")
    named = np.array([] if labels is None else labels, dtype=object)
    if labels is not None and list(named.shape) != sizes:
        raise ValueError(f"labels of shape {list(named.shape)} for weights of shape {shape}: each map needs one")
    if mask is not None:
        values = np.where(broadcast_mask(mask, values.shape), values, np.float32("nan"))
    queries = list(map(str, range(T_q) if query_tokens is None else query_tokens))
    keys = list(map(str, range(T_k) if key_tokens is None else key_tokens))
    return values, encoded(values) | {
        "shape": shape, "axes": axes, "query_tokens": queries, "key_tokens": keys, "labels": list(map(str, named.flat)),
        "summaries": summaries_of(axes, sizes, queries, keys)}
