"""Read or change the attention weights of a model while it runs, and score what its heads look at."""
import inspect
import math
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

KINDS = ["previous", "next", "same", "[SEP]"]           # what `head_names` looks for first


def using(register: Callable) -> Callable:
    """A method of nn.Module that registers a hook, and with it the note that the point is used."""
    def register_and_note(point, *args, **kwargs):
        point.used = True
        return register(point, *args, **kwargs)
    return register_and_note


class HookPoint(nn.Identity):
    """Identity: the attention's scores or weights pass through it, so a hook registered here can read or change them.

    While `used` is False, torch may compute the whole attention in one fused step that never forms
    either. The first hook registered here sets it to True, global ones do not; only assigning False resets it.
    """

    def __init__(self):
        super().__init__()
        self.used = False                                    # not the class's: a compiled model would compile anew

    register_forward_hook = using(nn.Module.register_forward_hook)
    register_forward_pre_hook = using(nn.Module.register_forward_pre_hook)
    register_full_backward_hook = using(nn.Module.register_full_backward_hook)
    register_full_backward_pre_hook = using(nn.Module.register_full_backward_pre_hook)


@contextmanager
def record(model: nn.Module, change: Callable | None = None):
    """Record the attention weights that pass each hook point `attention_weights` of `model` inside the block.

        with record(model) as seen:
            model(x)
        seen["encoder.layers.0.self_attn.attention_weights"][0]      # weights of the first call

    change: a function of (path, weights). What it returns replaces the weights and is what is recorded;
        None leaves them as they are.
    Yields a dictionary from the path of each hook point to a list of detached tensors, one for each call.
    Inside the block, attention forms its weights instead of using a fused kernel, and a compiled model runs
    uncompiled. Raises ValueError if the model has no such hook point.
    """
    points = {path: module for path, module in model.named_modules()
              if path.split(".")[-1] == "attention_weights"}
    if not points:
        raise ValueError(f"nothing to record: {type(model).__name__} has no submodule named attention_weights")
    seen = {}

    def hook_for(path):
        def hook(point, inputs, weights):
            changed = change(path, weights) if change else None
            weights = weights if changed is None else changed
            seen.setdefault(path, []).append(weights.detach())
            return weights
        return hook

    before = [getattr(point, "used", False) for point in points.values()]
    handles = [point.register_forward_hook(hook_for(path.replace("_orig_mod.", "")))     # as if not compiled
               for path, point in points.items()]
    try:
        with torch.compiler.set_stance("force_eager"):
            yield seen
    finally:
        for handle in handles:
            handle.remove()
        for point, used in zip(points.values(), before):
            point.used = used


@torch.no_grad()
def maps_of(bert: nn.Module, found) -> Tensor:
    """All maps of a `Bert` for a text or pair, as the tokenizer encoded it: [layers, heads, T, T]."""
    with record(bert) as seen:
        bert(torch.tensor([found.ids]), torch.tensor([len(found)]), torch.tensor([found.type_ids]))
    return torch.stack([weights[0][0] for weights in seen.values()])


def head_scores(weights: Tensor, tokens: list[str]) -> dict[str, Tensor]:
    """What the words look at: weights [..., T, T] to the mean weight on each kind of token, [...].

    The words are all tokens but `[CLS]` and `[SEP]`. Each mean is over the words that have a token of that
    kind to look at, and NaN where there is none. "broad" is the entropy of a row: 0 for all weight on one
    token, 1 for the same weight on every token.
    """
    T, position = len(tokens), torch.arange(len(tokens))
    ids = torch.tensor([tokens.index(token) for token in tokens])
    cls, sep = (torch.tensor([token == mark for token in tokens]) for mark in ("[CLS]", "[SEP]"))
    words, back = ~(cls | sep), position.unsqueeze(1) - position           # [T], [T, T]
    looks = {"previous": words & (back == 1), "next": words & (back == -1),
             "same": words & (ids.unsqueeze(1) == ids) & (back != 0),
             "[SEP]": sep.expand(T, T), "[CLS]": cls.expand(T, T)}
    scores = {}
    for kind, mask in looks.items():
        asked = words & mask.any(1)
        scores[kind] = (weights * mask).sum(-1)[..., asked].mean(-1)       # [...]
    entropy = -torch.special.xlogy(weights, weights).sum(-1)               # [..., T]
    scores["broad"] = entropy[..., words].mean(-1) / math.log(T)
    return scores


def head_names(scores: dict[str, Tensor], least: float = 0.4) -> list[list[str]]:
    """A name for each head, as lists, from scores [layers, heads]; "" where nothing stands out.

    A head is named after the kind that gets most of the weight that is not on `[CLS]`, if that is at least
    `least` of it; else "[CLS]" if that gets `least` of all weight; else "broad" from an entropy of 0.85.
    """
    rest = torch.stack([scores[kind] for kind in KINDS]) / (1 - scores["[CLS]"])     # [kinds, layers, heads]
    most, best = rest.max(0)

    def name(layer, head):
        if most[layer, head] >= least:
            return KINDS[best[layer, head]]
        if scores["[CLS]"][layer, head] >= least:
            return "[CLS]"
        return "broad" if scores["broad"][layer, head] >= 0.85 else ""

    return [[name(layer, head) for head in range(most.shape[1])] for layer in range(len(most))]


@dataclass
class Call:
    """One call of a module, as `trace` saw it, with the calls that were made inside it."""
    path: str                                                # as `named_modules` has it; "" for the model itself
    module: nn.Module | None
    inputs: dict                                             # by the names of forward's arguments
    place: tuple                                             # the line that called: file, number, name of its module
    output: object = None
    calls: list["Call"] = field(default_factory=list)


@contextmanager
def trace(model: nn.Module):
    """Record every call of every module of `model` inside the block, nested as the calls were.

        with torch.no_grad(), trace(model) as calls:
            model(ids)
        calls[0].calls[0].output                             # of the first module that the model called

    Yields the list of the calls of `model` itself. Inputs and outputs are the very objects that were passed.
    Inside the block, attention forms its scores and weights instead of using a fused kernel, and a compiled
    model runs uncompiled.
    """
    top = Call("", None, {}, ())
    running = [top]
    inside_torch = inspect.getfile(nn.Module)

    def enter_for(path):
        def enter(module, args, kwargs):
            frame = inspect.currentframe().f_back
            while frame.f_code.co_filename == inside_torch:
                frame = frame.f_back
            place = frame.f_code.co_filename, frame.f_lineno, frame.f_globals["__name__"]
            inputs = inspect.signature(module.forward).bind(*args, **kwargs).arguments
            running[-1].calls.append(Call(path, module, inputs, place))
            running.append(running[-1].calls[-1])
        return enter

    def leave(module, args, output):
        running.pop().output = output

    points = [(module, module.used) for module in model.modules() if isinstance(module, HookPoint)]
    handles = [module.register_forward_pre_hook(enter_for(path), with_kwargs=True) for path, module in model.named_modules()]
    handles += [module.register_forward_hook(leave, always_call=True) for module in model.modules()]
    try:
        with torch.compiler.set_stance("force_eager"):
            yield top.calls
    finally:
        for handle in handles:
            handle.remove()
        for point, used in points:
            point.used = used
