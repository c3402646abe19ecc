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
PAGES = ["index", "glossary", "teach", "answers", *NAMES]
COLOURED = "00_start_here"                                              # axe looks at its code, too
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1366, "height": 768}
FORMULA = r"\$\$.+?\$\$|\$.+?\$"

TYPED = """import torch
from helpers.widgets import AttentionExplorer
def read(text):
    return {"weights": torch.eye(2), "query_tokens": text.split(), "key_tokens": text.split()}
AttentionExplorer.of_texts(read, text="one two")"""
TOUCHED = """import torch
from helpers.widgets import AttentionExplorer
def read(text):
    def change(changes=()):
        return "one", torch.eye(2), ["one", "two"], ["one", "two"]
    return {"weights": torch.eye(2), "query_tokens": ["one", "two"], "key_tokens": ["one", "two"], "change": change}
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
WIDTH = "() => document.documentElement.scrollWidth"
FIRST_PAINT = """() => new Promise((done) => new PerformanceObserver((list) => list.getEntriesByName('first-contentful-paint')
  .forEach((paint) => done(paint.startTime))).observe({ type: 'paint', buffered: true }))"""
SEARCHED = """async () => {
  const sections = await loadIndex();
  vocabularyOf(sections);
  return ['atention snik', 'softmax', 'Tranformer layers', 'xylophone', 'the a', 'embeding'].flatMap((query) => {
    const began = performance.now();
    search(sections, query);
    return performance.now() - began;
  }).sort((a, b) => a - b);
}"""
# The boxes that hold more than they show and do not say so.
UNMARKED = """() => [...document.querySelectorAll('.wide, pre, .formula')]
  .filter((box) => box.scrollWidth > box.clientWidth + 1)
  .filter((box) => box.tabIndex || !box.dataset.more?.includes('right') || getComputedStyle(box).boxShadow === 'none'
    || (box.matches('.picture') && getComputedStyle(box, '::before').visibility !== 'visible'))
  .map((box) => box.outerHTML.slice(0, 200))"""
# Of each drawing the height of its smallest letters in pixels, of each picture its width beside that in a notebook.
SIZES = """() => {
  const drawings = [...document.querySelectorAll('.drawing svg')], width = (node) => node.getBoundingClientRect().width;
  const letters = (text) => parseFloat(getComputedStyle(text).fontSize);
  const smallest = (svg) => Math.min(...[...svg.querySelectorAll('text')].map(letters));
  const pictures = [...document.querySelectorAll('.picture img')].filter((image) => image.checkVisibility());
  return [...drawings.map((svg) => ['svg', smallest(svg) * width(svg) / svg.viewBox.baseVal.width]),
    ...pictures.map((image) => [image.alt, width(image) / image.getAttribute('width')])];
}"""
# The height of the highest thing that is printed on one page.
UNBROKEN = """() => Math.max(...[...document.querySelectorAll('main *')].filter((node) => node.checkVisibility())
  .filter((node) => getComputedStyle(node).breakInside !== 'auto' || ['IMG', 'CANVAS', 'svg'].includes(node.tagName))
  .map((node) => node.getBoundingClientRect().height))"""
# How far things moved that nobody had touched.
SHIFTS = """window.shifted = 0;
new PerformanceObserver((list) => list.getEntries().forEach((shift) => { window.shifted += shift.value; }))
  .observe({ type: 'layout-shift', buffered: true });"""
SCROLL = """async () => {
  for (let y = 0; y < document.body.scrollHeight; y += 600) {
    scrollTo(0, y);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  }
}"""
# What stands on a page outside code, and formulas as one letter.
WORDS = """() => {
  const page = document.body.cloneNode(true);
  page.querySelectorAll('pre, code, script, math, .mistakes').forEach((node) => node.replaceWith('x'));
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
    """Open, as a reader does, the part for the curious, and the outputs that answer a Predict."""
    for fold in ("more", "predict"):
        for summary in page.locator(f"details.{fold} > summary").all():
            summary.click()


@pytest.fixture(scope="module")
def shared_page(browser):
    """One page for all of the site, and what it complained of."""
    page, said = browser.new_page(viewport=DESK), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.add_init_script(SHIFTS)
    yield page, said
    page.close()


@pytest.fixture
def visit(shared_page, site):
    """Opens a page of the site in the shared one, 1366 pixels wide, in the light theme; fails at the end if it complained."""
    page, said = shared_page

    def open_page(name):
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(DESK)
        page.goto((site / f"{name}.html").as_uri())
        return page
    yield open_page
    assert not said
    said.clear()


@pytest.mark.parametrize("name", PAGES)
def test_nothing_stands_in_the_way_of_a_reader(visit, name):
    """In both themes; of the code only one page keeps its colours, for they make axe slow."""
    page = visit(name)
    page.evaluate("() => document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    if name != COLOURED:
        page.evaluate("() => document.querySelectorAll('pre.code code').forEach((node) => { node.textContent += ''; })")
    light = findings(page)
    page.emulate_media(color_scheme="dark")
    assert not light + findings(page, runOnly=["color-contrast"])


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_comes_at_once_and_fits(visit, site, name):
    page = visit(name)
    assert page.evaluate(FIRST_PAINT) < 1000
    assert page.locator("nav.contents details[open]").count() == page.locator("nav.contents").count()
    page.evaluate(SCROLL)
    assert page.evaluate("() => window.shifted") < 0.01
    assert page.evaluate(WIDTH) <= DESK["width"]
    page.set_viewport_size(PHONE)
    assert page.evaluate(WIDTH) <= PHONE["width"]
    assert not page.locator("nav.contents details[open]").count()
    wait_until(lambda: not page.evaluate(UNMARKED), 5, lambda: str(page.evaluate(UNMARKED)))
    for kind, size in page.evaluate(SIZES):
        assert size >= (10 if kind == "svg" else 0.75), (kind, size)
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


def options_of(page, text):
    """(address, words) of what the search finds."""
    page.locator("#search").fill(text)
    wait_until(lambda: page.locator(".found p").inner_text(), 5, page.locator("header").inner_text)
    read_all = "options => options.map((option) => [option.getAttribute('href'), option.innerText])"
    return page.get_by_role("option").evaluate_all(read_all)


def test_a_word_is_found_at_its_section(opened):
    page = opened("01_nadaraya_watson")
    page.set_viewport_size(DESK)
    page.keyboard.press("/")
    assert page.evaluate("() => document.activeElement.id") == "search"
    found = options_of(page, "attention sink")
    assert found[0][0] == "glossary.html#attention-sink" and found[1][0].startswith("16_real_bert.html#")
    assert "16 · Inside a real BERT" in found[1][1] and "What do the heads look at?" in found[1][1]
    snippet = page.get_by_role("option").nth(1).locator(".snippet")
    assert snippet.locator("mark").all_inner_texts() == ["attention", "sink"]
    assert len(found) <= 20 and not findings(page, "header.bar")
    best = {"softmax": "glossary.html#softmax", "masked softmax": "glossary.html#masked-softmax",
            "MASKS": "03_masked_softmax.html#", "attention sinks": "glossary.html#attention-sink",
            "where to go": "17_further.html#where-to-go-next"}
    for text, address in best.items():
        assert options_of(page, text)[0][0].startswith(address), text
    introduced = {"softmax": ("01_nadaraya_watson.html#", "By hand"), "sink": ("16_real_bert.html#", "What do the heads look at?")}
    for text, (address, heading) in introduced.items():
        where, words = options_of(page, text)[1]
        assert where.startswith(address) and heading in words, text
    assert not options_of(page, "xylophone") and page.locator(".found p").inner_text() == "no places"
    assert all(options_of(page, part) is not None for part in ("[CLS]", "(", "\\", "*", "a" * 300))


def test_a_result_leads_to_the_words(opened):
    """Also where the heading of their section is far above."""
    page = opened("00_start_here")
    page.set_viewport_size(DESK)
    for text in ("attention sink", "residual stream", "label smoothing"):
        options_of(page, text)
        lesson = page.locator(".found a[href]:not([href^=glossary])").first
        page.goto(page.url.rsplit("/", 1)[0] + "/" + lesson.get_attribute("href"))
        inside = page.evaluate("""(words) => {
            const at = document.querySelector(':target'), cell = at.closest('section.prose') ?? at;
            return cell.getBoundingClientRect().top < 300 && cell.innerText.toLowerCase().includes(words);
        }""", text)
        assert inside, (text, page.url)


def test_one_mistake_in_typing_is_forgiven_where_nothing_is_found(opened):
    page = opened("glossary")
    page.set_viewport_size(DESK)
    meant = {"sofmax": "softmax", "softmaxx": "softmax", "softnax": "softmax", "sotfmax": "softmax",
             "atention snik": "attention-sink", "paddding mask": "padding-mask",
             "embeding": "embedding", "Tranformer": "transformer"}
    for typed, found in meant.items():
        exact = options_of(page, found.replace("-", " "))
        results = options_of(page, typed)
        assert results[0][0] == exact[0][0] and found in results[0][0], (typed, results[:3])
        assert page.locator(".found p").inner_text().startswith("not found as typed; with ")
    assert options_of(page, "tokenisers")[0][0].startswith("13_bert.html#")                   # another ending: tokenizers
    options_of(page, "sofmax")
    assert page.locator(".found mark").first.inner_text().lower() == "softmax" and not findings(page, "header.bar")
    for nothing in ("xylophone", "sfx", "softmax xylophone"):
        assert not options_of(page, nothing) and page.locator(".found p").inner_text() == "no places", nothing
    times = page.evaluate(SEARCHED)
    print("ms of a search:", [round(time) for time in times])
    assert times[len(times) // 2] < 50, times


def test_searching_leaves_the_page_where_it_is(opened):
    page = opened("03_masked_softmax")
    page.evaluate("window.scrollTo(0, 6000)")
    page.keyboard.press("/")
    page.keyboard.type("attention sink")
    assert page.locator("#search").input_value() == "attention sink" and page.evaluate("window.scrollY") == 6000


def test_the_search_is_used_by_keyboard_alone(opened):
    page = opened("03_masked_softmax")
    page.keyboard.press("/")
    box, panel = page.locator("#search"), page.locator(".found")
    options_of(page, "padding mask")
    for key, chosen in [("ArrowDown", 0), ("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", -1), ("ArrowDown", 0)]:
        page.keyboard.press(key)
        option = page.locator("#found").get_by_role("option").nth(chosen)
        assert option.get_attribute("aria-selected") == "true"
        assert box.get_attribute("aria-activedescendant") == option.get_attribute("id")
        assert page.locator("#found").get_by_role("option", selected=True).count() == 1
    page.keyboard.press("Escape")
    assert panel.is_hidden() and box.get_attribute("aria-expanded") == "false" and box.input_value() == "padding mask"
    options_of(page, "residual connections and norms")
    page.keyboard.press("Enter")
    page.wait_for_url("**/07_transformer.html#what-do-residual-connections-and-norms-do")
    assert 0 < page.locator("#what-do-residual-connections-and-norms-do").bounding_box()["y"] < 200


def test_the_contents_follow_the_scroll(opened):
    page = opened("05_multi_head_attention")
    page.set_viewport_size(DESK)
    contents = page.locator("nav.contents")
    for place in (3, 0, -1):
        link = contents.get_by_role("link").nth(place)
        link.click()
        wait_until(lambda link=link: link.get_attribute("aria-current") == "true", 5, contents.inner_text)
        assert contents.locator("[aria-current]").count() == 1
        assert page.evaluate("() => decodeURI(location.hash)") == link.get_attribute("href")
    page.mouse.move(700, 400)                                # over the text: over long contents a wheel moves these
    page.mouse.wheel(0, -100_000)
    wait_until(lambda: contents.get_by_role("link").first.get_attribute("aria-current"), 5, contents.inner_text)


def test_what_is_for_the_curious_is_folded_until_a_link_leads_there(opened):
    page = opened("03_masked_softmax")
    heading = page.locator("details.more h3").last
    assert page.locator("details.more").count() == 1 and not heading.is_visible()
    page.evaluate("(id) => { location.hash = id; }", heading.get_attribute("id"))
    heading.wait_for(state="visible")


def test_a_heading_shows_its_link(opened):
    page = opened("03_masked_softmax")
    page.set_viewport_size(DESK)
    heading = page.locator("main h2").nth(1)
    sign = """(node) => {
      const { content, opacity } = getComputedStyle(node.firstElementChild, '::after');
      return [content.slice(1, 3), opacity];
    }"""
    assert heading.evaluate(sign) == ["\u00a0¶", "0"]
    heading.hover()
    assert heading.evaluate(sign) == ["\u00a0¶", "1"]
    heading.get_by_role("link").click()
    assert page.url.endswith("#" + heading.get_attribute("id"))


def test_code_is_copied(opened):
    page = opened("03_masked_softmax")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    listing = page.locator(".listing", has_text="import torch").first
    listing.get_by_role("button", name="Copy this code").click()
    wait_until(lambda: listing.get_by_role("button").inner_text() == "Copied", 5, listing.inner_text)
    assert page.evaluate("() => navigator.clipboard.readText()") == listing.locator("code").inner_text().rstrip("\n")


def test_where_the_clipboard_is_forbidden_code_is_copied_as_by_hand(opened):
    page = opened("03_masked_softmax")
    page.evaluate("""() => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined });
      document.addEventListener('copy', () => { window.copied = getSelection().toString(); });
      window.copied = '';
    }""")
    listing = page.locator(".listing", has_text="import torch").first
    listing.get_by_role("button").click()
    assert page.evaluate("() => window.copied").strip() == listing.locator("code").inner_text().strip()


def test_a_word_shows_its_meaning(opened):
    page = opened("03_masked_softmax")
    page.set_viewport_size(DESK)
    word, meaning = page.get_by_role("link", name="sequence length"), page.get_by_role("tooltip")
    for show in (word.hover, word.focus):
        show()
        wait_until(meaning.is_visible, 5, lambda: page.url)
        assert meaning.inner_text() == "The number of tokens of a text."
        assert word.get_attribute("aria-describedby") == meaning.get_attribute("id")
        page.keyboard.press("Escape")
        assert meaning.is_hidden() and not word.get_attribute("aria-describedby")
        page.mouse.move(0, 0)
    word.hover()
    wait_until(meaning.is_visible, 5, lambda: page.url)
    meaning.hover()                                                     # it stays while it is read
    page.wait_for_timeout(500)
    assert meaning.is_visible()
    page.mouse.move(0, 0)
    wait_until(meaning.is_hidden, 5, lambda: page.url)


def test_the_first_tap_shows_a_meaning_and_the_second_follows(browser, site):
    page = browser.new_page(viewport=PHONE, has_touch=True)
    page.goto((site / "03_masked_softmax.html").as_uri())
    word, meaning = page.get_by_role("link", name="sequence length"), page.get_by_role("tooltip")
    word.tap()
    wait_until(meaning.is_visible, 5, lambda: page.url)
    box = meaning.bounding_box()
    assert page.url.endswith("softmax.html") and box["x"] > 0 and box["x"] + box["width"] < PHONE["width"]
    word.tap()
    page.wait_for_url("**/glossary.html#sequence-length")
    page.close()


def test_the_theme_is_chosen_and_kept(opened):
    page = opened("index")
    button, paper = page.get_by_role("button", name="Dark theme"), "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    assert button.get_attribute("aria-pressed") == "false"
    button.press("Enter")
    dark = page.evaluate(paper)
    assert dark != light and button.get_attribute("aria-pressed") == "true"
    other = opened("glossary")
    assert other.evaluate(paper) == dark
    other.get_by_role("button", name="Dark theme").click()
    assert other.evaluate(paper) == light
    other.emulate_media(color_scheme="dark")                            # what was chosen counts more
    assert other.evaluate(paper) == light


def test_without_storage_the_theme_holds_for_the_page(opened):
    page = opened("index")
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('forbidden'); } })")
    page.reload()
    page.get_by_role("button", name="Dark theme").click()
    assert page.evaluate("() => getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_paper_shows_the_text_and_nothing_to_press(opened):
    page = opened("03_masked_softmax")
    unfold(page)
    page.evaluate("() => document.querySelectorAll('details').forEach((node) => { node.open = false; })")
    page.locator("details.solution > summary").first.click()
    page.emulate_media(media="print", color_scheme="dark")
    for hidden in ("header.bar", "nav.contents", "nav.steps", ".copy", ".claims"):
        assert not any(node.is_visible() for node in page.locator(hidden).all()), hidden
    assert page.locator("details.predict .printed").first.is_visible()
    assert [node.is_visible() for node in page.locator("details.solution").all()].count(True) == 1
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".explorer > :visible").evaluate_all("nodes => nodes.map((node) => node.tagName)") == ["IMG"]
    assert not page.locator(":is(input, select, button, textarea):visible").count()


