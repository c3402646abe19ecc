"""The two interactive parts: `AttentionExplorer` for weights that are there, `explore` for labs that compute."""
import html
import math
import pathlib

import anywidget
import ipywidgets
import numpy as np
import traitlets

from helpers import plots
from helpers.plots import CSS_PIXELS_PER_INCH, as_numpy, beside, broadcast_mask, png
from helpers.widgets.controls import accepts, allowed_values, as_control, describe

HERE = pathlib.Path(__file__).parent
AXES = {0: [], 1: ["head"], 2: ["layer", "head"], 3: ["step", "layer", "head"]}


class AttentionExplorer(anywidget.AnyWidget):
    """Attention weights under the hand: a slider for each axis, the exact weight under the pointer, a row as bars.

    weights: `[T_q, T_k]`, `[head, T_q, T_k]`, `[layer, head, T_q, T_k]` or `[step, layer, head, T_q, T_k]`, from 0 to 1;
        the whole tensor goes to the browser once, so that a slider needs no kernel.
    query_tokens, key_tokens: labels; the positions where not given. mask: boolean, True = may look, broadcastable.
    axes: names of the leading axes, if they are others. vmax: the end of the colour scale.
    labels: a word for each map, in lists nested like the leading axes; "" for none.
    Raises ValueError for tokens, labels, axes or a mask that do not fit, and for values that are not weights.
    """

    _esm = HERE / "attention_explorer.js"
    _css = HERE / "attention_explorer.css"
    weights = traitlets.Bytes().tag(sync=True)                  # float32, hidden cells as NaN
    shape = traitlets.List().tag(sync=True)
    axes = traitlets.List().tag(sync=True)
    query_tokens = traitlets.List().tag(sync=True)
    key_tokens = traitlets.List().tag(sync=True)
    labels = traitlets.List().tag(sync=True)                    # one for each map, flat; empty where there are none
    vmax = traitlets.Float(1.0).tag(sync=True)
    colors = traitlets.List(list(plots.PAPER_TO_INK)).tag(sync=True)
    masked = traitlets.Unicode(plots.MASKED).tag(sync=True)
    index = traitlets.List().tag(sync=True)                     # where the sliders of the leading axes stand
    query = traitlets.Int(0).tag(sync=True)
    key = traitlets.Int(0).tag(sync=True)
    grid = traitlets.Bool(False).tag(sync=True)

    texts = traitlets.Dict().tag(sync=True)                     # of the boxes to type into
    message = traitlets.Unicode().tag(sync=True)                # why what was typed could not be read

    def __init__(self, weights, query_tokens=None, key_tokens=None, mask=None, axes=None, vmax=1.0, labels=None, **position):
        self.values, traits = what_is_sent(weights, query_tokens, key_tokens, mask, axes, labels)
        super().__init__(vmax=vmax, index=[0] * len(traits["axes"]), **traits)
        self.move(**position)

    @classmethod
    def of_texts(cls, read, **texts):
        """An explorer with a box for each text, to type another: read(**texts) returns the arguments of an explorer."""
        explorer = cls(**read(**texts))
        explorer.read, explorer.texts = read, texts
        explorer.observe(explorer.typed, "texts")
        return explorer

    def typed(self, change):
        """Show the weights of what was typed; where it cannot be read, say why, and keep the last ones."""
        try:
            arguments = self.read(**self.texts)
            names = ("weights", "query_tokens", "key_tokens", "mask", "axes", "labels")
            values, traits = what_is_sent(*map(arguments.get, names))
        except Exception as error:  # whatever a reader's own function raises belongs on the page
            self.message = str(error) or type(error).__name__
            return
        with self.hold_sync():                                  # all at once: half of it would not fit the other
            self.values, self.message = values, ""
            self.query, self.key = min(self.query, values.shape[-2] - 1), min(self.key, values.shape[-1] - 1)
            for name, value in traits.items():
                setattr(self, name, value)

    @property
    def ranges(self):
        """Every control, with the values it can take."""
        sizes = zip([*self.axes, "query", "key"], self.shape)
        grid = {"grid": [False, True]} if math.prod(self.shape[:-2]) > 1 else {}
        return {name: range(size) for name, size in sizes} | grid

    def move(self, **position):
        """Put controls where a hand would: `move(layer=1, head=3, query=2, key=0, grid=False)`."""
        for name, value in position.items():
            if value not in self.ranges.get(name, ()):
                raise ValueError(f"{name}={value}: this explorer has {describe(self.ranges)}")
        for name, value in position.items():
            if name in self.axes:
                axis = self.axes.index(name)
                self.index = [*self.index[:axis], value, *self.index[axis + 1:]]
            else:
                setattr(self, name, value)

    def picture(self):
        """What the browser shows, as a static picture."""
        where = ", ".join(f"{axis} {i}" for axis, i in zip(self.axes, self.index))
        weights, labels = self.values[tuple(self.index)], np.array(self.labels or [""] * math.prod(self.shape[:-2]), dtype=object)
        labels = labels.reshape(self.shape[:-2])
        if self.grid:
            fixed = tuple(self.index[:-2])
            return plots.grid_of_maps(self.values[fixed], self.axes[-2:], self.index[-2:], self.vmax, labels[fixed])
        where += f": {label}" if (label := labels[tuple(self.index)]) else ""
        return plots.map_and_row(weights, self.query, self.key, self.query_tokens, self.key_tokens, where, self.vmax)

    def __repr__(self):
        return f"AttentionExplorer({describe(self.ranges)})"

    def _repr_mimebundle_(self, **kwargs):
        return beside(super()._repr_mimebundle_(**kwargs), self.picture()._repr_mimebundle_(), repr(self))


