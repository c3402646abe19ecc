"""What the explorer's half in the browser does, on weights that are known."""
import pytest

from tests.browser.labdriver import findings, wait_until

CELL = """import torch
from helpers.widgets import AttentionExplorer
weights = (torch.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5) % 100) / 100.0
mask = torch.ones(4, 5, dtype=torch.bool).tril(1)
first = AttentionExplorer(weights, "a b c d".split(), "v w x y z".split(), mask=mask)
first"""


TYPED = """
def read(text):
    if not text.split():
        raise ValueError("type a word")
    weights = torch.ones(6, 12, len(text.split()), len(text.split())) / len(text.split())
    labels = [["first" if (layer, head) == (0, 0) else "" for head in range(12)] for layer in range(6)]
    return {"weights": weights, "query_tokens": text.split(), "key_tokens": text.split(), "labels": labels}
explorer = AttentionExplorer.of_texts(read, text="one two three")
explorer"""


@pytest.fixture(scope="module")
def notebook(running):
    return running("explorer", CELL, TYPED)


def wait_for(locator, text):
    wait_until(lambda: text in locator.inner_text(), 20, lambda: f"{text!r} is not in {locator.inner_text()!r}")


def test_it_shows_the_exact_weight_and_works_on_the_grid(notebook):
    part = notebook.cell(0)
    canvas, readout, sliders = part.locator("canvas.map"), part.locator(".readout"), part.locator("input[type=range]")
    wait_for(readout, "layer 0, head 0, query “a” → key “v”: 0.0000")

    notebook.press(sliders.nth(0), "ArrowRight")
    notebook.press(sliders.nth(1), "End")
    notebook.press(sliders.nth(2), "ArrowRight")
    wait_for(readout, "layer 1, head 2, query “b” → key “v”: 0.0500")
    wait_until(lambda: notebook.say("print(first.index, first.query)") == "[1, 2] 1", 5, lambda: "Python was not told")

    notebook.say("first.move(layer=0, head=1)")
    wait_for(readout, "layer 0, head 1")
    notebook.press(canvas, "ArrowDown")
    notebook.press(canvas, "ArrowRight")
    wait_for(readout, "layer 0, head 1, query “c” → key “w”: 0.3100")
    box = canvas.bounding_box()
    canvas.hover(position={"x": box["width"] - 10, "y": 10})
    wait_for(readout, "query “a” → key “z”: hidden by the mask")
    assert "query “a”" in part.locator("canvas.bars").get_attribute("aria-label")

    single = notebook.fingerprint(canvas)
    part.locator("input[type=checkbox]").check()
    grid = notebook.wait_change(canvas, single)
    canvas.click(position={"x": 20, "y": 40})
    wait_for(readout, "layer 0, head 0")
    notebook.wait_change(canvas, grid)
    wait_until(lambda: notebook.say("print(first.index, first.grid)") == "[0, 0] True", 5, lambda: "Python was not told")


def test_what_is_typed_is_shown_in_its_place(notebook):
    part = notebook.cell(1)
    readout, box, slider = part.locator(".readout"), part.locator("input[type=text]"), part.locator("input[type=range]")
    wait_for(readout, "layer 0, head 0 (first), query “one” → key “one”: 0.3333")
    notebook.press(slider.nth(2), "End")
    wait_for(readout, "query “three” → key “one”")
    part.locator("input[type=checkbox]").check()
    before = notebook.fingerprint(part.locator("canvas.map"))
    box.fill("four five")
    box.press("Enter")
    wait_for(readout, "layer 0, head 0 (first), query “five” → key “four”: 0.5000")
    notebook.wait_change(part.locator("canvas.map"), before)
    assert box.input_value() == "four five" and part.locator("input[type=checkbox]").is_checked()
    box.fill(" ")
    box.press("Enter")
    wait_for(part.locator(".message"), "type a word")
    wait_for(readout, "query “five”")
    box.fill("six")
    box.press("Enter")
    wait_for(readout, "query “six” → key “six”: 1.0000")
    wait_until(lambda: not part.locator(".message").inner_text(), 5, lambda: "the message stays")
    notebook.press(slider.nth(1), "ArrowRight")
    wait_for(readout, "layer 0, head 1, query “six”")


@pytest.mark.parametrize("cell", [0, 1])
def test_every_part_can_be_reached_and_keeps_its_keys(notebook, cell):
    """JupyterLab has shortcuts for single letters: one of them cuts the cell."""
    part, cells = notebook.cell(cell), notebook.count_cells()
    for control in part.locator("input, canvas.map").all():
        for key in "xbd":
            notebook.press(control, key)
    assert notebook.count_cells() == cells
    assert not findings(notebook.page, ".attention-explorer")


def test_it_asks_for_nothing_outside_this_machine_and_does_not_complain(notebook):
    outside = [url for url in notebook.asked if not url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "blob:", "data:"))]
    assert notebook.asked
    assert not outside and not notebook.complaints
