"""Cut, force, switch off: what the reader changes in a model that is known, in a kernel and without one."""
import pytest

from tests.browser.labdriver import findings, wait_until
from tests.browser.test_explorer import wait_for

CELL = """import time, torch
from helpers.widgets import AttentionExplorer
weights = torch.tensor([[[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], [[1.0, 0.0, 0.0], [0.1, 0.1, 0.8]]])
calls, pause = [], 0
def model(changes):
    calls.append(changes)
    time.sleep(pause)
    after = weights.clone()
    for change in changes:
        if change["kind"] == "off":
            after[change["index"]] = 0
        elif change["kind"] == "force":
            after[change["index"][0], change["query"]] = torch.eye(3)[change["key"]]
        elif change["query"] == 1:
            raise ValueError("the last row stays")
        else:
            row = after[change["index"][0], change["query"]]
            row[change["key"]] = 0
            row /= row.sum()
    return "looks at " + " ".join("abc"[i] for i in after.sum(0).argmax(-1)), after
q, k = torch.tensor([[[2.0, 0.0], [0.0, 1.0]]] * 2), torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]] * 2)
effect = torch.tensor([[[-2.0, 0.5, float("nan")], [0, 0, 0]], [[0, 0, 1], [0.25, 0, 0]]])
mask = torch.tensor([[True, True, False], [True, True, True]])
explorer = AttentionExplorer(weights, list("xy"), list("abc"), mask=mask, change=model, effect=effect, vectors=(q, k))
explorer"""
SCORES = """scores = (q @ k.transpose(-1, -2) / 2 ** 0.5).masked_fill(~mask, -torch.inf)
exact = AttentionExplorer(scores.softmax(-1), list("xy"), list("abc"), mask=mask, vectors=(q, k), neuron=True)
exact"""


@pytest.fixture(scope="module")
def notebook(running):
    notebook = running("touch", CELL, SCORES)
    # A phone has no room for the list of files.
    notebook.page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
    return notebook


@pytest.fixture
def part(notebook):
    """The explorer with nothing changed and nothing chosen."""
    notebook.say("pause = 0; explorer.make_changes([]); explorer.locked = False; explorer.neuron = False; explorer.error = ''")
    notebook.say("explorer.move(head=0, query=0, key=0, effect=False, view='map')")
    part = notebook.cell(0)
    wait_for(part.locator(".readout"), "head 0, query “x” → key “a”")
    wait_until(lambda: not part.locator(".changes li").count(), 10, lambda: "changes are left")
    return part


def button(part, name):
    return part.locator(f".touch button:has-text('{name}')")


def after(part):
    return part.locator(".answers output").nth(1)


def test_a_click_and_a_button_cut_a_weight(notebook, part):
    assert button(part, "cut").get_attribute("aria-disabled") == "true"
    wait_for(part.locator(".why"), "Click a cell of the map to lock it")
    canvas = part.locator("canvas.map")
    box = canvas.bounding_box()
    before = notebook.fingerprint(canvas)
    canvas.click(position={"x": box["width"] - 124, "y": 46})
    wait_for(part.locator(".why"), "Locked: head 0, query “x” → key “a”.")
    button(part, "cut").click()
    wait_for(part.locator(".changes"), "1. cut: head 0, query “x” → key “a”")
    wait_for(part.locator(".readout"), "head 0, after, query “x” → key “a”: 0.0000")
    notebook.wait_change(canvas, before)
    assert part.locator("input[value=after]").is_checked()
    part.locator("input[value=weight]").check()
    wait_for(part.locator(".readout"), "head 0, query “x” → key “a”: 0.5000")
    assert "scale the rest" in button(part, "cut").get_attribute("title")
    button(part, "zero").click()
    wait_for(part.locator(".changes"), "2. zero: head 0, query “x” → key “a”")


