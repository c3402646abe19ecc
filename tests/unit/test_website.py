"""The site's pages without a browser: what they say is what the lessons and the README say."""
import re

import pytest

from tests.notebooks import NAMES, PATHS, ROOT, code_cells, has_tag, is_solution, read, text_cells
from tools.site.__main__ import build, lessons
from tools.site.prose import Prose, mathml


def test_the_readme_names_every_lesson_with_its_minutes():
    rows = lessons((ROOT / "README.md").read_text(encoding="utf-8"))
    assert [row["name"] for row in rows] == NAMES
    for row, path in zip(rows, PATHS):
        card = "\n".join(cell.source for cell in text_cells(read(path)))
        assert re.search(r"\*\*Time\*\* \| (\d+) minutes", card)[1] == row["minutes"]
        assert re.match(r"# (\d+ · )", card)[1] == re.match(r"\d+ · ", row["title"])[0]


def test_formulas_keep_their_parts():
    assert re.sub(r"<.*?>", " ", mathml(r"\sum_i w_i \log w_i")).split() == ["&#x02211;", "i", "w", "i", "log", "w", "i"]
    assert 'display="block"' in mathml("x", display="block")
    assert "mspace" in mathml(r"\log w") and "mspace" not in mathml("x w")


def test_a_drawing_stands_in_the_page_with_its_words():
    html = Prose(ROOT / "notebooks").render('![One "look", drawn](images/00_look.svg)')
    assert '<svg aria-label="One &quot;look&quot;, drawn"' in html and ">query<" in html and "<img" not in html


def test_pages_show_what_is_committed(tmp_path):
    build(tmp_path, live=[])
    pages = {f"{name}.html" for name in ["index", "glossary", *NAMES]}
    assert {path.name for path in tmp_path.iterdir()} == {"style.css", *pages}
    index = (tmp_path / "index.html").read_text(encoding="utf-8")
    for path in PATHS:
        page = (tmp_path / f"{path.stem}.html").read_text(encoding="utf-8")
        notebook = read(path)
        assert page.count('<pre class="code">') == sum(not has_tag(cell, "install") for cell in code_cells(notebook))
        assert page.count('<details class="solution">') == sum(map(is_solution, notebook.cells))
        for tag in ("claims", "predict"):
            assert page.count(f'<details class="{tag}">') == sum(has_tag(cell, tag) for cell in notebook.cells)
        shown = [output.data for cell in code_cells(notebook) for output in cell.outputs if "data" in output]
        pictures = [data["image/png"] for data in shown if "image/png" in data]
        assert page.count("data:image/png") == len(pictures) and all(picture.replace("\n", "") in page for picture in pictures)
        assert all(data["text/html"] in page for data in shown if "text/html" in data)
        assert f'href="{path.stem}.html"' in index


def test_a_lesson_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match="no lesson is named 03: there are 00_start_here, 01"):
        build(tmp_path / "site", live=["03"])
    assert not (tmp_path / "site").exists()
