"""The site, opened from the disk: it asks for nothing, fits a phone, and its explorers answer."""
import contextlib
import re
import urllib.parse

import nbformat
import pytest

from tests.browser.labdriver import FINGERPRINT, findings, wait_until
from tests.notebooks import NAMES, ROOT, read, text_cells
from tools.execute import KERNEL
from tools.site import __main__ as website
from tools.site.__main__ import VIEW

LIVE = ["03_masked_softmax", "13_bert"]                                 # cheap to run; one map, and a grid
PHONE = {"width": 390, "height": 844}
FORMULA = r"\$\$.+?\$\$|\$.+?\$"

TYPED = """import torch
from helpers.widgets import AttentionExplorer
def read(text):
    return {"weights": torch.eye(2), "query_tokens": text.split(), "key_tokens": text.split()}
AttentionExplorer.of_texts(read, text="one two")"""
COMPARED = """import torch
from helpers.widgets import AttentionExplorer
q = torch.randn(2, 3, 2, 4, generator=torch.Generator().manual_seed(0))
weights = (q @ q.mT / 2).softmax(-1)
AttentionExplorer(weights, ["one", "two"], ["one", "two"], effect=weights - 0.5, vectors=(q, q))"""
OPENED = """import torch
from helpers.transformer import GPT
from helpers.widgets import ModelExplorer
torch.manual_seed(0)
model = GPT(9, 8, 2, 12, 1)
read = lambda text: {"model": model, "inputs": (torch.arange(3).unsqueeze(0),), "tokens": text.split()}
ModelExplorer.of_texts(read, text="one two three")"""

