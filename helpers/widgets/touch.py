"""`Touch`: what AttentionExplorer shows beside the weights: their effect, the vectors behind one, what a change does."""
import threading
from collections.abc import Callable, Sequence

import numpy as np
import traitlets
from IPython import get_ipython

from helpers import plots
from helpers.plots import Values, as_numpy
from helpers.widgets.weights import checked

NO_RESULT = {"weights": b"", "dtype": "float32", "shape": [], "query_tokens": [], "key_tokens": []}


class Touch(traitlets.HasTraits):
    """The traits of an explorer for `effect`, `vectors` and `change`, and the call of `change`."""

    effects = traitlets.Bytes().tag(sync=True)               # float32, shaped like the weights; empty: none
    effect = traitlets.Bool(False).tag(sync=True)            # does the map show them?
    signed_colors = traitlets.List(list(plots.ORANGE_TO_PURPLE)).tag(sync=True)
    q_vectors = traitlets.Bytes().tag(sync=True)             # float32, [..., T_q, d_head]; empty: none
    k_vectors = traitlets.Bytes().tag(sync=True)             # float32, [..., T_k, d_head]
    d_head = traitlets.Int(0).tag(sync=True)
    neuron = traitlets.Bool(False).tag(sync=True)            # is the neuron view open?
    can_change = traitlets.Bool(False).tag(sync=True)        # is there a function to call?
    asked = traitlets.List().tag(sync=True)                  # the changes that the browser asks for
    changes = traitlets.List().tag(sync=True)                # those that the answer and the weights "after" belong to
    answer_before = traitlets.Unicode().tag(sync=True)
    answer_after = traitlets.Unicode().tag(sync=True)
    weights_after = traitlets.Bytes().tag(sync=True)         # float32, hidden cells as NaN; empty without changes
    dtype_after = traitlets.Unicode("float32").tag(sync=True)
    shape_after = traitlets.List().tag(sync=True)
    query_tokens_after = traitlets.List().tag(sync=True)
    key_tokens_after = traitlets.List().tag(sync=True)
    after = traitlets.Bool(False).tag(sync=True)             # does the map show the weights after the changes?
    error = traitlets.Unicode().tag(sync=True)               # why the changes asked for could not be made
    run = traitlets.Any()                                    # the argument `change`
    still = None                                             # for pages without a kernel; None: the picture of now

    @traitlets.observe("asked")
    def was_asked(self, _) -> None:
        """Answer what the browser asks for."""
        if self.asked != self.changes:
            in_main_thread(self.answer)

    def answer(self) -> None:
        """Make the changes that were asked for; say why if that fails, and keep the last good state."""
        if self.asked == self.changes:                       # another call has made them
            return
        try:
            self.make_changes(self.asked)
        except (Exception, KeyboardInterrupt) as error:      # a reader's own function may raise anything
            with self.hold_sync():
                self.error, self.asked = str(error) or type(error).__name__, self.changes

    def make_changes(self, changes: Sequence[dict]) -> None:
        """Run the model with these changes in place of those made before; `[]` undoes them all.

            explorer.make_changes([{"kind": "cut", "index": [layer, head], "query": 5, "key": 9}])

        `answer_after` is the new answer, and `picture()` shows the new weights while `after` is True.
        Raises ValueError for an explorer without `change`, or if what that returns does not fit, and whatever
        `change` raises; everything stays as it was then.
        """
        if self.run is None:
            raise ValueError("this explorer makes no changes: it needs AttentionExplorer(..., change=f)")
        changes = list(changes)
        answer, after = self.result(changes) if changes else (self.answer_before, NO_RESULT)
        with self.hold_sync():                               # all at once: new tokens do not fit old weights
            if not (self.changes and changes):               # the first change shows its map; without one there is none
                self.after = bool(changes)
            for name, value in after.items():
                setattr(self, f"{name}_after", value)
            self.answer_after, self.error, self.changes, self.asked = answer, "", changes, changes

    def keep_still(self, changes: Sequence[dict]) -> None:
        """Let pages without a kernel show what these changes do; here none is made."""
        self.make_changes(changes)
        self.still, kinds = self.picture(), ", ".join(change["kind"] for change in changes)
        title = self.still.suptitle(f"{kinds}: {self.answer_before} → {self.answer_after}")
        self.still.alt = f"{title.get_text()}. {self.still.alt}"
        self.make_changes([])

    def result(self, changes: list[dict]) -> tuple[str, dict]:
        """What the model does with these changes: its answer, and the traits of its weights."""
        answer, weights, *tokens = answered(self.run, changes, self.shape)
        if not tokens:                                       # the same ones, where there are as many
            tokens = [known if len(known) == size else None
                      for known, size in zip((self.query_tokens, self.key_tokens), weights.shape[-2:])]
        mask = ~np.isnan(self.values) if weights.shape == self.values.shape else None
        self.values_after, traits = checked(weights, *tokens, mask, self.axes, None)
        return answer, {name: traits[name] for name in NO_RESULT}

    def touch_ranges(self) -> dict[str, list]:
        """The switches that this explorer has beside the weights."""
        there = {"effect": self.effects, "neuron": self.q_vectors, "after": self.changes}
        return {name: [False, True] for name, has in there.items() if has}

    def shown(self) -> tuple[np.ndarray, list, list]:
        """The values that the map shows, and the tokens of its rows and of its columns."""
        if self.after and self.changes:
            return self.values_after, self.query_tokens_after, self.key_tokens_after
        return floats(self.effects, self.shape) if self.effect else self.values, self.query_tokens, self.key_tokens

    @property
    def scale(self) -> dict:
        """The scale of these values, for `plots`."""
        if not self.effect:
            return {"vmax": self.vmax}
        return {"vmax": float(np.nanmax(abs(self.shown()[0]))) or 1.0, "signed": True, "label": "effect"}

    def scale_traits(self) -> dict:
        """The scale of these values, for the browser."""
        vmax = self.scale["vmax"]
        return {"vmax": vmax, "vmin": -vmax * self.effect, "colors": self.signed_colors if self.effect else self.colors}

    @traitlets.observe("effect", "after")
    def show_one(self, change) -> None:
        """The map shows the effects or the weights after the changes, never both; effects have no rollout."""
        if change["new"]:
            self.set_trait("after" if change["name"] == "effect" else "effect", False)
        if self.effect:
            self.index = [0 if i == "rollout" else i for i in self.index]


