"""`explore`: controls above a picture, which is drawn anew whenever one of them moves."""
import html
import pathlib
from collections.abc import Callable, Sequence

import anywidget
import ipywidgets
import traitlets

from helpers.plots import CSS_PIXELS_PER_INCH, Picture, beside, png
from helpers.widgets.controls import accepts, allowed_values, as_control, describe

HERE = pathlib.Path(__file__).parent


class LivePicture(anywidget.AnyWidget):
    """A PNG with an alternative text, replaced without a flicker; ipywidgets' Image has neither."""

    _esm = HERE / "live_picture.js"
    png = traitlets.Bytes().tag(sync=True)
    alt = traitlets.Unicode().tag(sync=True)
    width = traitlets.Int().tag(sync=True)              # in CSS pixels
    grab = traitlets.Bool(False).tag(sync=True)         # can something in it be dragged?
    pointer = traitlets.List().tag(sync=True)           # where it is dragged to, fractions from the top left


class Lab(ipywidgets.VBox):
    """Controls above one persistent picture; `explore` makes it."""

    def __init__(self, draw: Callable[..., Picture], controls: dict, moving: Sequence = (),
                 drag: tuple | None = None):
        self.draw, self.moving, self.drag, self.paused = draw, list(moving), drag, False
        self.controls = {name: as_control(name, value) for name, value in controls.items()}
        self.image = LivePicture(grab=drag is not None)
        self.image.observe(self.dragged, "pointer")
        self.message = ipywidgets.HTML(layout=ipywidgets.Layout(display="none"))
        self.current = self.draw(**self.values)
        self.image.width = round(self.current.get_figwidth() * CSS_PIXELS_PER_INCH)
        self.current.canvas.draw()                      # places the axes once; later redraws only paint
        self.positions = [ax.get_position() for ax in self.current.axes]
        if self.moving:
            self.current.set_layout_engine("none")
            for artist in self.moving:
                artist.set_animated(True)               # left out of the still background
            self.current.canvas.draw()
            self.still = self.current.canvas.copy_from_bbox(self.current.bbox)
        self.show(self.current)
        for control in self.controls.values():
            control.observe(self.redraw, "value")
        super().__init__([*self.controls.values(), self.message, self.image])

    @property
    def values(self) -> dict:
        """What every control is set to."""
        return {name: control.value for name, control in self.controls.items()}

    @property
    def ranges(self) -> dict[str, list]:
        """Every control, with the values it can take; a text box has only the text it holds."""
        return {name: allowed_values(control) for name, control in self.controls.items()}

    def move(self, **values) -> None:
        """Set controls: `move(width=0.5)`. Raises ValueError for what this lab does not have."""
        for name, value in values.items():
            if name not in self.controls or not accepts(self.controls[name], value):
                raise ValueError(f"{name}={value}: this lab has {describe(self.ranges)}")
        for name, value in values.items():
            self.controls[name].value = value

    def redraw(self, change=None) -> None:
        """Draw the picture for the values of the controls, or show the error that this raises."""
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
        except Exception as error:                      # a reader's own draw may raise anything
            text = html.escape(str(error) or type(error).__name__)
            self.message.value = f'<div role="alert" style="color: #b00020; line-height: 1.4">{text}</div>'
            self.message.layout.display = ""
        else:
            self.message.layout.display = "none"

    def dragged(self, change) -> None:
        """Set the two controls named in `drag` to the pointer's place, in the units of the axes."""
        axes, *names = self.drag
        x, y = change["new"]
        width, height = self.current.bbox.size
        self.paused = True                              # two controls, one drawing
        for name, value in zip(names, axes.transData.inverted().transform((x * width, (1 - y) * height))):
            control = self.controls[name]
            control.value = round(round(value / control.step) * control.step, 10)
        self.paused = False
        self.redraw()

    def show(self, picture: Picture) -> None:
        """Send the pixels of the picture to the browser."""
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


def explore(draw: Callable[..., Picture], *, moving: Sequence = (), drag: tuple | None = None, **controls) -> Lab:
    """A lab: `draw(**values)` is called whenever a control moves, and an error that it raises is shown.

    draw: returns a picture; `plots.panels` makes one.
    controls: by the names of draw's arguments, (low, high), (low, high, step) or (low, high, step, start) for
        a slider, a list for a menu, True or False for a checkbox, text for a box, or any ipywidget with a value.
    moving: for speed, if draw returns the same picture each time: the artists that change in it.
    drag: (axes, "x", "y") lets the pointer, dragged in these axes of the picture, set the controls x and y.
    Raises TypeError for a control that is none of these, ValueError for a slider without a range.
    """
    return Lab(draw, controls, moving, drag)
