"""What an exercise is, and the verdict on an answer."""
import copy
import dis
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode


@dataclass
class Exercise:
    """spec: the slow, plain definition. cases: the arguments that an answer is tried on, the smallest first.
    mistakes: maps a sentence to a function that goes wrong as it says; an answer like it gets that.
    most: the most numbers that a tensor on the way may hold in the last case; None for any.
    without: the name of a function that would do all the work, so that an answer may not call it; "" for none.
    at_once: whether an answer has to call torch as often for the last case as for the first, so that no loop runs over rows.
    """

    spec: Callable[..., Tensor]
    cases: list[tuple]
    mistakes: dict[str, Callable[..., Tensor]]
    most: int | None = None
    without: str = ""
    at_once: bool = False


class Largest(TorchFunctionMode):
    """Watches torch's functions inside: the shape of the largest tensor that they return, where a view counts as what it is a
    view of, and the number of their calls. A call that returns a list counts once for each of its items."""

    def __init__(self):
        super().__init__()
        self.numbers, self.shape, self.calls = 0, [], 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.calls += len(result) if isinstance(result, list) else 1
        if isinstance(result, Tensor):
            stored = result.untyped_storage().nbytes() // result.element_size()
            if stored > self.numbers:
                self.numbers, self.shape = stored, list(result.shape)
        return result


def verdict(answer: Callable, exercise: Exercise) -> str:
    """One sentence on `answer`, which is to do what its spec does, and the smallest case that fails."""
    names = list(inspect.signature(exercise.spec).parameters)
    results, changed = [], []
    for case in exercise.cases:
        arguments = copy.deepcopy(case)                   # so that an answer that changes them spoils nothing
        results.append(outcome(answer, arguments))
        changed += [name for name, before, after in zip(names, case, arguments) if not same(before, after)]
    if all(result is None for result in results):
        if len(list(dis.get_instructions(answer))) <= len(list(dis.get_instructions(lambda: ...))):
            return "not attempted yet. Replace the dots and run the cell again."
        return "your function returns None. Is a `return` missing?"
    in_place = changed and f"your function changes `{changed[0]}` in place; leave its arguments as they are."
    needs = [exercise.spec(*copy.deepcopy(case)) for case in exercise.cases]
    results = list(map(as_tensor, results, needs))
    for case, result, needed in zip(exercise.cases, results, needs):
        if sentence := fault(result, needed):
            if mistake := foreseen(results, exercise):
                return f"not yet: {mistake}."
            also = f"\nAlso, {in_place}" if in_place else ""
            return f"not yet: {sentence}\n{listing(names, case, result, needed)}{also}"
    if in_place:
        return f"not yet: your result is right, but {in_place}"
    called = called_by(answer, exercise.cases[0])
    for name in (exercise.spec.__code__.co_name, exercise.without):
        if name in called:
            return f"not yet: your function calls {name}; write it without."
    if exercise.at_once and calls(answer, exercise.cases[0]) != calls(answer, exercise.cases[-1]):
        return "not yet: your result is right, but your function takes rows or numbers one by one; do without a loop."
    if exercise.most is not None:
        with Largest() as largest:
            answer(*copy.deepcopy(exercise.cases[-1]))
        if largest.numbers > exercise.most:
            return (f"not yet: your result is right, but on the way your function makes a tensor {largest.shape} "
                    f"for a result {list(results[-1].shape)}; do without it.")
    return f"correct, on all {len(exercise.cases)} cases."


def outcome(function: Callable, arguments: tuple):
    """What a function returns, or the exception that it raises: a reader's own code may raise anything."""
    try:
        return function(*arguments)
    except Exception as error:
        return error


def as_tensor(result, needed: Tensor):
    """A number of Python as a tensor, where one number is needed; all else as it is. An integer may stand for a float."""
    if needed.dim() or not isinstance(result, (bool, int, float)):
        return result
    return torch.tensor(float(result) if type(result) is int and needed.is_floating_point() else result)


