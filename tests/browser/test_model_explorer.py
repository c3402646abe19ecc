"""What the half of `ModelExplorer` in the browser does, on a model whose numbers are known."""
import re

import pytest

from tests.browser.labdriver import findings, wait_until

CELL = """import torch
from helpers.transformer import Transformer
from helpers.widgets import ModelExplorer
torch.manual_seed(0)
model = Transformer(20, 20, 16, 2, 32, num_layers=2)
def read(text):
    ids = [4 + "abcdef".index(letter) for letter in text]
    if not ids:
        raise ValueError("type a letter")
    return {"model": model, "inputs": (torch.tensor([ids]), torch.tensor([len(ids)]), torch.tensor([[2, *ids]])),
            "tokens": [list(text), ["<bos>", *text]], "vocab": [f"w{i}" for i in range(20)]}
explorer = ModelExplorer.of_texts(read, text="abc")
explorer"""
WEIGHTS = "decoder.layers[0].cross_attn.attention_weights"


@pytest.fixture(scope="module")
def notebook(running):
    return running("model_explorer", CELL)


@pytest.fixture
def part(notebook):
    """The explorer, showing the whole model."""
    notebook.say('explorer.move(step="", position=3)')
    part = notebook.cell(0)
    part.locator(".diagram").wait_for()
    return part


def tile(part, name):
    return part.locator(f'button.tile[title="{name}"]')


def wait_for(locator, text):
    wait_until(lambda: locator.count() and text in locator.inner_text(), 20, lambda: f"{text!r} is not there")


def unfold(part):
    part.get_by_role("button", name="unfold all").click()


def test_every_step_is_a_tile_of_its_name_and_shape(notebook, part):
    names = notebook.say("print(*explorer.values, sep='|')").split("|")
    assert part.locator("button.tile").count() < len(names)              # attention and later layers are folded
    unfold(part)
    assert sorted(tile.get_attribute("title") for tile in part.locator("button.tile").all()) == sorted(names)
    assert tile(part, WEIGHTS).is_visible()
    assert "[H, T, T_src] = [2, 4, 3]" in " ".join(tile(part, WEIGHTS).inner_text().split())
    shades = tile(part, WEIGHTS).locator("canvas").evaluate(
        "(c) => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size")
    assert shades > 10
    part.get_by_role("button", name="fold all", exact=True).click()
    wait_until(lambda: not tile(part, WEIGHTS).is_visible(), 5, lambda: "nothing folds")
    assert part.locator("button.fold").count() and part.locator("button.fold").first.is_visible()
    assert part.locator("button.tile").locator("visible=true").all_inner_texts()[0].startswith("output")


def test_by_keyboard_a_step_opens_shows_its_numbers_and_closes(notebook, part):
    unfold(part)
    notebook.press(tile(part, WEIGHTS), "Enter")
    canvas, readout = part.locator("canvas.tensor"), part.locator(".readout")
    wait_for(readout, "head 0, “c” (row 3), “a”")                       # of the position that was chosen
    assert canvas.evaluate("(node) => node === document.activeElement")
    expected = notebook.say(f"print(*explorer.values[{WEIGHTS!r}].ravel())").split()
    for keys, head, row, column in [("ArrowUp ArrowRight", 0, 2, 1), ("", 1, 2, 1)]:
        for key in keys.split():
            notebook.press(canvas, key)
        if head:
            notebook.press(part.locator("input[type=radio]").first, "ArrowRight")
        wait_for(readout, f"head {head}, “b” (row {row}), “b”")
        shown = float(re.search(r"[\d.]+$", readout.inner_text())[0])
        assert shown == pytest.approx(float(expected[head * 12 + row * 3 + column]), abs=0.006)
    wait_until(lambda: notebook.say("print(explorer.step, explorer.head)") == f"{WEIGHTS} 1", 5, lambda: "Python was not told")
    notebook.press(canvas, "Escape")
    wait_until(lambda: tile(part, WEIGHTS).evaluate("(node) => node === document.activeElement"), 5, lambda: "the focus is lost")


