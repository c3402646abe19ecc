"""What the explorer's half in the browser does, on weights that are known."""
import io
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from PIL import Image

from helpers.hooks import rollout
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


# As large as in the lesson on the real BERT, and a long text.
LARGE = """
words = "[CLS] a tall crane lifted the beam . [SEP] the crane flew over the lake and the grass in the morning light . [SEP]".split()
torch.manual_seed(0)
large = (3 * torch.randn(6, 12, len(words), len(words))).softmax(-1)
def read_large(first, second):
    names = [["previous", "next", "same word", "[SEP]"] * 3] * 6
    return {"weights": large, "query_tokens": words, "key_tokens": words, "labels": names}
big = AttentionExplorer.of_texts(read_large, first="A tall crane lifted the beam.", second="The crane flew over the lake.")
big"""
LONG = """
tokens = [f"word{i}" for i in range(128)]
AttentionExplorer((4 * torch.randn(2, 128, 128)).softmax(-1), tokens, tokens)"""
MAP, TYPED_CELL, BIG, FAR = 0, 1, 2, 3


@pytest.fixture(scope="module")
def notebook(running):
    notebook = running("explorer", CELL, TYPED, LARGE, LONG)
    notebook.page.set_default_timeout(10_000)
    return notebook


@pytest.fixture
def window(notebook):
    """Sets the size of the browser's window, for one test."""
    before = notebook.page.viewport_size

    def resize(width, height):
        notebook.page.set_viewport_size({"width": width, "height": height})
        notebook.page.wait_for_timeout(500)
    yield resize
    resize(**before)                                                            # the next test finds it laid out again


def show(part, view):
    part.locator(f"input[value={view}]").check()


def wait_for(locator, text):
    wait_until(lambda: text in locator.inner_text(), 20, lambda: f"{text!r} is not in {locator.inner_text()!r}")


def test_it_shows_the_exact_weight_and_works_on_the_grid(notebook):
    part = notebook.cell(0)
    canvas, readout, sliders = part.locator("canvas.map"), part.locator(".readout"), part.locator("input[type=range]")
    wait_for(readout, "layer 0, head 0, query “a” → key “v”: 0.0000")

    notebook.press(sliders.nth(0), "ArrowRight")
    notebook.press(sliders.nth(1), "ArrowRight")
    notebook.press(sliders.nth(1), "ArrowRight")
    notebook.press(sliders.nth(2), "ArrowRight")
    wait_for(readout, "layer 1, head 2, query “b” → key “v”: 0.0500")
    wait_until(lambda: notebook.say("print(first.index, first.query)") == "[1, 2] 1", 5, lambda: "Python was not told")

    notebook.say("first.move(layer=0, head=1)")
    wait_for(readout, "layer 0, head 1")
    notebook.press(canvas, "ArrowDown")
    notebook.press(canvas, "ArrowRight")
    wait_for(readout, "layer 0, head 1, query “c” → key “w”: 0.3100")


def test_the_pointer_previews_and_a_click_locks(notebook):
    part = notebook.cell(MAP)
    canvas, readout, tip, bars = (part.locator(name) for name in ("canvas.map", ".readout", ".tip", "canvas.bars"))
    notebook.say("first.move(layer=0, head=0, query=1, key=0)")
    wait_for(readout, "query “b” → key “v”: 0.0500")
    chosen = "print(first.index, first.query, first.key, first.locked)"
    box = canvas.bounding_box()
    corner, middle = {"x": box["width"] - 10, "y": 30}, {"x": box["width"] / 2, "y": box["height"] / 2}

    canvas.hover(position=corner)
    wait_for(tip, "query “a” → key “z”: hidden by the mask")
    assert "query “a”" in bars.get_attribute("aria-label") and "query “b” → key “v”" in readout.inner_text()
    part.locator(".foot").hover()
    wait_until(lambda: "query “b”" in bars.get_attribute("aria-label"), 5, lambda: "the bars stay with the pointer")
    assert notebook.say(chosen) == "[0, 0] 1 0 False"

    canvas.click(position=middle)
    wait_for(readout, "locked")
    locked = readout.inner_text().removesuffix(" · locked")
    canvas.hover(position=corner)
    wait_for(tip, "key “z”: hidden by the mask")
    assert locked in tip.inner_text() and locked in readout.inner_text()
    assert locked.split("query ")[1].split(" ")[0] in bars.get_attribute("aria-label")
    canvas.click(position=middle)
    wait_until(lambda: "locked" not in readout.inner_text(), 5, lambda: "a second click does not unlock")
    notebook.press(canvas, "Enter")
    wait_for(readout, "locked")
    notebook.press(canvas, "Escape")
    wait_until(lambda: "locked" not in readout.inner_text(), 5, lambda: "Escape does not unlock")


