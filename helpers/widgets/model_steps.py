"""`Steps`: one recorded pass of a model, as nested blocks and the tensor behind each, for `ModelExplorer`."""
import ast
import functools
import linecache
import re
import textwrap
from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np
import torch
from torch import Tensor, nn

from helpers.hooks import Call, HookPoint, trace
from helpers.plots import as_numpy

LIKELIEST, COLUMNS = 5, 64                                   # tokens named for each row; logits up to here are sent whole
PROJECTIONS = {"q_proj": "query", "k_proj": "key", "v_proj": "value"}
FORMULAS = {                                   # by the last part of a step's name, else by its module's class; [+ b] if it has one
    "q_proj": "q = x W_{q}^{T} [+ b_{q}]",
    "k_proj": "k = x W_{k}^{T} [+ b_{k}]",
    "v_proj": "v = x W_{v}^{T} [+ b_{v}]",
    "attention_scores": "scores = q k^{T} / √d_{head}",
    "mask": "1 where the query may look at the key, 0 where it may not",
    "attention_weights": "weights = softmax(scores) of each row; a hidden key gets 0",
    "heads": "heads = weights v",
    "out_proj": "concat(heads) W_{o}^{T} [+ b_{o}]",
    "table": "a row for each position",
    "positions": "x + table",
    "output": "logits = x W^{T} [+ b]",
    "sum": "x + sublayer(x)",
    "Linear": "x W^{T} [+ b]",
    "LayerNorm": "(x − mean) / √(variance + ε) · γ + β, over the numbers of each token",
    "Embedding": "row id of the table, for the id of each token",
    "Residual": "x + sublayer(norm(x))",
}