def test_the_formula_the_marked_line_and_the_way_back(notebook, part):
    notebook.say(f"explorer.move(step={WEIGHTS!r})")
    wait_for(part.locator("mark"), "weights = self.attention_weights(masked_softmax(scores, mask))")
    wait_for(part.locator(".where"), "helpers.attention.MultiHeadAttention.attend")
    wait_for(part.locator(".formula"), "softmax(scores)")
    crumbs = part.locator(".crumbs li").all_inner_texts()
    assert crumbs == ["Transformer", "decoder", "layers[0]", "cross_attn", "attention_weights"]
    part.get_by_role("button", name="step after").click()
    wait_for(part.locator("h3"), "decoder.layers[0].cross_attn.heads")
    part.get_by_role("button", name="cross_attn").click()
    group = part.locator('section[aria-label="decoder.layers[0].cross_attn"] > button.fold')
    wait_until(lambda: group.evaluate("(node) => node === document.activeElement"), 5, lambda: "the focus is lost")
    part.locator('section[aria-label="decoder.layers[0].cross_attn"]').get_by_role("button", name="encoder.norm").click()
    wait_for(part.locator("h3"), "encoder.norm")


def test_the_slider_chooses_the_decoding_step(notebook, part):
    slider = part.locator("input[type=range]")
    before = notebook.fingerprint(tile(part, "output").locator("canvas"))
    notebook.press(slider, "Home")
    wait_for(part.locator(".question"), "after “<bos>” (0)")
    likeliest = notebook.say("print(explorer.content['likeliest'][0][0][0])")
    assert part.locator(".likeliest li").first.inner_text().startswith(likeliest)
    notebook.wait_change(tile(part, "output").locator("canvas"), before)
    wait_until(lambda: notebook.say("print(explorer.position)") == "0", 5, lambda: "Python was not told")


def test_the_whole_answer_is_shown_and_a_click_chooses_its_step(notebook, part):
    expected = notebook.say("print(*[row[0][0] for row in explorer.content['likeliest']])").split()
    tokens = part.locator(".tokens li")
    assert tokens.all_inner_texts() == expected and len(expected) == 4
    assert part.locator(".tokens .chosen").inner_text() == expected[3]
    places = [token.bounding_box() for token in tokens.all()]
    tokens.nth(1).click()
    wait_for(part.locator(".question"), "after “a” (1)")
    assert tokens.nth(1).get_attribute("class") == "chosen" and [token.bounding_box() for token in tokens.all()] == places


def test_a_text_that_is_read_does_not_end_a_drag_of_the_slider(notebook, part):
    """The press on the slider leaves the text's box, which sends the text; its pass comes back during the drag."""
    slider, page = part.locator("input[type=range]"), notebook.page
    part.locator("input[type=text]").fill("fade")
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 8, box["y"] + 12)
    page.mouse.down()
    wait_until(lambda: slider.get_attribute("max") == "4", 20, lambda: "it was not read")
    page.mouse.move(box["x"] + 2, box["y"] + 12)
    wait_for(part.locator(".question"), "after “<bos>” (0)")
    page.mouse.up()
    notebook.say('explorer.texts = {"text": "abc"}')
    wait_until(lambda: slider.get_attribute("max") == "3", 20, lambda: "it was not read")


def test_the_line_that_ran_is_in_view_beside_a_high_tensor(notebook, part):
    """On a small screen, from the top of the explorer."""
    page = notebook.page
    notebook.say(f'explorer.texts = {{"text": {"abcdef" * 6!r}}}')
    before = page.viewport_size
    page.set_viewport_size({"width": 1366, "height": 768})
    try:
        for step in (WEIGHTS, "encoder.layers[1].feed_forward.activation", "encoder.norm"):
            notebook.say(f"explorer.move(step={step!r})")
            wait_for(part.locator("h3"), step)
            part.locator(".model-explorer").evaluate("(node) => node.scrollIntoView()")
            page.wait_for_timeout(300)
            mark, pane = part.locator("mark").bounding_box(), page.locator(".jp-Notebook").bounding_box()
            assert mark["y"] + mark["height"] <= pane["y"] + pane["height"], step
            assert part.locator("mark").evaluate("""(mark) => { const pre = mark.closest('pre');
              return mark.offsetTop >= pre.scrollTop && mark.offsetTop < pre.scrollTop + pre.clientHeight; }"""), step
    finally:
        page.set_viewport_size(before)
        notebook.say('explorer.texts = {"text": "abc"}')