def test_the_bars_answer_to_pointer_and_keys(notebook):
    part = notebook.cell(MAP)
    bars, readout, tip = (part.locator(name) for name in ("canvas.bars", ".readout", ".tip"))
    notebook.say("first.move(layer=0, head=0, query=3, key=0)")
    wait_for(readout, "query “d” → key “v”")
    bars.hover(position={"x": 60, "y": 26 + 22 * 2 + 5})
    wait_for(tip, "query “d” → key “x”")
    assert notebook.say("print(first.query, first.key)") == "3 0"
    notebook.press(bars, "ArrowDown")
    wait_for(readout, "query “d” → key “w”")


def test_a_click_on_a_label_shows_the_bars_of_that_token(notebook):
    part = notebook.cell(MAP)
    canvas, bars, readout, tip = (part.locator(name) for name in ("canvas.map", ".aside canvas.bars", ".readout", ".tip"))
    notebook.say("first.locked = False; first.move(layer=0, head=0, query=3, key=0)")
    wait_for(readout, "query “d” → key “v”")
    box = canvas.bounding_box()
    key = {"x": box["width"] - 4 - 1.5 * 48, "y": box["height"] - 30}           # of the last key but one, in cells of 48 pixels
    canvas.hover(position=key)
    wait_for(tip, "click: which queries look at this key?")
    canvas.click(position=key)
    wait_for(readout, "query “d” → key “y”")
    wait_until(lambda: "key “y” is looked at by" in bars.get_attribute("aria-label"), 5, lambda: bars.get_attribute("aria-label"))
    notebook.press(bars, "ArrowUp")
    wait_for(readout, "query “c” → key “y”")
    canvas.click(position={"x": 25, "y": 22 + 1.5 * 48})
    wait_for(readout, "query “b” → key “y”")
    wait_until(lambda: "query “b” looks at" in bars.get_attribute("aria-label"), 5, lambda: bars.get_attribute("aria-label"))
    part.get_by_role("radio", name="of the key").check()
    wait_until(lambda: "key “y” is looked at by" in bars.get_attribute("aria-label"), 5, lambda: bars.get_attribute("aria-label"))
    notebook.say("first.side, first.locked = 'query', False")


def test_every_explorer_of_a_page_has_its_own_switch(notebook):
    assert [notebook.cell(cell).locator("input[value=map]").is_checked() for cell in (MAP, TYPED_CELL, BIG, FAR)] == 4 * [True]


def test_what_is_cropped_says_so(notebook):
    part = notebook.cell(FAR)
    show(part, "lines")
    more, box = part.locator(".pictures .more"), part.locator(".pictures .scroll")
    wait_for(more, "more ↓")
    box.evaluate("node => { node.scrollTop = 200; }")
    wait_for(more, "more ↑ ↓")
    box.evaluate("node => { node.scrollTop = node.scrollHeight; }")
    wait_until(lambda: more.inner_text() == "more ↑", 5, more.inner_text)
    show(part, "map")
    assert not part.locator(".pictures .more").is_visible()


def test_a_token_that_stands_twice_has_its_position(notebook):
    part = notebook.cell(BIG)
    notebook.say("big.move(layer=0, head=0, query=10, key=2)")                  # the second "crane"
    wait_for(part.locator(".readout"), "query “crane” (position 10) → key “tall”:")
    assert part.get_by_role("slider", name="query").get_attribute("aria-valuetext") == "crane (10)"
    assert "query “crane” (10) looks at" in part.locator(".aside canvas.bars").get_attribute("aria-label")
    notebook.say("big.move(query=0, key=0)")
    wait_for(part.locator(".readout"), "query “[CLS]”")


def test_the_slider_of_the_heads_says_what_is_at_its_end(notebook):
    part = notebook.cell(BIG)
    assert part.get_by_text("0 to 11, then mean, rollout", exact=True).is_visible()
    box, column = part.get_by_text("0 to 11, then mean, rollout").bounding_box(), part.locator(".controls").bounding_box()
    assert box["x"] + box["width"] <= column["x"] + column["width"]


