"""A training run on disk, so that it can be stopped at any moment, or killed, and go on as if nothing had been."""
import json

import torch
from safetensors.torch import save_file

from helpers.pretrained.weights import atomic_write, read


def everything(model, optimizer):
    """By name, all that a step of Adam changes: each weight of the model, and the three tensors that Adam keeps for it, at 0."""
    tensors = {}
    for name, weight in model.named_parameters():
        optimizer.state[weight] = {"step": torch.zeros((), device=weight.device),
                                   "exp_avg": torch.zeros_like(weight), "exp_avg_sq": torch.zeros_like(weight)}
        tensors |= {name: weight.detach()} | {f"{name}.{key}": tensor for key, tensor in optimizer.state[weight].items()}
    return tensors


def save_checkpoint(path, tensors, record, step, seconds):
    """Write tensors to `path`, with the step and the seconds that they took; record: what makes this run another than others."""
    with atomic_write(path) as part:
        save_file(tensors, part, {"record": json.dumps(record), "step": str(step), "seconds": str(seconds)})


def load_checkpoint(path, tensors, record):
    """Put what `save_checkpoint` wrote, if anything, into tensors; return the seconds it took, 0 without a checkpoint.

    Raises ValueError for a file that is damaged, and, by the name of what differs, for one of another run.
    """
    if not path.exists():
        return 0.0
    stored, metadata = read(path)
    before = json.loads(metadata.get("record", "{}"))
    other = [f"{name} was {before.get(name)}, is {value}" for name, value in record.items() if before.get(name) != value]
    if other or stored.keys() != tensors.keys():
        raise ValueError(f"{path} is of another run: {'; '.join(other) or 'it holds other weights'}. "
                         "Choose the same as then, or another folder")
    for name, tensor in tensors.items():
        tensor.copy_(stored[name])
    return float(metadata["seconds"])


def standing(path):
    """A sentence that says from where a run goes on."""
    if not path.exists():
        return f"There is no checkpoint at {path} yet."
    try:
        return f"{path} is the checkpoint of step {read(path)[1].get('step')}: the command that wrote it goes on from there."
    except ValueError:
        return f"{path} is no checkpoint to go on from."


def open_log(path, columns, step):
    """A file of comma-separated values, open to write on from a step: what stands there of later ones will be made again."""
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]] if path.exists() else []
    rows = [row for row in rows if len(row) == len(columns) and int(row[0]) <= step]
    with atomic_write(path) as part:
        part.write_text("".join(",".join(row) + "\n" for row in [columns, *rows]))
    return path.open("a", buffering=1)                                  # a row is in the file as soon as it is printed
