"""`explore`: controls beside a picture, which is drawn anew whenever one of them moves."""
import contextlib
import html
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence

import anywidget
import ipywidgets
import numpy as np
import traitlets
from matplotlib.transforms import Bbox

from helpers.plots import CSS_PIXELS_PER_INCH, DOTS_PER_INCH, STILL, Picture, beside
from helpers.widgets.bundle import HERE, bundle
from helpers.widgets.controls import allowed_values, describe, ends, limits, make_controls, put, refit

LEGIBLE = 0.75              # of its size: a picture is not shown smaller
# Widgets' messages arrive in a thread of their own. A lab that is being replaced could otherwise draw, through
# the same global names, into the picture that the new one is about to show.
ONE_AT_A_TIME = threading.RLock()


class LivePicture(anywidget.AnyWidget):
    """Pixels with an alternative text, replaced without a flicker; ipywidgets' Image has neither."""

    _esm = bundle("live_picture.js")
    _css = HERE / "live_picture.css"
    pixels = traitlets.Bytes().tag(sync=True)           # red, green, blue, alpha; packed by zlib
    size = traitlets.List().tag(sync=True)              # in pixels
    alt = traitlets.Unicode().tag(sync=True)
    width = traitlets.Int().tag(sync=True)              # in CSS pixels
    area = traitlets.List().tag(sync=True)              # where it can be dragged: left, top, right, bottom
    pointer = traitlets.List().tag(sync=True)           # where it is dragged to: x, y; fractions from the top left
    ratio = traitlets.Float(0).tag(sync=True)           # of the screen's pixels to CSS pixels