class LivePicture(anywidget.AnyWidget):
    """A PNG that can be replaced without a flicker, and that says what is to be seen (ipywidgets' Image cannot)."""

    _esm = HERE / "live_picture.js"
    png = traitlets.Bytes().tag(sync=True)
    alt = traitlets.Unicode().tag(sync=True)
    width = traitlets.Int().tag(sync=True)                      # in CSS pixels
    grab = traitlets.Bool(False).tag(sync=True)                 # can something in it be dragged?
    pointer = traitlets.List().tag(sync=True)                   # where the hand is, as fractions from the top left


class Lab(ipywidgets.VBox):
    """Controls above one persistent picture; `explore` makes it."""

    def __init__(self, draw, controls, moving=(), drag=None):
        self.draw, self.moving, self.drag, self.paused = draw, list(moving), drag, False
        self.controls = {name: as_control(name, value) for name, value in controls.items()}
        self.image = LivePicture(grab=drag is not None)
        self.image.observe(self.dragged, "pointer")
        self.message = ipywidgets.HTML(layout=ipywidgets.Layout(display="none"))
        self.current = self.draw(**self.values)
        self.lay_out()
        self.show(self.current)
        for control in self.controls.values():
            control.observe(self.redraw, "value")
        super().__init__([*self.controls.values(), self.message, self.image])

    @property
    def values(self):
        return {name: control.value for name, control in self.controls.items()}

    @property
    def ranges(self):
        """Every control, with the values it can take; a text box has the one that it holds."""
        return {name: allowed_values(control) for name, control in self.controls.items()}

    def move(self, **values):
        """Put controls where a hand would: `move(width=0.5)`."""
        for name, value in values.items():
            if name not in self.controls or not accepts(self.controls[name], value):
                raise ValueError(f"{name}={value}: this lab has {describe(self.ranges)}")
        for name, value in values.items():
            self.controls[name].value = value

    def lay_out(self):
        """Place the axes once; later redraws only paint."""
        self.image.width = round(self.current.get_figwidth() * CSS_PIXELS_PER_INCH)
        self.current.canvas.draw()
        self.positions = [ax.get_position() for ax in self.current.axes]
        if self.moving:
            self.current.set_layout_engine("none")
            for artist in self.moving:
                artist.set_animated(True)                       # left out of the still background
            self.current.canvas.draw()
            self.still = self.current.canvas.copy_from_bbox(self.current.bbox)

    def redraw(self, change=None):
        if self.paused:
            return
        try:
            picture = self.draw(**self.values)
            if self.moving and picture is not self.current:
                raise ValueError("a lab with `moving` needs to return the same picture each time")
            if picture is not self.current and len(picture.axes) == len(self.positions):
                picture.set_layout_engine("none")
                for ax, position in zip(picture.axes, self.positions):
                    ax.set_position(position)
            self.show(picture)
        except Exception as error:  # whatever a reader's own draw raises belongs on the page
            text = html.escape(str(error) or type(error).__name__)
            self.message.value = f'<div role="alert" style="color: #b00020; line-height: 1.4">{text}</div>'
            self.message.layout.display = ""
        else:
            self.message.layout.display = "none"

    def dragged(self, change):
        """Put the two controls named in `drag` where the hand is, in the units of its axes."""
        axes, *names = self.drag
        x, y = change["new"]
        width, height = self.current.bbox.size
        self.paused = True                                      # two controls, one drawing
        for name, value in zip(names, axes.transData.inverted().transform((x * width, (1 - y) * height))):
            control = self.controls[name]
            control.value = round(round(value / control.step) * control.step, 10)
        self.paused = False
        self.redraw()

    def show(self, picture):
        canvas = picture.canvas
        if self.moving:
            canvas.restore_region(self.still)
            for artist in self.moving:
                artist.axes.draw_artist(artist)
        else:
            canvas.draw()
        self.image.alt = picture.alt
        self.image.png = png(canvas)
        self.current = picture

    def __repr__(self):
        return f"Lab({describe(self.ranges)})"

    def _repr_mimebundle_(self, **kwargs):
        return beside(super()._repr_mimebundle_(**kwargs), self.current.as_shown(), repr(self))


