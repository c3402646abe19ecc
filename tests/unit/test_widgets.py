"""The widgets, driven from Python as a hand would drive them, and the training curve."""
import base64
import io
import re
import threading
import zlib

import ipywidgets
import numpy as np
import pytest
import torch
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image

from helpers import plots
from helpers.widgets import AttentionExplorer, TrainingCurve, explore, training_curve, views
from helpers.widgets.bundle import bundle

WEIGHTS = torch.rand(2, 3, 4, 5, generator=torch.Generator().manual_seed(0)).softmax(-1)        # [layer, head, T_q, T_k]


def pixels(picture):
    picture.canvas.draw()
    return bytes(picture.canvas.buffer_rgba())


def curve(power=1, color="red", dashed=False, title=""):
    """A picture for a lab; 0 is a value that it refuses."""
    if power == 0:
        raise ValueError("power=0: a curve needs <some> power")
    picture, ax = plots.panels(2.4, 1.6, alt=f"x to the {power}")
    ax.plot([0, 1, 2], [x**power for x in (0, 1, 2)], color=color, linestyle="--" if dashed else "-")
    ax.set_title(title)
    return picture


@pytest.fixture
def lab():
    return explore(curve, power=(-1, 3, 1, 2), color=["red", "blue"], dashed=False, title="a title")


@pytest.fixture
def explorer():
    return AttentionExplorer(WEIGHTS)


@pytest.fixture(scope="module")
def unmoved():
    return pixels(AttentionExplorer(WEIGHTS).picture())


VIEW, SWITCHES = {"view": ["map", "lines", "bars"]}, {"grid": [False, True], "compare": [False, True]}


@pytest.mark.parametrize("shape, ranges", [
    ((4, 5), {"query": range(4), "key": range(5)}),
    ((1, 4, 5), {"head": range(1), "query": range(4), "key": range(5)}),
    ((3, 4, 5), {"head": [0, 1, 2, "mean"], "query": range(4), "key": range(5)} | SWITCHES),
    ((2, 3, 4, 5), {"layer": range(2), "head": [0, 1, 2, "mean"], "query": range(4), "key": range(5)} | SWITCHES),
    ((2, 3, 4, 4), {"layer": range(2), "head": [0, 1, 2, "mean", "rollout"], "query": range(4), "key": range(4)} | SWITCHES),
    ((6, 2, 1, 1, 1), {"step": range(6), "layer": range(2), "head": [0, "rollout"], "query": range(1), "key": range(1)} | SWITCHES),
])
def test_explorer_has_a_control_for_each_axis(shape, ranges):
    assert AttentionExplorer(torch.ones(shape)).ranges == ranges | VIEW


def test_a_rollout_needs_layers_heads_and_the_same_tokens():
    square = torch.ones(2, 3, 4, 4)
    assert list(AttentionExplorer(square, list("abcd"), list("abcx")).summaries) == ["mean"]
    assert list(AttentionExplorer(square, axes=["snapshot", "head"]).summaries) == ["mean"]
    assert not AttentionExplorer(square, axes=["layer", "model"]).summaries


def test_the_mean_is_over_heads_and_the_rollout_from_this_layer_down():
    weights = torch.rand(2, 3, 4, 5, 5, generator=torch.Generator().manual_seed(0)).softmax(-1)
    explorer = AttentionExplorer(weights, step=1, layer=2, head="mean")
    assert torch.equal(torch.tensor(explorer.chosen_map().values), weights[1, 2].mean(0))
    assert explorer.chosen_map().title == "step 1, layer 2, mean over heads"
    explorer.move(head="rollout")
    expected = torch.eye(5)
    for mean in weights[1].mean(1):
        layer = 0.5 * mean + 0.5 * torch.eye(5)
        expected = (layer / layer.sum(-1, keepdim=True)) @ expected
    assert torch.allclose(torch.tensor(explorer.chosen_map().values), expected, atol=1e-6)


def test_what_a_rollout_cannot_reach_stays_hidden():
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    weights = torch.ones(2, 2, 4, 4).tril() / torch.arange(1, 5).unsqueeze(-1)
    explorer = AttentionExplorer(weights, mask=causal, layer=1, head="rollout")
    assert torch.equal(torch.tensor(explorer.chosen_map().values).isnan(), ~causal)