class Lab(ipywidgets.Box):
    """Controls beside one persistent picture; `explore` makes it."""

    def __init__(self, draw: Callable[..., Picture], controls: dict, moving: Sequence = (),
                 drag: tuple | None = None, labels: Mapping[str, str] | None = None):
        self.draw, self.moving, self.drag, self.paused, self.dpi = draw, list(moving), drag, False, DOTS_PER_INCH
        self.controls, self.following = make_controls(controls, labels or {})
        self.start = self.values
        self.image = LivePicture()
        self.message = ipywidgets.HTML(layout=ipywidgets.Layout(display="none"))
        with ONE_AT_A_TIME:
            self.current = self.drawn()
            self.keep_layout()
            self.show(self.current)
        self.image.observe(self.dragged, "pointer")
        self.image.observe(self.sharpen, "ratio")
        for control in self.controls.values():
            control.observe(self.redraw, "value")
        self.reset = ipywidgets.Button(description="reset")
        self.reset.on_click(lambda button: self.move(**self.start))
        left = ipywidgets.VBox([*self.controls.values(), self.reset]).add_class("lab-controls")
        right = ipywidgets.VBox([self.message, self.image]).add_class("lab-picture")
        right.layout.flex = f"100 1 {round(LEGIBLE * self.image.width)}px"
        super().__init__([left, right])
        self.add_class("lab")

    @property
    def values(self) -> dict:
        """What every control is set to. Sliders reach 2.8 by way of 2.8000000000000003."""
        values = {name: control.value for name, control in self.controls.items()}
        return {name: round(value, 10) if isinstance(value, float) else value for name, value in values.items()}

    @property
    def ranges(self) -> dict[str, list]:
        """Every control, with the values it can take; a text box has only the text it holds."""
        return {name: allowed_values(control) for name, control in self.controls.items()}

    def move(self, **values) -> None:
        """Set controls: `move(width=0.5)`. Raises ValueError for what this lab does not have."""
        with self.one_drawing():
            for name in sorted(values, key=lambda name: name in self.following):
                if name in self.following:
                    self.follow()
                try:
                    put(self.controls[name], values[name])
                except (KeyError, TypeError, ValueError, traitlets.TraitError):
                    raise ValueError(f"{name}={values[name]}: this lab has {describe(self.ranges)}") from None

    @contextlib.contextmanager
    def one_drawing(self) -> Iterator[None]:
        """However many controls are set, the picture is drawn once, at the end."""
        with ONE_AT_A_TIME:
            self.paused = True
            try:
                yield
            finally:
                self.paused = False
                self.redraw()

    def follow(self) -> None:
        """Give the sliders the ranges that follow from the other controls."""
        for name, span in self.following.items():
            refit(self.controls[name], *limits(name, ends(span, self.controls))[:2])

    def redraw(self, change=None) -> None:
        """Draw the picture for the values of the controls, or show the error that this raises."""
        with ONE_AT_A_TIME:
            if self.paused:
                return
            try:
                self.paused = True                      # a range that follows may change a value
                self.follow()
                self.show(self.laid_out(self.drawn()))
            except Exception as error:                  # a reader's own draw may raise anything
                text = html.escape(str(error) or type(error).__name__)
                self.message.value = f'<div role="alert" class="lab-alert">{text}</div>'
                self.message.layout.display = ""
            else:
                self.message.layout.display = "none"
            finally:
                self.paused = False

    def drawn(self) -> Picture:
        if not isinstance(picture := self.draw(**self.values), Picture):
            raise TypeError(f"`draw` returned {type(picture).__name__}, not a Picture as of `plots.panels`: is a `return` missing?")
        return picture

    def keep_layout(self) -> None:
        """Place the axes once, and keep what does not move as a background: later redraws only paint."""
        self.current.canvas.draw()
        self.current.set_layout_engine("none")
        self.positions, self.room = [ax.get_position() for ax in self.current.axes], overhang(self.current)
        for artist in self.moving:
            artist.set_animated(True)                   # left out of the still background
        self.keep_still()
        if self.drag:
            left, low, right, high = self.drag[0].get_position().extents
            self.image.area = [float(place) for place in (left, 1 - high, right, 1 - low)]

    def keep_still(self) -> None:
        """Keep the pixels of all that does not move."""
        if self.moving:
            self.current.canvas.draw()
            self.still = self.current.canvas.copy_from_bbox(self.current.bbox)

    def sharpen(self, change) -> None:
        """Draw as many pixels as the screen shows: fewer are drawn, sent and shown faster."""
        with ONE_AT_A_TIME:
            self.dpi = min(CSS_PIXELS_PER_INCH * max(1, self.image.ratio), DOTS_PER_INCH)
            self.redraw()

    def laid_out(self, picture: Picture) -> Picture:
        """A picture that draw returned, its axes where those of the last one are: smaller once a label needs more room."""
        if self.moving and picture is not self.current:
            raise ValueError("`draw` returned another picture than before: a lab with `moving` needs the same one each "
                             "time. If a cell above made it anew, run this cell again, too.")
        if picture is not self.current and len(picture.axes) == len(self.positions):
            own = picture.get_layout_engine()
            self.place(picture)
            if (overhang(picture) > self.room + picture.dpi / 24).any():        # a layout leaves 3 of 72 points free
                picture.set_layout_engine(own)
                picture.draw_without_rendering()
                places = [ax.get_position() for ax in picture.axes]
                self.positions = [Bbox.intersection(old, new) or new for old, new in zip(self.positions, places)]
                self.place(picture)
                self.room = np.maximum(self.room, overhang(picture))
        if picture.dpi != self.dpi:
            picture.set_dpi(self.dpi)
            self.keep_still()
        return picture

    def place(self, picture: Picture) -> None:
        picture.set_layout_engine("none")
        for ax, position in zip(picture.axes, self.positions):
            ax.set_position(position)
            ax.set_in_layout(True)                      # set_position takes it out

    def dragged(self, change) -> None:
        """Set the two controls named in `drag` to the pointer's place, in the units of the axes."""
        axes, *names = self.drag
        x, y = change["new"]
        width, height = self.current.bbox.size
        with self.one_drawing():
            for name, value in zip(names, axes.transData.inverted().transform((x * width, (1 - y) * height))):
                control = self.controls[name]
                control.value = round(round(value / control.step) * control.step, 10)

    def show(self, picture: Picture) -> None:
        """Send the pixels of the picture to the browser."""
        canvas = picture.canvas
        if self.moving:
            canvas.restore_region(self.still)
            for artist in self.moving:
                artist.axes.draw_artist(artist)
        else:
            canvas.draw()
        with self.image.hold_sync():                    # one message
            self.image.alt = picture.alt
            self.image.width = round(picture.get_figwidth() * CSS_PIXELS_PER_INCH)
            self.image.size = list(canvas.get_width_height(physical=True))
            self.image.pixels = zlib.compress(canvas.buffer_rgba(), 1)
        self.current = picture

    def __repr__(self):
        return f"Lab({describe(self.ranges)})"

    def _repr_mimebundle_(self, **kwargs):
        return beside(super()._repr_mimebundle_(**kwargs), self.current.as_shown(STILL), repr(self))


def overhang(picture: Picture) -> np.ndarray:
    """How far labels reach to the left, down, to the right and up, in pixels, of each axes; the width of a title does not count."""
    return np.array([abs(ax.get_tightbbox(for_layout_only=True).extents - ax.bbox.extents) for ax in picture.axes])


def explore(draw: Callable[..., Picture], *, moving: Sequence = (), drag: tuple | None = None,
            labels: Mapping[str, str] | None = None, **controls) -> Lab:
    """A lab: `draw(**values)` is called whenever a control moves, and an error that it raises is shown.

    draw: returns a picture; `plots.panels` makes one.
    controls: by the names of draw's arguments, (low, high), (low, high, step) or (low, high, step, start) for
        a slider, a list for a menu, True or False for a checkbox, text for a box, or any ipywidget with a value.
        A function returns such a tuple for a slider whose ends follow other controls, the arguments of the
        function: `gap=lambda text: (1, len(text.split()))`.
    moving: for speed, if draw returns the same picture each time: the artists that change in it.
    drag: (axes, "x", "y") lets the pointer, dragged in these axes of the picture, set the controls x and y.
    labels: what stands above a control instead of its name: `{"width": "bandwidth, in units of x"}`.
    What takes long and depends on few of the controls belongs in a function with `functools.cache`, which draw calls.
    Raises TypeError for a control that is none of these, ValueError for a slider without a range.
    """
    return Lab(draw, controls, moving, drag, labels)
