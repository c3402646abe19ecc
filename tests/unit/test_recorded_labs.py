"""Recorded labs: every picture comes back to the pixel, and what was not recorded is left out."""
import base64
import io
import json

import nbformat
import numpy as np
import pytest
from PIL import Image

from helpers import plots
from helpers.widgets import explore
from tests.notebooks import NAMES
from tools.execute import KERNEL
from tools.site import __main__ as website
from tools.site.labs import Recorder, bytes_of, lighter, pixels, place, positions, record


def draw(height, name, shown):
    picture, (left, right) = plots.panels(4, 2, 1, 2)
    left.bar([0], [height], color="#0072B2")
    right.set_title(name if shown else "")
    picture.alt = f"height {height}, {name}"
    return picture


@pytest.fixture
def lab():
    return explore(draw, height=(0, 9, 1, 3), name=["one", "two"], shown=False)


def restored(made, stop):
    """The picture of a stop, put together as the page does."""
    def unpacked(text):
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(text))))
    picture = unpacked(made["page"]["picture"]).copy()
    alt, (width, height), parts = made["data"]["frames"][stop[-1]]
    first, picture = picture[:height, :width], np.full((height, width, 3), 255, np.uint8)
    picture[:first.shape[0], :first.shape[1]] = first
    for patch, x, y in parts:
        part = unpacked(made["data"]["patches"][patch - 1])
        picture[y:y + part.shape[0], x:x + part.shape[1]] = part
    return picture, alt


def test_every_position_is_restored_to_the_pixel(lab):
    made = record(lab)
    values = [control["values"] for control in made["page"]["controls"]]
    assert values == [[*map(str, range(10))], ["one", "two"], ["False", "True"]] and len(made["data"]["stops"]) == 40
    assert lab.values == {"height": 3, "name": "one", "shown": False} == lab.start
    for stop in made["data"]["stops"]:
        assert place(lab, {name: lab.ranges[name][i] for name, i in zip(lab.ranges, stop)})
        picture, alt = restored(made, stop)
        assert np.array_equal(picture, pixels(lab)) and alt == lab.image.alt
        whole = np.asarray(lab.current.canvas.buffer_rgba())[..., :3]
        assert abs(picture.astype(int) - whole).max() <= 2              # what rounding to fewer colours leaves


def test_a_picture_may_have_another_size():
    sizes = {"small": (3, 2), "wide": (5, 2), "high": (2, 4)}

    def draw_size(size):
        picture, ax = plots.panels(*sizes[size])
        ax.set_facecolor("#0072B2")
        return picture
    lab = explore(draw_size, size=list(sizes))
    made = record(lab)
    for (size, _), stop in zip(sizes.items(), sorted(made["data"]["stops"])):
        lab.move(size=size)
        assert np.array_equal(restored(made, stop)[0], pixels(lab)), size


def test_what_looks_the_same_is_kept_once(lab):
    recorder = Recorder()
    blank, dotted = np.full((90, 90, 3), 255, np.uint8), np.full((90, 90, 3), 255, np.uint8)
    dotted[5, 5] = dotted[80, 80] = dotted[80, 5] = 0
    frames = (blank, "a"), (dotted, "b"), (dotted, "b"), (blank, "a"), (dotted, "c")
    assert [recorder.add(*frame) for frame in frames] == [0, 1, 1, 0, 2]
    assert recorder.frames[1] == ["b", [90, 90], [[1, 5, 5], [1, 5, 80], [1, 80, 80]]] and len(recorder.patches) == 2
    frames = record(lab)["data"]["frames"]
    assert len(frames) == 40 and len({str(parts) for alt, size, parts in frames}) == 10 * 3     # heights, no name or one of two


def test_few_positions_are_all_recorded_and_many_are_thinned():
    few = {"x": [0, 1, 2], "name": ["one", "two"], "text": ["as it stands"]}
    assert len(positions(few, {"x": 1, "name": "one", "text": "as it stands"}, {"x"}, 6)) == 6
    many = {"x": [*range(101)], "y": [*range(51)], "name": [1, 2, 3]}
    start = {"x": 50, "y": 7, "name": 1}
    found = positions(many, start, {"x", "y"}, 60)
    alone = [position for position in found if sum(position[name] != start[name] for name in start) == 1]
    assert 40 < len(found) <= 60 and 20 < len(alone) <= 42 and start not in found
    assert all(start | {name: end} in alone for name, end in (("x", 0), ("x", 100), ("y", 0), ("y", 50)))
    assert start | {"name": 2} in alone and start | {"name": 3} in alone        # the entries of a menu are never thinned
    assert {"x": 100, "y": 7, "name": 2} in found and {"x": 0, "y": 50, "name": 1} in found
    assert not any(position["x"] != 50 and position["y"] != 7 for position in positions(many, start, {"x", "y"}, 20))      # no room


def test_a_range_that_follows_is_recorded_as_far_as_it_goes():
    lab = explore(lambda heads, off: draw(off, str(heads), True), heads=[1, 3], off=lambda heads: (0, heads - 1))
    made = record(lab)
    assert made["page"]["controls"][1]["values"] == ["0", "1", "2"]
    assert sorted(stop[:-1] for stop in made["data"]["stops"]) == [[0, 0], [1, 0], [1, 1], [1, 2]]


def test_no_position_depends_on_another_one():
    seen = []

    def remember(x):
        seen.append(x)
        return draw(sum(seen), "", False)
    lab = explore(remember, x=(1, 4))
    lab.reset.on_click(lambda button: seen.clear())
    made = record(lab)
    assert [made["data"]["frames"][frame][0] for _, frame in made["data"]["stops"]] == [f"height {x}, " for x in (1, 4, 2, 3)]