def test_many_weights_are_sent_in_sixteen_bits(monkeypatch):
    monkeypatch.setattr(views, "MOST_FLOATS", 100)
    mask = torch.ones(4, 5, dtype=torch.bool).tril(1)
    explorer = AttentionExplorer(WEIGHTS, mask=mask)
    levels = torch.frombuffer(bytearray(explorer.weights), dtype=torch.uint16).reshape(WEIGHTS.shape).long()
    assert explorer.dtype == "uint16" and torch.equal(levels == 65535, ~mask.expand_as(WEIGHTS))
    assert (levels / 65534 - WEIGHTS)[..., mask].abs().max() <= 8e-6


@pytest.mark.parametrize("shape, start, following", [
    ((2, 3, 4, 5), [1, 0], [1, 1]), ((2, 3, 4, 5), [1, 2], [1, 0]), ((2, 3, 4, 5), [1, "mean"], [1, 0]),
    ((2, 1, 4, 5), [0, 0], [1, 0]), ((1, 1, 4, 5), [0, 0], [0, 0]), ((4, 5), [], [])])
def test_a_comparison_starts_beside_the_next_head(shape, start, following):
    assert views.next_of(start, shape[:-2]) == following
    if start:
        explorer = AttentionExplorer(torch.ones(shape), layer=start[0], head=start[1])
        if "compare" in explorer.ranges:
            explorer.move(compare=True)
            assert explorer.pinned["index"] == start and explorer.index == following


def test_compare_keeps_a_map_beside_the_others(explorer):
    explorer.move(layer=1, head=2, compare=True)
    kept = pixels(explorer.picture())
    explorer.move(layer=0, head="mean")
    assert explorer.pinned["title"] == "layer 1, head 2" and pixels(explorer.picture()) != kept
    assert torch.equal(torch.frombuffer(bytearray(explorer.pinned["weights"]), dtype=torch.float32), WEIGHTS[1, 2].flatten())
    assert "layer 1, head 2 beside layer 0, mean over heads" in explorer.picture().alt
    explorer.move(compare=False)
    assert not explorer.pinned


@pytest.mark.parametrize("view", ["map", "lines", "bars"])
@pytest.mark.parametrize("compare", [False, True])
def test_every_view_follows_the_controls(view, compare):
    explorer = AttentionExplorer(WEIGHTS, view=view, compare=compare)
    seen = [pixels(explorer.picture())]
    for position in ({"head": 2}, {"query": 2}, {"layer": 1}, {"head": "mean"}):
        explorer.move(**position)
        seen.append(pixels(explorer.picture()))
    assert len(set(seen)) == len(seen)


def test_explorer_sends_the_whole_tensor_once(explorer):
    sent = torch.frombuffer(bytearray(explorer.weights), dtype=torch.float32).reshape(list(explorer.shape))
    assert torch.equal(sent, WEIGHTS)
    explorer.move(layer=1, query=3)
    assert torch.equal(torch.frombuffer(bytearray(explorer.weights), dtype=torch.float32), WEIGHTS.flatten())


@pytest.mark.parametrize("position", [{"layer": 1}, {"head": 2}, {"query": 3}, {"key": 4}, {"grid": True},
                                      {"head": "mean"}, {"view": "lines"}, {"view": "bars"}, {"compare": True}])
def test_every_move_changes_the_picture(explorer, unmoved, position):
    explorer.move(**position)
    assert pixels(explorer.picture()) != unmoved


def test_moving_there_and_back_gives_the_same_picture(explorer, unmoved):
    explorer.move(head=2, query=1)
    explorer.move(head=0, query=0)
    assert pixels(explorer.picture()) == unmoved


def test_explorer_can_start_anywhere():
    explorer = AttentionExplorer(WEIGHTS, layer=1, head=2, query=3, key=4, grid=True)
    assert (list(explorer.index), explorer.query, explorer.key, explorer.grid) == ([1, 2], 3, 4, True)


def test_explorer_takes_other_names_for_its_axes():
    explorer = AttentionExplorer(WEIGHTS, axes=["epoch", "model"])
    explorer.move(epoch=1)
    assert list(explorer.index) == [1, 0] and "epoch=0|1" in repr(explorer)


def test_labels_name_the_maps_in_every_picture(unmoved):
    labels = [["previous", "", "next"], ["", "same word", "broad"]]
    explorer = AttentionExplorer(WEIGHTS, labels=labels)
    assert list(explorer.labels) == ["previous", "", "next", "", "same word", "broad"]
    assert pixels(explorer.picture()) != unmoved and "layer 0, head 0: previous" in explorer.picture().alt
    explorer.move(head=1)
    assert "layer 0, head 1: 0 to 0" in explorer.picture().alt
    explorer.move(grid=True)
    assert pixels(explorer.picture()) != pixels(AttentionExplorer(WEIGHTS, head=1, grid=True).picture())