@pytest.mark.parametrize("name", LIVE)
def test_paper_is_neither_left_half_empty_nor_too_narrow(opened, name):
    """An A4 page has 984 pixels of text: what is higher than half of that and may not be broken could leave half a page empty."""
    page = opened(name)
    page.set_viewport_size({"width": 673, "height": 984})
    page.emulate_media(media="print")
    assert page.locator(".wide img:visible").count() and page.evaluate(UNBROKEN) <= 984 / 2
    assert page.evaluate(WIDTH) <= 673


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


def test_a_lab_answers_on_the_page_of_its_lesson(opened):
    page = opened("03_masked_softmax")
    lab = page.locator(".computed")
    picture = lab.locator("[role=img]")
    for name, entry in (("start from", "all shown"), ("layers", "2")):
        said = picture.get_attribute("aria-label")
        lab.get_by_role("combobox", name=name).select_option(entry)
        wait_until(lambda said=said: picture.get_attribute("aria-label") != said, 60, lab.inner_text)
    assert picture.get_attribute("aria-label").startswith("64 visible cells, layers: 2.")
    assert page.evaluate(WIDTH) <= PHONE["width"]
    assert not findings(page, ".computed")


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
    assert "rollout" in said and "key=8" in address
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
    metadata = {"image/png": {"alt": "Two words, each looks at itself.", "width": 1, "height": 1}}
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


def test_where_the_first_page_runs_a_model_its_lesson_says_so(made):
    page = made(TOUCHED, "AttentionExplorer")
    why, elsewhere = page.locator(".explorer .why"), page.locator(".explorer .elsewhere")
    assert "needs a running notebook" in why.inner_text()
    assert elsewhere.inner_text() == "The first page of this site runs this model: type a date there, and cut its weights."
    below = why.bounding_box()["y"] - elsewhere.bounding_box()["y"]
    assert 0 < below < 150 and not findings(page, ".explorer")
    elsewhere.get_by_role("link").click()
    page.wait_for_url("**/index.html#live-dates")
    assert page.locator("#live-dates").is_visible() and page.locator("#live-translator").count() == 1


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
