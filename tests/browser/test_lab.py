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
# The picture has its global name, as in the lessons: when all is run again, the old lab finds the new one's.
FOLLOWING = """def count(text):
    return 1, len(text.split())

with_bar, ax = plots.panels(9, 3, alt="a bar")
bar, = ax.bar([0], [1])
ax.set(xlim=(-1, 1), ylim=(0, 10))

def raised(text, gap, width):
    bar.set_height(gap * width)
    return with_bar

explore(raised, moving=[bar], text="one two three", gap=count, width=(0.1, 3.0, 0.1, 1.0),
        labels={"width": "width of the kernel, in units of x"})"""
SLIDERS = ".noUi-handle"
EVERY_CONTROL = ", ".join(f".lab {part}" for part in (SLIDERS, "select", "input", "button:not([hidden])", "[contenteditable=true]"))


@pytest.fixture(scope="module")
def notebook(running):
    return running("lab", CONTROLS, DRAGGED, FOLLOWING)


@pytest.fixture
def moved(notebook):
    """Does something to the first lab, and fails unless its picture becomes another."""
    picture = notebook.cell(0).locator("canvas").first

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
    title, picture = cell.locator("input[type=text]"), cell.locator("canvas").first
    before, place = notebook.settled(picture), picture.bounding_box()      # the last text of the test before may still be drawn
    title.fill("wrong")
    title.press("Enter")
    alert = cell.get_by_role("alert")
    wait_until(lambda: alert.count() and alert.inner_text() == "no <b>such</b> title", 20, lambda: "no message")
    assert notebook.fingerprint(picture) == before and picture.bounding_box() == place
    assert not findings(notebook.page, ".jp-OutputArea-output .jupyter-widgets")
    title.fill("right")
    moved(lambda: title.press("Enter"))
    wait_until(lambda: not alert.is_visible(), 20, lambda: "the message stays")


def test_the_picture_can_be_dragged(notebook):
    cell = notebook.cell(1)
    picture = cell.locator("canvas").first
    picture.scroll_into_view_if_needed()
    before, box = notebook.fingerprint(picture), picture.bounding_box()
    x, y = box["x"] + 0.3 * box["width"], box["y"] + 0.2 * box["height"]
    notebook.drag((x + 60, y + 60), (x, y))
    notebook.wait_change(picture, before)
    sliders = [cell.locator(SLIDERS).nth(i) for i in (0, 1)]
    wait_until(lambda: float(sliders[0].get_attribute("aria-valuenow")) < -1 and
               float(sliders[1].get_attribute("aria-valuenow")) > 1, 20, lambda: "the sliders stayed where they were")


def test_a_click_beside_the_axes_sets_nothing(notebook):
    cell = notebook.cell(1)
    picture, slider = cell.locator("canvas").first, cell.locator(SLIDERS).first
    notebook.press(slider, "Home")
    wait_until(lambda: float(slider.get_attribute("aria-valuenow")) == -4, 20, lambda: "it did not move")
    box = picture.bounding_box()
    notebook.page.mouse.click(box["x"] + box["width"] - 2, box["y"] + box["height"] - 2)
    notebook.page.wait_for_timeout(500)
    assert float(slider.get_attribute("aria-valuenow")) == -4


def write(notebook, box, text):
    box.click()
    notebook.page.keyboard.press("Control+A")
    notebook.page.keyboard.type(text)
    notebook.page.keyboard.press("Enter")


def value_of(slider):
    return float(slider.get_attribute("aria-valuenow"))


def test_a_number_can_be_typed_and_reset_takes_it_back(notebook):
    cell = notebook.cell(2)
    slider, picture = cell.locator(SLIDERS).nth(1), cell.locator("canvas").first
    first = notebook.fingerprint(picture)
    number = cell.get_by_role("textbox", name="width of the kernel, in units of x, as a number")
    write(notebook, number, "2.4")
    wait_until(lambda: value_of(slider) == 2.4, 20, lambda: "the slider stayed")
    assert number.inner_text() == "2.4"
    changed = notebook.wait_change(picture, first)
    notebook.press(cell.get_by_role("button", name="reset"), "Enter")
    notebook.wait_change(picture, changed)
    wait_until(lambda: value_of(slider) == 1 and notebook.fingerprint(picture) == first, 20, lambda: "it was not reset")