HREFS = "links => links.map((link) => link.getAttribute('href'))"
FOLDED = "nodes => nodes.map((node) => [node.querySelector('summary').innerText.trim(), node.textContent.trim()])"
# What stands on a page outside code, and formulas as one letter.
WORDS = """() => {
  const page = document.body.cloneNode(true);
  page.querySelectorAll('pre, code, script, math').forEach((node) => node.replaceWith('x'));
  return page.textContent;
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course") / "site"
    website.build(folder, LIVE)
    return folder


@contextlib.contextmanager
def pages(browser):
    """Opens pages on a phone without a network, and fails at the end if one asked for anything, or complained."""
    context = browser.new_context(viewport=PHONE, offline=True)
    asked, said = [], []

    def open_page(path):
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        return page
    yield open_page
    context.close()
    assert asked and not [url for url in asked if not url.startswith(("file:", "data:"))]
    assert not said


@pytest.fixture
def opened(browser, site):
    """Opens a page of the site, or of another folder."""
    with pages(browser) as open_page:
        yield lambda name, folder=site: open_page(folder / f"{name}.html")


def unfold(page):
    """Open, as a reader does, the outputs that answer a Predict."""
    for summary in page.locator("details.predict > summary").all():
        summary.click()


@pytest.mark.parametrize("name", ["index", "glossary", *NAMES])
def test_a_page_is_whole_and_fits_a_phone(opened, site, name):
    page = opened(name)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    for alt, drawn in page.locator("img").evaluate_all("images => images.map((i) => [i.alt, i.complete && i.naturalWidth > 0])"):
        assert drawn and len(alt) > 20, alt
    for link in page.locator("a").evaluate_all(HREFS):
        target, _, anchor = link.partition("#")
        if not urllib.parse.urlparse(link).scheme:
            assert not target or (site / target).exists(), link
            whole = (site / (target or f"{name}.html")).read_text(encoding="utf-8")
            assert not anchor or f'id="{urllib.parse.unquote(anchor)}"' in whole, link
    for summary, whole in page.locator(".prose details").evaluate_all(FOLDED):
        assert len(whole) > len(summary) + 5, f"nothing is folded under {summary}"
    if name in NAMES:
        assert page.locator(".solution").count() and not page.locator("details[open]").count()
        place = NAMES.index(name)
        steps = {"prev": NAMES[max(place - 1, 0):place], "next": NAMES[place + 1:place + 2]}
        for way, names in steps.items():                                # at the top and at the bottom
            assert page.locator(f"[rel={way}]").evaluate_all(HREFS) == 2 * [f"{other}.html" for other in names]
        text = "\n\n".join(cell.source for cell in text_cells(read(ROOT / "notebooks" / f"{name}.ipynb")))
        formulas = re.findall(FORMULA, re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S), flags=re.S)
        assert page.locator("math").count() == len(formulas)
        assert page.locator("math merror").count() == 0
    words = page.evaluate(WORDS)
    assert not re.search(FORMULA + r"|\*\*|```|\]\(|flowchart", words), words


@pytest.mark.parametrize("name", ["index", "glossary", "01_nadaraya_watson", *LIVE])
def test_nothing_stands_in_the_way_of_a_reader(opened, name):
    page = opened(name)
    page.evaluate("() => document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    assert not findings(page)


@pytest.mark.parametrize("name", LIVE)
def test_an_explorer_answers_to_the_keyboard_alone(opened, name):
    page = opened(name)
    unfold(page)
    explorer = page.locator(".explorer")
    picture, readout = explorer.locator("canvas.map"), explorer.locator(".readout")
    slider = explorer.locator("input[type=range]").last
    for move in ("Home", "ArrowRight", "End"):
        before, said = picture.evaluate(FINGERPRINT), readout.inner_text()
        slider.focus()
        page.keyboard.press(move)
        wait_until(lambda said=said: readout.inner_text() != said, 5, readout.inner_text)
        assert picture.evaluate(FINGERPRINT) != before
    slider.focus()
    page.keyboard.press("Tab")
    while page.evaluate("() => ['INPUT', 'BUTTON'].includes(document.activeElement.tagName)"):
        page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "map"
    said = readout.inner_text()
    page.keyboard.press("ArrowRight")
    wait_until(lambda: readout.inner_text() != said, 5, readout.inner_text)


def test_an_explorer_shows_the_weights_of_its_lesson(opened):
    page = opened("03_masked_softmax")
    unfold(page)
    readout, slider = page.locator(".readout"), page.locator(".explorer input[type=range]")
    assert readout.inner_text().startswith("query “at” → key “a”: 0.2")
    slider.press("Home")
    wait_until(lambda: readout.inner_text() == "query “a” → key “a”: 1.0000", 5, readout.inner_text)
    page.locator("canvas.map").press("ArrowRight")
    wait_until(lambda: "hidden by the mask" in readout.inner_text(), 5, readout.inner_text)


def test_a_lab_answers_on_the_page_of_its_lesson(opened, site):
    page = opened("03_masked_softmax")
    lab, note = page.locator(".recorded"), page.locator(".recorded p[role=status]")
    picture = lab.locator("canvas")
    for name, entry in (("start from", "all shown"), ("layers", "2")):
        said = lab.get_by_role("img").get_attribute("alt") or picture.get_attribute("aria-label")
        lab.get_by_role("combobox", name=name).select_option(entry)
        wait_until(lambda said=said: picture.count() and picture.get_attribute("aria-label") != said, 10, note.inner_text)
    assert picture.get_attribute("aria-label").startswith("64 visible cells, layers: 2.") and not note.inner_text()
    before = picture.evaluate(FINGERPRINT)
    lab.get_by_role("slider", name="query").press("ArrowRight")
    wait_until(lambda: "query 4" in note.inner_text() or picture.evaluate(FINGERPRINT) != before, 10, note.inner_text)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    assert not findings(page, ".recorded")


def test_a_page_weighs_at_most_a_megabyte_before_a_lab_is_touched(site):
    for name in NAMES:
        assert (site / f"{name}.html").stat().st_size < 1e6, name


def test_a_link_opens_the_same_cell(opened):
    page = opened("13_bert")
    unfold(page)
    explorer = page.locator(".explorer")
    explorer.get_by_role("slider", name="head").press("End")
    explorer.locator("input[value=lines]").check()
    explorer.get_by_role("listbox", name="keys").press("ArrowDown")
    page.wait_for_timeout(500)
    said, address = page.locator(".readout").inner_text(), page.evaluate("() => window.location.href")
    assert "rollout" in said and "key=3" in address
    page.reload()
    assert page.locator(".readout").inner_text() == said and page.locator(".explorer canvas.lines").is_visible()
    page.goto(address.replace("query=", "query=9"))                     # no such query: as the lesson has it
    page.reload()
    unfold(page)
    assert page.locator(".explorer canvas.map").is_visible() and "rollout" not in page.locator(".readout").inner_text()


def build_cell(folder, source, kind):
    """Write the page of a lesson that is one cell with an explorer or a lab; returns its name."""
    name, dot = NAMES[0], "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg=="
    data = {"text/plain": f"{kind}(...)", VIEW: {"model_id": "from the run before"}, "image/png": dot}
    metadata = {"image/png": {"alt": "Two words, each looks at itself.", "width": 1}}
    output = nbformat.v4.new_output("execute_result", data, metadata=metadata)
    cells = [nbformat.v4.new_code_cell(source, outputs=[output])]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), folder / f"{name}.ipynb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(website, "PATHS", [folder / f"{name}.ipynb"])
        website.build(folder, [name])
    return name


@pytest.fixture
def made(opened, tmp_path):
    """Opens the page of a lesson that is one cell with an explorer."""
    return lambda source, kind: opened(build_cell(tmp_path, source, kind), tmp_path)


def test_what_needs_a_kernel_says_so(made):
    page = made(TYPED, "AttentionExplorer")
    box, readout = page.locator(".explorer input[type=text]"), page.locator(".readout")
    assert box.is_disabled() and box.input_value() == "one two"
    assert page.get_by_text("The text can be changed in the notebook").is_visible()
    page.locator(".explorer input[type=range]").press("End")
    wait_until(lambda: readout.inner_text() == "query “two” → key “one”: 0.0000", 5, readout.inner_text)


def test_a_link_holds_what_is_compared_and_the_switches(made):
    page = made(COMPARED, "AttentionExplorer")
    explorer = page.locator(".explorer")

    def state():
        choosers = [explorer.get_by_role("group", name=f"{which} map").locator("input") for which in ("first", "second")]
        places = [sliders.evaluate_all("nodes => nodes.map((node) => node.value)") for sliders in choosers]
        pictures = explorer.locator("canvas.map").evaluate_all(f"nodes => nodes.map({FINGERPRINT})")
        return explorer.locator(".readout").inner_text(), places, explorer.locator(".steps").inner_text(), pictures
    explorer.get_by_label("compare").check()                            # keeps weights
    explorer.get_by_role("group", name="first map").get_by_role("slider", name="layer").press("End")
    explorer.get_by_role("radio", name="effect").check(force=True)      # beside effects
    explorer.get_by_role("button", name="neuron view").press("Enter")
    explorer.get_by_role("radio", name="of the key").check(force=True)
    page.wait_for_timeout(500)
    before = state()
    assert before[1] == [["1", "0"], ["0", "1"]] and "effect" in before[0] and len(set(before[3])) == 2
    page.reload()
    wait_until(lambda: explorer.locator(".steps").count(), 5, explorer.inner_text)
    assert state() == before
    assert "is looked at by" in explorer.locator(".aside canvas.bars").get_attribute("aria-label")


def test_a_model_opens_without_a_kernel(made):
    page = made(OPENED, "ModelExplorer")
    explorer = page.locator(".explorer")
    assert explorer.locator("input[type=text]").is_disabled()
    explorer.locator("input[type=range]").press("Home")
    assert explorer.locator(".question").inner_text() == "after “one” (0):"
    explorer.locator('button.tile[title="output"]').press("Enter")
    wait_until(lambda: explorer.locator(".readout").inner_text().startswith("“one” (row 0), “0”: "), 5, explorer.inner_text)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    assert not findings(page, ".explorer")


def test_without_scripts_every_picture_is_there(browser, site):
    page = browser.new_page(java_script_enabled=False)
    page.goto((site / "03_masked_softmax.html").as_uri())
    unfold(page)
    picture = page.locator(".explorer img")
    assert picture.is_visible() and picture.get_attribute("alt")
    page.close()