@pytest.mark.parametrize("labels", [["a", "b"], [["a", "b"], ["c", "d"]], [["a", "b", "c"]], "ab"])
def test_labels_that_do_not_fit_are_refused(labels):
    with pytest.raises(ValueError, match="labels of shape .* for weights of shape \\[2, 3, 4, 5\\]: each map needs one"):
        AttentionExplorer(WEIGHTS, labels=labels)


def read(text, other=""):
    """As many equal weights as there are words, for an explorer."""
    words = f"{text} {other}".split()
    if not words:
        raise ValueError("type a <word>")
    return {"weights": torch.full((2, 3, len(words), len(words)), 1 / len(words)), "query_tokens": words, "key_tokens": words}


def test_what_is_typed_is_read_and_shown():
    explorer = AttentionExplorer.of_texts(read, text="one two three four", other="five")
    explorer.move(layer=1, query=4, key=3)
    before = pixels(explorer.picture())
    explorer.texts = {"text": "only", "other": "two"}
    heads = [0, 1, 2, "mean", "rollout"]
    assert explorer.ranges == {"layer": range(2), "head": heads, "query": range(2), "key": range(2)} | VIEW | SWITCHES
    assert (list(explorer.index), explorer.query, explorer.key, list(explorer.query_tokens)) == ([1, 0], 1, 1, ["only", "two"])
    assert len(explorer.weights) == 4 * 2 * 3 * 2 * 2 and pixels(explorer.picture()) != before


def test_a_move_to_a_text_says_how_to_change_it():
    explorer = AttentionExplorer.of_texts(read, text="one two", other="three")
    with pytest.raises(ValueError, match="text='four': .* set `texts = {'text': 'four', 'other': 'three'}`"):
        explorer.move(text="four")


def test_what_cannot_be_read_gets_a_message_and_changes_nothing():
    explorer = AttentionExplorer.of_texts(read, text="one two", other="")
    before = explorer.weights, pixels(explorer.picture())
    explorer.texts = {"text": "", "other": ""}
    assert explorer.message == "type a <word>" and (explorer.weights, pixels(explorer.picture())) == before
    explorer.texts = {"text": "three", "other": ""}
    assert explorer.message == "" and list(explorer.key_tokens) == ["three"]


def test_explorer_sends_hidden_cells_as_nan():
    mask = torch.ones(4, 5, dtype=torch.bool).tril(1)
    explorer = AttentionExplorer(WEIGHTS, mask=mask)
    sent = torch.frombuffer(bytearray(explorer.weights), dtype=torch.float32).reshape(WEIGHTS.shape)
    assert torch.equal(sent.isnan(), ~mask.expand_as(WEIGHTS)) and torch.equal(sent[..., mask], WEIGHTS[..., mask])


@pytest.mark.parametrize("weights, options, error, message", [
    (WEIGHTS, {"query_tokens": list("abc")}, ValueError, r"3 query_tokens for weights of shape \[2, 3, 4, 5\]: 4 are needed"),
    (WEIGHTS, {"key_tokens": list("abcd")}, ValueError, "4 key_tokens .*: 5 are needed"),
    (WEIGHTS, {"mask": torch.ones(5, 4, dtype=torch.bool)}, ValueError, r"the mask has shape \[5, 4\]"),
    (WEIGHTS, {"mask": torch.ones(4, 5)}, TypeError, "the mask is float32: it needs to be boolean"),
    (WEIGHTS, {"axes": ["head"]}, ValueError, "axes=.*every axis before the last two needs a name"),
    (WEIGHTS, {"axes": ["head", "head"]}, ValueError, "axes=.*needs a name of its own"),
    (WEIGHTS, {"axes": ["layer", "query"]}, ValueError, "axes=.*needs a name of its own"),
    (torch.ones(1, 1, 1, 1, 2, 2), {}, ValueError, "every axis before the last two needs a name"),
    (torch.ones(3), {}, ValueError, r"shape \[3\]"),
    (torch.ones(0, 3), {}, ValueError, r"shape \[0, 3\]"),
    (WEIGHTS - 0.5, {}, ValueError, "weights lie between 0 and 1"),
    (WEIGHTS * 20, {}, ValueError, "weights lie between 0 and 1"),
    (WEIGHTS * float("nan"), {}, ValueError, "weights lie between 0 and 1"),
    (WEIGHTS, {"head": 3}, ValueError, "head=3: this explorer has .*head=0"),
])
def test_explorer_refuses(weights, options, error, message):
    with pytest.raises(error, match=message):
        AttentionExplorer(weights, **options)


