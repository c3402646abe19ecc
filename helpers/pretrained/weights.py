"""Trained weights on disk: safetensors files, which hold numbers and no code, checked before a model takes them."""
import contextlib
import hashlib
import json
import os
import pathlib

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

SHIPPED = pathlib.Path(__file__).parent


def save_weights(model, path, record=None, dtype=None):
    """Write the weights of a model to `path`, with a checksum and a record of how they came about.

    record: a dictionary that JSON can hold, read back by `read_record`. dtype: what numbers with a point are stored as, for
    example torch.float16 for half the bytes; as they are if None. Weights that two layers share are written once.
    Raises ValueError for a weight that is not finite, or would not be in that dtype.
    """
    with atomic_write(path) as part:
        write(own_tensors(model), part, record, dtype)


def load_weights(model, name):
    """Put the weights of a file into a model, which keeps its dtype and device; return the model.

    name: of weights that ship with the course, such as "translation_transformer", or the path of a .safetensors file.
    Nothing changes in the model unless everything fits. Raises FileNotFoundError where there is no such file, and
    ValueError, naming what is wrong, for a damaged file and for weights that are missing, too many, or of another shape.
    A file that another program wrote has no checksum: it is taken if it is whole and fits.
    """
    path = find(name)
    fill(own_tensors(model), read_whole(path), f"{path.name} does not fit this {type(model).__name__}")
    return model


def read_record(name):
    """What `save_weights` was told about the weights, a dictionary; the name is as in `load_weights`, and so are the errors."""
    return json.loads(read(find(name))[1].get("record", "{}"))


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
    stored = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    if dtype is not None:
        stored = {name: tensor.to(dtype) if tensor.is_floating_point() else tensor for name, tensor in stored.items()}
    check_finite(stored, part.stem)
    metadata = {"format": "pt", "record": json.dumps(record or {}), "checksum": checksum(stored)}
    save_file(stored, part, metadata=metadata)


@contextlib.contextmanager
def atomic_write(path):
    """A path to write to, which takes the place of another one when all is written: so that one is whole at any moment."""
    path = pathlib.Path(path)
    part = path.with_name(path.name + ".part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def read_whole(path):
    """The tensors of a file by name; raise ValueError if it is damaged, or a number is not finite."""
    stored, metadata = read(path)
    if metadata.get("checksum") not in (None, checksum(stored)):
        raise ValueError(f"{path.name} is damaged: its numbers are not the ones that were saved")
    check_finite(stored, path.name)
    return stored


def fill(wanted, stored, complaint):
    """Copy stored tensors into those of the same names; raise ValueError, and change nothing, unless all of them fit."""
    troubles = {
        "missing": [key for key in wanted if key not in stored],
        "not in the model": [key for key in stored if key not in wanted],
        "of another shape": [f"{key} (is {list(stored[key].shape)}, needs {list(wanted[key].shape)})"
                             for key in wanted if key in stored and stored[key].shape != wanted[key].shape],
    }
    if any(troubles.values()):
        found = "; ".join(f"{what}: {in_short(keys)}" for what, keys in troubles.items() if keys)
        raise ValueError(f"{complaint}. {found[0].upper() + found[1:]}")
    with torch.no_grad():
        for key, tensor in wanted.items():
            tensor.copy_(stored[key])


def read(path):
    """(tensors, metadata) of a file; raise ValueError if it is not whole."""
    try:
        with safe_open(path, framework="pt") as file:
            return {key: file.get_tensor(key) for key in sorted(file.keys())}, file.metadata() or {}
    except SafetensorError as error:
        raise ValueError(f"{path.name} is damaged, or no safetensors file: {error}") from error


def own_tensors(model):
    """Name and tensor of everything that a model keeps, each tensor once."""
    seen = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        seen.setdefault(id(tensor), (name, tensor))
    return dict(seen.values())


def checksum(tensors):
    """sha256 of all names and numbers."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode() + tensors[name].contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def check_finite(tensors, file):
    """Raise ValueError where a weight is not a number, or infinite."""
    bad = [name for name, tensor in tensors.items() if not tensor.isfinite().all()]
    if bad:
        raise ValueError(f"{file}: not finite: {in_short(bad)}")


def in_short(names, most=3):
    """The first few of many names."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
