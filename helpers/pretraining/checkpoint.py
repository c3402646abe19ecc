"""A training run on disk: it can be stopped at any moment, or killed, and goes on as if nothing had been."""
import pathlib
import time
from typing import TextIO

import torch
from torch import nn

from helpers.pretrained.weights import atomic_write, fill, read_record, read_whole, write


class Checkpoint:
    """All that a step of Adam changes, and the file that keeps it.

    tensors: by name, each weight of the model, and the three tensors that Adam keeps for it, at 0 until
    `load`. run: a dictionary of what makes this run another than others.
    """

    def __init__(self, path: pathlib.Path, model: nn.Module, optimizer: torch.optim.Adam, run: dict):
        self.path, self.run, self.tensors = path, run, {}
        self.seconds, self.started = 0.0, time.time()                      # of the runs before; of this one
        for name, weight in model.named_parameters():
            optimizer.state[weight] = {"step": torch.zeros((), device=weight.device),
                                       "exp_avg": torch.zeros_like(weight), "exp_avg_sq": torch.zeros_like(weight)}
            self.tensors[name] = weight.detach()
            self.tensors |= {f"{name}.{key}": tensor for key, tensor in optimizer.state[weight].items()}

    def step(self) -> int:
        """How many steps the tensors have had."""
        return int(next(tensor for name, tensor in self.tensors.items() if name.endswith(".step")))

    def all_seconds(self) -> float:
        """What the steps took, those of the runs before included."""
        return self.seconds + time.time() - self.started

    def save(self) -> None:
        """Write the tensors. Raises ValueError, and leaves the file as it is, if one of them is not finite."""
        with atomic_write(self.path) as part:
            write(self.tensors, part, {"run": self.run, "step": self.step(), "seconds": self.all_seconds()})

    def load(self) -> None:
        """Put what `save` wrote, if anything, into the tensors.

        Raises ValueError, and changes no tensor, for a damaged file, and for one of another run, naming what differs.
        """
        if not self.path.exists():
            return
        stored, record = read_whole(self.path)
        run, step, seconds = map(record.get, ("run", "step", "seconds"))
        steps = {float(tensor) for name, tensor in stored.items() if name.endswith(".step")}
        if not isinstance(run, dict) or list(steps) != [step] or not isinstance(seconds, float):
            raise ValueError(f"{self.path} is damaged, or no checkpoint: it needs to say the run, step and seconds of its weights")
        other = [f"{name} was {run.get(name)}, is {value}" for name, value in self.run.items() if run.get(name) != value]
        if other:
            raise ValueError(f"{self.path} is of another run: {'; '.join(other)}. Choose the same as then, or another folder")
        fill(self.tensors, stored, f"{self.path} is damaged")
        self.seconds = seconds


def standing(path: pathlib.Path) -> str:
    """A sentence that says from where a run goes on."""
    if not path.exists():
        return f"There is no checkpoint at {path} yet."
    try:
        return f"{path} is the checkpoint of step {read_record(path)['step']}: the command that wrote it goes on from there."
    except (ValueError, KeyError):
        return f"{path} is no checkpoint to go on from."


def open_log(path: pathlib.Path, columns: list[str], step: int) -> TextIO:
    """A file of comma-separated values, open to write on from a step; rows of later steps are taken out."""
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]] if path.exists() else []
    rows = [row for row in rows if len(row) == len(columns) and int(row[0]) <= step]
    with atomic_write(path) as part:
        part.write_text("".join(",".join(row) + "\n" for row in [columns, *rows]))
    return path.open("a", buffering=1)                                  # a row is in the file as soon as it is printed