@pytest.mark.parametrize("position", [{"laver": 0}, {"step": 0}, {"query": 4}, {"key": -1}, {"grid": 2},
                                      {"head": "rollout"}, {"layer": "mean"}, {"view": "graph"}, {"compare": 1.5}])
def test_explorer_refuses_a_move_to_nowhere(explorer, position):
    with pytest.raises(ValueError, match="this explorer has layer=0|1"):
        explorer.move(**position)
    assert (list(explorer.index), explorer.query, explorer.key, explorer.grid) == ([0, 0], 0, 0, False)


def test_lab_has_a_control_for_each_argument(lab):
    assert lab.values == {"power": 2, "color": "red", "dashed": False, "title": "a title"}
    assert lab.ranges == {"power": [-1, 0, 1, 2, 3], "color": ["red", "blue"], "dashed": [False, True], "title": ["a title"]}


@pytest.mark.parametrize("control, kind, ranges", [
    ((0, 3), ipywidgets.IntSlider, [0, 1, 2, 3]),
    ((0, 11, 3), ipywidgets.IntSlider, [0, 3, 6, 9]),
    ((0.5, 1.5, 0.25), ipywidgets.FloatSlider, [0.5, 0.75, 1.0, 1.25, 1.5]),
    (["a", "b"], ipywidgets.Dropdown, ["a", "b"]),
    (True, ipywidgets.Checkbox, [False, True]),
    ("text", ipywidgets.Text, ["text"]),
    (ipywidgets.IntText(4), ipywidgets.IntText, [4]),
])
def test_kinds_of_controls(control, kind, ranges):
    lab = explore(lambda a: curve(), a=control)
    assert type(lab.controls["a"]) is kind and lab.ranges == {"a": ranges}


@pytest.mark.parametrize("position", [{"power": 3}, {"color": "blue"}, {"dashed": True}, {"title": "another"}])
def test_every_move_redraws_the_lab(lab, position):
    before = lab.image.pixels
    lab.move(**position)
    assert lab.values.items() >= position.items() and lab.image.pixels != before


def test_lab_shows_the_message_of_an_error_and_keeps_the_last_picture(lab):
    before = lab.image.pixels, lab.image.alt
    lab.move(power=0)
    assert (lab.image.pixels, lab.image.alt) == before
    assert "power=0: a curve needs &lt;some&gt; power" in lab.message.value and lab.message.layout.display != "none"
    lab.move(power=1)
    assert lab.message.layout.display == "none" and (lab.image.pixels, lab.image.alt) != before


def test_longer_labels_are_not_cut_and_the_axes_stay_from_then_on():
    def draw(left, right):
        picture, both = plots.panels(8, 2, 1, 2, alt="bars")
        for ax, length in zip(both, (left, right)):
            ax.barh(["w" * length, "b"], [1, 2])
        return picture

    lab, ends, places = explore(draw, left=(1, 20), right=(1, 20)), [], []
    for left, right in [(1, 1), (20, 1), (1, 20), (20, 20), (1, 1), (12, 3)]:
        lab.move(left=left, right=right)
        first, second = (ax.get_tightbbox() for ax in lab.current.axes)
        ends.append(first.x0 >= 0 and first.x1 <= second.x0 and second.x1 <= lab.current.bbox.x1)
        places.append([ax.get_position().bounds for ax in lab.current.axes])
    assert all(ends)
    assert places[0] != places[1] != places[2]              # an axes makes room
    assert places[2] == places[3] == places[4] == places[5]


def test_moving_artists_are_redrawn():
    picture, ax = plots.panels(3, 2, alt="a dot")
    dot, = ax.plot([0.5], [0.5], "o")
    ax.set(xlim=(0, 1))

    def draw(x):
        dot.set_xdata([x])
        return picture

    lab = explore(draw, moving=[dot], x=(0.0, 1.0))
    pictures = []
    for x in (0.2, 0.8, 0.2):
        lab.move(x=x)
        pictures.append(lab.image.pixels)
    assert pictures[0] == pictures[2] != pictures[1]


