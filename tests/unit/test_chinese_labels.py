"""Chinese in pictures: characters where a font has them, their reading where none does, and never an empty box."""
import warnings

import matplotlib
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.font_manager import FontEntry, fontManager

from helpers import plots
from helpers.plots import chinese_font, chinese_labels, panels


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


def test_without_a_font_labels_are_the_readings():
    assert chinese_labels("天地", ["tiān", "dì"]) == ["tiān", "dì"]
    assert drawn(chinese_labels("天地", ["tiān", "dì"]))


def test_with_a_font_labels_have_the_characters_too(tmp_path):
    before = drawn(chinese_labels("天地", ["tiān", "dì"]))
    chinese_font.cache_clear()
    make_font(tmp_path / "a.ttf", "Test Hei", "天地")
    tokens, readings = ["天", "<sep>", "地"], ["tiān sky", "<sep>", "dì earth"]
    assert chinese_labels(tokens, readings) == ["天 tiān sky", "<sep>", "地 dì earth"]
    assert chinese_labels(iter("天"), iter(["tiān"])) == ["天 tiān"]
    assert matplotlib.rcParams["font.family"].count("Test Hei") == 1
    assert matplotlib.rcParams["font.family"][0] == "sans-serif"           # the usual letters stay as they are
    assert drawn(chinese_labels("天地", ["tiān", "dì"])) != before


def test_a_font_without_a_bold_face_draws_bold_labels_without_a_warning(tmp_path, caplog):
    make_font(tmp_path / "a.ttf", "Test Regular Alone", "天地")
    assert drawn(chinese_labels("天地", ["tiān", "dì"])) and not caplog.records


def test_labels_without_chinese_need_no_font():
    families = list(matplotlib.rcParams["font.family"])
    assert chinese_labels(["<sep>", "a"], ["end", "a"]) == ["end", "a"]
    assert matplotlib.rcParams["font.family"] == families


def test_a_font_that_lacks_one_of_the_characters_is_not_used(tmp_path):
    """Not even for the others: the labels of one picture would differ in kind."""
    make_font(tmp_path / "a.ttf", "Test Hei", "天")
    assert chinese_labels("天地", ["tiān", "dì"]) == ["tiān", "dì"]
    assert chinese_labels("天", ["tiān"]) == ["天 tiān"]


def test_every_token_needs_a_reading(tmp_path):
    with pytest.raises(ValueError, match="1 readings for 2 tokens"):
        chinese_labels("天地", ["tiān"])


def test_a_font_of_boxes_is_not_used(tmp_path):
    make_font(tmp_path / "a.ttf", "Last Resort Neo", "天")
    make_font(tmp_path / "b.ttf", "Unicode BMP Fallback SIL", "天")
    assert chinese_labels("天", ["tiān"]) == ["tiān"]


def test_a_font_that_cannot_be_read_is_passed_over(tmp_path):
    (tmp_path / "broken.ttf").write_bytes(b"not a font")
    fontManager.ttflist.insert(0, FontEntry(fname=str(tmp_path / "broken.ttf"), name="Broken"))
    fontManager.ttflist.insert(0, FontEntry(fname=str(tmp_path / "missing.ttf"), name="Missing"))
    make_font(tmp_path / "a.ttf", "Test Hei", "天")
    assert chinese_labels("天", ["tiān"]) == ["天 tiān"]
    assert matplotlib.rcParams["font.family"][-1] == "Test Hei"
