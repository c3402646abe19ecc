"""Recorded labs on a page opened from the disk, without a network: they show what the kernel drew."""
import random
import shutil

import numpy as np
import pytest

from tests.browser.labdriver import findings, wait_until
from tests.browser.test_site import NAMES, PHONE, build_cell, pages
from tests.notebooks import ROOT
from tools.site.labs import pixels, place

RECORDED = """from helpers import plots
from helpers.widgets import explore
picture, ax = plots.panels(5, 3)
ax.set(xlim=(0, 40), ylim=(0, 1))
dot, = ax.plot([0], [0.5], "o", markersize=20)
def draw(x, size, colour, filled):
    dot.set(data=([x], [0.5]), markersize=size, color=colour, fillstyle="full" if filled else "none")
    picture.alt = f"A {colour} dot of size {size} at {x}."
    return picture
lab = explore(draw, moving=[dot], drag=(ax, "x"), x=(0, 40), size=(5, 60, 0.5, 20.0), colour=["black", "red", "blue"], filled=False)
lab"""

NOTE = ".recorded p[role=status]"
# The pixels of a canvas, read from a copy: what is often read is drawn more slowly.
READ = """const read = (node) => {
  const copy = document.createElement('canvas');
  copy.width = node.width;
  copy.height = node.height;
  const g = copy.getContext('2d', { willReadFrequently: true });
  g.drawImage(node, 0, 0);
  return g.getImageData(0, 0, copy.width, copy.height).data;
};"""
PIXELS = "(node) => { " + READ + " return [...read(node)]; }"
NAMED = "nodes => nodes.map((node) => node.labels[0]?.textContent ?? node.textContent)"
# [the milliseconds from a move until the page is painted with another picture], [] if none comes within so many frames.
TIMED = READ + """
  const timed = async (canvas, move, frames) => {
    const seen = () => read(canvas).reduce((sum, c, i) => sum + c * (i % 977), 0);
    const before = seen(), began = performance.now();
    move();
    for (let tries = 0; tries < frames; tries++) {
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      if (seen() !== before) return [now - began];
    }
    return [];
  };"""
# Moves the slider of the page's lab to twenty places; the times of the moves.
MOVES = "async () => { " + TIMED + """
  const canvas = document.querySelector('.recorded canvas'), slider = document.querySelector('.recorded input[type=range]');
  const times = [];
  for (let i = 0; i < 20; i++)
    times.push(...await timed(canvas, () => { slider.value = 2 * i; slider.dispatchEvent(new Event('input')); }, 100));
  return times;
}"""
# Moves the first slider or menu of a lab to all of its places; the times of the moves that change the picture.
EVERY_PLACE = "async (lab) => { " + TIMED + """
  const control = lab.querySelector('input[type=range], select'), canvas = lab.querySelector('canvas'), times = [];
  const places = control.options?.length ?? Number(control.max) + 1;
  for (let i = 0; i < places; i++)
    times.push(...await timed(canvas, () => {
      if (control.matches('select')) control.selectedIndex = i; else control.value = i;
      control.dispatchEvent(new Event('input'));
    }, 20));
  return times;
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a page of a recorded lab."""
    made = tmp_path_factory.mktemp("recorded")
    build_cell(made, RECORDED, "Lab")
    return made


@pytest.fixture
def opened(browser):
    with pages(browser) as open_page:
        yield open_page


@pytest.fixture
def page(opened, folder):
    return opened(folder / f"{NAMES[0]}.html")


@pytest.fixture
def lab():
    """The lab of the page, here."""
    names = {}
    exec(RECORDED, names)
    names["lab"].image.ratio = 1                                        # as it was recorded
    return names["lab"]


def is_at(page, lab, **position):
    """Whether the page shows what the lab draws at this position, and says what its picture says."""
    canvas = page.locator(".recorded canvas")
    place(lab, lab.start | position)
    if not canvas.count() or canvas.get_attribute("aria-label") != lab.image.alt:
        return False
    drawn = pixels(lab)
    return np.array_equal(np.array(canvas.evaluate(PIXELS), np.uint8).reshape(*drawn.shape[:2], 4)[..., :3], drawn)


def loaded(page):
    return page.locator("script[src*='.labs/']").count()


