"""Masks say which keys a query may look at; the masked softmax gives every other key a weight of exactly 0.

A mask is boolean: True means "may look", as in `torch.nn.functional.scaled_dot_product_attention`.
Masks broadcast to the scores `[..., T_q, T_k]` and are combined with `&`.
"""
import torch
from torch import Tensor


def padding_mask(lengths: Tensor, T_k: int) -> Tensor:
    """Hide every key after the first `lengths` keys.

    lengths: integers from 0 to T_k. One per example, [B], gives a mask [B, 1, T_k];
        one per query, [B, T_q], gives [B, T_q, T_k].
    Raises TypeError or ValueError for lengths that are not such numbers.
    """
    check_lengths(lengths, T_k)
    mask = torch.arange(T_k, device=lengths.device) < lengths.unsqueeze(-1)
    return mask.unsqueeze(-2) if lengths.dim() == 1 else mask


def causal_mask(T_q: int, T_k: int | None = None, device=None) -> Tensor:
    """Hide the future: [T_q, T_k]; the last query sees all keys, the one before it all but one.

    Aligned to the last key: right when T_q new queries follow T_k - T_q keys seen before.
    T_k: as many as queries if not given; with fewer, the first queries see nothing.
    """
    T_k = T_q if T_k is None else T_k
    return torch.ones(T_q, T_k, dtype=torch.bool, device=device).tril(T_k - T_q)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the last axis, with hidden cells exactly 0.

    scores: finite and floating point, [..., T_q, T_k].
    mask: boolean, True = may look; [T_q, T_k], or with all axes of the scores, 1 where shared.
    Each row sums to 1, or is all 0 where a query may look at nothing.
    Raises TypeError or ValueError for a mask of another dtype or shape.
    """
    if mask is None:
        return scores.softmax(-1)
    check_mask(mask, scores.shape)
    # Where a row sees nothing, -inf everywhere would give 0 / 0, so 0 goes through the softmax.
    fill = torch.where(mask.any(-1, keepdim=True), -torch.inf, 0.0).to(scores)
    weights = torch.where(mask, scores, fill).softmax(-1)
    return weights.masked_fill(~mask, 0.0)


def check_lengths(lengths, T_k):
    """Raise unless `lengths` is a tensor `[B]` or `[B, T_q]` of integers from 0 to T_k."""
    kind = lengths.dtype if isinstance(lengths, Tensor) else type(lengths).__name__
    if kind not in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
        raise TypeError(f"lengths is {kind}: it needs to be a tensor of integers, such as torch.tensor([2, 3])")
    if lengths.dim() not in (1, 2):
        raise ValueError(f"lengths has shape {list(lengths.shape)}: it needs to be [B] or [B, T_q]")
    if not all_within(lengths, 0, T_k):
        raise ValueError(f"lengths {lengths.tolist()}: each needs to be from 0 to T_k={T_k}")


def check_mask(mask, shape):
    """Raise unless `mask` is boolean and broadcasts to scores of `shape` in one way only.

    A mask `[B, 1, T_k]` is refused on scores `[B, H, T_q, T_k]`: its B would be taken for H.
    """
    kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
    if kind != torch.bool:
        raise TypeError(f"the mask is {kind}: it needs to be torch.bool, True where a query may look")
    wide = (1,) * (len(shape) - mask.dim()) + tuple(mask.shape)
    if mask.dim() not in (0, 1, 2, len(shape)) or any(m not in (1, s) for m, s in zip(wide, shape)):
        raise ValueError(f"the mask has shape {list(mask.shape)}: "
                         f"it needs to broadcast to the scores, {list(shape)}")


def check_tokens(ids, vocab_size, lengths=None):
    """Raise unless ids are integers [B, T] from 0 to vocab_size - 1, and lengths [B], if given, from 1 to T.

    Each model calls this once, in its public methods; no layer does.
    """
    check_indices("ids", ids, ["B", "T"], vocab_size)
    if lengths is not None:
        check_lengths(lengths, ids.shape[1])
        if lengths.shape != ids.shape[:1] or not all_within(lengths, 1, ids.shape[1]):
            raise ValueError(f"lengths {lengths.tolist()}: ids, {list(ids.shape)}, "
                             "need one for each row, at least 1")


def check_indices(name, x, shape, size, holder="the table has rows for"):
    """Raise unless x are integers from 0 to size - 1 of a shape, such as [2, "T"], where letters fit any."""
    fits = x.dim() == len(shape) and all(isinstance(n, str) or n == m for n, m in zip(shape, x.shape))
    if not fits or x.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"{name} of shape {list(x.shape)} and dtype {x.dtype}: "
                         f"they need to be integers (torch.int64), [{', '.join(map(str, shape))}]")
    if not all_within(x, 0, size - 1):
        raise ValueError(f"{name} from {int(x.min())} to {int(x.max())}: {holder} 0 to {size - 1}")


def all_within(x, low, high):
    """Whether all values of x are from low to high; True, too, where the values cannot be read without harm.

    That is on a GPU, where reading them would wait for it, and where torch compiles, exports or maps (`vmap`).
    """
    if torch.compiler.is_compiling() or x.device.type != "cpu":
        return True
    x = x.long()                                             # int8 could not be compared with 200
    try:
        return bool(((x >= low) & (x <= high)).all())
    except RuntimeError:                                     # vmap does not allow a branch on a value
        return True
