"""Chinese in pictures: characters where a font has them, their reading where none does, and never an empty box."""
import warnings

import matplotlib
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.font_manager import FontEntry, fontManager

from helpers import plots
from helpers.data.couplets import PINYIN
from helpers.plots import characters_of, chinese_font, labels, panels, readings


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Nothing found before, and what a test changes is forgotten."""
    monkeypatch.setattr(fontManager, "ttflist", [entry for entry in fontManager.ttflist if "DejaVu" in entry.name])
    monkeypatch.setitem(matplotlib.rcParams, "font.family", list(matplotlib.rcParams["font.family"]))
    chinese_font.cache_clear()
    yield
    chinese_font.cache_clear()


def make_font(file, name, characters):
    """A font of filled squares for these characters."""
    builder = FontBuilder(1000, isTTF=True)
    names = {ord(character): f"u{ord(character):04X}" for character in characters}
    pen = TTGlyphPen(None)
    for place in ((0, 0), (0, 700), (700, 700), (700, 0)):
        pen.moveTo(place) if place == (0, 0) else pen.lineTo(place)
    pen.closePath()
    square = pen.glyph()
    glyphs = [".notdef", *names.values()]
    builder.setupGlyphOrder(glyphs)
    builder.setupCharacterMap(names)
    builder.setupGlyf({glyph: square for glyph in glyphs})
    builder.setupHorizontalMetrics({glyph: (800, 0) for glyph in glyphs})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": name, "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, usWinAscent=800, usWinDescent=200)
    builder.setupPost()
    builder.save(file)
    fontManager.addfont(file)


def drawn(texts):
    """The pixels of a map with these labels; a glyph that is missing is an error."""
    picture, ax = panels(3, 3)
    plots.draw_map(ax, [[0.5] * len(texts)] * len(texts), texts, texts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picture.canvas.draw()
    return bytes(picture.canvas.buffer_rgba())


def test_readings_are_in_letters_that_every_font_has():
    assert readings("天地") == ["tiān", "dì"]
    assert readings(["天", "<sep>", "<eos>", "龘"], gloss=True) == ["tiān sky", "<sep>", "<eos>", "U+9F98"]
    assert readings("") == []
    usual = characters_of(next(entry.fname for entry in fontManager.ttflist if entry.name == "DejaVu Sans"))
    assert set(map(ord, "".join(readings(PINYIN, gloss=True)))) <= usual


def test_without_a_font_labels_are_readings():
    assert chinese_font() is None
    assert labels("天地") == ["tiān", "dì"]
    assert drawn(labels("天地"))


def test_with_a_font_they_have_the_character_too(tmp_path):
    before = drawn(labels("天地"))
    chinese_font.cache_clear()
    make_font(tmp_path / "a.ttf", "Test Hei", PINYIN)
    assert labels(["天", SEP := "<sep>", "地"], gloss=True) == ["天 tiān sky", SEP, "地 dì earth"]
    assert labels("天") == ["天 tiān"]
    assert matplotlib.rcParams["font.family"].count("Test Hei") == 1
    assert matplotlib.rcParams["font.family"][0] == "sans-serif"           # the usual letters stay as they are
    assert drawn(labels("天地")) != before


def test_a_font_that_lacks_one_of_them_is_not_used(tmp_path):
    """Not even for what it has: the labels of one picture would differ in kind."""
    make_font(tmp_path / "a.ttf", "Test Hei", set(PINYIN) - {"天"})
    assert labels("天地") == ["tiān", "dì"]
    assert labels("地") == ["dì"]


def test_a_character_outside_the_lexicon_stays_a_code(tmp_path):
    make_font(tmp_path / "a.ttf", "Test Hei", PINYIN)
    assert labels("天龘") == ["天 tiān", "U+9F98"]
    assert drawn(labels("天龘"))


def test_a_font_of_boxes_is_no_font(tmp_path):
    make_font(tmp_path / "a.ttf", "Last Resort Neo", PINYIN)
    make_font(tmp_path / "b.ttf", "Unicode BMP Fallback SIL", PINYIN)
    assert chinese_font() is None


def test_a_font_that_cannot_be_read_is_passed_over(tmp_path):
    (tmp_path / "broken.ttf").write_bytes(b"not a font")
    fontManager.ttflist.insert(0, FontEntry(fname=str(tmp_path / "broken.ttf"), name="Broken"))
    fontManager.ttflist.insert(0, FontEntry(fname=str(tmp_path / "missing.ttf"), name="Missing"))
    make_font(tmp_path / "a.ttf", "Test Hei", PINYIN)
    assert chinese_font() == "Test Hei"
