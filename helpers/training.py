"""The training loop, learning rate schedules, and the loss of a sequence."""
import math
from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers.masks import check_whole
from helpers.text import PAD


def train(model: nn.Module, batches, loss_fn, lr: float = 1e-2, schedule=None,
          clip: float | None = None, accumulate: int = 1, validate=None, every: int = 100,
          watch=None, optimizer=None) -> list[float]:
    """Take one step of Adam for every batch; return the losses, a list of numbers.

    batches: tuples, whose tensors go to the model's device. loss_fn(model, *batch): the loss.
    schedule: from the number of the step to the factor of lr that is used then.
    clip: the largest norm of all gradients together; larger ones are scaled down to it.
    accumulate: batches a step; the loss is the mean of theirs.
    validate: from the model to a number; called every `every` steps, without dropout.
    watch: called after each step with the steps taken, the loss, and what validate found or None:
        a `TrainingCurve` of helpers.widgets, which keeps all of them.
    optimizer: in place of a new Adam. Raises ValueError before a step if the loss is not finite.
    """
    check_whole(accumulate=accumulate, every=every)
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=lr, fused=True)
    device, batches, losses = next(model.parameters()).device, iter(batches), []
    model.train()
    try:
        while parts := list(islice(batches, accumulate)):
            for group in optimizer.param_groups:
                group["lr"] = lr * schedule(len(losses)) if schedule else lr
            optimizer.zero_grad()
            total = 0.0
            for batch in parts:
                loss = loss_fn(model, *to_device(batch, device)) / len(parts)
                loss.backward()                              # adds to the gradients
                total += loss.detach()
            losses.append(float(total))
            if not math.isfinite(losses[-1]):
                raise ValueError(f"the loss is {losses[-1]} at step {len(losses) - 1}, lr={lr:g}")
            if clip:
                nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            found = without_training(model, validate) if validate and len(losses) % every == 0 else None
            if watch:
                watch(len(losses), losses[-1], found)
    finally:
        model.eval()  # also when interrupted, so that the model can be used
    return losses


def to_device(batch, device):
    """The batch with its tensors on a device."""
    return [x.to(device, non_blocking=True) if isinstance(x, Tensor) else x for x in batch]


@torch.no_grad()
def without_training(model, measure):
    """What measure(model) returns in eval mode, a number; the model trains on afterwards."""
    model.eval()
    found = float(measure(model))
    model.train()
    return found


def one_cycle(steps: int, warm: float = 0.3):
    """A schedule: linear up to 1 for the first part `warm` of the steps, then down to 0 along a cosine, where it stays.

    Source: Smith and Topin 2018.
    """
    check_whole(steps=steps)

    def factor(step):
        done = min(1.0, (step + 1) / steps)
        return done / warm if done <= warm else (1 + math.cos(math.pi * (done - warm) / (1 - warm))) / 2
    return factor


def sequence_loss(model: nn.Module, src: Tensor, lengths: Tensor, tgt: Tensor,
                  label_smoothing: float = 0.0) -> Tensor:
    """The mean loss of each next token of tgt [B, T], given the tokens before it: a number.

    tgt begins with `<bos>` and ends with `<eos>`; the mean is over the real tokens, not the padding.
    """
    logits = model(src, lengths, tgt[:, :-1])                              # [B, T - 1, vocab_size]
    return F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD,
                           label_smoothing=label_smoothing)


def next_token_loss(model: nn.Module, ids: Tensor) -> Tensor:
    """The mean loss of each token of ids [B, T + 1] but the first, given the tokens before it: a number."""
    logits = model(ids[:, :-1])                                            # [B, T, vocab_size]
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