@pytest.mark.parametrize("moves", [True, False])
def test_a_lab_draws_the_pixels_that_the_screen_shows(moves):
    first, ax = plots.panels(3, 2, alt="a dot")
    dot, = ax.plot([0.5], [0.5], "o")
    ax.set(xlim=(0, 1))

    def draw(x):
        if moves:
            dot.set_xdata([x])
            return first
        picture, ax = plots.panels(3, 2, alt="a dot")
        ax.plot([x], [0.5], "o")
        ax.set(xlim=(0, 1))
        return picture

    lab = explore(draw, moving=[dot] * moves, x=(0.0, 1.0, 0.1, 0.5))
    assert lab.image.size == [432, 288]                                 # 144 in an inch, where nothing is known of the screen
    for ratio, size in ((1.0, [288, 192]), (1.25, [360, 240]), (3.0, [432, 288]), (0.5, [288, 192])):
        lab.image.ratio = ratio
        before = lab.image.pixels
        lab.move(x=0.9)
        drawn = np.frombuffer(zlib.decompress(lab.image.pixels), np.uint8).reshape(*lab.image.size[::-1], 4).astype(int)
        assert lab.image.size == size and lab.image.width == 288 and lab.image.pixels != before
        blue = np.argwhere(drawn[:, :, 2] > drawn[:, :, 0] + 50).mean(0) / drawn.shape[:2]
        lab.move(x=0.5)
        assert blue[1] > 0.8 and lab.image.pixels == before             # the dot is at the right, and nothing of it is left


def test_the_range_of_a_slider_is_its_title(following):
    assert following.controls["gap"].tooltip == "1 to 3"
    following.controls["text"].value = "one two three four five"
    assert following.controls["gap"].tooltip == "1 to 5"
    assert explore(lambda x: curve(), x=(0.05, 3.0, 0.05)).controls["x"].tooltip == "0.05 to 3 by 0.05"


def words(text):
    if not text.split():
        raise ValueError("type a word")
    return 1, len(text.split())


@pytest.fixture
def following():
    """A lab whose slider `gap` reaches to the last word of the text."""
    return explore(lambda text, gap: curve(gap, title=text), text="one two three", gap=words)


def test_a_range_follows_the_text(following):
    assert following.ranges["gap"] == [1, 2, 3]
    following.move(gap=3)
    following.controls["text"].value = "one two three four five"
    assert following.ranges["gap"] == [1, 2, 3, 4, 5] and following.values["gap"] == 3
    following.controls["text"].value = "one two"
    assert following.ranges["gap"] == [1, 2] and following.values["gap"] == 2
    following.controls["text"].value = "one"
    assert following.ranges["gap"] == [1] and following.values["gap"] == 1
    following.move(gap=4, text="one two three four")
    assert following.values == {"text": "one two three four", "gap": 4}


def test_a_range_that_cannot_follow_says_why_and_stays(following):
    following.controls["text"].value = ""
    assert "type a word" in following.message.value and following.ranges["gap"] == [1, 2, 3]


def test_a_range_moves_beyond_its_old_ends():
    lab = explore(lambda low, x: curve(), low=(0, 100), x=lambda low: (low, low + 2))
    lab.move(low=50)
    assert lab.ranges["x"] == [50, 51, 52] and lab.values["x"] == 50
    lab.move(low=3)
    assert lab.ranges["x"] == [3, 4, 5] and lab.values["x"] == 5


@pytest.mark.parametrize("span, message", [
    (lambda sentence: (1, 2), "gap: its range follows sentence"), (lambda text: (2, 1), "a slider needs low < high")])
def test_explore_refuses_a_range_that_follows_nothing(span, message):
    with pytest.raises(ValueError, match=message):
        explore(lambda text, gap: curve(), text="text", gap=span)


def test_reset_sets_every_control_back_and_draws_once(following):
    following.move(text="one two three four", gap=4)        # its labels are the longest: the axes make room once
    following.reset.click()
    before, seen = following.image.pixels, []
    following.move(text="one two three four", gap=4)
    following.image.observe(lambda change: seen.append(1), "alt")
    following.reset.click()
    assert following.values == {"text": "one two three", "gap": 1}
    assert following.image.pixels == before and len(seen) == 1


def test_labels_stand_above_the_controls_and_must_name_one():
    lab = explore(curve, power=(1, 3), color=["red", "blue"], labels={"power": "power, in watts"})
    assert [control.description for control in lab.controls.values()] == ["power, in watts", "color"]
    with pytest.raises(ValueError, match="labels for colour: this lab has power"):
        explore(curve, power=(1, 3), labels={"colour": "colour"})


