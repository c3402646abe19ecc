"""Labs whose pages compute what they show: what Python gives them. The scripts are in pages/computed.

The page holds what the lab needs where its controls stand at the start; a file beside it, loaded when the lab is touched, the rest.
"""
import base64

import numpy as np
import torch
from torch.nn.utils import parameters_to_vector

from helpers import plots
from helpers.widgets import Lab
from tools.site.labs import described, reach

COLOURS = 256


def carry(lesson: str, lab: Lab, names: dict) -> dict | None:
    """What the page of a lesson needs to compute this lab: {"page": ..., "data": ...}; None if it is not computed.

    names: what the lesson has defined. The random numbers of its later cells are those of a lesson without this.
    """
    if (lesson, lab.draw.__name__) not in COMPUTED:
        return None
    script, of_lesson = COMPUTED[lesson, lab.draw.__name__]
    ranges = reach(lab)
    controls = [described(lab.controls[name], ranges[name], lab.start[name]) | {"name": name} for name in ranges]
    with torch.random.fork_rng():
        first, rest = of_lesson(lab, names)
    scale = np.ma.masked_invalid([*np.linspace(0, 1, COLOURS), np.nan])             # last the colour of what is hidden
    return {"page": {"lab": script, "controls": controls, "data": {"colors": packed(plots.WEIGHTS(scale, bytes=True)), **first}},
            "data": rest}


def kernel_regression(lab, names):
    """Lesson 1: the widths that are tried, and of each number of points and sample keys and noise, as drawn with noise 1."""
    def drawn(points, sample):
        x, noiseless = names["make_data"](points, 0, seed=sample)
        return [packed(x), packed(names["make_data"](points, 1, seed=sample)[1] - noiseless)]
    samples = {f"{points} {sample}": drawn(points, sample) for points in lab.ranges["points"] for sample in lab.ranges["sample"]}
    start = f"{lab.start['points']} {lab.start['sample']}"
    return {"widths": names["WIDTHS"], "samples": {start: samples[start]}}, {"samples": samples}


def plane(lab, names):
    """Lesson 2: the four keys."""
    return {"keys": names["keys"].tolist()}, {}


def masked_softmax(lab, names):
    """Lesson 3: the masks to start from, what training under the first of them gives, and of one and two layers the parameters
    before training and all digits, as `train_reader` draws them."""
    starts = {name: "".join(map(str, mask.int().flatten().tolist())) for name, mask in names["starts"].items()}
    number = lab.start["layers"]
    losses, weights = names["trained"](tuple(names["starts"][lab.start["start"]].flatten().tolist()), number)
    known = {f"{number} {starts[lab.start['start']]}": {"losses": losses.tolist(), "weights": weights.flatten(1).tolist()}}
    return {"starts": starts, "known": known}, {"readers": {layers: reader(names, layers) for layers in lab.ranges["layers"]}}


def reader(names, num_layers):
    torch.manual_seed(0)
    parameters = parameters_to_vector(names["Reader"](num_layers).parameters())
    digits = torch.cat([*(torch.randint(10, (64, 9)) for _ in range(300)), torch.randint(10, (1000, 9))])
    return {"start": packed(parameters), "digits": "".join(map(str, digits.flatten().tolist()))}


def clocks(lab, names):
    """Lesson 6: the angles of the query's hands and what is added to those of the key, by content."""
    drawn = [torch.rand(2, 4, generator=torch.Generator().manual_seed(content)) for content in lab.ranges["content"]]
    return {"angles": packed(2 * torch.pi * torch.stack(drawn))}, {}


def cost(lab, names):
    """Lesson 17: the FLOPs a second of the core that ran it."""
    return {"rate": names["RATE"]}, {}


def packed(values) -> str:
    """The bytes of an array or a tensor, in base64."""
    return base64.b64encode(np.ascontiguousarray(torch.as_tensor(values).detach()).tobytes()).decode()


COMPUTED = {("01_nadaraya_watson", "draw"): ("kernel_regression", kernel_regression),       # by lesson and the function that draws
            ("02_scoring_functions", "draw_query"): ("plane", plane),
            ("03_masked_softmax", "draw"): ("masked_softmax", masked_softmax),
            ("06_positional_encoding", "draw_clocks"): ("clocks", clocks),
            ("17_further", "draw_cost"): ("cost", cost)}
