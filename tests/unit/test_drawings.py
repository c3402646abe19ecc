"""The drawings of the lessons: what is committed is what the tool writes, and it can be read by everybody."""
import re
import xml.etree.ElementTree as ElementTree

import pytest

from helpers.plots import MASKED
from tests.notebooks import PATHS, read, text_cells
from tools.drawings.__main__ import DRAWINGS, IMAGES, write
from tools.drawings.svg import PALETTE, SMALLEST, WIDTH, Drawing

SVG = "{http://www.w3.org/2000/svg}"
FILES = sorted(IMAGES.glob("*.svg"))
LINK = re.compile(r"^!\[(.*?)\]\(images/(\w+)\.svg\)$", flags=re.M)


def trees():
    """(name, root element) of every committed drawing."""
    return [(path.stem, ElementTree.parse(path).getroot()) for path in FILES]


def small(sizes):
    return [size for size in sizes if float(size) < SMALLEST]


def test_committed_drawings_are_what_the_tool_writes(tmp_path):
    write(tmp_path)
    committed, written = ({path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.svg")}
                          for folder in (IMAGES, tmp_path))
    assert committed == written


def test_each_says_what_it_shows():
    for name, root in trees():
        assert root[0].tag == SVG + "title" and len(root[0].text) > 10, name
        assert root[1].tag == SVG + "desc" and len(root[1].text) > 100, name


def test_text_is_text_and_large_enough():
    """9 pt in a picture 700 pixels wide are 10.3 units, 9 pixels in one of 390 are 13.9."""
    for name, root in trees():
        assert root.get("viewBox").split()[2] == str(WIDTH) and len(root.findall(SVG + "text")) > 5, name
        sizes = [node.get("font-size") for node in root.iter() if node.get("font-size")]
        assert sizes and not small(sizes), name
        assert "\u200b" not in "".join(root.itertext()), f"{name}: a space of no width would be copied with the words"


def test_colours_are_those_of_the_course():
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r'"(#\w+)"', text)) <= PALETTE, path.stem
        assert set(re.findall(r'(?:fill|stroke)="([^#"]*)"', text)) <= {"none"}, path.stem


def test_nothing_is_fetched_or_run():
    for path in FILES:
        assert not re.search(r"<script|<style|<image|href|url\(|\bon\w+=", path.read_text(encoding="utf-8")), path.stem
        assert path.stat().st_size < 25_000, path.stem


def test_each_is_shown_in_its_lesson_after_a_sentence():
    shown = []
    for path in PATHS:
        for cell in text_cells(read(path)):
            for alt, name in LINK.findall(cell.source):
                shown.append(name)
                assert name[:2] == path.stem[:2] and 60 < len(alt) < 400, name
                before = cell.source.split(f"![{alt}]")[0].strip()
                assert re.search(r"[.:]$", before), f"{name}: say what to look at before it"
    assert sorted(shown) == sorted(DRAWINGS) == [path.stem for path in FILES]


def test_markup():
    d = Drawing(100, "title", "description")
    d.text(10, 50, "**score** $q · k_{t−1}$ `[B < T]`")
    text = ElementTree.fromstring(d.svg()).findall(SVG + "text")[-1]
    assert "".join(text.itertext()) == "score q · kt−1 [B < T]"
    shifts = [float(node.get("dy")) for node in text.iter() if node.get("dy")]
    assert len(shifts) == 2 and shifts[0] > 0 and sum(shifts) == pytest.approx(0)


@pytest.mark.parametrize("points", [((0, 0), (30, 40)), ((10, 10), (10, 60), (90, 60))])
def test_an_arrow_ends_where_it_is_told(points):
    d = Drawing(100, "title", "description")
    d.arrow(*points)
    line, head = (node.get("d") for node in ElementTree.fromstring(d.svg()).findall(SVG + "path"))
    assert line.startswith("M{:g} {:g}".format(*points[0])) and head.startswith("M{:g} {:g}L".format(*points[-1]))


def test_a_masked_cell_has_a_stroke_and_a_colour_of_its_own():
    d = Drawing(100, "title", "description")
    d.cells(0, 0, [[0, None, 1]])
    group = ElementTree.fromstring(d.svg()).find(SVG + "g")
    assert [node.get("fill") or node.get("fill-opacity") for node in group.findall(SVG + "rect")] == ["0", MASKED, "1"]
    assert len(group.findall(SVG + "path")) == 1


def test_a_role_that_is_unknown_is_refused():
    with pytest.raises(KeyError, match="qeury"):
        Drawing(100, "title", "description").box(0, 0, 50, 50, role="qeury")
