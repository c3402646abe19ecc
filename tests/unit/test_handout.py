"""What `make student` hands out: no solution, nothing missing, and it runs from its own folder."""
import ast
import re
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from traitlets.config import Config

from tests.notebooks import NAMES, PATHS, ROOT, code_cells, has_tag, is_solution, read, text_cells
from tools.handout import hand_out
from tools.site import __main__ as website


@pytest.fixture(scope="module")
def student(tmp_path_factory):
    folder = tmp_path_factory.mktemp("handout") / "student"
    hand_out(folder)
    return folder


def test_a_page_of_nbconvert_has_no_solution_where_it_is_told_so():
    """By the options that the README names."""
    given = dict(re.findall(r"--TagRemovePreprocessor\.(\w+)=(\w+)", (ROOT / "README.md").read_text(encoding="utf-8")))
    config = {"TagRemovePreprocessor": {name: value == "True" or {value} for name, value in given.items()}}
    notebook = nbformat.v4.new_notebook(cells=[cell for cell in read(PATHS[3]).cells if is_solution(cell)])
    pages = [HTMLExporter(config=Config(options)).from_notebook_node(notebook)[0] for options in ({}, config)]
    assert ["def window_mask_solution" in re.sub(r"<.*?>", "", page) for page in pages] == [True, False]


def lessons(student):
    """(lesson, what is handed out of it) of each."""
    return [(read(path), read(student / "notebooks" / path.name)) for path in PATHS]


def statements(cells):
    """What stands in them, line breaks and comments apart; imports and calls of `check` are no secret."""
    return {ast.unparse(node) for cell in cells for node in ast.parse(cell.source).body
            if not isinstance(node, (ast.Import, ast.ImportFrom)) and not ast.unparse(node).startswith("check(")}


def test_no_solution_survives_and_all_else_does(student):
    for whole, handed_out in lessons(student):
        secret = statements(filter(is_solution, code_cells(whole)))
        public = statements(cell for cell in code_cells(whole) if not is_solution(cell))
        assert secret - public
        assert statements(code_cells(handed_out)) == public
        assert not any(map(is_solution, handed_out.cells))
        assert not any("solution is" in cell.source for cell in handed_out.cells)
        assert len(text_cells(handed_out)) == len(text_cells(whole))
        assert not any(cell.outputs or "outputs_hidden" in cell.metadata.jupyter
                       for cell in handed_out.cells if has_tag(cell, "predict"))


def test_every_lesson_is_a_whole_notebook(student):
    for _, notebook in lessons(student):
        nbformat.validate(notebook)
        counts = [cell.execution_count for cell in code_cells(notebook) if cell.source != "# Your answer."]
        assert counts == list(range(1, len(counts) + 1))
        for cell, following in zip(notebook.cells, notebook.cells[1:]):     # all but the first exercise, recall, have a cell
            asked = re.search(r"^\*\*[2-9]\. ", cell.source, flags=re.M) if cell.cell_type == "markdown" else None
            assert not asked or following.cell_type == "code"


def test_what_it_links_to_is_there(student):
    patterns = {"markdown": r"\]\((?!https?:)([^)#]+)", "code": r"^# %load -s \w+ (\S+)"}
    files = [file for _, notebook in lessons(student) for cell in notebook.cells
             for file in re.findall(patterns[cell.cell_type], cell.source)]
    assert len(files) > len(NAMES)
    assert [file for file in files if not (student / "notebooks" / file).exists()] == []


def test_it_runs_where_it_lies_and_answers_are_checked(student):
    notebook = read(student / "notebooks" / "03_masked_softmax.ipynb")
    first = next(i for i, cell in enumerate(notebook.cells) if "vector_of = " in cell.source)
    stub = next(cell for cell in notebook.cells if "check(window_mask)" in cell.source)
    here = nbformat.v4.new_code_cell("import helpers; print(helpers.__file__)")
    notebook.cells = [here, *notebook.cells[:first + 1], stub]
    folder = student / "notebooks"
    NotebookClient(notebook, timeout=600, startup_timeout=600, resources={"metadata": {"path": str(folder)}},
                   extra_arguments=[f"--IPKernelApp.exec_lines=import sys; sys.path.insert(0, {str(student)!r})"]).execute()
    assert notebook.cells[0].outputs[0].text.strip() == str(student / "helpers" / "__init__.py")
    assert stub.outputs[0].text == "window_mask: not attempted yet. Replace the dots and run the cell again.\n"


def test_work_that_is_there_is_not_lost(student):
    work = student / "notebooks" / "00_start_here.ipynb"
    before = work.read_bytes()
    with pytest.raises(FileExistsError, match="may hold work"):
        hand_out(student)
    assert work.read_bytes() == before
    run = subprocess.run([sys.executable, "-m", "tools.handout", student], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 1 and "Traceback" not in run.stderr and str(student) in run.stderr


def test_what_it_says_to_do_can_be_done(student):
    makefile, readme = ((student / name).read_text(encoding="utf-8") for name in ("Makefile", "README.md"))
    assert set(re.findall(r"^([a-z-]+):", makefile, flags=re.M)) == {"help", "lab", "clean"}
    assert re.findall(r'echo "make ([a-z-]+) |echo', makefile.split("lab:")[0]) == ["lab", "clean"]
    assert "tests" not in re.sub(r"\[test\]", "", makefile)
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", readme)
    assert len(targets) == len(NAMES) + 1                    # the lessons and the glossary
    assert all((student / target).exists() for target in targets)
    assert {"LICENSE", "requirements.lock", "pyproject.toml"} <= {path.name for path in student.iterdir()}


@pytest.mark.parametrize("order", [["student", "site"], ["site", "student"], ["student", "site", "site"]], ids=" ".join)
def test_it_and_the_site_lead_to_each_other_whichever_is_made_first(student, tmp_path, monkeypatch, order):
    monkeypatch.setattr(website, "PATHS", [])                            # its other pages alone
    for name in order:
        hand_out(tmp_path / name) if name == "student" else website.build(tmp_path / name, [])
    readme, page = ((tmp_path / name).read_text(encoding="utf-8") for name in ("student/README.md", "site/teach.html"))
    assert readme.count("(../site/index.html)") == 1 and page.count('href="../student/README.md"') == 1
    assert readme.index("../site/index.html") < readme.index("| lesson |")
    assert "site/" not in (student / "README.md").read_text(encoding="utf-8")             # where there is no site
    assert not any("answers.html" in path.read_text(encoding="utf-8") for path in tmp_path.glob("student/**/*.md"))
