"""The lessons in a real JupyterLab: run, moved by keyboard and by mouse, saved, and opened again."""
import pathlib
import shutil

import pytest

from labdriver import findings, open_notebook, wait_until
from tests.notebooks import NAMES, ROOT, read

FAILURES = pathlib.Path(__file__).parent / "failures"
WIDGET = "application/vnd.jupyter.widget-view+json"
# Not every output: JupyterLab draws pictures without the alternative text that stands in the file beside them.
WIDGETS = ".jp-OutputArea-output .jupyter-widgets, .attention-explorer"


@pytest.fixture
def opened(server, browser, request):
    """Opens a lesson, and keeps a picture of the page if the test fails."""
    FAILURES.mkdir(exist_ok=True)
    return lambda name: open_notebook(browser, server, f"{name}.ipynb", FAILURES / f"{request.node.name}.png")


def parts_of(name):
    """The numbers of the cells that show a lab or an explorer."""
    return [number for number, cell in enumerate(read(ROOT / "notebooks" / f"{name}.ipynb").cells)
            if any(WIDGET in output.get("data", {}) for output in cell.get("outputs", []))]


def first_slider(cell):
    """The first one with three positions or more: each move below has somewhere to go."""
    return cell.locator('.noUi-handle, .attention-explorer input[type=range]:not([max="1"])').first


def picture_of(cell):
    return cell.locator(".jp-Cell-outputWrapper").locator("canvas.map, img").first


@pytest.mark.parametrize("name", NAMES)
def test_sliders_move_the_picture(opened, name):
    """And nothing in them stands in the way of those who cannot see or point."""
    with opened(name) as notebook:
        messages = []
        notebook.page.on("console", lambda message: messages.append(message.text) if message.type == "error" else None)
        notebook.run_all()
        for number in parts_of(name):
            cell = notebook.cell(number)
            slider, picture = first_slider(cell), picture_of(cell)
            notebook.press(slider, "Home")                      # it may be there already
            notebook.page.wait_for_timeout(1000)
            for move, how in ((notebook.press, "ArrowRight"), (notebook.press, "End"),
                              (notebook.drag_slider, 0.2), (notebook.drag_slider, 0.9)):
                before = notebook.fingerprint(picture)
                move(slider, how)
                notebook.wait_change(picture, before)
        assert not messages
        assert not findings(notebook.page, WIDGETS)


def test_a_lesson_that_was_saved_shows_its_pictures_again(opened, folder):
    """Opened without running: not one "model not found", every lab and explorer there."""
    name = "03_masked_softmax"
    shutil.copy(folder / f"{name}.ipynb", folder / "saved.ipynb")
    with opened("saved") as notebook:
        notebook.run_all()
        notebook.save()
        wait_until(lambda: "widgets" in read(folder / "saved.ipynb").metadata, 20, lambda: "the widgets' state was not saved")
    with opened("saved") as notebook:
        for number in parts_of(name):
            notebook.fingerprint(picture_of(notebook.cell(number)))
        images = notebook.page.locator(".jp-OutputArea-output img")
        assert images.count() >= 3
        assert "not found" not in notebook.page.locator(".jp-Notebook").inner_text()


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_fresh_from_the_clone_shows_its_pictures(opened, name):
    """The committed file, opened without running: pictures instead of live parts, and their alternative texts are in the file."""
    with opened(name) as notebook:
        folded = notebook.page.locator(".jp-OutputPlaceholder")
        while folded.count():
            folded.first.click()
        for number in parts_of(name):
            notebook.fingerprint(picture_of(notebook.cell(number)))


def test_the_query_can_be_dragged_in_the_plane(opened):
    name = "02_scoring_functions"
    with opened(name) as notebook:
        notebook.run_all()
        cell = notebook.cell(parts_of(name)[0])
        picture = picture_of(cell)
        picture.scroll_into_view_if_needed()
        before, box = notebook.fingerprint(picture), picture.bounding_box()
        x, y = box["x"] + 0.1 * box["width"], box["y"] + 0.2 * box["height"]
        notebook.drag((x + 60, y + 60), (x, y))
        notebook.wait_change(picture, before)
        sliders = cell.locator(".noUi-handle")
        wait_until(lambda: float(sliders.first.get_attribute("aria-valuenow")) < -1, 5, lambda: "the slider x stayed where it was")


def test_the_explorer_by_keyboard_alone(opened):
    name = "03_masked_softmax"
    with opened(name) as notebook:
        notebook.run_all()
        cell = notebook.cell(parts_of(name)[0])
        readout = cell.locator(".readout")
        notebook.press(cell.locator("canvas.map"), "ArrowRight")
        wait_until(lambda: "key “dog”" in readout.inner_text(), 5, readout.inner_text)
        notebook.page.keyboard.press("ArrowDown")
        wait_until(lambda: "query “noon”" in readout.inner_text(), 5, readout.inner_text)
        notebook.press(cell.locator("input[type=range]").first, "Home")
        wait_until(lambda: "hidden by the mask" in readout.inner_text(), 5, readout.inner_text)
