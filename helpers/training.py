"""The one training loop, how fast it learns when, and the loss of a sequence."""
import math

import torch
import torch.nn.functional as F

from helpers.text import PAD


def train(model, batches, loss_fn, lr=1e-2, schedule=None, clip=None):
    """Take one step of Adam for every batch; return the losses, a list of numbers.

    batches: an iterable of tuples. loss_fn(model, *batch) returns the loss, one number.
    schedule: a function from the number of the step to the part of lr that is used then.
    clip: the largest norm of all gradients together; larger ones are shortened to it.
    Raises ValueError when a loss is not finite, before the step that would spoil the model.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, fused=True)
    losses = []
    model.train()
    try:
        for batch in batches:
            for group in optimizer.param_groups:
                group["lr"] = lr * schedule(len(losses)) if schedule else lr
            loss = loss_fn(model, *batch)
            losses.append(loss.item())
            if not math.isfinite(losses[-1]):
                raise ValueError(f"the loss is {losses[-1]} at step {len(losses) - 1}, lr={lr:g}")
            optimizer.zero_grad()
            loss.backward()
            if clip:
                torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
    finally:
        model.eval()  # also when interrupted, so that the model can be used
    return losses


def one_cycle(steps, warm=0.3):
    """A schedule: up in a line for the first part of the steps, then down to nothing along a cosine.

    Source: Smith and Topin 2018.
    """
    def factor(step):
        done = (step + 1) / steps
        return done / warm if done < warm else (1 + math.cos(math.pi * (done - warm) / (1 - warm))) / 2
    return factor


def warm_up(warm):
    """The schedule of the Transformer's paper, 1 at its peak: up in a line, then one over the root.

    warm: the number of steps to the peak. Source: Vaswani et al. 2017, section 5.3.
    """
    return lambda step: min((step + 1) / warm, ((step + 1) / warm) ** -0.5)


def sequence_loss(model, src, lengths, tgt, label_smoothing=0.0):
    """The mean loss of each next word of tgt [B, T], given the words before it: a number.

    tgt begins with `<bos>` and ends with `<eos>`; the mean is over the real words, not the padding.
    """
    scores = model(src, lengths, tgt[:, :-1])                              # [B, T - 1, vocab]
    return F.cross_entropy(scores.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD, label_smoothing=label_smoothing)
