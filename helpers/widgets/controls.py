"""The controls of a lab: sliders, menus, boxes, and the values that they take."""
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import ipywidgets

SLIDERS = (ipywidgets.IntSlider, ipywidgets.FloatSlider)
MOST_DECIMALS = 4


def as_control(name: str, value: Any, label: str | None = None) -> ipywidgets.Widget:
    """The ipywidget that `explore` makes of `value`; label: what stands above it, the name if not given.

    Raises TypeError for what stands for no control, ValueError for a slider without a range or a step.
    """
    text = {"description": label or name.replace("_", " ")}
    if isinstance(value, ipywidgets.Widget):
        if label:
            value.description = label
        return value
    if isinstance(value, bool):
        return ipywidgets.Checkbox(value, indent=False, **text)
    if isinstance(value, str):
        return ipywidgets.Text(value, continuous_update=False, **text)
    if isinstance(value, list) and value:
        return ipywidgets.Dropdown(options=value, **text)
    if isinstance(value, tuple) and 2 <= len(value) <= 4 and all(isinstance(number, Real) for number in value):
        low, high, step, start = span = limits(name, value)
        if low == high:
            raise ValueError(f"{name}={value}: a slider needs low < high, a step above 0, a start in between")
        if all(isinstance(number, int) for number in span):
            return with_range(ipywidgets.IntSlider(start, min=low, max=high, step=step, **text))
        decimals = next((d for d in range(1, MOST_DECIMALS) if all(abs(round(n, d) - n) < 1e-9 for n in span)), MOST_DECIMALS)
        return with_range(ipywidgets.FloatSlider(start, min=low, max=high, step=step, readout_format=f".{decimals}f", **text))
    raise TypeError(f"{name}={value!r}: a control is numbers (low, high), (low, high, step) or (low, high, step, start), a list, "
                    "not empty, True or False, text, a widget, or a function of other controls that returns such numbers")


def limits(name: str, value: tuple) -> tuple:
    """(low, high, step, start) of a slider; ValueError unless low <= start <= high, with up to a million steps, each above 0."""
    low, high, *rest = value
    step = rest[0] if rest else 1 if all(isinstance(number, int) for number in value) else (high - low) / 50
    start = rest[1] if len(rest) == 2 else low
    if not (low <= start <= high and step > 0 and (high - low) / step <= 1e6):
        raise ValueError(f"{name}={value}: a slider needs low < high, a step above 0, a start in between, at most a million steps")
    return low, high, step, start


def make_controls(values: Mapping[str, Any], labels: Mapping[str, str]) -> tuple[dict, dict[str, Callable]]:
    """The controls by name, and the functions among the values, which the ranges of their sliders follow.

    Raises ValueError for a label without a control, and for a function of what is no control.
    """
    if unknown := set(labels) - set(values):
        raise ValueError(f"labels for {', '.join(sorted(unknown))}: this lab has {', '.join(values)}")
    follow = {name: value for name, value in values.items() if callable(value)}
    controls = {name: None if name in follow else as_control(name, value, labels.get(name)) for name, value in values.items()}
    for name, span in follow.items():
        unknown = set(inspect.signature(span).parameters) - {other for other in values if controls[other]}
        if unknown:
            raise ValueError(f"{name}: its range follows {', '.join(sorted(unknown))}, and needs to follow "
                             "controls of this lab, the followed one first")
        low, high, step, start = limits(name, ends(span, controls))
        controls[name] = as_control(name, (low, max(high, low + step), step, start), labels.get(name))
        refit(controls[name], low, high)
    return controls, follow


def ends(span: Callable, controls: Mapping[str, ipywidgets.Widget]) -> tuple:
    """What a function of controls says for their values."""
    return span(**{name: controls[name].value for name in inspect.signature(span).parameters})


def with_range(slider: ipywidgets.Widget) -> ipywidgets.Widget:
    """The slider with its ends, and its step if that is not 1, as its title, which stands beside its label."""
    slider.tooltip = f"{slider.min:g} to {slider.max:g}" + (f" by {slider.step:g}" if slider.step != 1 else "")
    return slider


def refit(control: ipywidgets.Widget, low: float, high: float) -> None:
    """Give a slider other ends. Its value is kept, or becomes the nearer end."""
    with control.hold_trait_notifications():
        control.min, control.max = low, high
        control.value = min(max(control.value, low), high)
    with_range(control)


def allowed_values(control: ipywidgets.Widget) -> list:
    """Every value that a control can take; a text box has the one that it holds."""
    if isinstance(control, SLIDERS):
        steps = math.floor((control.max - control.min) / control.step + 1e-9)
        return [round(control.min + i * control.step, 10) for i in range(steps + 1)]
    if hasattr(control, "options"):
        return list(control.options)
    return [False, True] if isinstance(control.value, bool) else [control.value]


def put(control: ipywidgets.Widget, value: Any) -> None:
    """Set a control. Raises ValueError beyond the ends of a slider, which would move to its end; others refuse a wrong value."""
    if isinstance(control, SLIDERS) and not control.min <= value <= control.max:
        raise ValueError(value)
    control.value = value


def describe(ranges: dict[str, Sequence]) -> str:
    """The controls and their values in short: `head=0..7, grid=False|True`."""
    short = {name: f"{of[0]}..{of[-1]}" if len(of) > 3 else "|".join(map(str, of)) for name, of in ranges.items()}
    return ", ".join(f"{name}={values}" for name, values in short.items())
