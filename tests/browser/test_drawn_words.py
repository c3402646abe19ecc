"""The drawings as Chromium lays them out: no word is cut, stands on another word, or is crossed by a line."""
import pytest

from tools.drawings.__main__ import IMAGES

FILES = sorted(IMAGES.glob("*.svg"))
# Heights of text are those of its line: what counts is the part between, where the letters are.
FAULTS = """() => {
  const svg = document.querySelector('svg'), paper = svg.viewBox.baseVal, found = [];
  const words = [...svg.querySelectorAll('text')].map((node) => {
    const {x, y, width, height} = node.getBBox();
    return {text: node.textContent, left: x + 2, right: x + width - 2, top: y + 4, bottom: y + height - 4};
  });
  words.forEach((a, i) => {
    if (a.left < 10 || a.top < 6 || a.right > paper.width - 10 || a.bottom > paper.height - 6) found.push(`cut: ${a.text}`);
    for (const b of words.slice(i + 1)) {
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) found.push(`touch: ${a.text}, ${b.text}`);
    }
  });
  for (const line of svg.querySelectorAll('path[fill=none]')) {
    for (let along = 0; along <= line.getTotalLength(); along += 2) {
      const {x, y} = line.getPointAtLength(along);
      const crossed = words.find((a) => x > a.left && x < a.right && y > a.top && y < a.bottom);
      if (crossed) { found.push(`crossed: ${crossed.text}`); break; }
    }
  }
  return found;
}"""


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    yield page
    page.close()


def faults(page, svg):
    page.set_content(svg)
    return page.evaluate(FAULTS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_word_stands_free(page, path):
    assert faults(page, path.read_text(encoding="utf-8")) == []


def test_words_that_do_not_are_found(page):
    frame = '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="100" viewBox="0 0 600 100">{}</svg>'
    text = '<text x="{}" y="50">{}</text>'
    assert faults(page, frame.format(text.format(580, "long"))) == ["cut: long"]
    assert faults(page, frame.format(text.format(80, "one") + text.format(90, "two"))) == ["touch: one, two"]
    assert faults(page, frame.format(text.format(80, "word") + '<path d="M20 45L300 45" fill="none"/>')) == ["crossed: word"]


def test_jupyterlab_shows_the_drawings_of_a_lesson(opened):
    with opened("05_multi_head_attention") as notebook:
        drawings = notebook.page.locator(".jp-RenderedMarkdown img[src*='05_']")
        drawings.first.scroll_into_view_if_needed()
        assert drawings.evaluate_all("images => images.map((i) => [i.naturalWidth, i.alt.length > 60])") == 2 * [[600, True]]
