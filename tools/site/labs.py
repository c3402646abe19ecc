"""Labs on pages without a kernel: the pictures of a lab at many positions of its controls, recorded while its lesson runs.

The page holds the controls and the first picture; a file beside it, loaded when a lab is touched, what differs at other positions.
"""
import base64
import io
import itertools
import json
import math
from collections.abc import Iterable, Iterator

import ipywidgets
import numpy as np
import torch
from PIL import Image

from helpers.widgets import Lab
from helpers.widgets.controls import SLIDERS, allowed_values

MOST, BYTES = 300, 1_300_000    # positions and bytes of a lab, about
STEPS = 41                  # stops of a slider, at most
SHARE = 2 / 3               # of the room left, for the next kind of position
FEWER = 20, 10, 5, 2, 0     # places that a slider keeps, if the site has no room for more
COLOURS = 4                 # from one value of a channel to the next: fewer bytes, and no difference that an eye would find
APART = 12                  # pixels without a change between two rectangles


def record(lab: Lab) -> dict:
    """What a page needs of a lab: {"page": its controls and first picture, "data": the pictures at other positions}.

    Each position is reached from the start by way of reset: what a lab keeps of earlier moves, such as a mask drawn by hand, plays
    no part. The random numbers of the cells below are those of a lesson without this.
    """
    recorder, ranges, stops = Recorder(), reach(lab), {}
    ends = [lab.start | {name: end} for name, values in ranges.items() for end in (values[0], values[-1])]
    menus = {name: values for name, values in ranges.items() if not is_slider(lab.controls[name])}
    choices = [lab.start | {name: value} for name, values in menus.items() for value in values]

    def visit(places):
        for position in places:
            at = tuple(ranges[name].index(value) for name, value in position.items())
            if at not in stops and place(lab, position):
                stops[at] = recorder.add(pixels(lab), lab.image.alt)

    with lab.image.hold_sync(), torch.random.fork_rng():                # nobody looks
        lab.image.ratio = 1                                             # a pixel for each CSS pixel
        for position in [*ends, *choices]:                              # the longest labels: axes keep their places from now on
            place(lab, position)
        visit([lab.start, *ends])
        visit(positions(ranges, lab.start, {name for name in ranges if is_slider(lab.controls[name])},
                        min(MOST, BYTES * len(stops) // recorder.size)))
        place(lab, lab.start)
    page = {"controls": [described(lab.controls[name], ranges[name], lab.start[name]) for name in ranges], "drag": drag_of(lab),
            "picture": recorder.patches[0], "alt": recorder.frames[0][0], "width": lab.image.width,
            "height": round(lab.image.size[1] / lab.image.size[0] * lab.image.width)}
    return with_stops(page, recorder.patches[1:], recorder.frames, [[*at, frame] for at, frame in stops.items()])


def with_stops(page: dict, patches: list, frames: list, stops: list[list[int]]) -> dict:
    """The recording with these of its stops alone: sliders go to no other places, and what no stop shows is left out."""
    shown = sorted({stop[-1] for stop in stops})
    used = [0, *sorted({patch for frame in shown for patch, _, _ in frames[frame][2] if patch})]     # 0 is the page's picture
    kept = [sorted({stop[i] for stop in stops}) if control["kind"] == "slider" else [*range(len(control["values"]))]
            for i, control in enumerate(page["controls"])]
    controls = [control | {"values": [control["values"][i] for i in places], "start": places.index(control["start"])}
                for control, places in zip(page["controls"], kept)]
    frames = [[alt, size, [[used.index(patch), x, y] for patch, x, y in parts]]
              for alt, size, parts in map(frames.__getitem__, shown)]
    return {"page": page | {"controls": controls},
            "data": {"patches": [patches[patch - 1] for patch in used[1:]], "frames": frames,
                     "stops": [[*map(list.index, kept, at), shown.index(frame)] for *at, frame in stops]}}


def bytes_of(data: dict) -> int:
    """The bytes of what lies beside the page."""
    return len(json.dumps(data, separators=(",", ":")))


def lighter(page: dict, data: dict, most: int) -> dict:
    """The recording in at most `most` bytes of data, or, where even these are too many, at its start alone.

    Where most controls stand elsewhere than at the start, sliders keep ever fewer places, in even steps, at last none.
    """
    starts, stops = [control["start"] for control in page["controls"]], data["stops"]
    sliders = [i for i, control in enumerate(page["controls"]) if control["kind"] == "slider"]

    def away(stop):
        return [i for i, start in enumerate(starts) if stop[i] != start]
    made = {"page": page, "data": data}
    for together, steps in itertools.product(range(len(starts), 0, -1), FEWER):
        if bytes_of(made["data"]) <= most:
            return made
        group = [stop for stop in stops if len(away(stop)) == together]
        kept = {i: thinned(sorted({stop[i] for stop in group} - {starts[i]}), steps) for i in sliders}
        stops = [stop for stop in stops if stop not in group or all(i not in sliders or stop[i] in kept[i] for i in away(stop))]
        made = with_stops(page, data["patches"], data["frames"], stops)
    return made if bytes_of(made["data"]) <= most else with_stops(page, data["patches"], data["frames"], data["stops"][:1])


def reach(lab: Lab) -> dict[str, list]:
    """The values that each control can take, wherever the others stand: a range may follow another control."""
    ranges = {name: list(values) for name, values in lab.ranges.items()}
    lab.paused = True
    for name in [name for name in ranges if lab.following and name not in lab.following]:
        for value in ranges[name]:
            lab.controls[name].value = value
            lab.follow()
            for other in lab.following:
                ranges[other] = sorted({*ranges[other], *allowed_values(lab.controls[other])})
        lab.controls[name].value = lab.start[name]
    lab.paused = False
    return ranges


def positions(ranges: dict[str, list], start: dict, sliders: set[str], most: int) -> list[dict]:
    """Where a lab is recorded: everywhere, if these are at most `most` positions; else where one control stands elsewhere than at
    the start, then where two do, and so on, those with fewer sliders first, and sliders in as small steps as there is room for."""
    moving, found = [name for name, values in ranges.items() if len(values) > 1], []
    if math.prod(len(ranges[name]) for name in moving) <= most:
        return [start | position for position in products(ranges, moving)]
    others = {name: [value for value in ranges[name] if value != start[name]] for name in moving}
    for together, sliding in itertools.product(range(1, len(moving) + 1), range(len(sliders) + 1)):
        groups = [names for names in itertools.combinations(moving, together) if len(sliders.intersection(names)) == sliding]
        for steps in range(STEPS, 1, -1):
            sparse = {name: thinned(values, steps) if name in sliders else values for name, values in others.items()}
            further = [start | position for names in groups for position in products(sparse, names)]
            if len(further) <= (most - len(found)) * SHARE:
                found += further
                break
        else:
            break
    return found


def products(ranges: dict[str, list], names: Iterable[str]) -> Iterator[dict]:
    """Every combination of the values of these controls."""
    return (dict(zip(names, values)) for values in itertools.product(*(ranges[name] for name in names)))


def thinned(values: list, most: int) -> list:
    """At most `most` of the values in even steps, the first and the last among them if these are two."""
    return [values[i] for i in np.linspace(0, len(values) - 1, min(most, len(values))).round().astype(int)]


def place(lab: Lab, position: dict) -> bool:
    """Move a lab there from its start; False if there is no picture: beyond a range that follows another control, or an error."""
    lab.redraw = lambda change=None: None                               # reset without a picture
    lab.reset.click()
    del lab.redraw
    try:
        lab.move(**position)
    except ValueError:
        return False
    return lab.message.layout.display == "none"


def pixels(lab: Lab) -> np.ndarray:
    """What the lab shows, [height, width, 3], in fewer colours: multiples of COLOURS, and white."""
    shown = np.asarray(lab.current.canvas.buffer_rgba())[..., :3].astype(int)
    return np.minimum((shown + COLOURS // 2) // COLOURS * COLOURS, 255).astype(np.uint8)


def is_slider(control: ipywidgets.Widget) -> bool:
    return isinstance(control, (*SLIDERS, ipywidgets.SelectionSlider))


def described(control: ipywidgets.Widget, values: list, start) -> dict:
    """What the page needs to make a control."""
    shown = [*map(control.readout_format.join(["{:", "}"]).format, values)] if isinstance(control, SLIDERS) else [*map(str, values)]
    kind = ("slider" if is_slider(control) else "menu" if hasattr(control, "options") else
            "switch" if isinstance(start, bool) else "text")
    return {"label": control.description, "kind": kind, "values": shown, "start": values.index(start)}


def drag_of(lab: Lab) -> dict | None:
    """Where the picture can be dragged, in fractions from its top left, and of each axis a control and the values at both ends."""
    if not lab.drag:
        return None
    axes, *names = lab.drag
    ends = zip(*axes.transData.inverted().transform(axes.transAxes.transform([(0, 1), (1, 0)])).tolist())
    return {"area": lab.image.area, "axes": [[list(lab.controls).index(name), *pair] for name, pair in zip(names, ends)]}


class Recorder:
    """Keeps the first picture, and the rectangles in which others differ from it (beyond its edges, from white), each once."""

    def __init__(self):
        self.patches, self.frames, self.known, self.first = [], [], {}, None

    @property
    def size(self) -> int:
        return sum(map(len, self.patches))

    def add(self, picture: np.ndarray, alt: str) -> int:
        """The number of the frame that shows this picture, [height, width, 3], with this description."""
        if self.first is None:
            self.first = picture
            self.patch(picture)
        height, width = np.minimum(picture.shape, self.first.shape)[:2]
        behind = np.full_like(picture, 255)
        behind[:height, :width] = self.first[:height, :width]
        parts = [[self.patch(picture[rows, columns]), columns.start, rows.start]
                 for rows, columns in rectangles((picture != behind).any(-1))]
        frame = [alt, [picture.shape[1], picture.shape[0]], parts]
        if frame not in self.frames:
            self.frames.append(frame)
        return self.frames.index(frame)

    def patch(self, part: np.ndarray) -> int:
        """The number of these pixels among the patches."""
        key = part.shape, part.tobytes()
        if key not in self.known:
            self.known[key] = len(self.patches)
            self.patches.append(encoded(part))
        return self.known[key]


def rectangles(changed: np.ndarray, top: int = 0, left: int = 0) -> list[tuple[slice, slice]]:
    """Rectangles around all that changed, [height, width], at least APART pixels from one another in x or y."""
    if not changed.any():
        return []
    for axis in (0, 1):
        pieces = list(stretches(changed.any(1 - axis)))
        if len(pieces) > 1 or pieces[0] != (0, changed.shape[axis]):
            return [found for low, high in pieces for found in rectangles(
                changed[low:high] if axis == 0 else changed[:, low:high], top + low * (axis == 0), left + low * (axis == 1))]
    return [(slice(top, top + changed.shape[0]), slice(left, left + changed.shape[1]))]


def stretches(changed: np.ndarray) -> Iterator[tuple[int, int]]:
    """From where to where something changes, [length], across gaps shorter than APART."""
    places = np.flatnonzero(changed)
    for stretch in np.split(places, np.flatnonzero(np.diff(places) > APART) + 1):
        yield int(stretch[0]), int(stretch[-1]) + 1


def encoded(part: np.ndarray) -> str:
    """The pixels as a lossless WebP, in base64."""
    buffer = io.BytesIO()
    Image.fromarray(part).save(buffer, "webp", lossless=True, quality=60, method=4)
    return base64.b64encode(buffer.getvalue()).decode()
