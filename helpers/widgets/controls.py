"""The controls of a lab: sliders, menus, boxes, and the values that they take."""
import math

import ipywidgets


def as_control(name, value):
    """The ipywidget that `explore` makes of what stands for it; see there."""
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
        slider = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
        return slider(start, min=low, max=high, step=step, **style, **wide)
    raise TypeError(f"{name}={value!r}: a control is (low, high), (low, high, step), a list, True or False, text, or a widget")


def allowed_values(control):
    """Every value that a control can take; a text box has the one that it holds."""
    if isinstance(control, (ipywidgets.IntSlider, ipywidgets.FloatSlider)):
        steps = math.floor((control.max - control.min) / control.step + 1e-9)
        return [round(control.min + i * control.step, 10) for i in range(steps + 1)]
    if hasattr(control, "options"):
        return list(control.options)
    return [False, True] if isinstance(control.value, bool) else [control.value]


def accepts(control, value):
    """A slider would move to its end without a word; other controls refuse a wrong value themselves."""
    return not isinstance(control, (ipywidgets.IntSlider, ipywidgets.FloatSlider)) or control.min <= value <= control.max


def describe(ranges):
    """The controls in short, the same in every run: `head=0..7, grid=False|True`."""
    def short(values):
        return f"{values[0]}..{values[-1]}" if len(values) > 3 else "|".join(map(str, values))
    return ", ".join(f"{name}={short(values)}" for name, values in ranges.items())