def test_a_typed_number_counts_when_its_box_is_left(notebook):
    cell = notebook.cell(2)
    slider = cell.locator(SLIDERS).nth(1)
    number = cell.get_by_role("textbox", name="width of the kernel, in units of x, as a number")
    for typed, taken in (("1.7", 1.7), ("no number", 1.7)):
        number.fill(typed)
        number.press("Tab")
        wait_until(lambda: value_of(slider) == taken and number.inner_text() == str(taken), 10,     # noqa: B023
                   lambda: f"the box says {number.inner_text()}, the slider {value_of(slider)}")
    notebook.press(cell.get_by_role("button", name="reset"), "Enter")
    wait_until(lambda: value_of(slider) == 1 and number.inner_text() == "1.0", 10, number.inner_text)


@pytest.mark.parametrize("typed, taken, said", [
    ("0,5", 0.5, ""), ("2.", 2, ""), ("-1", 0.1, "“-1” lies outside 0.1 to 3 by 0.1: the nearest number is taken"),
    ("half", 1, "“half”: a number is needed, 0.1 to 3 by 0.1"), ("−9", 0.1, "“−9” lies outside"), ("", 1, "“”: a number")])
@pytest.mark.parametrize("key", ["Enter", "Tab"])
def test_what_is_typed_is_understood_or_the_reason_is_said(notebook, typed, taken, said, key):
    cell = notebook.cell(2)
    slider, number = cell.locator(SLIDERS).nth(1), cell.get_by_role("textbox", name="width of the kernel")

    def place():                                             # of the reset button in its cell: the page may scroll
        button, around = cell.get_by_role("button", name="reset").bounding_box(), cell.bounding_box()
        return button["x"] - around["x"], button["y"] - around["y"], button["width"], button["height"]

    before = place()
    number.fill(typed)
    number.press(key)
    alert = cell.get_by_role("alert").filter(visible=True)
    wait_until(lambda: value_of(slider) == taken and float(number.inner_text()) == taken, 10, lambda: f"{number.inner_text()}")
    assert said in alert.inner_text() if said else not alert.count()
    assert not findings(notebook.page, ".jp-OutputArea-output .jupyter-widgets")
    assert place() == pytest.approx(before, abs=0.01)
    notebook.press(cell.get_by_role("button", name="reset"), "Enter")
    wait_until(lambda: value_of(slider) == 1 and not alert.count(), 10, lambda: "it stays")


def test_the_range_of_a_number_stands_beside_its_name(notebook):
    def ranges():
        labels = notebook.cell(2).locator(".widget-slider .widget-label")
        return labels.evaluate_all("labels => labels.map((label) => getComputedStyle(label, '::after').content)")
    wait_until(lambda: ranges() == ['"1 to 3"', '"0.1 to 3 by 0.1"'], 5, ranges)
    write(notebook, notebook.cell(2).locator("input[type=text]"), "one two three four five")
    wait_until(lambda: ranges()[0] == '"1 to 5"', 5, ranges)
    notebook.press(notebook.cell(2).get_by_role("button", name="reset"), "Enter")
    wait_until(lambda: ranges()[0] == '"1 to 3"', 5, ranges)


def test_a_slider_ends_where_the_text_ends(notebook):
    cell = notebook.cell(2)
    slider = cell.locator(SLIDERS).first
    assert slider.get_attribute("aria-valuemax") == "3.0"
    write(notebook, cell.locator("input[type=text]"), "one two three four five six")
    wait_until(lambda: slider.get_attribute("aria-valuemax") == "6.0", 20, lambda: "its end stayed")
    write(notebook, cell.get_by_role("textbox", name="gap, as a number"), "6")
    wait_until(lambda: value_of(slider) == 6, 20, lambda: "it did not move")
    write(notebook, cell.locator("input[type=text]"), "one two")
    wait_until(lambda: value_of(slider) == 2, 20, lambda: "it is beyond its end")


@pytest.mark.parametrize("width, height, beside", [(1366, 768, True), (911, 512, False), (390, 844, False), (1920, 1080, True)],
                         ids=["laptop", "laptop at 150 %", "phone", "large screen"])
