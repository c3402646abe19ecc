"""What a lab's half in the browser does: every kind of control by keyboard and mouse, dragging, and errors."""
import pytest

from tests.browser.labdriver import findings, wait_until

CONTROLS = """import ipywidgets
from helpers import plots
from helpers.widgets import explore

def draw(power, width, color, dashed, title, box):
    if title == "wrong":
        raise ValueError("no <b>such</b> title")
    picture, ax = plots.panels(4, 2, alt=f"x to the {power}")
    ax.plot([0, 1, 2], [x**power for x in (0, 1, 2)], color=color, linestyle="--" if dashed else "-", linewidth=width)
    ax.set(title=f"{title} {box}")
    return picture

explore(draw, power=(1, 5), width=(0.5, 4.0), color=["red", "blue", "green"], dashed=False, title="a title",
        box=ipywidgets.IntText(3, description="box"))"""
# One picture, of which only the dot is drawn again; and the dot can be dragged.
DRAGGED = """picture, ax = plots.panels(4, 3, alt="a dot in a plane")
dot, = ax.plot([0], [0], "o", markersize=20)
ax.set(xlim=(-4, 4), ylim=(-4, 4))

def place(x, y):
    dot.set_data([x], [y])
    return picture

explore(place, moving=[dot], drag=(ax, "x", "y"), x=(-4.0, 4.0, 0.1, 0.0), y=(-4.0, 4.0, 0.1, 0.0))"""
SLIDERS = ".noUi-handle"


@pytest.fixture(scope="module")
def notebook(running):
    return running("lab", CONTROLS, DRAGGED)


@pytest.fixture
def moved(notebook):
    """Does something to the first lab, and fails unless its picture becomes another."""
    picture = notebook.cell(0).locator("img").first

    def move(action):
        before = notebook.fingerprint(picture)
        action()
        notebook.wait_change(picture, before)
    return move


@pytest.mark.parametrize("number", [0, 1], ids=["whole numbers", "fractions"])
def test_a_slider_by_keyboard_and_by_mouse(notebook, moved, number):
    slider = notebook.cell(0).locator(SLIDERS).nth(number)
    moved(lambda: notebook.press(slider, "ArrowRight"))
    moved(lambda: notebook.press(slider, "End"))
    moved(lambda: notebook.drag_slider(slider, 0.2))
    moved(lambda: notebook.drag_slider(slider, 0.9))


def test_a_menu_by_keyboard(notebook, moved):
    menu = notebook.cell(0).locator("select")
    moved(lambda: notebook.press(menu, "ArrowDown"))
    assert menu.evaluate("(node) => node.selectedOptions[0].textContent") == "blue"
    moved(lambda: notebook.press(menu, "ArrowUp"))


def test_a_checkbox_and_boxes_to_type_into(notebook, moved):
    cell = notebook.cell(0)
    moved(lambda: notebook.press(cell.locator("input[type=checkbox]"), "Space"))
    for box, text in ((cell.locator("input[type=text]"), "xb"), (cell.locator("input[type=number]"), "7")):
        box.fill("")
        box.type(text)
        moved(lambda box=box: box.press("Enter"))


def test_an_error_is_shown_and_goes_again(notebook, moved):
    cell = notebook.cell(0)
    title, picture = cell.locator("input[type=text]"), cell.locator("img").first
    before = notebook.fingerprint(picture)
    title.fill("wrong")
    title.press("Enter")
    alert = cell.get_by_role("alert")
    wait_until(lambda: alert.count() and alert.inner_text() == "no <b>such</b> title", 5, lambda: "no message")
    assert notebook.fingerprint(picture) == before
    title.fill("right")
    moved(lambda: title.press("Enter"))
    wait_until(lambda: not alert.is_visible(), 5, lambda: "the message stays")


def test_the_picture_can_be_dragged(notebook):
    cell = notebook.cell(1)
    picture = cell.locator("img").first
    picture.scroll_into_view_if_needed()
    before, box = notebook.fingerprint(picture), picture.bounding_box()
    x, y = box["x"] + 0.3 * box["width"], box["y"] + 0.2 * box["height"]
    notebook.drag((x + 60, y + 60), (x, y))
    notebook.wait_change(picture, before)
    sliders = [cell.locator(SLIDERS).nth(i) for i in (0, 1)]
    wait_until(lambda: float(sliders[0].get_attribute("aria-valuenow")) < -1 and
               float(sliders[1].get_attribute("aria-valuenow")) > 1, 5, lambda: "the sliders stayed where they were")


def test_no_key_reaches_the_shortcuts_of_jupyterlab(notebook):
    """One of them cuts the cell."""
    cells = notebook.count_cells()
    controls = notebook.cell(0).locator(f"{SLIDERS}, select, input, [contenteditable=true]").all()
    assert len(controls) >= 6
    for control in controls:
        for key in "xbd":
            notebook.press(control, key)
    assert notebook.count_cells() == cells


def test_it_is_accessible_and_nothing_complains(notebook):
    assert not findings(notebook.page, ".jp-OutputArea-output .jupyter-widgets")
    assert notebook.cell(0).locator("img").first.get_attribute("alt").startswith("x to the")
    assert not notebook.complaints
