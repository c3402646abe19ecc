"""Read or change the attention weights of a model while it runs, and score what its heads look at."""
import inspect
import math
import re
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import accumulate

import torch
import torch.nn.functional as F
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
    either. The first hook registered here sets it to True, a global hook does not; only assigning False resets it.
    """

    def __init__(self):
        super().__init__()
        self.used = False                                    # not the class's: a compiled model would compile anew

    register_forward_hook = using(nn.Module.register_forward_hook)
    register_forward_pre_hook = using(nn.Module.register_forward_pre_hook)
    register_backward_hook = using(nn.Module.register_backward_hook)           # the old form, which torch still accepts
    register_full_backward_hook = using(nn.Module.register_full_backward_hook)
    register_full_backward_pre_hook = using(nn.Module.register_full_backward_pre_hook)


@contextmanager
def record(model: nn.Module, change: Callable | None = None):
    """Record the attention weights that pass each hook point `attention_weights` of `model` inside the block.

        with record(model) as seen:
            model(x)
        seen["encoder.layers.0.self_attn.attention_weights"][0]      # weights of the first call

    change: a function of (path, weights). What it returns replaces the weights and is recorded; None changes nothing.
    Yields a dictionary from the path of each hook point to a list of detached tensors, one for each call.
    Inside the block, attention forms its weights instead of using a fused kernel, and a compiled model runs
    uncompiled. Raises ValueError if the model has no such hook point.
    """
    points, seen = hook_points(model), {}

    def hook_for(path):
        def hook(point, inputs, weights):
            changed = change(path, weights) if change else None
            weights = weights if changed is None else changed
            seen.setdefault(path, []).append(weights.detach())
            return weights
        return hook

    with torch.compiler.set_stance("force_eager"), ExitStack() as afterwards:
        for path, point in points.items():
            afterwards.callback(setattr, point, "used", getattr(point, "used", False))
            afterwards.enter_context(point.register_forward_hook(hook_for(path)))      # leaving it removes the hook
        yield seen


def hook_points(model: nn.Module) -> dict[str, nn.Module]:
    """The hook points of a model by their paths, which are those of the uncompiled model.

    Raises ValueError if there is none.
    """
    points = {path.replace("_orig_mod.", ""): module for path, module in model.named_modules()
              if path.split(".")[-1] == "attention_weights"}
    if not points:
        raise ValueError(f"nothing to record: {type(model).__name__} has no submodule named attention_weights")
    return points


@torch.no_grad()
def effects(model: nn.Module, inputs, answer, how: str = "cut", where: str = "", batch_size: int = 256) -> Tensor:
    """What each attention weight does for an answer: [layer, head, T_q, T_k].

    Each number is the change of the answer's log-probability when one weight alone is changed, as `how` says:
        "cut": set to 0, and the row divided by its sum; zeros where the row had nothing else
        "zero": set to 0, the rest of the row as it was
        "mean": set to the mean of its row, 1 / (number of keys that the query may look at), the rest as it was
    Cells that the mask hides are NaN: those whose weight is 0 in every layer and head.

    inputs: what the model is called with, a tensor or a tuple, as a batch of one; it is repeated, for batch_size changed weights.
    answer: (position, token) where the logits are [B, T, vocab_size], a class where they are [B, num_classes], or a
        function from the model's output to the log-probabilities [B].
    where: a regular expression found in the paths of the hook points to take, as in `weights_chosen`.
    Raises ValueError for a model in training mode, a batch that is not of one, and a `how`, `where` or answer that does not fit.
    """
    inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    check_effects(model, inputs, how)
    paths = weights_chosen(model, where)
    with record(model) as seen:
        before = log_probability(model(*inputs), answer)                   # [1]
    maps = whole_maps(seen, paths)                                         # [layer, head, T_q, T_k]
    changes = torch.full_like(maps, torch.nan)
    cells = visible(maps).expand(maps.shape[1:]).nonzero()                 # [N, 3]: head, query, key
    for path, of_layer in zip(paths, changes):
        for some in cells.split(batch_size):
            repeated = [x.expand(len(some), *x.shape[1:]) if isinstance(x, Tensor) else x for x in inputs]
            with record(model, one_for_each_row(path, some, how)):
                output = model(*repeated)
            of_layer[some.unbind(1)] = log_probability(output, answer) - before
    return changes


def what_if(model: nn.Module, run: Callable, where: str = "") -> Callable:
    """A function f(changes) -> (answer, weights): what `run()` answers with some attention weights changed.

        f = what_if(model, lambda: answer_to(text), where="cross_attn")
        answer, weights = f([{"kind": "cut", "index": [0, 3], "query": 5, "key": 9}])

    run: without arguments; it calls the model, each token once: in one pass, or one after the other with a cache. It returns
        any answer, or a tuple of three, (answer, query_tokens, key_tokens): f then returns (answer, weights, *both).
    where: as in `weights_chosen`.
    changes: each a dictionary, applied in turn, to every row of the batch:
        "kind": "cut" sets one weight to 0 and divides the row by its sum (zeros where it had nothing else), "zero" leaves
            the rest as it was; "force" puts the row's whole weight on one key; "off" sets all weights of the head to 0
        "index": [layer, head], or [head] where there is one layer
        "query", "key": the cell, not for "off"; queries are counted over all calls of a run
    weights: [layer, head, T_q, T_k], as changed, of the first row of the batch. The rows of several calls stand one below
        the other. NaN are cells that the mask hides, and keys that were not there yet when the row was computed.
    Raises ValueError for a model in training mode and for what `where` finds; f does for a change that does not fit,
    such as a cell that its row may not look at, and for a run that does not call the model.
    """
    check_evaluating(model)
    paths = weights_chosen(model, where)

    @torch.no_grad()
    def f(changes=()):
        places = [place_of(change, len(paths)) for change in changes]
        with record(model) as before, record(model, change_at(paths, places)) as after:
            found = run()
        if not set(paths) <= set(before):
            raise ValueError(f"run() did not call {paths[0]} of the {type(model).__name__}: there are no weights to show")
        maps = whole_maps(before, paths)                                   # [layer, head, T_q, T_k]
        if never := [query for kind, _, _, query, _ in places if kind != "off" and not 0 <= query < maps.shape[2]]:
            raise ValueError(f"query {never[0]}: this run has queries 0 to {maps.shape[2] - 1}")
        answer, *tokens = found if isinstance(found, tuple) and len(found) == 3 else (found,)
        return answer, whole_maps(after, paths).masked_fill(~visible(maps), torch.nan), *tokens

    return f


def weights_chosen(model: nn.Module, where: str = "") -> list[str]:
    """The paths of the hook points in which the regular expression `where` is found, one for each layer.

    "cross_attn", "encoder" and "decoder.*self_attn" choose among those of a `Transformer`; the other models have one kind.
    Raises ValueError unless all are of one kind, that is, differ in the number of the layer alone.
    """
    paths = [path for path in hook_points(model) if re.search(where, path)]
    if len(kinds(paths)) != 1:
        raise ValueError(f"where={where!r} finds {kinds(paths) or 'nothing'}: it needs to choose one kind of "
                         f"{kinds(hook_points(model))}, by a regular expression such as 'decoder.*self_attn'")
    return paths


def kinds(paths):
    """The paths with N for each number, each once."""
    return sorted({re.sub(r"\d+", "N", path) for path in paths})


def whole_maps(seen, paths):
    """What was recorded for the first row of the batch, all calls one below the other: float32 [layer, head, T_q, T_k], else 0."""
    def whole(calls):
        T_k = max(weights.shape[-1] for weights in calls)
        return torch.cat([F.pad(heads(weights)[0], (0, T_k - weights.shape[-1])) for weights in calls], -2)

    return torch.stack([whole(seen[path]) for path in paths]).float()


def heads(weights):
    """Weights [B, head, T_q, T_k]; attention without heads has one."""
    return weights.reshape(len(weights), -1, *weights.shape[-2:])


def visible(maps):
    """Where any weight of any layer and head is not 0: maps [layer, head, T_q, T_k] to boolean [T_q, T_k]."""
    return (maps > 0).flatten(0, 1).any(0)


def changed_rows(rows, keys, how):
    """Rows of weights [N, T_k], each changed at its own key: keys [N]."""
    at = torch.arange(rows.shape[-1], device=rows.device) == keys.unsqueeze(-1)            # [N, T_k]
    if how == "force":
        return at.to(rows)
    if how == "mean":
        return torch.where(at, rows.sum(-1, keepdim=True) / (rows > 0).sum(-1, keepdim=True), rows)
    rest = rows.masked_fill(at, 0.0)
    return rest if how == "zero" else F.normalize(rest, p=1, dim=-1, eps=torch.finfo(rest.dtype).tiny)


def editing(paths, edit):
    """A `change` for `record` that calls edit(layer, weights [B, head, T_q, T_k], first query) to change them in place."""
    passed = Counter()                                                     # queries so far, by path

    def change(path, weights):
        if path not in paths:
            return None
        edited = heads(weights).clone()
        edit(paths.index(path), edited, passed[path])
        passed[path] += edited.shape[2]
        return edited.view_as(weights)

    return change


def one_for_each_row(path, cells, how):
    """A `change` for `record`: row b of the batch has its own cell changed, cells[b] = (head, query, key)."""
    head, query, key = cells.unbind(1)

    def edit(layer, weights, first):
        b = ((first <= query) & (query < first + weights.shape[2])).nonzero().squeeze(1)
        at = b, head[b], query[b] - first
        weights[at] = changed_rows(weights[at], key[b], how)

    return editing([path], edit)


def change_at(paths, places):
    """A `change` for `record`: places (kind, layer, head, query, key), each in every row of the batch."""
    def edit(layer, weights, first):
        B, num_heads, T_q, T_k = weights.shape
        seen = visible(weights[:1])                                        # [T_q, T_k], before any change
        for kind, at_layer, head, query, key in places:
            if at_layer != layer:
                continue
            if not 0 <= head < num_heads:
                raise ValueError(f"head {head}: layer {layer} has heads 0 to {num_heads - 1}")
            if kind == "off":
                weights[:, head] = 0.0
            elif first <= query < first + T_q:
                if not 0 <= key < T_k or not seen[query - first, key]:
                    looks = seen[query - first].nonzero().squeeze(1).tolist()
                    raise ValueError(f"query {query} may not look at key {key}: it may look at {looks}")
                rows, keys = weights[:, head, query - first], torch.full((B,), key, device=weights.device)
                weights[:, head, query - first] = changed_rows(rows, keys, kind)

    return editing(paths, edit)


def place_of(change, num_layers):
    """A change as (kind, layer, head, query, key); raise ValueError for what it lacks, or for a layer out of range."""
    kind, index = change.get("kind"), list(change.get("index", []))
    if kind not in ("cut", "zero", "force", "off"):
        raise ValueError(f'a change of kind {kind!r}: it needs to be "cut", "zero", "force" or "off"')
    whole = index if num_layers > 1 or len(index) != 1 else [0, *index]
    if len(whole) != 2 or not 0 <= whole[0] < num_layers:
        raise ValueError(f"a change at index {index}: it needs to be [layer, head], with a layer from 0 to {num_layers - 1}")
    if kind != "off" and not {"query", "key"} <= set(change):
        raise ValueError(f"{change}: to {kind} a weight, its query and its key are needed")
    return kind, *whole, change.get("query"), change.get("key")


def log_probability(output, answer):
    """The answer's log-probability in each row of a model's output: [B]; see `effects`."""
    if callable(answer):
        return answer(output)
    *place, token = answer if isinstance(answer, (tuple, list)) else (answer,)
    sizes = getattr(output, "shape", ())[1:]
    if len(sizes) != len(place) + 1 or not all(-size <= i < size for i, size in zip((*place, token), sizes)):
        shape = list(output.shape) if isinstance(output, Tensor) else type(output).__name__
        raise ValueError(f"answer={answer!r} for an output {shape}: it needs to be (position, token) for logits "
                         "[B, T, vocab_size], a class for [B, num_classes], or a function from the output to log-probabilities [B]")
    return output[(slice(None), *place)].log_softmax(-1)[:, token]


def check_effects(model, inputs, how):
    """Raise for what `effects` cannot work with."""
    check_evaluating(model)
    if how not in ("cut", "zero", "mean"):
        raise ValueError(f'how={how!r}: it needs to be "cut", "zero" or "mean"')
    sizes = [len(x) for x in inputs if isinstance(x, Tensor)]
    if set(sizes) != {1}:
        raise ValueError(f"inputs with {sizes} rows: a batch of one is needed, such as ids [1, T]")


def check_evaluating(model):
    """Raise if the model is in training mode."""
    if model.training:
        raise ValueError("the model is in training mode, in which dropout changes its answer: call model.eval() first")


def rollout(weights: Tensor) -> Tensor:
    """How much of each input token reaches each position after each layer.

    [..., layer, head, T, T] to [..., layer, T, T]. The heads are averaged. Half of what a layer passes on comes
    through its residual connection: 0.5 A + 0.5 I, with rows that sum to 1. Such a matrix is multiplied by the
    rollout of the layer below; in the first layer it is the rollout. Hidden cells of the weights may be NaN.
    Raises ValueError for another shape.
    Source: Abnar and Zuidema 2020, section 3.
    """
    weights = torch.as_tensor(weights)
    if weights.dim() < 4 or weights.shape[-1] != weights.shape[-2]:
        raise ValueError(f"weights of shape {list(weights.shape)}: a rollout needs [..., layer, head, T, T]")
    attention = weights.nan_to_num(0.0).mean(-3)                           # [..., layer, T, T]
    mixed = 0.5 * attention + 0.5 * torch.eye(weights.shape[-1]).to(attention)
    layers = (mixed / mixed.sum(-1, keepdim=True)).unbind(-3)              # [..., T, T] each
    return torch.stack(list(accumulate(layers, lambda below, layer: layer @ below)), -3)


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
    Inside the block, attention forms its scores and weights, without a fused kernel, and a compiled model runs uncompiled.
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

    with torch.compiler.set_stance("force_eager"), ExitStack() as afterwards:
        for path, module in model.named_modules():
            if isinstance(module, HookPoint):
                afterwards.callback(setattr, module, "used", module.used)
            afterwards.enter_context(module.register_forward_pre_hook(enter_for(path), with_kwargs=True))
            afterwards.enter_context(module.register_forward_hook(leave, always_call=True))
        yield top.calls