def foreseen(results: list, exercise: Exercise) -> str | None:
    """The mistake that goes wrong as these results of all cases do, if there is one."""
    for mistake, function in exercise.mistakes.items():
        if all(map(agree, results, [outcome(function, copy.deepcopy(case)) for case in exercise.cases])):
            return mistake
    return None


def fault(result, needed: Tensor) -> str | None:
    """What is wrong with `result`, in one sentence; None where it is what is needed."""
    if isinstance(result, Exception):
        return f"your function raised {type(result).__name__}: {result}"
    if not isinstance(result, Tensor):
        return f"your function needs to return a tensor, and returns a value of type {type(result).__name__}."
    if result.shape != needed.shape:
        return f"your result has shape {list(result.shape)} and needs {list(needed.shape)}."
    if kind(result) != kind(needed):
        return f"your result has dtype {result.dtype} and needs {needed.dtype}."
    wrong = ~close(result, needed)
    if not wrong.any():
        return None
    infinite = wrong & ~result.isfinite()
    place = tuple((infinite if infinite.any() else wrong).nonzero()[0].tolist())
    where = f" at {list(place)}" if place else ""
    mine, right = compact(result[place], digits=6), compact(needed[place], digits=6)
    return f"your result is {mine}{where}, where the plain version returns {right}."


def listing(names: list[str], case: tuple, result, needed: Tensor) -> str:
    """The values of a case: its arguments, what an answer returns if that is a tensor, and what is needed."""
    values = dict(zip(names, case))
    if isinstance(result, Tensor):
        values["your result"] = result
    values["plain version"] = needed
    return "\n".join(f"  {name:13} = {compact(value, indent=18)}" for name, value in values.items())


def compact(value, indent: int = 0, digits: int = 4) -> str:
    """A tensor or list as Python writes lists, a row on each line; all lines but the first are indented."""
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, float):
        text = f"{value + 0:.{digits}g}"                  # -0.0 + 0 is 0.0
        return f"{text}.0" if text.lstrip("-").isdigit() else text.replace("nan", "NaN")
    if not isinstance(value, list):
        return repr(value)
    separator = ",\n" + " " * (indent + 1) if any(isinstance(row, list) for row in value) else ", "
    return "[" + separator.join(compact(row, indent + 1, digits) for row in value) + "]"


def agree(result, other) -> bool:
    """Whether both are numbers, or both booleans, of one shape and the same values; or exceptions that say the same."""
    if isinstance(other, Exception):
        return repr(result) == repr(other)
    return (isinstance(result, Tensor) and result.shape == other.shape
            and (result.dtype == torch.bool) == (other.dtype == torch.bool)
            and bool(close(result, other).all()))


def close(result: Tensor, needed: Tensor) -> Tensor:
    """Where two tensors of one shape agree, to five digits of the largest number needed: a boolean tensor."""
    size = max(needed.double().nan_to_num(0, 0, 0).abs().flatten().tolist(), default=0.0) or 1.0
    return torch.isclose(result.double(), needed.double(), rtol=0, atol=1e-5 * size, equal_nan=True)


def kind(x: Tensor) -> tuple[bool, bool]:
    """Booleans, floating-point numbers and integers are three kinds; float32 and float64 are one."""
    return x.dtype == torch.bool, x.is_floating_point()


def same(before, after) -> bool:
    return torch.equal(before, after) if isinstance(before, Tensor) else before == after


def called_by(answer: Callable, case: tuple) -> set[str]:
    """The names, as first defined, of all Python functions that run when `answer` does."""
    names, profiler = set(), sys.getprofile()
    sys.setprofile(lambda frame, event, argument: names.add(frame.f_code.co_name))
    try:
        answer(*copy.deepcopy(case))
    finally:
        sys.setprofile(profiler)
    return names


def calls(answer: Callable, case: tuple) -> int:
    """How often `answer` calls torch."""
    with Largest() as counted:
        answer(*copy.deepcopy(case))
    return counted.calls


def numbers(*shape: int, seed: int) -> Tensor:
    """Normally distributed numbers of one decimal, so that four digits show them exactly."""
    return (10 * torch.randn(shape, generator=torch.Generator().manual_seed(seed))).round() / 10
