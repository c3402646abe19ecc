"""The one training loop."""
import math

import torch


def train(model, batches, loss_fn, lr=1e-2):
    """Take one step of Adam for every batch; return the losses, a list of numbers.

    batches: an iterable of tuples. loss_fn(model, *batch) returns the loss, one number.
    Raises ValueError when a loss is not finite, before the step that would spoil the model.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    model.train()
    try:
        for batch in batches:
            loss = loss_fn(model, *batch)
            losses.append(loss.item())
            if not math.isfinite(losses[-1]):
                raise ValueError(f"the loss is {losses[-1]} at step {len(losses) - 1}, lr={lr:g}")
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    finally:
        model.eval()  # also when interrupted, so that the model can be used
    return losses