def test_a_position_whose_picture_fails_is_left_out():
    made = record(explore(lambda x: draw(1 // (2 - x), "", False), x=(0, 4)))
    values = made["page"]["controls"][0]["values"]
    assert [values[stop[0]] for stop in made["data"]["stops"]] == ["0", "4", "1", "3"]


def test_a_slider_offers_only_what_was_recorded(monkeypatch):
    monkeypatch.setattr("tools.site.labs.MOST", 4)
    made = record(explore(lambda x, name: draw(x, name, True), x=(0, 99, 1, 7), name=["one", "two", "three"]))
    x, name = made["page"]["controls"]
    assert {stop[0] for stop in made["data"]["stops"]} == set(range(len(x["values"]))) and 3 <= len(x["values"]) <= 6
    assert x["values"][x["start"]] == "7" and {"0", "99"} < {*x["values"]} and name["values"] == ["one", "two", "three"]
    first = made["data"]["stops"][0]
    assert first[:2] == [x["start"], name["start"]] and made["data"]["frames"][first[-1]][0] == "height 7, one"


@pytest.mark.parametrize("share", [1, 0.9, 0.6, 0.3, 0.1, 0])
def test_a_recording_without_room_keeps_fewer_places(lab, share):
    made = record(lab)
    thin = lighter(**made, most=int(share * bytes_of(made["data"])))
    controls = thin["page"]["controls"]
    stops = [[control["values"][i] for control, i in zip(controls, stop)] for stop in thin["data"]["stops"]]
    assert stops[0] == [control["values"][control["start"]] for control in controls] == ["3", "one", "False"]
    assert bytes_of(thin["data"]) <= share * bytes_of(made["data"]) or len(stops) == 1
    assert (len(stops) == 40) == (share == 1) and (len(stops) == 1) == (share == 0)
    for stop, (height, name, shown) in zip(thin["data"]["stops"], stops):
        assert place(lab, {"height": int(height), "name": name, "shown": shown == "True"})
        picture, alt = restored(thin, stop)
        assert np.array_equal(picture, pixels(lab)) and alt == lab.image.alt
    if share >= 0.9:                                                    # a control moved alone keeps all of its places
        assert sum(stop[1:] == ["one", "False"] for stop in stops) == 10


def test_a_picture_is_dragged_in_the_units_of_its_axes():
    picture, ax = plots.panels(4, 3)
    ax.set(xlim=(-4, 4), ylim=(7.5, -0.5))
    drag = record(explore(lambda x, y: picture, drag=(ax, "y", "x"), x=(0, 7), y=(-4.0, 4.0)))["page"]["drag"]
    assert [name for name, *_ in drag["axes"]] == [1, 0]
    assert np.allclose([ends for _, *ends in drag["axes"]], [[-4, 4], [-0.5, 7.5]])
    left, top, right, bottom = drag["area"]
    assert 0 < left < right < 1 and 0 < top < bottom < 1


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Writes the page of a lesson of these cells, the last of which shows a lab."""
    def write(*sources):
        shown = nbformat.v4.new_output("display_data", {"text/plain": "Lab(x=1..2)", website.VIEW: {}, "image/png": "iVBORw0KGgo="},
                                       metadata={"image/png": {"alt": "The saved picture.", "width": 9, "height": 9}})
        cells = [*map(nbformat.v4.new_code_cell, sources)]
        cells[-1].outputs = [shown]
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), tmp_path / f"{NAMES[0]}.ipynb")
        monkeypatch.setattr(website, "PATHS", [tmp_path / f"{NAMES[0]}.ipynb"])
        website.build(tmp_path / "site", NAMES[:1])
        return tmp_path / "site"
    return write


LAB = """from helpers import plots
from helpers.widgets import explore
picture, ax = plots.panels(3, 2)
text = ax.text(0.5, 0.5, "")
def draw(x):
    text.set_text(x)
    picture.alt = f"x is {x}"
    print("a word of the lesson's own")
    return picture
explore(draw, moving=[text], x=(1, 9))"""


def test_the_recording_lies_beside_the_page(build, capfd):
    site = build("1 + 1", LAB)
    page, file = (site / f"{NAMES[0]}.html").read_text(encoding="utf-8"), f"{NAMES[0]}.labs/1.js"
    name, frames = json.loads((site / file).read_text(encoding="utf-8").replace("loaded(", "[").replace(");", "]"))
    assert name == file and len(frames["stops"]) == 9 and f'"file": "{file}"' in page
    assert 'alt="x is 1"' in page and "The saved picture." not in page and "A recording of 9 positions." in page
    assert "a lab at 9 positions" in capfd.readouterr().out


def test_a_site_without_room_has_fewer_positions(build, monkeypatch, capfd):
    site = build(LAB)
    file = site / f"{NAMES[0]}.labs" / "0.js"
    whole = file.stat().st_size
    most = website.size_of(site) - whole // 2
    monkeypatch.setattr(website, "MOST", most / 1e6)
    build(LAB)
    frames = json.loads(file.read_text(encoding="utf-8").replace("loaded(", "[").replace(");", "]"))[1]
    assert 1 < len(frames["stops"]) < 9 and file.stat().st_size <= whole - whole // 2 and website.size_of(site) <= most
    page = (site / f"{NAMES[0]}.html").read_text(encoding="utf-8")
    assert f"A recording of {len(frames['stops'])} positions." in page
    assert f"MB: {NAMES[0]}, a lab at {len(frames['stops'])} positions" in capfd.readouterr().out


def test_a_lesson_that_fails_is_named_with_its_cell(build):
    with pytest.raises(RuntimeError, match=rf"{NAMES[0]}, cell 1: (?s:.*)ZeroDivisionError"):
        build("1 + 1", "1 / 0", LAB)
