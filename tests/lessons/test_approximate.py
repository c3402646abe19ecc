"""Numbers after ≈ may drift within a tolerance, and nothing else may change."""
import os
import re
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.lessons.approximate import with_saved_numbers
from tests.notebooks import ROOT

HOOK = "from tests.lessons.approximate import add_to as pytest_collection_modifyitems\n"
SHOW = 'from IPython.display import display\ndisplay({{"text/html": "{}", "text/plain": "{}"}}, raw=True)'


@pytest.mark.parametrize(("new", "saved", "tolerance"), [
    ("loss ≈ 0.52", "loss ≈ 0.50", 0.1),
    ("exact match ≈ 98.2 %", "exact match ≈ 99.9 %", 0.1),
    ("exact match ≈ 98.2%", "exact match ≈ 99.9%", 0.1),
    ("≈ 1,234 steps", "≈ 1,198 steps", 0.1),
    ("≈ 12,345,678.5", "≈ 12,000,000.0", 0.1),
    ("difference ≈ 3e-07", "difference ≈ 0e+00", 0.1),
    ("≈ -0.01, then", "≈ 0.01, then", 0.1),
    ("lead ≈ +0.049 here", "lead ≈ +0.052 here", 0.1),
    ("≈ 0.31 and ≈ 5.", "≈ 0.30 and ≈ 5.", 0.1),
    ("mean ≈  9.8 of 11", "mean ≈ 10.1 of 11", 0.1),
    ("errors ≈ 3", "errors ≈ 5", 0.5),
])
def test_a_number_that_drifts_within_the_tolerance_counts_as_the_saved_one(new, saved, tolerance):
    assert with_saved_numbers(new, saved, tolerance) == saved


@pytest.mark.parametrize(("new", "saved", "tolerance"), [
    ("loss ≈ 0.62", "loss ≈ 0.50", 0.1),                # beyond it
    ("exact match ≈ 80.0 %", "exact match ≈ 99.9 %", 0.1),
    ("≈ 1,234 steps", "≈ 12,340 steps", 0.1),
    ("≈ -0.3", "≈ 0.3", 0.1),
    ("≈ 0.30 and ≈ 0.50", "≈ 0.30 and ≈ 0.90", 0.1),
    ("≈ 0.50 and ≈ 0.30", "≈ 0.30 and ≈ 0.50", 0.1),
    ("errors ≈ 3", "errors ≈ 9", 0.5),
    ("loss ≈ nan", "loss ≈ 0.50", 0.1),
    ("loss ≈ 0.50", "loss ≈ nan", 0.1),
    ("width ≈ 0.50", "loss ≈ 0.50", 0.1),               # other words
    ("≈ 0.50 m", "≈ 0.50 km", 0.1),
    ("loss 0.51", "loss ≈ 0.50", 0.1),                  # a missing sign
    ("loss ≈ 0.51", "loss 0.50", 0.1),
    ("loss 0.51", "loss 0.50", 0.1),
    ("≈ 0.50 of 99", "≈ 0.50 of 100", 0.1),
    ("≈ 0.50", "≈ 0.50 and ≈ 0.50", 0.1),               # more numbers, or fewer
    ("≈ 0.50 and ≈ 0.50", "≈ 0.50", 0.1),
])
def test_all_else_is_a_difference(new, saved, tolerance):
    assert with_saved_numbers(new, saved, tolerance) != saved


def test_nbval_compares_cells_so(tmp_path):
    def cell(source, saved, **metadata):
        outputs = [new_output("stream", name="stdout", text=saved)]
        return new_code_cell(source, execution_count=1, metadata=metadata, outputs=outputs)

    html = new_output("display_data", {"text/html": "<b>saved</b>", "text/plain": "a text"})
    shown = new_output("execute_result", {"text/plain": "'width ≈ 0.26'"}, execution_count=1)
    notebook = new_notebook(cells=[
        cell('print("loss ≈ 0.50")', "loss ≈ 0.52\n"),
        cell('print("loss ≈ 0.50")', "loss ≈ 0.62\n"),
        cell('print("loss ≈ 0.50")', "loss ≈ 0.62\n", tolerance=0.2),
        cell('print("loss ≈ 0.50")', "Loss ≈ 0.50\n"),
        cell('print("loss 0.50")', "loss ≈ 0.50\n"),
        new_code_cell('"width ≈ 0.25"', execution_count=1, outputs=[shown]),
        cell("", "loss ≈ 0.50\n"),
        new_code_cell(SHOW.format("<b>new</b>", "a text"), execution_count=1, outputs=[html]),
        new_code_cell(SHOW.format("<b>saved</b>", "another"), execution_count=1, outputs=[html]),
        cell('print("share ≈ 0.02, ≈ 0.50")', "share ≈ 0.10, ≈ 0.42\n", absolute=0.1),
    ])
    nbformat.write(notebook, tmp_path / "page.ipynb")
    (tmp_path / "conftest.py").write_text(HOOK, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA",
               "--nbval", "--nbval-current-env", "page.ipynb"]
    run = subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
                         capture_output=True, text=True, encoding="utf-8")
    verdicts = re.findall(r"^(PASSED|FAILED) \S+::Cell (\d)", run.stdout, flags=re.M)
    assert sorted(verdicts, key=lambda pair: pair[1]) == [
        ("PASSED", "0"), ("FAILED", "1"), ("PASSED", "2"), ("FAILED", "3"),
        ("FAILED", "4"), ("PASSED", "5"), ("FAILED", "6"), ("PASSED", "7"), ("FAILED", "8"), ("PASSED", "9"),
    ], run.stdout + run.stderr
    assert "≈ 0.62" in run.stdout