def test_a_recorded_lab_shows_what_the_kernel_drew(page, lab):
    slider, note = page.get_by_role("slider", name="x"), page.locator(NOTE)
    assert not loaded(page)                                             # before it is touched
    slider.focus()
    for key, x in (("End", 40), ("ArrowLeft", 39), ("Home", 0)):
        page.keyboard.press(key)
        wait_until(lambda x=x: is_at(page, lab, x=x), 10, note.inner_text)
        assert slider.get_attribute("aria-valuetext") == str(x) and not note.inner_text()
    page.get_by_role("button", name="reset").press("Enter")
    page.get_by_role("combobox", name="colour").select_option("blue")
    wait_until(lambda: is_at(page, lab, colour="blue"), 10, note.inner_text)
    page.get_by_role("checkbox", name="filled").check()
    wait_until(lambda: is_at(page, lab, colour="blue", filled=True), 10, note.inner_text)
    page.get_by_role("button", name="reset").click()
    wait_until(lambda: is_at(page, lab), 10, note.inner_text)
    assert loaded(page) == 1


def test_a_recorded_lab_is_moved_by_mouse(page, lab):
    slider, (left, top, right, bottom) = page.get_by_role("slider", name="x"), lab.image.area
    box = slider.bounding_box()
    page.mouse.click(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    wait_until(lambda: is_at(page, lab, x=40), 10, slider.input_value)
    page.locator(".recorded canvas").scroll_into_view_if_needed()
    box = page.locator(".recorded canvas").bounding_box()

    def go(x, y=(top + bottom) / 2):
        page.mouse.move(box["x"] + box["width"] * (left + x * (right - left)), box["y"] + box["height"] * y)
    go(0.5)
    page.mouse.down()
    wait_until(lambda: is_at(page, lab, x=20), 10, slider.input_value)
    go(0.25)
    wait_until(lambda: is_at(page, lab, x=10), 10, slider.input_value)
    page.mouse.up()
    go(0.8)
    page.wait_for_timeout(200)
    assert slider.input_value() == "10"                                 # let go
    go(0.8, 0.01)                                                       # above the axes
    page.mouse.down()
    page.wait_for_timeout(200)
    assert slider.input_value() == "10"


# Where the controls and the picture are, and which controls were carried along.
STATE = """() => {
  const nodes = [...document.querySelectorAll('.recorded .controls > div')], found = (node, name) => node.querySelector(name);
  const value = (node) => found(node, 'output')?.textContent ?? found(node, 'select')?.value ?? found(node, 'input').checked;
  return { at: nodes.map(value), carried: nodes.flatMap((node, i) => (node.classList.contains('carried') ? [i] : [])),
    shown: document.querySelector('.recorded canvas').getAttribute('aria-label') };
}"""


def test_the_picture_is_that_of_the_controls_and_other_controls_stay(page):
    rng, note, kinds = random.Random(0), page.locator(NOTE), set()
    page.get_by_role("slider", name="x").press("Home")
    page.locator(".recorded canvas").wait_for()
    before = page.evaluate(STATE)
    for _ in range(80):
        i = rng.randrange(4)
        if i < 2:
            page.get_by_role("slider").nth(i).press(rng.choice(["ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End"]))
        elif i == 2:
            page.get_by_role("combobox", name="colour").select_option(rng.choice(["black", "red", "blue"]))
        else:
            page.get_by_role("checkbox").click()

        def is_so():
            now = page.evaluate(STATE)
            return now["shown"] == "A {2} dot of size {1} at {0}.".format(*now["at"]) and now
        now = wait_until(is_so, 5, lambda: str(page.evaluate(STATE)))
        others = [j for j in range(4) if j != i and now["at"][j] != before["at"][j]]
        if now["at"] == before["at"]:                                   # at the end of a slider nothing is asked for
            continue
        assert now["carried"] == others
        assert not others or "The controls now stand at" in note.inner_text()
        if others and True not in kinds:
            assert not findings(page, ".recorded")
        kinds.add(bool(others))
        before = now
    assert kinds == {False, True}
    page.get_by_role("button", name="reset").click()
    wait_until(lambda: page.evaluate(STATE)["at"] == ["0", "20.0", "black", False] and not note.inner_text(), 5, note.inner_text)


@pytest.mark.parametrize(("at", "want", "moved", "dragged", "goes_to"), [
    ([0, 0, 0], [1, 0, 0], [0], False, [4, 0, 0]),                      # by a key: to the next that was recorded
    ([4, 0, 0], [3, 0, 0], [0], False, [0, 0, 0]),
    ([0, 0, 0], [1, 0, 0], [0], True, [0, 0, 0]),                       # dragged: to the nearest
    ([0, 0, 0], [3, 0, 0], [0], True, [4, 0, 0]),
    ([8, 0, 0], [9, 0, 0], [0], False, [8, 0, 0]),                      # nothing is farther that way
    ([4, 0, 0], [4, 0, 1], [2], False, [4, 0, 1]),                      # the slider stays
    ([4, 0, 1], [5, 0, 1], [0], False, [8, 0, 1]),
    ([8, 0, 0], [8, 2, 0], [1], False, [0, 2, 0]),                      # nothing was recorded so: the slider follows
    ([8, 0, 1], [8, 2, 1], [1], False, [0, 2, 0]),
    ([8, 0, 1], [0, 0, 0], [0, 1, 2], False, [0, 0, 0]),                # reset
    ([8, 0, 1], [8, 0, 1], [], False, [8, 0, 1]),
])
def test_a_move_leaves_the_other_controls_if_it_can(page, at, want, moved, dragged, goes_to):
    controls = [{"kind": kind, "values": [*map(str, range(size))]} for kind, size in (("slider", 10), ("menu", 3), ("switch", 2))]
    stops = [[0, 0, 0], [4, 0, 0], [8, 0, 0], [4, 0, 1], [8, 0, 1], [0, 1, 0], [0, 2, 0]]
    assert page.evaluate("(given) => settle(...given)", [controls, stops, at, want, moved, dragged]) == goes_to


def test_a_recording_that_is_not_there_is_named(browser, folder, tmp_path):
    for name in (f"{NAMES[0]}.html", "style.css", "shell.js", "labs.js"):
        shutil.copy(folder / name, tmp_path)
    page = browser.new_page()
    page.goto((tmp_path / f"{NAMES[0]}.html").as_uri())
    page.get_by_role("slider", name="x").press("End")
    note = page.locator(NOTE)
    wait_until(lambda: f"the file {NAMES[0]}.labs/0.js belongs beside this page" in note.inner_text(), 10, note.inner_text)
    assert page.get_by_role("slider", name="x").input_value() == "0"    # as its picture
    page.close()


def test_a_move_shows_within_50_ms_and_nothing_jumps(page):
    before = page.locator(".recorded img").bounding_box()
    page.get_by_role("slider", name="x").press("End")
    page.locator(".recorded canvas").wait_for()
    after = page.locator(".recorded canvas").bounding_box()
    assert before == {name: pytest.approx(place, abs=1) for name, place in after.items()}
    times = sorted(page.evaluate(MOVES))
    print("ms from a move to its picture:", [round(time) for time in times])
    assert len(times) > 15 and times[len(times) // 2] < 50, times


def test_a_recorded_lab_fits_a_phone_and_a_screen_reader(page):
    page.get_by_role("slider", name="size").press("ArrowLeft")
    page.locator(".recorded canvas").wait_for()
    assert not findings(page, ".recorded")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    named = page.locator(".recorded :is(input, select, button)").evaluate_all(NAMED)
    assert named == ["x", "size", "colour", "filled", "reset"]


def test_every_recorded_lab_of_the_finished_site_answers(browser):
    """Of the site that `make site` has written."""
    paths = [path for path in sorted((ROOT / "site").glob("*.html")) if "lab-here recorded" in path.read_text(encoding="utf-8")]
    if not paths:
        pytest.skip("no folder site with recorded labs: `make site` writes it")
    with pages(browser) as open_page:
        for path in paths:
            page = open_page(path)
            page.evaluate("() => document.querySelectorAll('details').forEach((node) => { node.open = true; })")
            for lab in page.locator(".recorded").all():
                lab.locator("input[type=range], select").first.focus()                           # loads the recording
                lab.locator("canvas").wait_for()
                times = sorted(lab.evaluate(EVERY_PLACE))
                print(f"{path.stem}: ms of {len(times)} moves: {[round(time) for time in times]}")
                assert times and times[len(times) // 2] < 50, (path.stem, times)
            page.close()
