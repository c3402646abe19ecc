"""`ModelExplorer`: a model as nested blocks, with the tensor that left each of them in one pass; needs no kernel."""
from collections.abc import Sequence

import anywidget
import numpy as np
import traitlets
from torch import nn

from helpers import plots
from helpers.plots import Picture, beside
from helpers.widgets.bundle import HERE, bundle
from helpers.widgets.controls import describe
from helpers.widgets.model_steps import Steps
from helpers.widgets.typed import Typed

MOST_MAPS = 13                                               # of a static picture, before the last one and the bars
LEVELS, HIDDEN = 254, 255                                    # of 8 bits: the steps of a tensor's scale, and "hidden by the mask"


class ModelExplorer(Typed, anywidget.AnyWidget):
    """The blocks of a model, nested as its modules call each other, and the tensor that left each in one pass.

    model: a `Transformer`, `GPT`, `Classifier`, `Bert`, or another model of such layers. inputs: what it is
        called with, a batch of one; it runs once, in evaluation mode, and is left as it was.
    tokens: labels of its tokens; for a `Transformer` two lists, of the source and of the target.
    vocab: the words that the columns of the logits stand for; their numbers if not given.
    position: where the controls start, as in `move`; the position at the last token.

    Everything goes to the browser once, with 8 bits a number: an error of at most 0.4 % of the largest number
    of a tensor. `values` has what the model computed, by the names in the code.
    Raises ValueError for inputs that are not a batch of one, for tokens or words that do not fit, and for a
    position that the explorer does not have.
    """

    _esm = bundle("model_explorer.js")
    _css = HERE / "model_explorer.css"
    content = traitlets.Dict().tag(sync=True)           # all that `Steps` found, but the numbers of the tensors
    data = traitlets.Bytes().tag(sync=True)             # these, a byte each
    colors = traitlets.Dict({"weights": list(plots.PAPER_TO_INK), "signed": list(plots.ORANGE_TO_PURPLE),
                             "hidden": plots.MASKED}).tag(sync=True)
    step = traitlets.Unicode().tag(sync=True)           # the name of the opened one; "" for the whole model
    head = traitlets.Int(0).tag(sync=True)
    position = traitlets.Int(0).tag(sync=True)          # the row of the logits

    def __init__(self, model: nn.Module, inputs: Sequence, tokens: Sequence | None = None,
                 vocab: Sequence | None = None, **position):
        super().__init__()
        self.show(type(model).__name__, Steps(model, inputs, tokens, vocab))
        self.move(**position)

    def take(self, arguments: dict) -> None:
        """Show a pass with other arguments, from `model` to `vocab`."""
        found = Steps(*map(arguments.get, ("model", "inputs", "tokens", "vocab")))
        self.show(type(arguments["model"]).__name__, found)

    def show(self, name: str, found: Steps) -> None:
        """Send the steps of a pass to the browser; the step that is open there stays open if this pass has it."""
        self.values = {step["name"]: values for step, values in zip(found.steps, found.values)}
        parts, start = [], 0
        for step, values in zip(found.steps, found.values):
            codes, step["low"], step["unit"] = encoded(values)
            step["start"], start = start, start + codes.size
            step["sent"] = list(values.shape)           # fewer columns than "shape" where the vocabulary is large
            parts.append(codes.tobytes())
        names = ("blocks", "steps", "labels", "sources", "likeliest", "answer", "causal")
        with self.hold_sync():                          # all at once: new numbers do not fit old steps
            self.content, self.data = {"name": name} | {key: getattr(found, key) for key in names}, b"".join(parts)
            self.position = max(len(found.likeliest) - 1, 0)
            self.step = self.step if self.step in self.values else ""

    @property
    def ranges(self) -> dict[str, Sequence]:
        """Every control, with the values it can take; "head" only while a step with heads is open."""
        sizes = {"position": len(self.content["likeliest"]), "head": self.heads_of(self.step)}
        return {"step": ["", *self.values]} | {name: range(size) for name, size in sizes.items() if size > 1}

    def heads_of(self, name: str) -> int:
        """How many heads a step has: 1 for those without."""
        return len(self.values[name]) if name and self.values[name].ndim == 3 else 1

    def move(self, **position) -> None:
        """Set controls: `move(step="decoder.layers[0].cross_attn.attention_weights", head=1, position=3)`.

        step: a name in `values`, or "" for the whole model. Raises ValueError for what this explorer does not have.
        """
        for name in sorted(position, reverse=True):     # the step first: the heads are its
            if position[name] not in self.ranges.get(name, ()):
                raise ValueError(f"{name}={position[name]!r}: this explorer has {describe(self.ranges)}")
            setattr(self, name, position[name])

    def picture(self) -> Picture:
        """What the browser shows, as a static picture: the opened step, or the main ones and the likeliest tokens."""
        steps, likeliest = self.content["steps"], self.content["likeliest"]
        if not self.step:
            shown = {block["step"] for block in self.content["blocks"]}
            shown |= {i for i, step in enumerate(steps) if step["name"].endswith(("attention_weights", "]"))}
            first, rest = sorted(shown)[:MOST_MAPS], sorted(shown)[MOST_MAPS:]
            maps = {steps[i]["name"]: self.map_of(i) for i in first + rest[-1:]}
            bars = dict(likeliest[self.position]) if likeliest else {}
            return plots.tensors(maps, bars, self.row_name(), f"{self.content['name']}: what left its parts in one pass.")
        number = list(self.values).index(self.step)
        head = f", head {min(self.head, self.heads_of(self.step) - 1)}" if self.heads_of(self.step) > 1 else ""
        tokens = [self.content["labels"][i] if i >= 0 else None for i in (steps[number]["rows"], steps[number]["columns"])]
        marked = self.position if number == self.content["answer"] and len(likeliest) > 1 else None
        return plots.tensor(self.map_of(number), *tokens, self.step + head, steps[number]["axes"], marked)

    def map_of(self, number: int) -> np.ndarray:
        """The tensor of a step as rows and columns, of the chosen head if it has heads."""
        values = np.atleast_2d(list(self.values.values())[number])
        return values[min(self.head, len(values) - 1)] if values.ndim == 3 else values

    def row_name(self) -> str:
        """What the likeliest tokens are an answer to: the token whose row of the logits is chosen."""
        answer = self.content["answer"]
        rows = self.content["steps"][answer]["rows"] if answer >= 0 else -1
        return f'after "{self.content["labels"][rows][self.position]}"' if rows >= 0 else "output"

    def __repr__(self):
        return f"ModelExplorer({describe(self.ranges)})"

    def _repr_mimebundle_(self, **kwargs):
        return beside(super()._repr_mimebundle_(**kwargs), self.picture().as_still(), repr(self))


def encoded(values: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Numbers as bytes, and the number that 0 stands for, and the distance between two; NaN is HIDDEN."""
    top = float(np.nanmax(np.abs(values))) or 1.0
    low = -top if np.nanmin(values) < 0 else 0.0
    unit = (top - low) / LEVELS
    codes = np.round((values - low) / unit)
    return np.where(np.isnan(codes), HIDDEN, codes).astype(np.uint8), low, unit