def test_values_are_free_of_the_noise_of_floating_point():
    lab = explore(lambda x: curve(title=str(x)), x=(0.2, 3.0, 0.2))
    lab.controls["x"].value = 0.2 + 13 * 0.2
    assert lab.controls["x"].value != 2.8 == lab.values["x"]


@pytest.mark.parametrize("span, shown", [((0.0, 1.0, 0.1), ".1f"), ((0.0, 1.0, 0.25), ".2f"), ((0.05, 3.0, 0.05), ".2f"),
                                         ((0.1, 3.0), ".3f"), ((0.0, 1.0, 1 / 3), ".4f")])
def test_a_slider_shows_as_many_decimals_as_its_step_has(span, shown):
    assert explore(lambda x: curve(), x=span).controls["x"].readout_format == shown


def test_a_picture_is_dragged_in_its_own_axes_alone():
    picture, axes = plots.panels(4, 2, 1, 2)
    left, top, right, bottom = explore(lambda x, y: picture, moving=[axes[0].title], drag=(axes[0], "x", "y"),
                                       x=(0.0, 1.0), y=(0.0, 1.0)).image.area
    assert 0 < left < right < 0.5 and 0 < top < bottom < 1


class Rerun:
    """Two runs of one cell: `draw` finds the dot and its picture by their global names, which the second run rebinds."""

    def make(self):
        self.picture, ax = plots.panels(3, 2)
        self.dot, = ax.plot([0.5], [0.5], "o")
        ax.set(xlim=(0, 1))

    def lab(self):
        def draw(x):
            self.dot.set_xdata([x])
            self.drawn(x)
            return self.picture
        return explore(draw, moving=[self.dot], x=(0.0, 1.0, 0.1, 0.5))

    def drawn(self, x):
        """What else happens once the dot is there."""


def test_an_old_lab_does_not_draw_into_the_picture_of_the_new_one():
    """Messages of widgets come in a thread of their own, while the cell runs again: here in the midst of its first drawing."""
    rerun = Rerun()
    rerun.make()
    old = rerun.lab()
    expected = old.image.pixels
    rerun.make()
    late = threading.Thread(target=lambda: old.move(x=0.9))

    def in_the_midst(x):
        rerun.drawn = lambda x: None
        late.start()
        late.join(0.5)
    rerun.drawn = in_the_midst
    new = rerun.lab()
    late.join()
    assert new.image.pixels == expected and new.values == {"x": 0.5}
    assert "run this cell again" in old.message.value and old.image.pixels == expected


def test_what_an_old_lab_moved_is_not_sent_when_the_new_one_is_sharpened():
    """The screen tells its pixels after the new lab's first picture, and a late move of the old one may come between."""
    rerun = Rerun()
    rerun.make()
    old = rerun.lab()
    old.image.ratio = 1.0
    expected = old.image.pixels
    rerun.make()
    new = rerun.lab()
    old.move(x=0.9)
    new.image.ratio = 1.0
    assert new.image.pixels == expected


def test_no_move_is_lost_while_another_one_is_drawn():
    started, go = threading.Event(), threading.Event()

    def draw(x, y):
        if x == 1:
            started.set()
            go.wait(5)
        return curve(x + 2 * y + 1)
    lab = explore(draw, x=(0, 1), y=(0, 1))
    slow = threading.Thread(target=lambda: setattr(lab.controls["x"], "value", 1))
    slow.start()
    started.wait(5)
    other = threading.Thread(target=lambda: setattr(lab.controls["y"], "value", 1))
    other.start()
    other.join(0.2)
    go.set()
    slow.join()
    other.join()
    assert lab.image.alt == "x to the 4"


@pytest.mark.parametrize("values", [{"color": "green"}, {"power": "two"}, {"power": 99}, {"dashed": []}, {"title": 3}])
def test_a_lab_refuses_a_value_that_a_control_cannot_take(lab, values):
    (name, value), before = *values.items(), lab.values
    with pytest.raises(ValueError, match=re.escape(f"{name}={value}: this lab has power=")):
        lab.move(**values)
    assert lab.values == before


def test_lab_refuses_an_unknown_control(lab):
    with pytest.raises(ValueError, match="colour=blue: this lab has power=.*color=red"):
        lab.move(colour="blue")


