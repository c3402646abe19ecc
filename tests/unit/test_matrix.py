"""The matrix says what it skipped, fails when nothing passed, and knows how close comparisons came to failing."""
import subprocess
import sys

import pytest

from tests.notebooks import ROOT
from tools import matrix

COMPARISONS = """
import torch

def test_thin():
    torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.25]), atol=0.5, rtol=0)
    assert torch.allclose(torch.zeros(2), torch.full((2,), 0.125), atol=1)

def test_wide():
    torch.testing.assert_close({"a": [torch.tensor([0.5, 1.0])]}, {"a": [torch.tensor([0.25, 1.0])]}, atol=25, rtol=0)

def test_skipped():
    torch.testing.assert_close(torch.tensor([1, 2]), torch.tensor([1, 2]))
    assert not torch.allclose(torch.zeros(2), torch.ones(2))
"""


def test_what_is_not_here_is_skipped(monkeypatch):
    assert matrix.try_python("3.99") == ("skipped", "this machine does not have it")
    monkeypatch.setitem(matrix.CPUS, "ANOTHER", {"ATEN_CPU_CAPABILITY": "default"})
    assert matrix.try_cpu("ANOTHER", 1, []) == ("skipped", "torch takes DEFAULT here", [])


@pytest.mark.parametrize(("words", "code", "last"), [
    (["passed", "skipped", "passed"], 0, "2 passed, 0 failed, 1 skipped"),
    (["skipped", "passed", "skipped"], 0, "1 passed, 0 failed, 2 skipped"),
    (["passed", "failed", "passed"], 1, "2 passed, 1 failed, 0 skipped"),
    (["passed", "passed", "failed"], 1, "2 passed, 1 failed, 0 skipped"),
    (["skipped", "skipped"], 1, "0 passed, 0 failed, 2 skipped"),
])
def test_what_it_prints_and_exits_with(monkeypatch, capsys, words, code, last):
    """The third word is that of the oldest torch, with the first Python that is there."""
    asked, answers = [], iter(words)
    monkeypatch.setattr(matrix, "try_python", lambda *row: (asked.append(row), (next(answers), "why"))[1])
    assert matrix.main(["3.10", "3.11"], False, []) == code
    assert capsys.readouterr().out.splitlines()[-1] == last
    found = [row for row, word in zip(asked, words) if word != "skipped"]
    assert asked[2:] == [(*row, matrix.OLDEST_TORCH) for row in found[:1]]


def test_the_margins_of_a_run_follow_its_row(monkeypatch, capsys):
    margins = {1: ["margin    9.5: allowed 1, in test_a: f(x)", "margin     30: allowed 1, in test_b: g(x)"], 2: []}
    monkeypatch.setattr(matrix, "try_cpu", lambda cpu, threads, tests: ("passed", "why", margins[threads]))
    assert matrix.main([], True, []) == 0
    rows = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert rows[:4] == [["DEFAULT", "1"], ["margin", "9.5:"], ["margin", "30:"], ["DEFAULT", "2"]]
    assert rows[4:6] == [["AVX2", "1"], ["margin", "9.5:"]]


def test_margins_of_a_test_are_recorded(tmp_path):
    (tmp_path / "test_it.py").write_text(COMPARISONS)
    command = [sys.executable, "-m", "pytest", "-p", "tools.margins", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path]
    said = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True).stdout
    thin, wide = [line for line in said.splitlines() if line.startswith("margin ")]
    assert thin.startswith("margin      2: allowed 5.0e-01, found 2.5e-01, in test_it.py::test_thin: torch.testing.assert_close(")
    assert wide.startswith("margin  1e+02: allowed 2.5e+01, found 2.5e-01, in test_it.py::test_wide")
    assert "skipped: 1 comparisons of equal numbers, 1 torch.allclose that were false" in said
