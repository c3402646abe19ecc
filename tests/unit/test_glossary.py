"""The glossary: it has every new word of the lessons, and both link to each other."""
import re

import nbformat
import pytest

from tests.notebooks import NAMES, PATHS, ROOT, read, text_cells
from tools.glossary import GLOSSARY, Word, first_use, glossary, link, name_set, new_words, taught, words
from tools.site.prose import Prose

KNOWN = words()
TERMS = ROOT / "tests" / "unit" / "terms.txt"
HOW = "run python -m tools.glossary"


def text_of(notebook):
    return "\n".join(cell.source for cell in text_cells(notebook))


def made(*texts):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text) for text in texts])


def test_every_new_word_has_a_meaning():
    for path in PATHS:
        missing = [new for new, word in taught(read(path), int(path.stem[:2]), KNOWN) if word is None]
        assert not missing, f"{path.stem}: say in tools/glossary.tsv what these mean"


def test_the_course_teaches_every_word_of_the_list_no_later_than_there():
    """terms.txt: the lesson that needs a word, and the word. It is in the glossary, and new in that lesson or an earlier one."""
    lessons = {int(path.stem[:2]): read(path) for path in PATHS}
    new = {number: [word for _, word in taught(lesson, number, KNOWN) if word] for number, lesson in lessons.items()}
    lines = [line.split("\t") for line in TERMS.read_text(encoding="utf-8").splitlines()]
    missing = [(number, term) for number, term in lines
               if not any(term.lower() in word.names for lesson in range(int(number) + 1) for word in new[lesson])]
    assert len(lines) > 200 and not missing


def test_no_two_words_have_one_heading():
    headings = [word.heading.lower() for word in KNOWN]
    assert len(set(headings)) == len(headings)
    assert all(word.meaning[-1] == "." and 0 <= word.lesson <= 17 for word in KNOWN)


def test_what_is_committed_is_what_the_tool_writes():
    written = glossary([(path, read(path)) for path in PATHS])
    assert text_of(read(GLOSSARY)) == text_of(written), HOW


@pytest.mark.parametrize("name", NAMES)
def test_each_new_word_of_a_lesson_leads_to_the_glossary(name):
    path = next(path for path in PATHS if path.stem == name)
    notebook, linked = read(path), read(path)
    link(linked, int(name[:2]), KNOWN)
    assert text_of(notebook) == text_of(linked), HOW


def test_links_between_lessons_and_glossary_lead_to_a_cell():
    pages = {path.name: read(path) for path in [*PATHS, GLOSSARY]}
    ids = {name: {cell.id for cell in page.cells} for name, page in pages.items()}
    links = [(name, *target) for name, page in pages.items()
             for target in re.findall(r"\]\((\w+\.ipynb)#cell-id=([^)]+)\)", text_of(page))]
    assert len(links) > len(KNOWN) and not [link for link in links if link[2] not in ids[link[1]]]


def test_the_site_has_the_cells_of_the_glossary_as_headings():
    prose = Prose(GLOSSARY.parent)
    for word in KNOWN:
        prose.render(f"### {word.heading}")
    assert [name for _, name, _ in prose.headings] == [word.cell for word in KNOWN]
    assert 'href="glossary.html#key"' in prose.render("[key](glossary.ipynb#cell-id=key)")


def test_new_words_are_read_with_their_brackets():
    page = made("**New words:** `[CLS]` token (class token), training, validation and test data, [key](glossary.ipynb#key); "
                "in the appendix cell, GRU.")
    assert new_words(page) == ["[CLS] token (class token)", "training, validation and test data", "key", "GRU"]


def test_the_first_bold_use_is_linked_once():
    page = made("# The **key**", "A key, then a **Key**, then a **key**.", "**New words:** key, value.")
    known = [Word(1, "key", name_set("key"), "m."), Word(1, "value", name_set("value"), "m.")]
    for _ in range(2):
        link(page, 1, known)
        assert [cell.source for cell in page.cells] == [
            "# The **key**", "A key, then a [**Key**](glossary.ipynb#cell-id=key), then a **key**.",
            "**New words:** key, [value](glossary.ipynb#cell-id=value)."]


def test_where_two_meanings_have_a_name_the_lesson_decides():
    page = made("A **head**.", "**New words:** head.")
    known = [Word(0, "attention head", name_set("attention head", "head"), "m."), Word(15, "output head", name_set("head"), "m.")]
    assert [[word.term for _, word in taught(page, number, known)] for number in (0, 15, 5)] == [
        ["attention head"], ["output head"], ["attention head"]]
    assert first_use(page, known[0])[1][1] == "head"
