"""The site's pages without a browser: what they say is what the lessons and the README say."""
import json
import re
from html import unescape

import pytest
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from helpers.exercises import EXERCISES
from tests.notebooks import NAMES, PATHS, ROOT, code_cells, has_tag, is_solution, read, text_cells
from tools.site import models, search, teaching
from tools.site.__main__ import PAGES, build, for_teachers, largest, lessons
from tools.site.prose import Prose, mathml

COMPUTING = [f"computed/{path.stem}" for path in (PAGES / "computed").glob("*.js")]


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
    for norm in (r"\lVert q\rVert^2", r"\lvert m - n\rvert^2"):           # as tall as each other: one has an exponent
        assert mathml(norm).count('<mo stretchy="false">') == 2


def test_a_drawing_stands_in_the_page_with_its_words():
    html = Prose(ROOT / "notebooks").render('![One "look", drawn](images/00_look.svg)')
    assert '<svg aria-label="One &quot;look&quot;, drawn"' in html and ">query<" in html and "<img" not in html


def test_pages_show_what_is_committed(tmp_path):
    build(tmp_path, live=[])
    pages = {f"{name}.html" for name in ["index", "glossary", "teach", "answers", *NAMES]}
    first = {"model.js", "reading.js", "live.js", "dates.weights.js", "translator.weights.js"}
    shared = {"style.css", "shell.js", "search.js", "search_index.js", "explorers.js", "labs.js", "computed.js"}
    assert {path.name for path in tmp_path.iterdir()} == shared | first | pages
    by_name = {path.stem: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.html")}
    assert [name for name, page in by_name.items() if "answers.html" in page] == ["teach"]
    assert 'href="teach.html"' in by_name["index"]
    assert all(f'id="{place}"' in by_name["index"] and name in NAMES for name, (place, _) in models.LIVE.items())
    assert "the git repository from which these pages were made" in by_name["index"]
    assert not [name for name, page in by_name.items() if re.search("this (repository|clone)", page)]
    assert "image/gif" not in by_name["index"] and "<h1" in by_name["index"].partition('<section class="live"')[0]
    for path in PATHS:
        page, notebook = by_name[path.stem], read(path)
        listings = [unescape(re.sub(r"<.*?>", "", code)) for code in re.findall(r'<pre class="code">(.*?)</pre>', page, flags=re.S)]
        sources = [cell.source for cell in code_cells(notebook) if not has_tag(cell, "install")]
        assert "".join("".join(listings).split()) == "".join("".join(sources).split()), path.stem
        assert page.count('<details class="solution">') == sum(map(is_solution, notebook.cells))
        for tag in ("claims", "predict"):
            assert page.count(f'<details class="{tag}">') == sum(has_tag(cell, tag) for cell in notebook.cells)
        folded = [cell for cell in notebook.cells if has_tag(cell, "drawing") or has_tag(cell, "aside")]
        assert page.count('<details class="plotting">') == len(folded)
        shown = [output.data for cell in code_cells(notebook) for output in cell.outputs if "data" in output]
        pictures = [data["image/png"] for data in shown if "image/png" in data]
        assert page.count("data:image/png") == len(pictures) and all(picture.replace("\n", "") in page for picture in pictures)
        assert all(data["text/html"] in page for data in shown if "text/html" in data)
        assert f'href="{path.stem}.html"' in by_name["index"]
        assert all(code_of(cell) in by_name["answers"] for cell in notebook.cells if is_solution(cell))


def code_of(cell):
    return highlight(cell.source, PythonLexer(), HtmlFormatter(nowrap=True))


def test_every_section_can_be_found_and_no_solution(tmp_path):
    html = """<h1 id="one">1 · One</h1><p>It says <b>what</b> <a href="glossary.html#a-b">A&amp;B</a> is.</p><svg>drawn</svg>
<h2 id="two"><a href="#two">Two</a></h2><ul><li>a</li><li>b</li></ul><details><summary>Answers</summary>secret</details></section>
<section class="prose" id="further"><p>More.</p></section><section class="prose" id="next"><h2 id="three">Three</h2>"""
    assert search.sections(html) == [["one", "1 · One", ["A&B"], "It says what A&B is.", []],
                                     ["two", "Two", [], "a b More.", [[4, "further"]]], ["three", "Three", [], "", []]]
    page = f'<title>1 · One &amp; all | Course</title><section class="prose" id="c">\n{html}</section><h2 id="x">not prose</h2>'
    (tmp_path / "01_one.html").write_text(page, encoding="utf-8")
    text = search.script([tmp_path / "01_one.html"]).removeprefix("window.searchIndex = ").removesuffix(";\n")
    assert json.loads(text) == [["01_one", "1 · One & all", search.sections(html)]]


def test_a_plan_has_its_lessons_after_what_they_need_in_sessions_that_fit():
    known = [teaching.lesson(path) for path in PATHS]
    for number, goals in teaching.GOALS.items():
        chosen = sorted(teaching.with_needed(goals, known))
        sections = [part for n in chosen for part in teaching.parts(PATHS[n])]
        planned = teaching.sessions(sections, number)
        assert len(planned) == number and [part for session in planned for part in session] == sections
        assert all(sum(part.minutes for part in session) <= teaching.SESSION + teaching.SLACK for session in planned)
        assert sum(part.minutes for part in sections) == pytest.approx(sum(known[n].minutes for n in chosen))
        assert "Recap" not in teaching.plan(number)
        for n in chosen:
            assert all(needed in chosen and needed < n for needed in known[n].needs)
            assert f"({known[n].name}.ipynb)" in teaching.plan(number)
        for session in planned[1:]:                                     # where it begins, and a link that leads there
            part = session[0]
            begins = part != teaching.parts(PATHS[part.lesson.number])[0]
            assert (f"from [*{part.heading}*]({part.lesson.name}.ipynb#{part.place})" in teaching.described(session)) == begins
    assert known[16].needs == {8, 13} and known[16].helps == {10, 14} and known[13].runs == "one to two minutes"
    with pytest.raises(ValueError, match="do not fit into 2 sessions of 95"):
        teaching.sessions(teaching.parts(PATHS[5]) + teaching.parts(PATHS[6]) + teaching.parts(PATHS[7]), 2)


def test_every_part_of_a_plan_has_its_place_on_the_page():
    for path in PATHS:
        prose, cells = Prose(path.parent), {cell.id for cell in read(path).cells}
        for cell in text_cells(read(path)):
            prose.render(cell.source)
        places = {name for _, name, _ in prose.headings} | cells
        assert not [part for part in teaching.parts(path) if part.place not in places], path.stem


def test_the_mistakes_of_every_exercise_are_listed():
    listed = re.sub("</?code>", "`", unescape(teaching.mistakes()))
    for name, exercise in EXERCISES.items():
        assert f"(`{name}`)" in listed and all(f"<li>{mistake}</li>" in listed for mistake in exercise.mistakes), name


@pytest.mark.parametrize("own", [["model", "reading", "live"], ["labs", "drawing", *COMPUTING]], ids=["first page", "lesson"])
def test_no_script_of_a_page_takes_a_name_of_another(own):
    """Scripts that are no modules share one scope, and a later function would stand for an earlier one without a word."""
    scripts = [(PAGES / f"{name}.js").read_text(encoding="utf-8") for name in (*own, "search", "shell")]
    bound = re.compile(r"^(?:async )?(?:function|const|let|class) (\w+)", flags=re.M)
    names = [name for script in scripts for name in bound.findall(script)]
    assert len(names) > 15 and not [name for name in names if names.count(name) > 1]


def test_a_lesson_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match="no lesson is named 03: there are 00_start_here, 01"):
        build(tmp_path / "site", live=["03"])
    assert not (tmp_path / "site").exists()


def test_the_teacher_s_page_leads_to_no_handout_where_there_is_none(tmp_path):
    for_teachers(tmp_path, {"course": "", "lessons": []})
    page = (tmp_path / "teach.html").read_text(encoding="utf-8")
    assert "to the folder <code>student</code>" in page and "student/README" not in page


def test_a_site_that_grows_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.site.__main__.MOST", 5)
    with pytest.raises(RuntimeError, match="MB, and 5 are enough"):
        build(tmp_path, live=[])


def test_a_page_that_grows_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.site.__main__.PAGE", 0.2)
    with pytest.raises(RuntimeError, match=r"00_start_here\.html has 0\.\d\d MB, and 0\.2 is enough"):
        build(tmp_path, live=[])


@pytest.mark.parametrize(("sizes", "room"), [([5, 9, 1], 14), ([5, 9, 1], 9), ([5, 9, 1], 2), ([4, 4], 7), ([3], 2), ([3, 4], -5)])
def test_what_is_thinned_fits_into_its_room_and_no_more_than_that(sizes, room):
    most = largest(sizes, room)
    assert sum(min(size, most) for size in sizes) <= max(room, len(sizes) * most)
    assert sum(min(size, most + 1) for size in sizes) > room
