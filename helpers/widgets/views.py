"""The map that an explorer shows, and which maps it can show beside those of single heads."""
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from helpers.hooks import rollout

VIEWS = ["map", "lines", "bars"]
WORDS = {"mean": "mean over heads", "rollout": "rollout"}
MOST_FLOATS = 1_000_000                                 # above, weights are sent in 16 bits


class Shown(NamedTuple):
    """One map as an explorer shows it."""

    values: np.ndarray                                  # [T_q, T_k]
    query_tokens: list[str]
    key_tokens: list[str]
    title: str


def summaries_of(axes: Sequence[str], sizes: Sequence[int], query_tokens: Sequence, key_tokens: Sequence) -> list[str]:
    """What the slider of the heads can show beside single heads: "mean", "rollout".

    A rollout needs layers and heads, and queries and keys that are the same tokens.
    """
    mean = ["mean"] if dict(zip(axes, sizes)).get("head", 1) > 1 else []
    return mean + (["rollout"] if axes[-2:] == ["layer", "head"] and query_tokens == key_tokens else [])


def values_at(values: np.ndarray, axes: Sequence[str], index: Sequence[int | str]) -> np.ndarray:
    """The map `[T_q, T_k]` at an index in which the place for the head may be "mean" or "rollout".

    Rollout starts at the index's layer. It hides the cells that this layer hides and that get nothing from below.
    """
    words = [i for i in index if i in WORDS]
    if not words:
        return values[tuple(index)]
    head = axes.index("head")
    mean = values.mean(head)[tuple(i for i in index if i not in WORDS)]
    if words == ["mean"]:
        return mean
    *steps, layer, _ = index
    whole = rollout(torch.from_numpy(values[tuple(steps)][:layer + 1]))[-1].numpy()
    return np.where((whole == 0) & np.isnan(mean), np.nan, whole)


def encoded(values: np.ndarray) -> dict:
    """The weights as traits: float32, or 16 bits where there are many."""
    if values.size <= MOST_FLOATS:
        return {"weights": values.astype("<f4").tobytes(), "dtype": "float32"}
    levels = np.where(np.isnan(values), 65535, np.round(np.clip(np.nan_to_num(values), 0, 1) * 65534))
    return {"weights": levels.astype("<u2").tobytes(), "dtype": "uint16"}


def pinned_of(shown: Shown, index: Sequence) -> dict:
    """A map, and where it is, as the trait `pinned`."""
    values, queries, keys, title = shown
    return {"weights": values.astype("<f4").tobytes(), "query_tokens": queries, "key_tokens": keys, "title": title, "index": index}


def next_of(index: Sequence, sizes: Sequence[int]) -> list:
    """The next map along the last axis that has several; after the last one, and after summaries, the first."""
    last = max((axis for axis, size in enumerate(sizes) if size > 1), default=None)
    return [i if axis != last else 0 if i in WORDS else (i + 1) % sizes[axis] for axis, i in enumerate(index)]


def shown_of(pinned: dict) -> Shown:
    """The map in the trait `pinned`."""
    queries, keys = pinned["query_tokens"], pinned["key_tokens"]
    values = np.frombuffer(pinned["weights"], "<f4").reshape(len(queries), len(keys))
    return Shown(values, queries, keys, pinned["title"])
