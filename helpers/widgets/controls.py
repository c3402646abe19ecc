"""The controls of a lab: sliders, menus, boxes, and the values that they take."""
import math
from collections.abc import Sequence
from typing import Any

import ipywidgets

SLIDERS = (ipywidgets.IntSlider, ipywidgets.FloatSlider)


def as_control(name: str, value: Any) -> ipywidgets.Widget:
    """The ipywidget that `explore` makes of `value`.

    Raises TypeError for what stands for no control, ValueError for a slider without a range or a step.
    """
    style = {"description": name.replace("_", " "), "style": {"description_width": "8em"}}
    wide = {"layout": ipywidgets.Layout(width="30em")}
    if isinstance(value, ipywidgets.Widget):
        return value
    if isinstance(value, bool):
        return ipywidgets.Checkbox(value, indent=True, **style)
    if isinstance(value, str):
        return ipywidgets.Text(value, continuous_update=False, **style, **wide)
    if isinstance(value, list):
        return ipywidgets.Dropdown(options=value, **style, **wide)
    if isinstance(value, tuple) and 2 <= len(value) <= 4:
        low, high, *rest = value
        whole = all(isinstance(number, int) for number in value)
        step = rest[0] if rest else 1 if whole else (high - low) / 50
        start = rest[1] if len(rest) == 2 else low
        if not (low < high and step > 0 and low <= start <= high):
            raise ValueError(f"{name}={value}: a slider needs low < high, a step above 0, a start in between")
        slider = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
        return slider(start, min=low, max=high, step=step, **style, **wide)
    raise TypeError(f"{name}={value!r}: a control is (low, high), (low, high, step), "
                    "(low, high, step, start), a list, True or False, text, or a widget")


def allowed_values(control: ipywidgets.Widget) -> list:
    """Every value that a control can take; a text box has the one that it holds."""
    if isinstance(control, SLIDERS):
        steps = math.floor((control.max - control.min) / control.step + 1e-9)
        return [round(control.min + i * control.step, 10) for i in range(steps + 1)]
    if hasattr(control, "options"):
        return list(control.options)
    return [False, True] if isinstance(control.value, bool) else [control.value]


def accepts(control: ipywidgets.Widget, value: Any) -> bool:
    """False for a value beyond the ends of a slider; all other controls refuse a wrong value themselves."""
    return not isinstance(control, SLIDERS) or control.min <= value <= control.max


def describe(ranges: dict[str, Sequence]) -> str:
    """The controls and their values in short: `head=0..7, grid=False|True`."""
    def short(values):
        return f"{values[0]}..{values[-1]}" if len(values) > 3 else "|".join(map(str, values))
    return ", ".join(f"{name}={short(values)}" for name, values in ranges.items())