class Steps:
    """A pass of `model` on `inputs`, a batch of one, in evaluation mode; the model is left as it was.

    blocks: nested dictionaries in the order of the calls. "step" is a number in `steps`, of what left the block;
        "memory" that of the keys and values of cross-attention.
    steps: dictionaries: "name" as in the code, "axes" and "shape", "rows" and "columns" (numbers in `labels`, or
        -1), "formula", "source" (a number in `sources`), and "line", the line in it that was running.
    values: the tensor of each step without its batch axis, float32; NaN where a mask hides a weight.
    likeliest: for each row of the logits the largest probabilities, as [token, probability].
    answer: the number of the logits' step, or -1. causal: the labels of the text that a model writes, or -1.
    Raises ValueError for inputs that are not a batch of one, for tokens or a vocabulary that do not fit, and for a
    model with a module that returns more than one tensor, as a GRU does.
    """

    def __init__(self, model: nn.Module, inputs: Sequence, tokens: Sequence | None, vocab: Sequence | None):
        self.steps, self.values, self.labels, self.sources = [], [], [], []
        self.seen, self.texts, self.axes = {}, {}, []        # by id of a tensor: its step, its labels; the labels' axes
        with torch.no_grad(), trace(model) as calls, ExitStack() as afterwards:
            for module in model.modules():
                afterwards.callback(setattr, module, "training", module.training)
            model.eval()(*inputs)
        call, = calls                                        # its tensors live as long as it does, and so their ids
        self.tables = [module.weight.shape for module in model.modules() if isinstance(module, nn.Embedding)]
        self.causal, self.answer, self.likeliest = -1, -1, []
        self.read_texts(call.inputs, tokens or [])
        self.blocks = [block for inner in call.calls for block in self.visit(inner, call, 0)]
        for output in call.output if isinstance(call.output, tuple) else [call.output]:
            number = self.seen.get(id(output), -1)
            if self.answer < 0 <= number and self.steps[number]["name"].split(".")[-1] == "output":
                self.answer = number
                self.read_logits(self.steps[self.answer], vocab)

    def read_texts(self, inputs, tokens):
        """Labels for each text among the inputs, integers [1, T]."""
        given = [tokens] if tokens and isinstance(tokens[0], str) else list(tokens)
        for name, ids in inputs.items():
            if not isinstance(ids, Tensor) or ids.dim() != 2:
                continue
            if len(ids) != 1:
                raise ValueError(f"{name} of shape {list(ids.shape)}: a model is shown with a batch of one, [1, T]")
            if name == "segments":                           # of the tokens that the ids have
                self.texts[id(ids)] = 0
                continue
            labels = given.pop(0) if given else range(ids.shape[1])
            if name == "positions":
                labels = [self.labels[0][i] for i in ids[0].tolist()]
            if len(labels) != ids.shape[1]:
                raise ValueError(f"{len(labels)} tokens for {name} of shape {list(ids.shape)}: {ids.shape[1]} are needed")
            self.texts[id(ids)] = len(self.labels)
            self.labels.append(list(map(str, labels)))
            self.axes.append({"src": "T_src", "positions": "P"}.get(name, "T"))

    def text_of(self, call, otherwise):
        """The labels of a call's tokens: those of the ids that it gets, else of its first input that has any."""
        known = [x for x in call.inputs.values() if id(x) in self.texts]
        known.sort(key=torch.is_floating_point)
        return self.texts[id(known[0])] if known else otherwise

    def visit(self, call: Call, parent: Call, text: int) -> list[dict]:
        """The blocks of a call; text: the labels of its tokens if its inputs do not say."""
        text = self.text_of(call, text)
        if not call.calls:
            return self.visit_leaf(call, parent, text)
        memory = -1
        if hasattr(call.module, "attention_scores"):
            inside, kind = self.visit_attention(call), "attention"
            if call.inputs["key"] is not call.inputs["query"]:
                memory = self.seen.get(id(call.inputs["key"]), -1)
        else:
            inside = [block for inner in call.calls for block in self.visit(inner, call, text)]
            kind = "layer" if re.search(r"\d$", call.path) else ""
        if type(call.module).__name__ == "Residual":
            kind = "residual"
        if isinstance(call.output, Tensor) and id(call.output) not in self.seen:       # computed behind the last module
            inside.append(self.add(call.path, call.output, call.calls[-1].place, text, "sum" if kind == "residual" else "",
                                   FORMULAS.get(type(call.module).__name__)))
        return [{"name": in_code(call.path), "class": type(call.module).__name__, "kind": kind, "memory": memory,
                 "step": self.seen.get(id(call.output), -1), "inside": inside}]

    def visit_leaf(self, call, parent, text):
        """The block of a module that calls no other, and before it what was computed between two modules."""
        x, kind, blocks = next(iter(call.inputs.values()), None), type(call.module).__name__, []
        if not isinstance(call.output, Tensor):
            raise ValueError(f"{in_code(call.path)} ({kind}) returns a {type(call.output).__name__}: an explorer shows models "
                             "whose modules return one tensor each, such as a Transformer")
        if isinstance(x, Tensor) and x.is_floating_point() and id(x) not in self.seen and not isinstance(call.module, HookPoint):
            owner = type(parent.module).__name__
            if owner == "FeedForward" and kind == "Dropout":
                activation = getattr(parent.module.activation, "__name__", "activation")
                blocks.append(self.add(f"{parent.path}.activation", x, call.place, text, formula=f"{activation}(up)"))
            else:
                sort = "sum" if owner == "Residual" else ""
                blocks.append(self.add(f"input of {call.path}", x, call.place, text, sort, FORMULAS.get(sort, "")))
        if kind in ("Dropout", "Identity"):                  # in evaluation mode both give what they get
            self.seen[id(call.output)], self.texts[id(call.output)] = self.seen.get(id(x), -1), text
            return blocks
        T, table, offset = call.output.shape[1], getattr(call.module, "table", []), call.inputs.get("offset", 0)
        if len(table) >= offset + T:                         # of positions
            rows = table[None, offset:offset + T]
            blocks.append(self.add(f"{call.path}.table", rows, call.place, text))
        return blocks + [self.add(call.path, call.output, call.place, text, formula=formula_of(call))]

    def visit_attention(self, call):
        """The blocks of a `MultiHeadAttention`: what its hook points and projections saw, cut into heads."""
        module, path = call.module, call.path
        found = {inner.path.removeprefix(path + "."): inner for inner in call.calls}
        queries, keys = (self.texts.get(id(call.inputs[name]), 0) for name in ("query", "key"))
        T_q, T_k = ("T_q", "T_k") if queries == keys else (self.axes[queries], self.axes[keys])
        weights, mask = found["attention_weights"], call.inputs.get("mask")
        blocks = []
        for name in PROJECTIONS:
            axes, rows = (["H", T_q, "d_head"], queries) if name == "q_proj" else (["H", T_k, "d_head"], keys)
            inner = found[name]
            blocks.append(self.add(inner.path, inner.output, inner.place, rows, formula=formula_of(inner), axes=axes,
                                   values=module.split(inner.output)[0]))
        square = {"text": queries, "columns": keys, "axes": ["H", T_q, T_k]}
        blocks.append(self.add(found["attention_scores"].path, found["attention_scores"].output,
                               found["attention_scores"].place, **square))
        shown = weights.output[0]                                              # [H, T_q, T_k]
        if mask is not None:
            mask = mask[0] if mask.dim() == 3 else mask                        # [T_q, T_k] or [1, T_k]
            shown = shown.masked_fill(~mask, torch.nan)
            if queries == keys and len(mask) > 1 and torch.equal(mask, mask.tril()):
                self.causal = queries
            rows = queries if len(mask) > 1 else -1
            blocks.append(self.add(f"{path}.mask", mask, weights.place, rows, axes=[T_q if len(mask) > 1 else "1", T_k],
                                   columns=keys, values=mask))
        blocks.append(self.add(weights.path, weights.output, weights.place, values=shown, **square))
        out = found["out_proj"]
        heads, = out.inputs.values()                                           # [1, T_q, d_model]
        blocks.append(self.add(f"{path}.heads", heads, out.place, queries, axes=["H", T_q, "d_head"],
                               values=module.split(heads)[0]))
        return blocks + [self.add(out.path, out.output, out.place, queries, formula=formula_of(out))]

    def add(self, path, tensor, place, text, kind="", formula=None, axes=None, columns=-1, values=None) -> dict:
        """A new step, and its block. path: as `named_modules` has it; tensor: with the batch axis."""
        values = as_numpy(tensor[0] if values is None else values).astype(np.float32)
        name, last = in_code(path), path.split(".")[-1]
        if axes is None:
            axes = [self.axes[text]] * (values.ndim - 1) + [self.width(last, values.shape[-1])]
        again = sum(step["name"].split(" (call")[0] == name for step in self.steps)
        name += f" (call {again + 1})" if again else ""      # as of an embedding that source and target share
        rows = text if values.ndim > 1 and text >= 0 and len(self.labels[text]) == values.shape[-2] else -1
        source, line = self.source(*place)
        self.seen[id(tensor)], self.texts[id(tensor)] = len(self.steps), text
        self.steps.append({"name": name, "axes": axes, "shape": list(values.shape), "rows": rows, "columns": columns,
                           "formula": FORMULAS.get(last, "") if formula is None else formula, "source": source, "line": line})
        self.values.append(values)
        return {"name": name, "kind": kind, "step": len(self.steps) - 1, "inside": []}

    def width(self, last, size):
        """The name of the last axis of a step whose name ends in `last`."""
        if last in ("up", "activation"):
            return "d_ff"
        if last == "output":
            return "vocab_size" if size in [rows for rows, _ in self.tables] else "num_classes"
        return "d_model" if size in [columns for _, columns in self.tables] else "d"

    def source(self, file, number, module):
        """The function around line `number` of a file, as a number in `sources`, and that line's place in it."""
        around = [node for node in definitions(file) if node.lineno <= number <= node.end_lineno]
        if not around:                                       # no file: code that was typed into an interpreter
            return -1, 0
        start, end = around[-1].lineno, around[-1].end_lineno
        names = [module] * (module != "__main__") + [node.name for node in around]
        found = {"name": ".".join(names), "lines": textwrap.dedent("".join(linecache.getlines(file)[start - 1:end])).splitlines()}
        if found not in self.sources:
            self.sources.append(found)
        return self.sources.index(found), number - start

    def read_logits(self, step, vocab):
        """Name the likeliest tokens of each row; of a large vocabulary keep the columns of these alone."""
        logits = self.values[self.answer]
        size = logits.shape[-1]
        if vocab is not None and len(vocab) != size:
            raise ValueError(f"{len(vocab)} words in the vocabulary for logits of shape {list(logits.shape)}: {size} are needed")
        words = list(map(str, range(size) if vocab is None else vocab))
        probs = torch.from_numpy(logits).reshape(-1, size).softmax(-1)
        top = probs.topk(min(LIKELIEST, size))
        self.likeliest = [[[words[i], p] for i, p in zip(ids, row)] for ids, row in zip(top.indices.tolist(), top.values.tolist())]
        kept = range(size) if size <= COLUMNS else sorted(set(top.indices.flatten().tolist()))
        self.values[self.answer] = logits[..., list(kept)]
        step["columns"] = len(self.labels)
        self.labels.append([words[i] for i in kept])


@functools.lru_cache
def definitions(file: str) -> list:
    """The classes and functions of a file, or of a notebook's cell, as syntax trees: outer ones first."""
    nodes = ast.walk(ast.parse("".join(linecache.getlines(file))))
    return sorted((node for node in nodes if isinstance(node, (ast.ClassDef, ast.FunctionDef))), key=lambda node: node.lineno)


def formula_of(call: Call) -> str:
    """The formula of a module, with its bias if it has one."""
    formula = FORMULAS.get(call.path.split(".")[-1]) or FORMULAS.get(type(call.module).__name__, "")
    return re.sub(r" \[(.*?)\]", "" if getattr(call.module, "bias", None) is None else r" \1", formula)


def in_code(path: str) -> str:
    """A module's path as one would write it: "layers.0.norm" is `layers[0].norm`."""
    return re.sub(r"\.(\d+)", r"[\1]", path)
