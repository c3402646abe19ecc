"""Seeds, and the one training loop."""
import math

import torch


def seed_everything(seed=0):
    """Make every random number that torch draws from here on the same in each run."""
    torch.manual_seed(seed)


def train(model, batches, loss_fn, lr=1e-2):
    """Take one step of Adam for every batch; return the losses, a list of numbers.

    batches: an iterable of tuples. loss_fn(model, *batch) returns the loss, one number.
    Raises ValueError when a loss is not finite, before the step that would spoil the model.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    model.train()
    for step, batch in enumerate(batches):
        loss = loss_fn(model, *batch)
        if not math.isfinite(loss.item()):
            raise ValueError(f"the loss is {loss.item()} at step {step}: lower lr={lr:g}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    return losses