@pytest.mark.parametrize("come", [None, "a text", plots.panels(2, 1), plots.panels(2, 1)[1]])
def test_what_draw_returns_has_to_be_a_picture(come):
    with pytest.raises(TypeError, match=f"`draw` returned {type(come).__name__}, not a Picture .* is a `return` missing"):
        explore(lambda a: come, a=(0, 1))
    lab = explore(lambda a: come if a else curve(), a=(0, 1))
    before = lab.image.pixels
    lab.move(a=1)
    assert "is a `return` missing?" in lab.message.value and not lab.message.layout.display and lab.image.pixels == before
    lab.move(a=0)
    assert lab.message.layout.display == "none"


@pytest.mark.parametrize("control", [None, 3, 1.5, (1,), (1, 2, 3, 4, 5), {"a": 1}, [], ("red", "blue"), (None, 1)])
def test_explore_refuses_an_unknown_kind_of_control(control):
    with pytest.raises(TypeError, match="a=.*: a control is"):
        explore(lambda a: curve(), a=control)


@pytest.mark.parametrize("control", [
    (5, 0), (0, 5, 0), (0.0, 1.0, -0.1), (1, 1), (0, 5, 1, 9), (0, float("nan")), (0, float("inf")), (0, 10**9), (0.0, 1.0, 1e-9)])
def test_explore_refuses_a_slider_that_cannot_move(control):
    with pytest.raises(ValueError, match="a=.*: a slider needs low < high, a step above 0"):
        explore(lambda a: curve(), a=control)


def test_explore_lets_the_first_error_through():
    with pytest.raises(ValueError, match="power=0"):
        explore(curve, power=(0, 2))


@pytest.mark.parametrize("name", ["explorer", "lab"])
def test_a_page_without_a_kernel_sees_a_picture(name, request):
    widget = request.getfixturevalue(name)
    (data, metadata), (again, _) = widget._repr_mimebundle_(), widget._repr_mimebundle_()
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert image.format == "PNG" and len(set(image.convert("L").tobytes())) > 10
    assert len(metadata["image/png"]["alt"]) > 5 and "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == again["text/plain"] == repr(widget) and len(repr(widget)) < 120


@pytest.mark.parametrize("name", ["explorer", "lab"])
def test_the_saved_picture_says_that_the_cell_is_to_be_run(name, request):
    widget = request.getfixturevalue(name)
    picture = widget.current if name == "lab" else widget.picture()
    (noted, sizes), (plain, plain_sizes) = widget._repr_mimebundle_(), picture._repr_mimebundle_()
    noted, plain = (Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).convert("L") for data in (noted, plain))
    below = np.asarray(noted)[plain.height:]
    assert noted.width == plain.width and 20 < len(below) < 60 and below.min() < 100
    assert sizes["image/png"]["height"] == plain_sizes["image/png"]["height"] + 29 and "Run this cell" in plots.STILL


@pytest.mark.parametrize("make, text", [
    (lambda: AttentionExplorer(WEIGHTS), "AttentionExplorer(layer=0|1, head=0|1|2, query=0..3, key=0..4, grid=False|True)"),
    (lambda: explore(curve, power=(1, 3)), "Lab(power=1|2|3)"),
])
def test_text_is_the_same_in_every_run(make, text):
    assert repr(make()) == repr(make()) == text


class Front:
    """Stands in for a notebook's output, and for the clock: each step of a training takes a tenth of a second."""

    def __init__(self):
        self.pictures, self.now = [], 0.0

    def display(self, curve, display_id):
        self.update(curve)
        return self

    def update(self, curve):
        self.pictures.append(curve._repr_mimebundle_())

    def train(self, watch, *losses, above=None):
        for loss in losses:
            self.now += 0.1
            watch(len(watch.losses) + 1, loss, above and loss + above)


@pytest.fixture
def front(monkeypatch):
    front = Front()
    monkeypatch.setattr(training_curve, "display", front.display)
    monkeypatch.setattr(training_curve.time, "perf_counter", lambda: front.now)
    return front


def alt(bundle):
    return bundle[1]["image/png"]["alt"]


