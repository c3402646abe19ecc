"""Trained weights on disk: safetensors files, which hold numbers and no code, checked before a model takes them."""
import contextlib
import hashlib
import json
import os
import pathlib
from collections.abc import Iterator

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

SHIPPED = pathlib.Path(__file__).parent
FLOATS = torch.float16, torch.bfloat16, torch.float32, torch.float64     # what weights may be stored as


def save_weights(model: nn.Module, path, record: dict | None = None, dtype: torch.dtype | None = None) -> None:
    """Write the weights of a model to `path`, with a checksum and a record of how they came about.

    record: a dictionary that JSON can hold, read back by `read_record`. dtype: what floating point numbers
    are stored as, one of FLOATS, such as torch.float16 for half the bytes; as they are if None. Weights that
    two layers share are written once. Raises ValueError for a weight that is not finite, or not in that dtype.
    """
    with atomic_write(path) as part:
        write(own_tensors(model), part, record, dtype)


def load_weights(model: nn.Module, name) -> nn.Module:
    """Put the weights of a file into a model, which keeps its dtype and device; return the model.

    name: of weights that ship with the course, such as "translation_transformer", or the path of a
    .safetensors file. Nothing changes in the model unless everything fits. Raises FileNotFoundError where
    there is no such file, and ValueError, naming what is wrong, for a damaged file and for weights that are
    missing, too many, of another shape or kind, or too large for the model's dtype. A file that another
    program wrote has no checksum: it is taken if it is whole and fits.
    """
    path = find(name)
    fill(own_tensors(model), read_whole(path)[0], f"{path.name} does not fit this {type(model).__name__}")
    return model


def read_record(name) -> dict:
    """What `save_weights` was told about the weights; the name is as in `load_weights`, and so are the errors."""
    return read_whole(find(name))[1]


def find(name):
    """The path of a file of weights; raise FileNotFoundError, with the names that ship, if it is not there."""
    path = pathlib.Path(name)
    path = path if path.suffix else SHIPPED / f"{name}.safetensors"
    if not path.is_file():
        shipped = ", ".join(sorted(file.stem for file in SHIPPED.glob("*.safetensors")))
        raise FileNotFoundError(f"no weights {str(name)!r}: a path that ends in .safetensors is needed, or one of {shipped}")
    return path


def write(tensors, part, record=None, dtype=None):
    """Write tensors by name, as `save_weights` does, to the path that `atomic_write` gives."""
    if dtype not in (None, *FLOATS):
        raise ValueError(f"dtype={dtype}: weights can be stored as {', '.join(map(str, FLOATS))}")
    stored = {name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items()}
    if dtype is not None:
        stored = {name: tensor.to(dtype) if tensor.is_floating_point() else tensor for name, tensor in stored.items()}
    refuse(f"{part.stem} cannot be written", {"not finite": not_finite(stored)})
    metadata = {"format": "pt", "record": json.dumps(record or {}), "checksum": checksum(stored)}
    save_file(stored, part, metadata=metadata)


@contextlib.contextmanager
def atomic_write(path) -> Iterator[pathlib.Path]:
    """Atomic: yields the path of a temporary file beside `path`, and renames it when the block has written it."""
    path = pathlib.Path(path)
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)                             # a link there would lead the writing elsewhere
    part.touch()                                             # a folder that is missing is named by FileNotFoundError
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def opened(path):
    """A safetensors file, open; raises ValueError if it is none, or not whole."""
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except SafetensorError as error:
        raise ValueError(f"{path.name} is damaged, or no safetensors file: {error}") from error


def read_whole(path):
    """(tensors by name, record) of a file; raise ValueError if it is damaged, or a number is not finite."""
    with opened(path) as file:
        stored, metadata = {name: file.get_tensor(name) for name in sorted(file.keys())}, file.metadata() or {}
    try:
        record = json.loads(metadata.get("record", "{}"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} is damaged: its record is no JSON: {error}") from error
    if metadata.get("checksum") not in (None, checksum(stored)):
        raise ValueError(f"{path.name} is damaged: its numbers are not the ones that were saved")
    refuse(f"{path.name} cannot be used", {"not finite": not_finite(stored)})
    return stored, record if isinstance(record, dict) else {}


def fill(wanted, stored, complaint):
    """Copy stored tensors into those of the same names; raise ValueError, and change nothing, unless all of them fit."""
    both = [(name, stored[name], tensor) for name, tensor in wanted.items() if name in stored]
    refuse(complaint, {
        "missing": [name for name in wanted if name not in stored],
        "not in the model": [name for name in stored if name not in wanted],
        "of another shape": [f"{name} (is {list(mine.shape)}, needs {list(needed.shape)})"
                             for name, mine, needed in both if mine.shape != needed.shape],
        "of another kind": [f"{name} (is {mine.dtype}, needs {needed.dtype})" for name, mine, needed in both
                            if mine.dtype != needed.dtype and not {mine.dtype, needed.dtype} <= set(FLOATS)],
    })
    stored = {name: stored[name].to(tensor.dtype) for name, tensor in wanted.items()}
    refuse(complaint, {"too large for the model's dtype": not_finite(stored)})
    with torch.no_grad():
        for name, tensor in wanted.items():
            tensor.copy_(stored[name])


def refuse(complaint, troubles):
    """Raise ValueError if any of the lists of names has one, and say the first three of each."""
    found = "; ".join(f"{what}: {', '.join(names[:3])}" + (f" and {len(names) - 3} more" if names[3:] else "")
                      for what, names in troubles.items() if names)
    if found:
        raise ValueError(f"{complaint}. {found[0].upper() + found[1:]}")


def own_tensors(model):
    """Name and tensor of everything that a model keeps, each tensor once; raise ValueError if one has no numbers."""
    tensors = model.state_dict(keep_vars=True)
    refuse(f"this {type(model).__name__} holds no numbers: make it anew, on another device",
           {"on the device meta": [name for name, tensor in tensors.items() if tensor.is_meta]})
    first = {id(tensor): name for name, tensor in reversed(tensors.items())}
    return {name: tensor for name, tensor in tensors.items() if first[id(tensor)] == name}


def checksum(tensors):
    """sha256 of all names and numbers."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode() + tensors[name].contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def not_finite(tensors):
    """The names of the tensors with a NaN or an infinity, among those that weights may be."""
    return [name for name, tensor in tensors.items() if tensor.dtype in FLOATS and not tensor.isfinite().all()]
