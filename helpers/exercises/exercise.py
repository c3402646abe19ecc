"""What an exercise is, and the verdict on an answer."""
from collections.abc import Callable
from dataclasses import dataclass

import torch


@dataclass
class Exercise:
    """spec: the slow and plain definition. cases: the arguments it is tried on. mistakes: from what went wrong, in words, to
    a function that goes wrong in that way; an answer that agrees with one is told so."""

    spec: Callable
    cases: list[tuple]
    mistakes: dict[str, Callable]


def verdict(answer, exercise):
    """One sentence on `answer`, a function that should do what `exercise.spec` does."""
    got = []
    for case in exercise.cases:
        try:
            result = answer(*copies(case))
        except NotImplementedError:
            result = None
        except Exception as error:                        # a reader's own code may raise anything
            return f"not yet: with {describe(case)} it raised {type(error).__name__}: {error}"
        if result is None:
            return "not attempted yet. Replace the dots and run the cell again."
        if not isinstance(result, torch.Tensor):
            return f"not yet: it returns {type(result).__name__}, and needs to return a tensor"
        got.append(result)
    wanted = [exercise.spec(*copies(case)) for case in exercise.cases]
    if alike(got, wanted):
        return f"correct, on all {len(wanted)} cases."
    for mistake, function in exercise.mistakes.items():
        if alike(got, [function(*copies(case)) for case in exercise.cases]):
            return f"not yet: {mistake}"
    case, mine, right = next((c, g, w) for c, g, w in zip(exercise.cases, got, wanted) if not alike([g], [w]))
    if mine.shape != right.shape:
        return f"not yet: with {describe(case)} it returns shape {list(mine.shape)}, and needs {list(right.shape)}"
    if (mine.dtype == torch.bool) != (right.dtype == torch.bool):
        return f"not yet: it returns a tensor of {mine.dtype}, and needs {right.dtype}"
    return f"not yet: with {describe(case)} it returns\n{mine}\nwhere the plain version returns\n{right}"


def alike(these, those):
    return all(a.shape == b.shape and (a.dtype == torch.bool) == (b.dtype == torch.bool)
               and torch.allclose(a.float(), b.float(), atol=1e-5, equal_nan=True) for a, b in zip(these, those, strict=True))


def copies(case):
    """The arguments, so that an answer that changes them spoils nothing."""
    return [value.clone() if isinstance(value, torch.Tensor) else value for value in case]


def describe(case):
    return ", ".join(f"{list(value.shape)}" if isinstance(value, torch.Tensor) else repr(value) for value in case)