def test_controls_stand_beside_the_picture_where_there_is_room(notebook, width, height, beside):
    page, cell = notebook.page, notebook.cell(2)
    before = page.viewport_size
    page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    page.set_viewport_size({"width": width, "height": height})
    try:
        page.wait_for_timeout(500)
        controls, picture = cell.locator(".lab-controls").bounding_box(), cell.locator("canvas").first.bounding_box()
        pane = page.locator(".jp-Notebook").bounding_box()
    finally:
        page.set_viewport_size(before)
    assert (picture["x"] >= controls["x"] + controls["width"]) == beside
    assert beside or picture["y"] >= controls["y"] + controls["height"]
    assert (0.75 * 864 - 1 if beside else 250) <= picture["width"] <= 864 + 1
    assert picture["x"] + picture["width"] <= pane["x"] + pane["width"]
    assert not beside or max(controls["height"], picture["height"]) <= pane["height"]


def test_on_a_phone_the_picture_fits_and_a_button_gives_it_its_size(notebook):
    page, cell = notebook.page, notebook.cell(2)
    canvas, box, enlarge = cell.locator("canvas").first, cell.locator(".live-picture .scroll"), cell.locator(".enlarge")
    before = page.viewport_size
    assert not enlarge.is_visible()
    page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    page.set_viewport_size({"width": 390, "height": 844})
    try:
        wait_until(enlarge.is_visible, 5, lambda: "no button")
        assert box.evaluate("(node) => node.scrollWidth <= node.clientWidth") and not findings(page, ".lab")
        notebook.press(enlarge, "Enter")
        wait_until(lambda: canvas.bounding_box()["width"] == 864, 5, canvas.bounding_box)
        assert box.evaluate("(node) => node.scrollWidth > node.clientWidth && node.tabIndex === 0") and not findings(page, ".lab")
        notebook.press(enlarge, "Enter")
        wait_until(lambda: canvas.bounding_box()["width"] < 300, 5, canvas.bounding_box)
    finally:
        page.set_viewport_size(before)
    wait_until(lambda: not enlarge.is_visible(), 5, lambda: "the button stays")


def test_as_many_pixels_are_drawn_as_the_screen_shows(notebook):
    canvas = notebook.cell(2).locator("canvas").first
    assert canvas.evaluate("(canvas) => [canvas.width, window.devicePixelRatio]") == [864, 1]


def test_what_is_touched_is_large_enough(notebook):
    for control in notebook.cell(0).locator(EVERY_CONTROL).all():
        box = control.bounding_box()
        assert box["width"] >= 24 and box["height"] >= 24, control.evaluate("(node) => node.outerHTML")


def test_an_old_lab_does_not_draw_into_the_new_one(notebook):
    """All cells run again while a slider is dragged: the picture is that of the new lab's controls."""
    cell, page = notebook.cell(2), notebook.page
    notebook.press(cell.get_by_role("button", name="reset"), "Enter")
    picture = cell.locator("canvas").first
    page.wait_for_timeout(1000)
    first, track = notebook.fingerprint(picture), cell.locator(".noUi-base").nth(1).bounding_box()
    y = track["y"] + track["height"] / 2
    page.mouse.move(track["x"] + 0.31 * track["width"], y)
    page.mouse.down()
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    for i in range(60):
        page.mouse.move(track["x"] + (0.3 + 0.01 * i) * track["width"], y)
        page.wait_for_timeout(15)
    page.mouse.up()
    notebook.wait_idle()
    page.wait_for_timeout(1000)
    assert value_of(cell.locator(SLIDERS).nth(1)) == 1 and notebook.fingerprint(picture) == first


def test_no_key_reaches_the_shortcuts_of_jupyterlab(notebook):
    """One of them cuts the cell."""
    cells = notebook.count_cells()
    controls = notebook.cell(0).locator(EVERY_CONTROL).all()
    assert len(controls) >= 9
    for control in controls:
        for key in "xbd":
            notebook.press(control, key)
    assert notebook.count_cells() == cells


def test_it_is_accessible_and_nothing_complains(notebook):
    assert not findings(notebook.page, ".jp-OutputArea-output .jupyter-widgets")
    assert notebook.cell(0).locator("canvas").first.get_attribute("aria-label").startswith("x to the")
    assert not notebook.complaints
