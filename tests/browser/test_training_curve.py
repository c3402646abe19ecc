"""The live training curve in a real JupyterLab: it moves, and the saved notebook has its last picture."""
import base64
import re
import time

import pytest

from tests.browser.labdriver import wait_until
from tests.notebooks import read

TRAIN = """import time
from helpers.widgets import TrainingCurve

curve = TrainingCurve(120)
for step in range(120):
    time.sleep(0.05)
    curve(step + 1, 100 / (1 + step), validation=120 / (1 + step) if step % 20 == 19 else None)"""
WITHOUT_END = """curve = TrainingCurve(1_000_000)
for step in range(1_000_000):
    time.sleep(0.01)
    curve(step + 1, 100 / (1 + step))"""
LIVE_ALT = """() => window.jupyterapp.shell.currentWidget.content.widgets[1].model.outputs.get(0).metadata['image/png'].alt"""


@pytest.fixture(scope="module")
def notebook(running):
    return running("training_curve", TRAIN, "")


def picture_of(cell):
    return cell.locator(".jp-OutputArea-output img").first


def test_the_picture_moves_while_the_cell_runs(notebook):
    notebook.cell(0).click()
    notebook.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-cell'); }")
    seen, end = set(), time.monotonic() + 30
    while len(seen) < 3 and time.monotonic() < end:
        if picture_of(notebook.cell(0)).count():
            seen.add(picture_of(notebook.cell(0)).get_attribute("src"))
    assert len(seen) >= 3
    assert notebook.cell(0).locator("img").count() == 1
    notebook.wait_idle()


def test_the_saved_notebook_has_the_last_picture(notebook, folder):
    notebook.save()
    file = folder / "training_curve.ipynb"
    output, = wait_until(lambda: read(file).cells[0].outputs, 20, lambda: "it was not saved")
    assert output.data["text/plain"] == "TrainingCurve(120 steps)"
    assert "after 120 of 120 steps" in output.metadata["image/png"]["alt"]
    shown = picture_of(notebook.cell(0)).get_attribute("src").partition(",")[2]
    assert base64.b64decode(shown) == base64.b64decode(output.data["image/png"])


def test_an_interrupted_training_keeps_its_curve(notebook):
    notebook.page.evaluate("""(code) => {
      const cell = window.jupyterapp.shell.currentWidget.content.widgets[1];
      cell.model.sharedModel.setSource(code);
    }""", WITHOUT_END)
    notebook.cell(1).click()
    notebook.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-cell'); }")
    picture = picture_of(notebook.cell(1))
    first = notebook.fingerprint(picture)
    notebook.wait_change(picture, first, 20)
    wait_until(lambda: int(re.search(r"after (\d+) of", notebook.page.evaluate(LIVE_ALT))[1]) > 10, 60, picture.inner_text)
    notebook.page.evaluate("() => window.jupyterapp.commands.execute('notebook:interrupt-kernel')")
    notebook.wait_idle()
    assert "KeyboardInterrupt" in notebook.cell(1).inner_text()
    assert notebook.fingerprint(picture) != first and int(notebook.say("print(len(curve.losses))")) > 10