def test_in_all_heads_the_pointer_leaves_the_head_alone(notebook):
    part = notebook.cell(MAP)
    readout, tip, canvas = (part.locator(name) for name in (".readout", ".tip", "canvas.map"))
    notebook.say("first.move(layer=1, head=2, query=0, key=0, grid=True)")
    wait_for(readout, "layer 1, head 2")
    canvas.hover(position={"x": 80, "y": 40})
    wait_for(tip, "layer 0, head 0")
    assert "layer 1, head 2" in readout.inner_text() and notebook.say("print(first.index)") == "[1, 2]"
    before = notebook.fingerprint(canvas)
    canvas.click(position={"x": 80, "y": 40})
    wait_for(readout, "layer 0, head 0")
    notebook.wait_change(canvas, before)
    notebook.press(canvas, "Escape")
    notebook.press(canvas, "ArrowRight")
    notebook.press(canvas, "ArrowDown")
    wait_for(readout, "layer 1, head 1")
    wait_until(lambda: notebook.say("print(first.index, first.grid)") == "[1, 1] True", 5, lambda: "Python was not told")
    part.get_by_label("all heads").uncheck()


def test_lines_show_one_token_alone_from_either_side(notebook):
    part = notebook.cell(BIG)
    part.locator("input[value=map]").focus()
    notebook.page.keyboard.press("ArrowRight")
    canvas, readout, tip = (part.locator(name) for name in ("canvas.lines", ".readout", ".tip"))
    wait_until(lambda: notebook.say("print(big.view)") == "lines", 5, lambda: "Python was not told")
    queries, keys = (part.get_by_role("listbox", name=name, exact=True) for name in ("queries", "keys"))
    assert queries.get_by_role("option").count() == keys.get_by_role("option").count() == 24
    crane = queries.get_by_role("option").nth(3)
    wait_until(lambda: (crane.get_attribute("aria-label") or "").startswith("crane, looks most at "), 5, crane.inner_text)

    seen = {notebook.fingerprint(canvas)}
    for tokens in (queries, keys):
        tokens.get_by_role("option").nth(5).hover()
        wait_for(tip, "the looks most at" if tokens is queries else "the most looked at by")
        seen.add(notebook.fingerprint(canvas))
    part.locator(".foot").hover()
    keys.focus()
    notebook.page.keyboard.press("ArrowDown")
    wait_for(readout, "→ key “a”")
    seen.add(notebook.fingerprint(canvas))
    assert len(seen) == 4 and keys.locator("[aria-selected=true]").inner_text() == "a"
    keys.get_by_role("option").nth(4).click()
    wait_for(readout, "→ key “lifted”")
    assert "locked" in readout.inner_text()
    notebook.press(keys, "Escape")
    show(part, "map")


def test_a_long_text_scrolls_in_its_box(notebook):
    part = notebook.cell(FAR)
    show(part, "lines")
    box, canvas = part.locator(".pictures .scroll"), part.locator("canvas.lines")
    assert box.evaluate("node => node.scrollHeight > 2 * node.clientHeight")
    before, page = notebook.fingerprint(canvas), notebook.page.locator(".jp-WindowedPanel-outer").first
    notebook.press(part.get_by_role("listbox", name="queries"), "ArrowUp")
    place = page.evaluate("node => node.scrollTop")
    for _ in range(90):
        notebook.page.keyboard.press("ArrowDown")
    wait_for(part.locator(".readout"), "query “word90”")
    notebook.wait_change(canvas, before)
    assert box.evaluate("node => node.scrollTop") > 100
    assert page.evaluate("node => node.scrollTop") == place
    show(part, "map")


def test_zoom_keeps_the_chosen_cell_in_sight(notebook):
    part = notebook.cell(FAR)
    box, canvas, readout = part.locator(".pictures .scroll"), part.locator("canvas.map"), part.locator(".readout")
    size = canvas.bounding_box()
    before = notebook.fingerprint(canvas)
    part.get_by_label("zoom in").click()
    notebook.press(canvas, "+")
    notebook.press(canvas, "+")
    before = notebook.wait_change(canvas, before)
    for _ in range(120):
        notebook.page.keyboard.press("ArrowRight")
    wait_for(readout, "key “word120”")
    notebook.wait_change(canvas, before)
    assert box.evaluate("node => node.scrollLeft") > 0 and abs(canvas.bounding_box()["width"] - size["width"]) < 20
    for _ in range(3):
        part.get_by_label("zoom out").click()
    assert box.evaluate("node => node.scrollWidth <= node.clientWidth + 1")