def floats(sent: bytes, shape: Sequence[int]) -> np.ndarray:
    """The array that was sent to the browser."""
    return np.frombuffer(sent, "<f4").reshape(shape)


def touch_traits(shape: list[int], effect: Values | None = None, vectors: Sequence[Values] | None = None,
                 change: Callable | None = None) -> dict:
    """The traits of `Touch` beside weights of `shape`, before any change.

    Raises ValueError for what does not fit the weights, and whatever `change([])` raises.
    """
    answer = answered(change, [], shape)[0] if change else ""
    after = {f"{name}_after": value for name, value in NO_RESULT.items()}
    return after | effect_traits(effect, shape) | vector_traits(vectors, shape) | {
        "run": change, "can_change": change is not None, "answer_before": answer, "answer_after": answer,
        "changes": [], "asked": [], "after": False, "error": ""}


def answered(change: Callable, changes: list[dict], shape: list[int]) -> tuple:
    """(answer, weights) or (answer, weights, query_tokens, key_tokens): what `change` returns, if it fits."""
    answer, weights, *tokens = change(changes)
    weights = as_numpy(weights)
    while weights.ndim > len(shape) and len(weights) == 1:   # a single layer may go without saying
        weights = weights[0]
    if weights.ndim != len(shape) or list(weights.shape[:-2]) != shape[:-2]:
        needed = ", ".join(map(str, [*shape[:-2], "T_q", "T_k"]))
        raise ValueError(f"change returned weights of shape {list(weights.shape)}: [{needed}] is needed")
    return str(answer), weights, *tokens


def effect_traits(effect: Values | None, shape: list[int]) -> dict:
    """Of an effect, which needs the shape of the weights."""
    if effect is None:
        return {"effects": b"", "effect": False}
    values = as_numpy(effect).astype("<f4")
    if list(values.shape) != shape:
        raise ValueError(f"effect of shape {list(values.shape)} for weights of shape {shape}: each weight needs one")
    if np.isinf(values).any() or np.isnan(values).all():
        raise ValueError("effect holds infinite values or no number at all: it needs signed numbers, NaN for none")
    return {"effects": values.tobytes()}


def vector_traits(vectors: Sequence[Values] | None, shape: list[int]) -> dict:
    """Of (q, k), which need the leading axes of the weights, a row for each query or key, and one width."""
    if vectors is None:
        return {"q_vectors": b"", "k_vectors": b"", "d_head": 0, "neuron": False}
    q, k = (as_numpy(vector).astype("<f4") for vector in vectors)
    *sizes, T_q, T_k = shape
    d_head = q.shape[-1] if q.ndim else 0
    if not d_head or list(q.shape) != [*sizes, T_q, d_head] or list(k.shape) != [*sizes, T_k, d_head]:
        raise ValueError(f"vectors of shapes {list(q.shape)} and {list(k.shape)} for weights of shape {shape}: "
                         f"{[*sizes, T_q, d_head]} and {[*sizes, T_k, d_head]} are needed")
    return {"q_vectors": q.tobytes(), "k_vectors": k.tobytes(), "d_head": d_head}


def in_main_thread(function: Callable[[], None]) -> None:
    """Call it where the cells run, between two of them: a kernel may take a widget's messages in another thread."""
    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None or threading.current_thread() is threading.main_thread():
        function()
    else:
        kernel.io_loop.add_callback(function)
