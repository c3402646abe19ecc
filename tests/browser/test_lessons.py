"""The lessons in a real JupyterLab: run, moved by keyboard and by mouse, saved, and opened again.

Only the cheap ones are run. nbval runs the others and moves every control of theirs in the kernel; what a browser adds,
each kind of control, is in test_lab.py and test_explorer.py. All lessons are opened as they are committed.
"""
import shutil

import pytest

from tests.browser.labdriver import findings, wait_until
from tests.notebooks import NAMES, ROOT, read

LIVE = ["01_nadaraya_watson", "02_scoring_functions", "03_masked_softmax"]     # a lab, a plane to drag in, an explorer
WIDGET = "application/vnd.jupyter.widget-view+json"
# Not every output: JupyterLab draws pictures without the alternative text that stands in the file beside them.
WIDGETS = ".jp-OutputArea-output .jupyter-widgets, .attention-explorer"


def parts_of(name):
    """The numbers of the cells that show a lab or an explorer."""
    return [number for number, cell in enumerate(read(ROOT / "notebooks" / f"{name}.ipynb").cells)
            if any(WIDGET in output.get("data", {}) for output in cell.get("outputs", []))]


def first_slider(cell):
    """The first one with three positions or more: each move below has somewhere to go."""
    return cell.locator('.noUi-handle, .attention-explorer input[type=range]:not([max="1"])').first


def picture_of(cell):
    return cell.locator(".jp-Cell-outputWrapper").locator("canvas.map, .live-picture canvas, img").first


@pytest.mark.parametrize("name", LIVE)
def test_a_lesson_answers_and_shows_its_pictures_again_when_it_was_saved(opened, folder, name):
    shutil.copy(folder / f"{name}.ipynb", folder / "saved.ipynb")
    with opened("saved") as notebook:
        notebook.run_all()
        for number in parts_of(name):
            cell = notebook.cell(number)
            slider, picture = first_slider(cell), picture_of(cell)
            notebook.press(slider, "Home")                      # it may be there already
            notebook.page.wait_for_timeout(1000)
            for move, how in ((notebook.press, "End"), (notebook.drag_slider, 0.2)):
                before = notebook.fingerprint(picture)
                move(slider, how)
                notebook.wait_change(picture, before)
        assert not notebook.complaints
        assert not findings(notebook.page, WIDGETS)
        notebook.save()
        wait_until(lambda: "widgets" in read(folder / "saved.ipynb").metadata, 20,
                   lambda: "the widgets' state was not saved: does this JupyterLab know helpers/jupyter/lab_settings.json?")
    with opened("saved") as notebook:
        for number in parts_of(name):
            notebook.fingerprint(picture_of(notebook.cell(number)))
        assert "not found" not in notebook.page.locator(".jp-Notebook").inner_text()


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_fresh_from_the_clone_shows_its_pictures(opened, name):
    """The committed file, opened without running: pictures stand in for what is live. What is for the curious is hidden."""
    with opened(name) as notebook:
        last, cells = notebook.cell(notebook.count_cells() - 1), read(ROOT / "notebooks" / f"{name}.ipynb").cells
        optional = last.is_hidden()
        assert optional == any(cell.source.startswith("## For the curious") for cell in cells)
        assert notebook.unfold() == optional and last.is_visible()
        for part in ("Input", "Output"):                        # a folded solution shows no placeholder of its output
            folded = notebook.page.locator(f".jp-{part}Placeholder:visible")
            while folded.count():
                folded.first.click()
        for number in parts_of(name):
            notebook.fingerprint(picture_of(notebook.cell(number)))