def explore(draw, *, moving=(), drag=None, **controls):
    """Redraw `draw(**values)` whenever a control moves; an error it raises is shown in the lab.

    draw returns a picture (`plots.panels` makes one). controls, by the names of draw's arguments: (low, high) or
    (low, high, step) for a slider, with a fourth number for where it starts; a list for a menu; True or False for a
    box; text for a text box; or any ipywidget that has a value.
    moving: for speed, if draw returns the same picture each time and only these artists of it change.
    drag: (axes, "x", "y") lets the hand move the sliders x and y by dragging in these axes of the picture.
    Raises TypeError for a control that is none of these.
    """
    return Lab(draw, controls, moving, drag)


def what_is_sent(weights, query_tokens, key_tokens, mask, axes, labels):
    """The values of an explorer, hidden cells as NaN, and what of it goes to the browser; raise where something does not fit."""
    values = as_numpy(weights).astype(np.float32)
    if values.ndim < 2 or values.size == 0:
        raise ValueError(f"weights of shape {list(values.shape)}: an explorer needs at least one row and column, [T_q, T_k]")
    if not (values.min() >= 0 and values.max() <= 1 + 1e-3):
        raise ValueError(f"values from {values.min():.3g} to {values.max():.3g}: weights lie between 0 and 1 "
                         "(scores need a softmax first)")
    *sizes, T_q, T_k = values.shape
    axes = AXES.get(len(sizes)) if axes is None else list(axes)
    if axes is None or len(axes) != len(sizes):
        raise ValueError(f"axes={axes} for weights of shape {list(values.shape)}: every axis before the last two needs a name")
    for what, tokens, size in (("query_tokens", query_tokens, T_q), ("key_tokens", key_tokens, T_k)):
        if tokens is not None and len(tokens) != size:
            raise ValueError(f"{len(tokens)} {what} for weights of shape {list(values.shape)}: {size} are needed")
    named = np.array([] if labels is None else labels, dtype=object)
    if labels is not None and list(named.shape) != sizes:
        raise ValueError(f"labels of shape {list(named.shape)} for weights of shape {list(values.shape)}: each map needs one")
    if mask is not None:
        values = np.where(broadcast_mask(mask, values.shape), values, np.float32("nan"))
    return values, {
        "weights": values.astype("<f4").tobytes(), "shape": list(values.shape), "axes": axes, "labels": list(map(str, named.flat)),
        "query_tokens": [str(t) for t in (range(T_q) if query_tokens is None else query_tokens)],
        "key_tokens": [str(t) for t in (range(T_k) if key_tokens is None else key_tokens)]}
