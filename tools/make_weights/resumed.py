"""Trainings of an hour, which go on from their last checkpoint when they were interrupted."""
import itertools
from time import process_time

import torch

from helpers.training import train


def device_name(model):
    """What a model is trained on, for its record."""
    device = next(model.parameters()).device
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"


def train_resumed(model, optimizer, batches_after, loss_fn, rate, schedule, checkpoint, every, report):
    """Train until the batches end, and return the seconds of processor time of all runs together.

    batches_after(n) gives the batches that follow the first n. After each `every` steps model and optimizer are kept in the file
    `checkpoint`, and report(steps, seconds, losses) is called.
    """
    done, seconds = 0, 0.0
    if checkpoint.exists():
        kept = torch.load(checkpoint)
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        done, seconds = kept["step"], kept["seconds"]
    batches, start = iter(batches_after(done)), process_time() - seconds
    while part := list(itertools.islice(batches, every)):
        losses = train(model, part, loss_fn, rate, lambda step, first=done: schedule(first + step), clip=1.0, optimizer=optimizer)
        done, seconds = done + len(part), process_time() - start
        new = checkpoint.with_suffix(".new")
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": done, "seconds": seconds}, new)
        new.replace(checkpoint)                              # an interrupted save leaves the old one
        report(done, seconds, losses)
    return seconds
