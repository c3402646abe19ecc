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
    T_k: T_q if not given; where it is smaller, the first queries see nothing. Raises ValueError below 0.
    """
    T_k = T_q if T_k is None else T_k
    check_whole(0, T_q=T_q, T_k=T_k)
    return torch.ones(T_q, T_k, dtype=torch.bool, device=device).tril(T_k - T_q)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the last axis, with hidden cells exactly 0.

    scores: finite and floating point, [..., T_q, T_k].
    mask: boolean, True = may look; [T_q, T_k], or with all axes of the scores, 1 where shared.
    Each row sums to 1, or is all 0 where a query may look at nothing.
    Raises TypeError or ValueError for scores of another dtype, and for a mask of another dtype or shape.
    """
    check_floating(scores=scores)
    if mask is None:
        return scores.softmax(-1)
    check_mask(mask, scores.shape)
    # A row that sees nothing would be 0 / 0 with -inf: it gets the score 0 here, and the weight 0 in the last line.
    fill = torch.where(mask.any(-1, keepdim=True), -torch.inf, 0.0).to(scores)
    weights = torch.where(mask, scores, fill).softmax(-1)
    return weights.masked_fill(~mask, 0.0)


def check_whole(least=1, **numbers):
    """Raise unless each number is whole, and not of type float, and at least `least`."""
    if not all(hasattr(n, "__index__") and n >= least for n in numbers.values()):
        raise ValueError(f"{', '.join(f'{k}={n!r}' for k, n in numbers.items())}: each needs to be at least {least}, and whole")


def check_floating(**tensors):
    """Raise TypeError unless all are tensors of floating point, and of one dtype but where autocast is on."""
    kinds = {name: getattr(x, "dtype", type(x).__name__) for name, x in tensors.items()}
    mixed = len(set(kinds.values())) > 1 and not any(map(torch.is_autocast_enabled, ("cpu", "cuda", "mps")))
    if mixed or not all(isinstance(x, Tensor) and x.is_floating_point() for x in tensors.values()):
        raise TypeError(f"{', '.join(f'{name} is {kind}' for name, kind in kinds.items())}: floating point is needed, of one dtype")


def finite(logits):
    """The logits [..., N]; raise ValueError unless the largest one of each row is finite."""
    if not holds(logits.amax(-1).isfinite()):
        raise ValueError("logits are NaN or infinite: the model's weights are spoiled, or the temperature is too far from 1")
    return logits


def check_lengths(lengths, T_k, least=0):
    """Raise unless `lengths` is a tensor `[B]` or `[B, T_q]` of integers from `least` to T_k."""
    kind = getattr(lengths, "dtype", type(lengths).__name__)
    if kind not in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
        raise TypeError(f"lengths is {kind}: it needs to be a tensor of integers, such as torch.tensor([2, 3])")
    if lengths.dim() not in (1, 2):
        raise ValueError(f"lengths has shape {list(lengths.shape)}: it needs to be [B] or [B, T_q]")
    if not all_within(lengths, least, T_k):
        raise ValueError(f"lengths {lengths.tolist()}: each needs to be from {least} to T_k={T_k}")


def check_mask(mask, shape):
    """Raise unless `mask` is boolean and broadcasts to scores of `shape` in one way only.

    A mask `[B, 1, T_k]` is refused on scores `[B, H, T_q, T_k]`: its B would be taken for H.
    """
    kind = getattr(mask, "dtype", type(mask).__name__)
    if kind != torch.bool:
        raise TypeError(f"the mask is {kind}: it needs to be torch.bool, True where a query may look")
    wide = (1,) * (len(shape) - mask.dim()) + tuple(mask.shape)
    if mask.dim() not in (0, 1, 2, len(shape)) or any(m not in (1, s) for m, s in zip(wide, shape)):
        raise ValueError(f"the mask has shape {list(mask.shape)}: it needs to broadcast to the scores, {list(shape)}")


def check_tokens(ids, vocab_size, lengths):
    """Raise unless ids are integers [B, T] from 0 to vocab_size - 1, and lengths [B] from 1 to T."""
    check_indices("ids", ids, ["B", "T"], vocab_size)
    check_lengths(lengths, ids.shape[1], 1)
    if lengths.shape != ids.shape[:1]:
        raise ValueError(f"lengths {lengths.tolist()}: ids, {list(ids.shape)}, need one for each row")


def check_indices(name, x, shape, size, holder="the table has rows for"):
    """Raise unless x are integers from 0 to size - 1 of a shape, such as [2, "T"], where letters fit any."""
    came, kind = list(getattr(x, "shape", [])), getattr(x, "dtype", type(x).__name__)
    fits = len(came) == len(shape) and all(isinstance(n, str) or n == m for n, m in zip(shape, came))
    if not fits or kind not in (torch.int64, torch.int32):
        needed = ", ".join(map(str, shape))
        raise ValueError(f"{name} of shape {came} and dtype {kind}: they need to be integers (torch.int64), [{needed}]")
    if not all_within(x, 0, size - 1):
        raise ValueError(f"{name} from {int(x.min())} to {int(x.max())}: {holder} 0 to {size - 1}")


def all_within(x, low, high):
    """Whether all values of x are from low to high; True, too, where the values cannot be read without harm.

    That is on a GPU, where reading them would wait for it, and where `holds` cannot.
    """
    return x.device.type != "cpu" or holds((x.long() >= low) & (x.long() <= high))     # int8 could not be compared with 200


def holds(condition):
    """Whether all of a boolean tensor is True; True, too, where torch compiles, exports, maps (`vmap`) or has no values (meta)."""
    try:
        return torch.compiler.is_compiling() or bool(condition.all())
    except RuntimeError:                                     # vmap does not allow a branch on a value
        return True
