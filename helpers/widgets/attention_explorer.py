"""`AttentionExplorer`: attention weights to move through by slider, keyboard or pointer, without a kernel."""
import math
from collections.abc import Callable, Sequence

import anywidget
import numpy as np
import traitlets

from helpers import plots
from helpers.plots import Picture, Values, beside
from helpers.widgets.bundle import HERE, bundle
from helpers.widgets.controls import describe
from helpers.widgets.sources import read_model, read_outputs
from helpers.widgets.touch import Touch, touch_traits
from helpers.widgets.typed import Typed
from helpers.widgets.views import VIEWS, WORDS, Shown, next_of, pinned_of, shown_of, values_at
from helpers.widgets.weights import checked


class AttentionExplorer(Typed, Touch, anywidget.AnyWidget):
    """Attention weights as a map, as lines, as bars; a slider for each axis, the exact weight at the pointer.

    weights: from 0 to 1, `[T_q, T_k]`, `[head, T_q, T_k]`, `[layer, head, T_q, T_k]` or `[step, layer, head, T_q, T_k]`. All of
        them go to the browser once, so no slider needs a kernel: as float32, or above a million in 16 bits, off by at most 8e-6.
    query_tokens, key_tokens: labels; positions if not given. mask: boolean, True = may look, broadcastable.
    axes: names of the leading axes, if they are others. vmax: the end of the colour scale.
    labels: a word for each map, in lists nested like the leading axes; "" for none.
    effect: what cutting each weight does to the answer's log-probability, shaped like the weights, NaN for none; shown by a switch.
    vectors: (q, k), the projected queries `[..., T_q, d_head]` and keys `[..., T_k, d_head]` with the leading axes of the
        weights: the *neuron view* of a cell then shows how its weight comes from them.
    change: a function from a list of changes to (answer, weights) or (answer, weights, query_tokens, key_tokens). The answer is
        text; the weights have the same leading axes, but for some of size 1. A change is a dictionary, such as
        `{"kind": "cut", "index": [layer, head], "query": q, "key": k}`, or `{"kind": "off", "index": [layer, head]}`; `index` has
        a number for each leading axis. The kinds are those of `what_if`: cut, zero, force and off. The
        reader changes the chosen cell, and sees answer and weights before and after. It is called with `[]` at once.
    position: where the controls start, as in `move`.
    Raises ValueError for tokens, labels, axes, a mask, an effect, vectors or weights of `change` that do not fit, for values that
    are not weights, and for a position outside the weights; TypeError for a mask that is not boolean.
    """

    _esm = bundle("attention_explorer.js")
    _css = "".join(path.read_text(encoding="utf-8") for path in sorted(HERE.glob("attention_*.css")))
    weights = traitlets.Bytes().tag(sync=True)          # hidden cells as NaN, or as 65535
    dtype = traitlets.Unicode("float32").tag(sync=True) # or uint16: 0 to 65534 stand for 0 to 1
    shape = traitlets.List().tag(sync=True)
    axes = traitlets.List().tag(sync=True)
    query_tokens = traitlets.List().tag(sync=True)
    key_tokens = traitlets.List().tag(sync=True)
    labels = traitlets.List().tag(sync=True)            # one for each map, flat; empty where there are none
    vmax = traitlets.Float(1.0).tag(sync=True)
    colors = traitlets.List(list(plots.PAPER_TO_INK)).tag(sync=True)
    masked = traitlets.Unicode(plots.MASKED).tag(sync=True)
    summaries = traitlets.List().tag(sync=True)         # further stops of the heads' slider: "mean", "rollout"
    index = traitlets.List().tag(sync=True)             # the positions of the sliders of the leading axes
    query = traitlets.Int(0).tag(sync=True)
    key = traitlets.Int(0).tag(sync=True)
    view = traitlets.Enum(VIEWS, "map").tag(sync=True)
    grid = traitlets.Bool(False).tag(sync=True)         # all maps at once, where the view is "map"?
    side = traitlets.Enum(["query", "key"], "query").tag(sync=True)  # whose bars stand beside the map
    locked = traitlets.Bool(False).tag(sync=True)       # does the choice stay while the pointer passes over other cells?
    pinned = traitlets.Dict().tag(sync=True)            # a map to compare with, its weights as float32; or empty

    def __init__(self, weights: Values, query_tokens: Sequence | None = None,
                 key_tokens: Sequence | None = None, mask: Values | None = None,
                 axes: Sequence[str] | None = None, vmax: float = 1.0, labels: Sequence | None = None,
                 effect: Values | None = None, vectors: Sequence[Values] | None = None,
                 change: Callable | None = None, **position):
        self.values, traits = checked(weights, query_tokens, key_tokens, mask, axes, labels)
        super().__init__(vmax=vmax, index=[0] * len(traits["axes"]), **traits,
                         **touch_traits(traits["shape"], effect, vectors, change))
        self.move(**position)

    @classmethod
    def of_model(cls, model, tokenizer, text, where: str | None = None, **position) -> "AttentionExplorer":
        """All layers and heads of a model of this course, for one text.

            AttentionExplorer.of_model(classifier, vocab, ["<cls>", "a", "word"])
            AttentionExplorer.of_model(bert, tokenizer, ("one sentence", "another"), layer=1)
            AttentionExplorer.of_model(transformer, (english, french), (["yes"], ["oui"]), where="encoder")

        tokenizer: a `Vocab`, or a tokenizer of the package tokenizers; for an encoder-decoder (source, target), or one for both.
        text: for a Vocab a list of tokens, or a string where its tokens are characters; for a tokenizer a string or a
            pair of strings. For an encoder-decoder (source, target), the target without `<bos>` and `<eos>`.
        where: which attention of an encoder-decoder, as in `helpers.hooks.weights_chosen`: "encoder", "decoder.*self_attn", or
            "cross_attn", the default. A row of cross-attention has the token that is written there, `<eos>` at the end; a row of
            the decoder's self-attention the token that is read there.
        position: where the controls start, as in `move`.
        Cells that the masks hide are shown as hidden. Raises ValueError for a text that does not fit the vocabulary or
        the model, a model in training mode, and a `where` that does not choose one kind of attention.
        """
        return cls(**read_model(model, tokenizer, text, where), **position)

    @classmethod
    def from_transformers(cls, outputs, tokens: Sequence, key_tokens: Sequence | None = None, which: str = "attentions",
                          row: int = 0, **position) -> "AttentionExplorer":
        """All layers and heads of a Hugging Face model, from what it returned.

            outputs = model(**inputs, output_attentions=True)
            tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
            AttentionExplorer.from_transformers(outputs, tokens)

        The model has to be loaded with attn_implementation="eager": others do not form the weights.
        tokens: those of the queries, as many as there are rows in a map. key_tokens: those of the keys; by default
            `tokens`, but positions for cross-attention.
        which: "attentions", or of an encoder-decoder "encoder_attentions", "decoder_attentions" or "cross_attentions".
        row: which text of the batch. position: where the controls start, as in `move`.
        Cells whose weight is 0 in every layer and head are shown as hidden.
        Raises ValueError for outputs without these weights, a row outside the batch, or tokens that do not fit.
        """
        return cls(**read_outputs(outputs, tokens, key_tokens, which, row), **position)

    def take(self, arguments: dict) -> None:
        """Show other weights, tokens and labels, the controls where they are as far as these reach."""
        names = ("weights", "query_tokens", "key_tokens", "mask", "axes", "labels")
        values, traits = checked(*map(arguments.get, names))
        traits |= touch_traits(traits["shape"], *map(arguments.get, ("effect", "vectors", "change")))
        self.values, (T_q, T_k) = values, values.shape[-2:]
        self.query, self.key = min(self.query, T_q - 1), min(self.key, T_k - 1)
        for name, value in traits.items():
            setattr(self, name, value)
        self.index = [i if i in self.ranges[axis] else 0 for axis, i in zip(self.axes, self.index)]

    @property
    def ranges(self) -> dict[str, Sequence]:
        """Every control, with the values it can take."""
        ranges = {name: range(size) for name, size in zip([*self.axes, "query", "key"], self.shape)}
        if self.summaries:
            ranges["head"] = [*ranges["head"], *self.summaries]
        many = math.prod(self.shape[:-2]) > 1
        grid = {"grid": [False, True]} if many else {}
        compare = {"compare": [False, True]} if many or self.texts else {}
        return ranges | grid | {"view": VIEWS} | compare | self.touch_ranges()

    def move(self, **position: int | str | bool) -> None:
        """Set controls: `move(layer=1, head=3, query=2, key=0, view="map", grid=False, compare=False)`.

        view: "map", "lines", "bars". grid: all maps at once, in the view "map".
        head="mean": the mean over heads. head="rollout": attention rollout from this layer down to the input
            (Abnar and Zuidema 2020), where axes are named layer and head and queries and keys are the same tokens.
        compare: True keeps the map that this move leads to beside another one, at first the next head.
        Where there are such, `effect=True` shows the effects, `after=True` the weights after the changes, and `neuron=True` opens
        the neuron view. Raises ValueError for a control or a value that this explorer does not have.
        """
        for name, value in position.items():
            if name in self.texts:
                raise ValueError(f"{name}={value!r}: a text is no control. Type it into its box, or set "
                                 f"`texts = {self.texts | {name: value}}` on this explorer")
            if value not in self.ranges.get(name, ()):
                raise ValueError(f"{name}={value}: this explorer has {describe(self.ranges)}")
        compare = position.pop("compare", None)
        self.index = [position.pop(axis, i) for axis, i in zip(self.axes, self.index)]
        for name, value in position.items():
            setattr(self, name, value)
        if compare is not None:
            self.pinned = pinned_of(self.chosen_map(), self.index) | self.scale_traits() if compare else {}
            self.index = next_of(self.index, self.shape[:-2]) if compare else self.index

    def chosen_map(self) -> Shown:
        """The map at the sliders."""
        index = list(self.index)
        title = ", ".join(WORDS.get(i, f"{axis} {i}") for axis, i in zip(self.axes, index))
        label = "" if WORDS.keys() & set(index) else self.labels_of_maps[tuple(index)]
        values, *tokens = self.shown()
        return Shown(values_at(values, self.axes, index), *tokens, f"{title}: {label}" if label else title)

    @property
    def labels_of_maps(self) -> np.ndarray:
        """The labels, shaped like the leading axes; "" for a map without one."""
        sizes = self.shape[:-2]
        return np.array(self.labels or [""] * math.prod(sizes), dtype=object).reshape(sizes)

    def picture(self) -> Picture:
        """What the browser shows, as a static picture."""
        shown = self.chosen_map()
        if self.grid and self.view == "map":
            fixed, chosen = tuple(self.index[:-2]), None if WORDS.keys() & set(self.index) else self.index[-2:]
            values, labels = self.shown()[0][fixed], self.labels_of_maps[fixed]
            return plots.grid_of_maps(values, self.axes[-2:], chosen, labels=labels, **self.scale)
        query, key = (min(i, size - 1) for i, size in zip((self.query, self.key), shown.values.shape))
        if self.effect:
            return plots.map_and_row(shown.values, query, key, *shown[1:], **self.scale)
        if self.pinned and self.pinned.get("vmin", 0) == 0:
            return plots.compared([shown_of(self.pinned), shown], self.view, query, key, self.vmax)
        draw = {"map": plots.map_and_row, "lines": plots.links, "bars": plots.row_and_column}[self.view]
        return draw(shown.values, query, key, *shown[1:], self.vmax)

    def __repr__(self):
        numbers = {name: range(size) for name, size in zip([*self.axes, "query", "key"], self.shape)}
        grid = {"grid": self.ranges["grid"]} if "grid" in self.ranges else {}
        return f"AttentionExplorer({describe(numbers | grid)})"

    def _repr_mimebundle_(self, **kwargs):
        return beside(super()._repr_mimebundle_(**kwargs), (self.still or self.picture()).as_still(), repr(self))