def test_mean_and_rollout_are_stops_of_the_heads_slider(notebook):
    part = notebook.cell(BIG)
    readout, head = part.locator(".readout"), part.get_by_role("slider", name="head")
    notebook.say("big.move(layer=3, head=11, query=4, key=2)")
    torch.manual_seed(0)
    weights = (3 * torch.randn(6, 12, 24, 24)).softmax(-1)
    notebook.press(head, "ArrowRight")
    wait_for(readout, f"layer 3, mean over heads, query “lifted” → key “tall”: {weights[3].mean(0)[4, 2]:.4f}")
    notebook.press(head, "ArrowRight")
    wait_for(readout, f"layer 3, rollout, query “lifted” → key “tall”: {rollout(weights)[3, 4, 2]:.4f}")
    assert head.get_attribute("aria-valuetext") == "rollout"
    wait_until(lambda: notebook.say("print(big.index)") == "[3, 'rollout']", 5, lambda: "Python was not told")
    notebook.press(head, "Home")


def test_compare_keeps_a_map_beside_those_of_the_slider_and_of_another_text(notebook):
    part = notebook.cell(TYPED_CELL)
    readout, maps, box = part.locator(".readout"), part.locator("canvas.map"), part.locator("input[type=text]")
    notebook.say("explorer.move(layer=0, head=0, query=0, key=0, grid=False)")
    wait_for(readout, "layer 0, head 0 (first)")
    part.get_by_label("compare").check()
    wait_until(lambda: maps.count() == 2, 5, lambda: f"{maps.count()} maps")
    wait_for(readout, "layer 0, head 1")
    kept = notebook.fingerprint(maps.nth(0))
    moving = notebook.fingerprint(maps.nth(1))
    second = part.get_by_role("group", name="second map")
    notebook.press(second.get_by_role("slider", name="head"), "ArrowRight")
    wait_for(readout, "layer 0, head 2")
    notebook.wait_change(maps.nth(1), moving)
    box.fill("seven eight nine ten")
    box.press("Enter")
    wait_for(readout, "query “seven” → key “seven”: 0.2500")
    assert notebook.fingerprint(maps.nth(0)) == kept
    for view in ("lines", "bars"):
        show(part, view)
        assert part.locator(f".pictures canvas.{view}").count() == 2
    show(part, "map")
    assert notebook.say("print(explorer.pinned['title'])") == "layer 0, head 0 (first)"
    notebook.press(part.get_by_role("group", name="first map").get_by_role("slider", name="head"), "ArrowRight")
    wait_until(lambda: notebook.say("print(explorer.pinned['title'])") == "layer 0, head 1", 5, lambda: "the first map stays")
    assert "layer 0, head 2" in readout.inner_text() and notebook.fingerprint(maps.nth(0)) != kept
    part.get_by_label("compare").uncheck()
    assert part.get_by_role("slider", name="head").count() == 1
    wait_until(lambda: maps.count() == 1, 5, lambda: f"{maps.count()} maps")


def test_after_typing_tab_leads_to_the_next_control(notebook):
    part = notebook.cell(TYPED_CELL)
    box, readout = part.locator("input[type=text]"), part.locator(".readout")
    box.fill("one two three")
    box.press("Tab")
    wait_for(readout, "key “one”: 0.3333")
    notebook.page.wait_for_timeout(300)
    assert notebook.page.evaluate("() => document.activeElement.value") == "map"


@pytest.mark.parametrize("view", ["map", "lines", "bars", "grid"])
def test_all_is_in_view_in_a_small_window(notebook, window, view):
    window(1366, 768)
    part = notebook.cell(BIG)
    explorer = part.locator(".attention-explorer")
    show(part, "map" if view == "grid" else view)
    part.get_by_label("all heads").set_checked(True) if view == "grid" else None
    notebook.page.wait_for_timeout(300)
    height = explorer.bounding_box()["height"]
    assert height <= 647, height
    assert explorer.evaluate("node => node.scrollWidth <= node.clientWidth + 1")
    picture, controls = part.locator(".pictures").bounding_box(), part.locator(".controls").bounding_box()
    assert controls["x"] + controls["width"] <= picture["x"]
    if view == "grid":
        part.get_by_label("all heads").set_checked(False)
    show(part, "map")


