"""The first code cell of a lesson: silent where the course is installed; elsewhere it installs the course, or says how."""
import ast
import sys

import nbformat
import pytest

from tests.notebooks import PATHS, ROOT, code_cells, read
from tools.first_cell import PLACE, TAG, insert, source

CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
NAMED = CITATION + 'repository-code: "https://example.org/course.git"\n'


class Without:
    """A finder that lets this Python have no package `helpers`."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "helpers":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.fixture
def bare(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "helpers"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Without(), *sys.meta_path])


def test_every_lesson_has_it_under_its_card():
    for path in PATHS:
        cell = read(path).cells[PLACE]
        assert cell.source == source(CITATION) and cell.metadata.tags == [TAG], f"{path.stem}: python -m tools.first_cell"
        assert cell.metadata.jupyter.source_hidden and not cell.outputs, path.stem


@pytest.mark.parametrize("citation", [CITATION, NAMED])
def test_it_does_nothing_where_the_course_is_installed(citation, capsys):
    exec(source(citation), {})
    assert capsys.readouterr() == ("", "")


def test_without_the_course_and_its_address_it_says_what_to_do(bare):
    with pytest.raises(ModuleNotFoundError, match="does not have the course: open .* by `make lab` .*; in Colab, run %pip install"):
        exec(source("title: A course\n"), {})


def test_without_the_course_colab_installs_it_from_the_address(bare, monkeypatch):
    class Shell:
        def run_line_magic(self, *said):
            self.said = said

    shell = Shell()
    with pytest.raises(ModuleNotFoundError, match="open the lesson by `make lab`"):
        exec(source(NAMED), {"get_ipython": lambda: shell})
    monkeypatch.setitem(sys.modules, "google.colab", object())
    exec(source(NAMED), {"get_ipython": lambda: shell})
    assert shell.said == ("pip", "install --quiet 'attention-course[test] @ git+https://example.org/course.git'")


def test_writing_it_twice_changes_nothing_more():
    outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "1"}, execution_count=1)]
    notebook = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_markdown_cell("# 1 · Title"), nbformat.v4.new_markdown_cell("card"),
        nbformat.v4.new_code_cell("1", execution_count=1, outputs=outputs)])
    insert(notebook, "old")
    insert(notebook, source(CITATION))
    once = nbformat.writes(notebook)
    insert(notebook, source(CITATION))
    assert nbformat.writes(notebook) == once
    nbformat.validate(notebook)
    assert notebook.cells[PLACE].id == TAG and len(notebook.cells) == 4
    first, second = code_cells(notebook)
    assert (first.execution_count, second.execution_count, second.outputs[0].execution_count) == (1, 2, 2)
    assert ast.parse(first.source)