# On how many lines each piece of a name stands that may not be broken.
PIECES = """(names) => names.flatMap((name) => [...name.childNodes].filter((node) => node.nodeType === 3).flatMap((node) =>
  [...node.data.matchAll(/[^ ]+/g)].map((word) => {
    const range = document.createRange();
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    return [word[0], range.getClientRects().length];
  })))"""


def test_on_a_phone_no_name_breaks_in_a_word(notebook, part):
    unfold(part)
    part.locator(".model-explorer").evaluate("(node) => { node.style.width = '266px'; }")
    pieces = part.locator(".name").evaluate_all(PIECES)
    part.locator(".model-explorer").evaluate("(node) => { node.style.width = ''; }")
    assert len(pieces) > 50 and not [text for text, lines in pieces if lines > 1]


def test_pointing_at_a_number_reads_it_and_a_click_keeps_it(notebook, part):
    notebook.say('explorer.move(step="output")')
    canvas, readout = part.locator("canvas.tensor"), part.locator(".readout")
    wait_for(readout, "“c” (row 3), “w0”")
    box = canvas.bounding_box()
    canvas.hover(position={"x": box["width"] - 10, "y": 16})
    wait_for(readout, "“<bos>” (row 0), “w19”")
    part.locator("h3").hover()
    wait_for(readout, "“c” (row 3), “w0”")
    canvas.click(position={"x": box["width"] - 10, "y": 16})
    part.locator("h3").hover()
    wait_for(readout, "“<bos>” (row 0), “w19”")


def test_what_is_typed_runs_through_the_model(notebook, part):
    box = part.locator("input[type=text]")
    box.fill("fade")
    box.press("Enter")
    wait_for(part.locator(".question"), "after “e” (4)")
    assert "[T_src, d_model] = [4, 16]" in " ".join(tile(part, "src_embed.tokens").inner_text().split())
    box.fill("")
    box.press("Enter")
    wait_for(part.locator(".message"), "type a letter")
    wait_for(part.locator(".question"), "after “e” (4)")
    box.fill("abc")
    box.press("Tab")                                                     # leaves the box, which reads it
    wait_for(part.locator(".question"), "after “c” (3)")
    assert part.locator(".message").inner_text() == ""
    assert part.locator("input[type=range]").evaluate("(slider) => slider === document.activeElement"), "the focus is lost"


@pytest.mark.parametrize("step", ["", WEIGHTS])
def test_every_part_keeps_its_keys_and_axe_finds_nothing(notebook, part, step):
    """JupyterLab has shortcuts for single letters: one of them cuts the cell."""
    unfold(part)
    notebook.say(f"explorer.move(step={step!r})")
    part.locator(".detail" if step else ".diagram").wait_for()
    cells = notebook.count_cells()
    for control in part.locator(".model-explorer").locator("input, button, canvas.tensor").all()[:12]:
        for key in "xbd":
            notebook.press(control, key)
    notebook.say('explorer.texts = {"text": "abc"}')
    assert notebook.count_cells() == cells
    assert not findings(notebook.page, ".model-explorer")


@pytest.mark.parametrize("width", [390, 1366])
def test_it_fits_a_phone_and_a_small_screen(notebook, part, width):
    part.locator(".model-explorer").evaluate("(node, width) => { node.style.width = `${width - 40}px`; }", width)
    unfold(part)
    for step in ("", "decoder.layers[1].feed_forward.up"):
        notebook.say(f"explorer.move(step={step!r})")
        part.locator(".detail" if step else ".diagram").wait_for()
        wait_until(lambda: part.locator(".model-explorer").evaluate("(node) => node.scrollWidth <= node.clientWidth"), 5,
                   lambda: f"it is wider than {width}")
    part.locator(".model-explorer").evaluate("(node) => { node.style.width = ''; }")


def test_it_asks_for_nothing_outside_this_machine_and_does_not_complain(notebook):
    outside = [url for url in notebook.asked if not url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "blob:", "data:"))]
    assert notebook.asked and not outside and not notebook.complaints
