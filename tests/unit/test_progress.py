"""`tools.progress`: what it counts in notebooks that students have returned."""
import nbformat
import pytest
import torch

from helpers.exercises import check
from tools.progress import progress

LESSON = "03_masked_softmax"                                            # window_mask, harmed, leaks


def saved(path, *cells):
    """A notebook of these cells: (source, what it printed), or (source, None) for one that failed."""
    made = []
    for source, text in cells:
        output = (nbformat.v4.new_output("error", ename="NameError", evalue="", traceback=[]) if text is None
                  else nbformat.v4.new_output("stream", text=text))
        made.append(nbformat.v4.new_code_cell(source, outputs=[output]))
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=made), path)


@pytest.fixture
def said(capsys):
    """What `check` prints of an answer under this name."""
    def said_of(answer, name):
        answer.__name__ = name
        check(answer)
        return capsys.readouterr().out
    return said_of


def test_what_check_printed_is_counted(tmp_path, said):
    correct = said(lambda T, reach: (torch.arange(T).unsqueeze(1) - torch.arange(T)).abs() <= reach, "window_mask")
    wrong, nothing = said(lambda *arguments: 1, "harmed"), said(lambda *arguments: None, "leaks")
    folder = tmp_path / "anna" / "notebooks"
    saved(folder / f"{LESSON}.ipynb", ("def window_mask(T, reach): ...\ncheck(window_mask)", correct), ("check(harmed)", wrong),
          ("check(leaks)", nothing), ("check(leaks_solution)", "leaks_solution: correct, on all 3 cases.\n"))
    saved(folder / ".ipynb_checkpoints" / f"{LESSON}-checkpoint.ipynb", ("check(leaks)", "leaks: correct, on"))
    saved(folder / "glossary.ipynb")
    saved(tmp_path / f"ben_{LESSON}.ipynb", ("print('harmed: correct')", "harmed: correct"), ("check(leaks)", None))
    saved(tmp_path / f"{LESSON} cleo.ipynb")
    assert progress(tmp_path) == [("anna", LESSON, 1, 1, 1), ("ben", LESSON, 0, 1, 2), ("cleo", LESSON, 0, 0, 3)]


def test_a_copy_counts_with_its_original_and_what_is_no_notebook_is_named(tmp_path, capsys):
    saved(tmp_path / "anna" / f"{LESSON}.ipynb", ("check(leaks)", "leaks: not yet: your result is 1"))
    saved(tmp_path / "anna" / f"{LESSON}-Copy1.ipynb", ("check(leaks)", "leaks: correct, on all 3 cases."))
    (tmp_path / f"ben_{LESSON}.ipynb").write_text("half a file", encoding="utf-8")
    assert progress(tmp_path) == [("anna", LESSON, 1, 0, 2)]
    assert f"ben_{LESSON}.ipynb was left out: " in capsys.readouterr().err