def test_the_curve_is_drawn_at_most_four_times_a_second_and_at_the_end(front):
    watch = TrainingCurve(50)
    front.train(watch, *(5 / (1 + step) for step in range(50)))
    assert 10 <= len(front.pictures) <= 50 * 0.1 * 4 + 2
    assert alt(front.pictures[0]).endswith("5 after 1 of 50 steps.")
    assert alt(front.pictures[-1]).endswith("0.1 after 50 of 50 steps.")
    assert {bundle[0]["text/plain"] for bundle in front.pictures} == {"TrainingCurve(50 steps)"}
    assert len({bundle[0]["image/png"] for bundle in front.pictures}) == len(front.pictures)


def test_the_curve_says_how_fast_the_training_is_and_how_long_it_takes(front):
    watch = TrainingCurve(101)
    front.train(watch, 2.0)
    assert watch.progress() == "step 1 of 101    loss 2"
    front.train(watch, *[1.0] * 20)
    assert watch.progress() == "step 21 of 101    loss 1    10 steps/s    8 s left"
    front.train(watch, *[0.5] * 80)
    assert watch.progress() == "step 101 of 101    loss 0.5"


@pytest.mark.parametrize("last, scale", [(1.0, "linear"), (0.1, "log"), (0.0, "linear"), (-1.0, "linear")])
def test_the_axis_of_the_losses_is_logarithmic_where_they_fall_far(front, last, scale):
    watch = TrainingCurve(2)
    front.train(watch, 2.0, last, above=0.01)
    assert watch.ax.get_yscale() == scale
    assert watch.line.get_xydata().tolist() == [[1, 2.0], [2, last]]
    assert watch.dots.get_xydata().tolist() == [[1, 2.01], [2, last + 0.01]]


def test_the_curve_shows_the_mean_of_the_last_steps():
    watch = TrainingCurve(45)                                   # a fifteenth: 3 steps
    for step, loss in enumerate((6.0, 2.0, 1.0, 3.0, 5.0), 1):
        watch(step, loss)
    watch.draw()
    assert watch.mean.get_ydata() == pytest.approx([6, 2, 1.5, 2, 3])      # at first of the later half
    assert watch.progress().startswith("step 5 of 45    loss 3")
    assert [text.get_text() for text in watch.ax.get_legend().get_texts()] == ["training, each step", "training, mean of 3 steps"]


def test_the_curve_needs_a_step():
    with pytest.raises(ValueError, match="steps=0"):
        TrainingCurve(0)


def test_outside_a_notebook_the_curve_keeps_the_losses_and_draws_nothing(monkeypatch, capsys):
    watch = TrainingCurve(3)
    monkeypatch.setattr(watch, "draw", lambda: pytest.fail("it draws"))
    for step in range(3):
        watch(step + 1, torch.tensor(3.0 - step), None if step else 4)
    assert watch.losses == [3.0, 2.0, 1.0] and watch.validation == [(1, 4.0)]
    assert capsys.readouterr().out == "TrainingCurve(3 steps)\n"


TRAINED = """
from helpers.widgets import TrainingCurve
curve = TrainingCurve(3)
for step in range(3):
    curve(step + 1, 3.0 - step)"""
INTERRUPTED = """
import time
curve = TrainingCurve(1000)
try:
    for step in range(1000):
        time.sleep(0.03)
        curve(step + 1, 2.0)
        if step == 200:
            raise KeyboardInterrupt
except KeyboardInterrupt:
    print(len(curve.losses))
curve"""


def test_a_notebook_keeps_the_last_picture_of_a_training():
    notebook = new_notebook(cells=[new_code_cell(TRAINED), new_code_cell(INTERRUPTED)])
    NotebookClient(notebook, timeout=120).execute()
    output, = notebook.cells[0].outputs
    assert "is 1 after 3 of 3 steps" in output.metadata["image/png"]["alt"] and output.metadata["image/png"]["width"]
    assert output.data["text/plain"] == "TrainingCurve(3 steps)" and output.data["image/png"]
    live, said, whole = notebook.cells[1].outputs
    reached = int(live.metadata["image/png"]["alt"].split("after ")[2].split(" of")[0])
    assert 2 < reached <= 201 and said.text == "201\n"
    assert "after 201 of 1000 steps" in whole.metadata["image/png"]["alt"]


def test_a_bundle_is_each_file_once_below_what_it_imports():
    text = bundle("attention_explorer.js")
    places = [text.index(definition) for definition in ("const TEXT =", "class Weights ", "function render(")]
    assert places == sorted(places) and text.count("export ") == text.count("export default") == 1
    names = re.findall(r"^(?:class|const|function|let) (\w+)", text, re.M)
    assert len(names) == len(set(names)) and not re.search("^import", text, re.M)