def test_keys_change_the_model_and_what_differs_is_marked(notebook, part):
    canvas = part.locator("canvas.map")
    notebook.press(canvas, "ArrowDown")
    notebook.press(canvas, "f")
    wait_for(part.locator(".changes"), "1. force: head 0, query “y” → key “a”")
    wait_for(after(part), "looks at a a")
    assert part.locator(".answers del").all_inner_texts() == ["c"] and part.locator(".answers ins").all_inner_texts() == ["a"]
    notebook.say("explorer.move(head=1)")
    notebook.press(canvas, "o")
    wait_for(part.locator(".changes"), "2. off: head 1")
    notebook.press(canvas, "u")
    wait_until(lambda: part.locator(".changes li").count() == 1, 10, lambda: "undo does nothing")
    notebook.press(canvas, "o")
    wait_for(part.locator(".changes"), "2. off: head 1")
    part.locator(".changes button").first.click()
    wait_for(part.locator(".changes"), "1. off: head 1")
    assert notebook.page.evaluate("() => document.activeElement.getAttribute('aria-label')") == "remove: off: head 1"
    wait_for(after(part), "looks at a c")
    assert "(the same)" in part.locator(".answers").inner_text()
    notebook.press(canvas, "r")
    wait_for(after(part), "–")
    assert not part.locator(".changes li").count() and part.locator("input[value=weight]").is_checked()


def test_an_error_is_shown_and_the_last_good_state_stays(notebook, part):
    canvas = part.locator("canvas.map")
    notebook.press(canvas, "c")
    wait_for(part.locator(".changes"), "1. cut")
    notebook.press(canvas, "ArrowDown")
    notebook.press(canvas, "c")
    wait_for(part.locator(".touch .message"), "the last row stays")
    assert part.locator(".changes li").count() == 1 and "looks at" in after(part).inner_text()
    notebook.press(canvas, "o")
    wait_for(part.locator(".changes"), "2. off")
    assert not part.locator(".touch .message").inner_text()


def test_the_same_change_is_made_once(notebook, part):
    canvas = part.locator("canvas.map")
    notebook.press(canvas, "c")
    wait_for(part.locator(".changes"), "1. cut: head 0, query “x” → key “a”")
    wait_until(lambda: button(part, "cut").get_attribute("aria-disabled") == "true", 5, lambda: "the same cut can be made again")
    notebook.press(canvas, "c")
    notebook.press(canvas, "f")
    wait_for(part.locator(".changes"), "2. force: head 0, query “x” → key “a”")
    assert part.locator(".changes li").count() == 2
    notebook.press(canvas, "ArrowRight")
    wait_until(lambda: button(part, "cut").get_attribute("aria-disabled") == "false", 5, lambda: "another cell cannot be cut")


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_four_changes_are_seen_at_once_and_nothing_jumps(notebook, part, size):
    before = notebook.page.viewport_size
    notebook.page.set_viewport_size(dict(zip(("width", "height"), size)))
    try:
        notebook.page.wait_for_timeout(500)
        parts = part.locator(".pictures, .touch > *, .buttons button, .aside, .readout, .foot")
        places = "nodes => nodes.map((node) => Object.values(node.getBoundingClientRect().toJSON()).map(Math.round).join())"
        explorer, canvas = part.locator(".attention-explorer"), part.locator("canvas.map")
        first = parts.evaluate_all(places)
        canvas.focus()
        for number, keys in enumerate((["Enter", "c"], ["f"], ["o"], ["ArrowRight", "c"]), 1):
            for key in keys:
                canvas.press(key)
            wait_for(part.locator(".changes"), f"{number}. ")
            assert parts.evaluate_all(places) == first, keys
        changes = part.locator(".changes")
        assert changes.locator("li").count() == 4 and changes.evaluate("node => node.scrollHeight <= node.clientHeight")
        assert explorer.evaluate("node => node.scrollWidth <= node.clientWidth + 1")
    finally:
        notebook.page.set_viewport_size(before)


