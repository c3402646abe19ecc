"""The models on the site's first page: in plain JavaScript, without a network, they answer as the ones in Python do."""
import random
from functools import partial

import pytest
import torch

from helpers.data.dates import load_dates
from helpers.generation import translate
from helpers.hooks import effects, what_if
from helpers.pretrained.dates import TARGET, date_model, encode, read_date
from helpers.pretrained.translator import load_translator
from helpers.text import BOS, pad
from tests.browser.labdriver import findings, wait_until
from tests.notebooks import ROOT
from tools.site import __main__ as website

SUNDAY, PHONE, DESK = "sunday november 30 1997", {"width": 390, "height": 844}, {"width": 1366, "height": 768}
SENTENCES = ["Where is my blue hat?", "I would like a cup of tea, please.", "She didn't tell me that she was leaving", "HELLO",
             "Unbelievably, the zebras skedaddled!"]
LETTERS = ["0123456789", " ,.-/'", "abcdefghijlmnoprstuvwy", "ABCXYZ", " \t\u00a0\u2003\u3000\u0085\ufeff\u200b", "’‘–—−‐",
           "éßœİΣςﬁ３Ⅳ½", "日本語Привет", "🎉\u0301\u202e\u0000\x1c\x1f", "<>&\"\\$`"]

LOGITS = """async ([name, rows]) => {
  const { model } = await readerOf(arrived[name]);
  return rows.map(([src, tgt]) => {
    const cache = model.start(src);
    return tgt.map((id) => Array.from(model.step(id, cache)));
  });
}"""
# Answers with cuts, and the maps of the first layer; typed as a reader types.
CHANGED = """async ([name, rows]) => {
  const reader = await readerOf(arrived[name]);
  return rows.map(([text, cuts]) => {
    const steps = reader.answer(reader.read(text).ids, cuts);
    return [reader.text(steps), steps.map(({ maps }) => maps.map((heads) => heads.map((row) => Array.from(row))))];
  });
}"""
TYPED = """([name, texts]) => {
  const section = document.querySelector(`[data-model=${name}]`), box = section.querySelector("input[type=text]");
  return texts.map((text) => {
    box.value = text;
    section.querySelector("form").requestSubmit();
    const [columns, rows] = ["thead th", "tbody th"].map((cells) => [...section.querySelectorAll(cells)]);
    return [section.querySelector(".trouble").textContent, section.classList.contains("silent"), columns.length,
      rows.map((th) => th.textContent).join("")];
  });
}"""
TELL = """() => {
  const output = document.querySelector("[data-model=dates] .before"), told = window.told = [];
  const tell = () => told.push([output.textContent, output.getAttribute("aria-busy")]);
  new MutationObserver(tell).observe(output, { childList: true });
}"""
SHIFTS = """() => {
  window.shift = 0;
  const add = (list) => list.getEntries().forEach(({ value }) => { window.shift += value; });
  new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
}"""
ANSWERED_IN = """() => {
  const start = performance.now();
  document.querySelector("[data-model=translator] form").requestSubmit();
  return performance.now() - start;
}"""
SHOWN = """(section) => [...section.querySelectorAll("tr")].map((row) => [...row.cells].map((cell) =>
  [cell.textContent, cell.style.background.match(/\\d+/g)?.map(Number) ?? []]))"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course") / "site"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(website, "PATHS", [])                             # no lesson
        website.build(folder, [])
    return folder


@pytest.fixture(scope="module")
def first_page(browser, site):
    """Opens the first page as given; the page may ask for nothing but its files, and complain of nothing."""
    contexts, asked, said = [], [], []

    def open_page(folder=site, ready=True, **options):
        contexts.append(browser.new_context(**{"viewport": PHONE, "offline": True, **options}))
        page = contexts[-1].new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto((folder / "index.html").as_uri())
        if ready:
            page.wait_for_selector("[data-model=dates][data-state=ready]")
        return page
    yield open_page
    for context in contexts:
        context.close()
    assert asked and not [url for url in asked if not url.startswith(("file:", "data:"))]
    assert not said


@pytest.fixture(scope="module")
def page(first_page):
    return first_page()


@pytest.fixture(scope="module")
def translating(first_page):
    page = first_page(viewport=DESK)
    page.get_by_role("button", name="open the translator").click()
    page.wait_for_selector("[data-model=translator][data-state=ready]")
    return page


@pytest.fixture(scope="module")
def model():
    return date_model()


@pytest.fixture
def dates(page):
    """The part of the page with the date model, as it is at first."""
    dates = page.locator("[data-model=dates]")
    dates.get_by_role("textbox").fill(SUNDAY)
    page.keyboard.press("Enter")
    dates.get_by_role("radio", name="2").check()
    wait_until(lambda: dates.locator(".before").inner_text() == "1997-11-30", 5, dates.inner_text)
    return dates


def with_cuts(model, run, cuts):
    """(answer, weights [layer, head, T, T_src]) of the model in Python, for cuts as the page has them."""
    changes = [{"kind": "cut", "index": [cut["layer"], cut["head"]], "query": cut["query"], "key": cut["key"]} for cut in cuts]
    return what_if(model, run, where="cross_attn")(changes)


def cell(section, query, key):
    return section.locator("tbody tr").nth(query).locator("td").nth(key)


def test_the_model_is_short():
    assert len((ROOT / "tools" / "site" / "pages" / "model.js").read_text(encoding="utf-8").splitlines()) <= 200


@torch.no_grad()
def test_logits_are_those_of_torch(page, model):
    pairs = load_dates(0, 200)[1]
    rows = [[encode(written), [BOS, *TARGET.encode(iso)]] for written, iso in pairs]
    for (src, tgt), logits in zip(rows, page.evaluate(LOGITS, ["dates", rows])):
        assert torch.allclose(torch.tensor(logits), model(*pad([src]), torch.tensor([tgt]))[0], atol=1e-4, rtol=0)


def test_cuts_answer_as_in_python(page, model):
    rng, rows = random.Random(0), []
    for written, _ in load_dates(0, 40)[1]:
        count = rng.choice([0, 1, 1, 2, 6])
        cuts = [{"layer": 0, "head": rng.randrange(4), "query": rng.randrange(8), "key": rng.randrange(len(encode(written)))}
                for _ in range(count)]
        rows.append([written, cuts])
    for (written, cuts), (answer, maps) in zip(rows, page.evaluate(CHANGED, ["dates", rows])):
        expected, weights = with_cuts(model, partial(read_date, model, written), cuts)
        assert answer == expected[0]
        assert torch.allclose(torch.tensor(maps).permute(1, 2, 0, 3), weights[:, :, :len(answer)].nan_to_num(0.0), atol=1e-4)


def test_digits_come_one_after_another(page, dates, model):
    text = "3rd of May, '01"
    page.evaluate(TELL)
    dates.get_by_role("textbox").fill(text)
    answer, weights = read_date(model, text)
    wait_until(lambda: page.evaluate("() => window.told.at(-1)") == [answer, "false"], 10, dates.inner_text)
    told = page.evaluate("() => window.told")
    begun = next(i for i, (shown, _) in enumerate(told) if shown == "")
    assert told[begun:] == [[answer[:i], "true" if i < len(answer) else "false"] for i in range(len(answer) + 1)]
    assert dates.locator("tbody th").all_inner_texts() == list(answer)
    assert dates.locator("thead th").count() == weights.shape[-1]
    assert dates.locator("tr.waiting").count() == 0


def test_a_cut_shows_the_answer_and_the_effect(page, dates, model):
    src, lengths = pad([encode(SUNDAY)])
    inputs = src, lengths, torch.tensor([[BOS, *TARGET.encode("1997-11-30")]])
    changes = effects(model, inputs, (6, TARGET.index["1"]), where="cross_attn")[0, :, 6, 9]           # [H], at v
    logs = model(*inputs)[0, 6].log_softmax(-1)[TARGET.index["1"]]
    for head, answer in enumerate(["1997-11-30", "1997-11-30", "1997-12-30", "1997-11-30"]):
        dates.get_by_role("radio", name=str(head)).check()
        cell(dates, 6, 9).click()
        assert dates.locator(".after").inner_text() == answer and dates.locator(".before").inner_text() == "1997-11-30"
        assert dates.locator("ins").all_inner_texts() == [new for new, old in zip(answer, "1997-11-30") if new != old]
        before, after = (f"{100 * log.exp().item():.1f} %" for log in (logs, logs + changes[head]))
        effect = f"{changes[head]:+.2f}".replace("-", "−")
        assert dates.locator(".said").inner_text() == (
            f"In head {head}, “1”, the 7th character written, no longer looks at “v”, the 10th character typed. The probability of "
            f"this “1” goes from {before} to {after} (effect {effect}). put it back")
        assert cell(dates, 6, 9).inner_text() == "×" and "0.00, cut" in cell(dates, 6, 9).get_attribute("aria-label")
        if head % 2:
            cell(dates, 6, 9).click()                                                          # puts it back
        else:
            dates.get_by_role("button", name="take back the cuts").click()
        assert dates.locator(".after").inner_text() == "–" and not dates.locator(".said").inner_text()


def test_each_cut_is_put_back_alone(page, dates):
    told, first = dates.locator(".said li"), []
    for head, query, key in ((2, 6, 9), (1, 0, 0)):
        dates.get_by_role("radio", name=str(head)).check()
        cell(dates, query, key).click()
        first.append(told.first.inner_text())
    assert told.count() == 2 and first[0] == first[1]                                          # what the second cut did is its own
    assert told.nth(1).inner_text().startswith("In head 1, “1”, the 1st character written, no longer looks at “s”, the 1st ")
    assert dates.locator(".after").inner_text() == "1997-12-30"
    told.nth(0).get_by_role("button", name="put it back").press("Enter")                      # of a head that is not shown
    assert told.count() == 1 and dates.locator(".after").inner_text() == "1997-11-30"
    assert page.evaluate("() => document.activeElement.matches('tbody td[tabindex=\"0\"]')")
    told.get_by_role("button").click()
    assert not told.count() and dates.locator(".after").inner_text() == "–"
    below = dates.locator(".said").bounding_box()["y"] - dates.locator(".foot").bounding_box()["y"]
    assert 0 < below < 150                                                                     # beside the map


def test_places_are_counted_in_words(page):
    assert page.evaluate("() => [0, 1, 2, 3, 10, 11, 12, 20, 21, 22, 23, 59].map(ordinal)") == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "23rd", "24th", "60th"]


def test_by_keyboard_alone(page, dates):
    dates.get_by_role("textbox").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    assert dates.get_by_role("radio", name="1").is_checked()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.tagName") == "TD"
    for key in [*9 * ["ArrowUp"], "Home", *6 * ["ArrowDown"], *10 * ["ArrowRight"], "ArrowLeft"]:
        page.keyboard.press(key)
    assert dates.locator(".readout").inner_text().startswith("query “1” (7th) → key “v”: weight 0.9")
    assert dates.locator("th.here").all_inner_texts() == ["v", "1"]
    for key, answer in (("Enter", "1997-12-30"), ("Enter", "–"), (" ", "1997-12-30"), ("ArrowDown", "1997-12-30")):
        page.keyboard.press(key)
        assert dates.locator(".after").inner_text() == answer
        assert page.evaluate("() => document.activeElement.matches('tbody td[tabindex=\"0\"]')")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert dates.locator(".after").inner_text() == "–"


def test_whatever_is_typed_is_answered_or_refused_in_words(page, dates, model):
    rng = random.Random(0)
    texts = ["".join(rng.choice(rng.choice(LETTERS)) for _ in range(rng.randrange(50))) for _ in range(200)]
    texts += ["", " ", "a" * 41, "a" * 42, "3 février 2001"]
    kinds = set()
    for text, (trouble, silent, columns, rows) in zip(texts, page.evaluate(TYPED, ["dates", texts])):
        try:
            ids = encode(text)
        except ValueError as error:
            assert silent and trouble == str(error)
            kinds.add("refused")
            continue
        assert not silent and columns == len(ids) and rows == read_date(model, text)[0], repr(text)
        assert bool(trouble) == (1 in ids), repr(text)
        kinds.add("unknown" if 1 in ids else "known")
    assert kinds == {"refused", "unknown", "known"}
    page.evaluate(TYPED, ["dates", ["3 février 2001"]])
    assert dates.locator(".trouble").inner_text() == "The model knows no “é”: it reads <unk> there."


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_nothing_stands_in_the_way_of_a_reader(first_page, theme, size):
    page = first_page(viewport=size, color_scheme=theme)
    for text in (SUNDAY, "the 30th of september, 1997 ad wednesday"):
        page.locator("[data-model=dates] input[type=text]").fill(text)
        page.keyboard.press("Enter")
        page.locator("tbody td[tabindex='0']").click()
        assert page.locator("[data-model=dates] ins, [data-model=dates] .cut").count()
        assert not findings(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= size["width"]


def test_the_first_map_is_there_before_the_weights_and_stays(browser, first_page, site):
    page = browser.new_page(java_script_enabled=False, viewport=PHONE)
    page.goto((site / "index.html").as_uri())
    picture = page.get_by_role("img", name="Map of attention, head 2")
    assert picture.is_visible() and page.locator("[data-model=dates] .before").inner_text() == "1997-11-30"
    assert "With JavaScript" in page.locator("[data-model=dates] noscript").inner_text()
    assert not page.locator("form:visible, button:visible").count()
    static = page.locator("[data-model=dates] .map").evaluate(SHOWN)
    page.close()
    page = first_page(ready=False, viewport={"width": 390, "height": 2000})                     # what is out of sight may move
    page.evaluate(SHIFTS)
    page.wait_for_selector("[data-model=dates][data-state=ready]")
    page.wait_for_timeout(300)
    assert page.evaluate("() => window.shift") < 0.001
    assert not page.locator(".wide[role]").count()
    live = page.locator("[data-model=dates] .map").evaluate(SHOWN)
    assert [[text for text, _ in row] for row in live] == [[text for text, _ in row] for row in static]
    for ours, theirs in zip(live, static):
        for (_, color), (_, drawn) in zip(ours, theirs):
            assert len(color) == len(drawn) and all(abs(a - b) <= 3 for a, b in zip(color, drawn))


def test_missing_weights_are_named(browser, site, tmp_path):
    for name in ("index.html", "style.css", "shell.js", "model.js", "reading.js", "live.js"):
        (tmp_path / name).write_bytes((site / name).read_bytes())
    page = browser.new_page()
    page.goto((tmp_path / "index.html").as_uri())
    trouble = page.locator("[data-model=dates] .trouble")
    wait_until(lambda: trouble.inner_text() == "dates.weights.js has to lie beside this page.", 5, trouble.inner_text)
    page.close()


@pytest.fixture(scope="module")
def translator():
    return load_translator()


def test_the_translator_reads_subwords_as_in_python(translating, translator):
    texts = ["Hello", "  two  spaces ", "L’été—naïve…", "日本 <eos> x", "a\u0301 $5+3=8 `~^|", "", 61 * "x ",
             "xlll xsss xooo xeee xttt",
             "Mississippi's co-op_x; (no) [yes] {it} «q» ¿?", *SENTENCES]
    found = translating.evaluate("""async (texts) => {
      const reader = await readerOf(arrived.translator);
      return texts.map((text) => reader.read(text).ids);
    }""", texts)
    assert found == [translator[1].encode(text).ids for text in texts]


@torch.no_grad()
def test_the_translator_answers_as_in_python(translating, translator):
    model, tokenizer = translator
    cuts = [{"layer": 1, "head": 3, "query": 2, "key": 1}, {"layer": 2, "head": 0, "query": 0, "key": 0}]
    rows = [[text, some] for text in SENTENCES for some in ([], cuts)]
    answers = set()
    for (text, some), (answer, maps) in zip(rows, translating.evaluate(CHANGED, ["translator", rows])):
        ids, weights = with_cuts(model, partial(translate, model, *pad([tokenizer.encode(text).ids]), 60), some)
        assert answer == tokenizer.decode(ids[0].tolist())
        assert torch.allclose(torch.tensor(maps).permute(1, 2, 0, 3), weights[:, :, :len(maps)].nan_to_num(0.0), atol=1e-4)
        answers.add(answer)
    assert len(answers) > len(SENTENCES)                                # a cut changed at least one
    src, tgt = tokenizer.encode(SENTENCES[0]).ids, [BOS, *tokenizer.encode("Où est mon chapeau bleu ?").ids]
    logits = torch.tensor(translating.evaluate(LOGITS, ["translator", [[src, tgt]]]))
    assert torch.allclose(logits, model(*pad([src]), torch.tensor([tgt])), atol=1e-4, rtol=0)


def test_the_translator_is_opened_asked_and_cut(translating, translator):
    section, trouble = translating.locator("[data-model=translator]"), translating.locator("[data-model=translator] .trouble")
    box, button = section.get_by_role("textbox"), section.get_by_role("button", name="translate")
    assert not section.get_by_role("button", name="open").count()
    box.fill(SENTENCES[1])
    assert translating.evaluate(ANSWERED_IN) < 2000
    french = "Je voudrais une tasse de thé, s'il vous plaît."
    wait_until(lambda: section.locator(".before").inner_text() == french, 10, section.inner_text)
    section.get_by_role("group", name="layer").get_by_role("radio", name="0").check()
    cell(section, 0, 0).click()
    assert section.locator(".said").inner_text().startswith(
        "In head 3 of layer 0, “▁Je”, the 1st subword written, no longer looks at “▁i”, the 1st subword typed. The probability")
    assert " " in section.locator(".after").inner_text() and not findings(translating)
    translating.set_viewport_size(PHONE)
    assert translating.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    for text, count in (("", 0), (61 * "x ", 123)):
        box.fill(text)
        button.click()
        assert trouble.inner_text() == f"{count} subwords: type a sentence of 1 to 60, such as I would like a cup of tea."