def test_it_grows_and_shrinks_with_its_column(notebook, window):
    canvas, explorer = notebook.cell(BIG).locator("canvas.map"), notebook.cell(BIG).locator(".attention-explorer")
    widths = []
    for size in ((1920, 1080), (1366, 768), (911, 512)):
        window(*size)
        widths.append(canvas.bounding_box()["width"])
        assert explorer.evaluate("node => node.scrollWidth <= node.clientWidth + 1")
        right = canvas.bounding_box()["x"] + widths[-1]
        assert right <= explorer.bounding_box()["x"] + explorer.bounding_box()["width"] + 1
    assert widths[0] > widths[1] > widths[2] > 150


def test_a_move_shifts_nothing(notebook):
    part = notebook.cell(BIG)
    parts = part.locator(".attention-explorer").locator("input, .pictures, .pictures canvas, button, .foot")
    places = "nodes => nodes.map((node) => Object.values(node.getBoundingClientRect().toJSON()).map(Math.round).join())"
    before = parts.evaluate_all(places)
    for name in ("layer", "head", "query"):
        for key in ("End", "ArrowLeft", "ArrowLeft", "Home"):
            notebook.press(part.get_by_role("slider", name=name), key)
            notebook.page.wait_for_timeout(50)
            assert parts.evaluate_all(places) == before, (name, key)


def test_what_is_pressed_is_large_enough(notebook):
    for part in notebook.cell(BIG).locator(".attention-explorer").locator("input, button").all():
        box = part.bounding_box()
        assert min(box["width"], box["height"]) >= 24, part.evaluate("node => node.outerHTML")


def test_the_picture_can_be_saved(notebook):
    part = notebook.cell(BIG)
    saved = {}
    for name in ("PNG", "SVG"):
        with notebook.page.expect_download() as download:
            part.get_by_label(f"save picture as {name}").click()
        saved[name] = download.value.path().read_bytes()
        assert download.value.suggested_filename == f"attention.{name.lower()}"
    picture = Image.open(io.BytesIO(saved["PNG"]))
    assert picture.width > 600 and len(set(picture.convert("L").tobytes())) > 20
    texts = [node.text for node in ElementTree.fromstring(saved["SVG"]).iter("{http://www.w3.org/2000/svg}text")]
    assert {"queries", "keys", "crane", "lifted"} <= set(texts)


def test_what_is_typed_is_shown_in_its_place(notebook):
    part = notebook.cell(1)
    readout, box, slider = part.locator(".readout"), part.locator("input[type=text]"), part.locator("input[type=range]")
    notebook.say("explorer.move(layer=0, head=0, query=0, key=0)")
    wait_for(readout, "layer 0, head 0 (first), query “one” → key “one”: 0.3333")
    notebook.press(slider.nth(2), "End")
    wait_for(readout, "query “three” → key “one”")
    part.get_by_label("all heads").check()
    before = notebook.fingerprint(part.locator("canvas.map"))
    box.fill("four five")
    box.press("Enter")
    wait_for(readout, "layer 0, head 0 (first), query “five” → key “four”: 0.5000")
    notebook.wait_change(part.locator("canvas.map"), before)
    assert box.input_value() == "four five" and part.get_by_label("all heads").is_checked()
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


@pytest.mark.parametrize("cell", [MAP, TYPED_CELL, BIG])
@pytest.mark.parametrize("view", ["map", "lines", "bars"])
def test_every_part_can_be_reached_and_keeps_its_keys(notebook, cell, view):
    """JupyterLab has shortcuts for single letters: one of them cuts the cell."""
    part, cells = notebook.cell(cell).locator(".attention-explorer"), notebook.count_cells()
    show(part, view)
    for control in part.locator("input:enabled, button:not([aria-label^=save]), canvas[tabindex], [role=listbox]").all():
        for key in "xbdm":
            notebook.press(control, key)
    assert notebook.count_cells() == cells
    assert not findings(notebook.page, ".attention-explorer")
    show(part, "map")


def test_it_asks_for_nothing_outside_this_machine_and_does_not_complain(notebook):
    outside = [url for url in notebook.asked if not url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "blob:", "data:"))]
    assert notebook.asked
    assert not outside and not notebook.complaints