def test_a_slow_model_is_asked_once(notebook, part):
    canvas = part.locator("canvas.map")
    notebook.say("pause = 1.5; calls.clear()")
    notebook.press(canvas, "c")
    wait_for(part.locator(".why"), "Running the model")
    assert button(part, "head off").get_attribute("aria-disabled") == "true"
    for _ in range(3):
        notebook.press(canvas, "o")
    wait_for(part.locator(".changes"), "1. cut")
    notebook.page.wait_for_timeout(500)
    assert notebook.say("print(len(calls))") == "1" and part.locator(".changes li").count() == 1


def test_a_hidden_cell_cannot_be_cut(notebook, part):
    notebook.say("explorer.move(key=2); explorer.locked = True")
    wait_for(part.locator(".why"), "query “x” → key “c”: hidden by the mask")
    off = [button(part, name).get_attribute("aria-disabled") for name in ("cut", "zero", "force", "head off")]
    assert off == ["true", "true", "true", "false"]


def test_the_switch_shows_effects_with_their_scale(notebook, part):
    canvas, readout = part.locator("canvas.map"), part.locator(".readout")
    wait_for(readout, "key “a”: 0.5000, effect −2.0000")
    before = notebook.fingerprint(canvas)
    part.locator("input[value=effect]").check()
    wait_for(readout, "head 0, effect, query “x” → key “a”: effect −2.0000, weight 0.5000")
    wait_for(part.locator(".legend"), "effect −2.00")
    assert "+2.00" in part.locator(".legend").inner_text()
    notebook.wait_change(canvas, before)
    notebook.say("explorer.move(view='bars')")
    notebook.fingerprint(part.locator("canvas.of-query"))
    notebook.say("explorer.move(view='lines')")
    part.get_by_role("option", name="x, largest effects: a −2.00, b +0.50", exact=True).wait_for()   # said once the slider rests


def test_the_neuron_view_gives_the_weight_of_the_map(notebook, part):
    steps = notebook.cell(1).locator(".steps")
    wait_for(steps, "2.0000 / 1.4142 = 1.4142")
    assert steps.locator("th").all_inner_texts() == ["sum of q × k", "score = sum / √2", "softmax over 2 keys", "weight on the map"]
    assert "exp(1.4142 − 1.4142) / 1.2431 = 0.8044" in steps.inner_text() and steps.locator("td").last.inner_text() == "0.8044"
    notebook.press(notebook.cell(1).locator(".vectors input"), "ArrowRight")
    wait_for(notebook.cell(1).locator(".component"), "1: q 0.0000 × k 0.0000 = 0.0000")
    notebook.press(part.locator("canvas.map"), "n")
    wait_for(part.locator(".steps"), "position bias or other terms")
    assert button(part, "neuron view").get_attribute("aria-expanded") == "true"
    notebook.press(part.locator("canvas.map"), "n")
    assert not part.locator(".steps").is_visible()


def test_every_part_can_be_reached_keeps_its_keys_and_has_a_name(notebook, part):
    notebook.press(part.locator("canvas.map"), "c")
    notebook.press(part.locator("canvas.map"), "n")
    wait_for(part.locator(".changes"), "1. cut")
    cells = notebook.count_cells()
    for control in part.locator(".attention-explorer :is(button, input, canvas[tabindex])").all():
        if control.is_visible() and control.is_enabled():
            for key in "xbd":
                notebook.press(control, key)
    assert notebook.count_cells() == cells
    assert not findings(notebook.page, ".attention-explorer")


def test_nothing_complains(notebook):
    assert not notebook.complaints


def test_without_a_kernel_the_buttons_say_why(notebook, part):
    """The last test of this file: its kernel is gone then."""
    notebook.press(part.locator("canvas.map"), "c")
    wait_for(part.locator(".changes"), "1. cut")
    notebook.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    wait_for(part.locator(".why"), "needs a running notebook")
    buttons = part.locator(".touch button:not(:has-text('neuron'))").all()
    assert len(buttons) == 7 and all(node.get_attribute("aria-disabled") == "true" for node in buttons)
    notebook.press(part.locator("canvas.map"), "c")
    assert part.locator(".changes li").count() == 1
    part.locator("input[value=effect]").check()
    wait_for(part.locator(".readout"), "effect −2.0000")
