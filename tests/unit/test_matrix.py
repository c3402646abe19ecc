"""The matrix of Pythons says what it skipped, and fails when nothing passed."""
import pytest

from tools import matrix


def test_a_python_that_is_not_here_is_skipped():
    assert matrix.verdict("python3.99") == ("skipped", "this machine does not have it")


@pytest.mark.parametrize(("words", "code", "last"), [
    (["passed", "skipped", "passed"], 0, "2 passed, 0 failed, 1 skipped"),
    (["skipped", "passed", "skipped"], 0, "1 passed, 0 failed, 2 skipped"),
    (["passed", "failed", "passed"], 1, "2 passed, 1 failed, 0 skipped"),
    (["passed", "passed", "failed"], 1, "2 passed, 1 failed, 0 skipped"),
    (["skipped", "skipped"], 1, "0 passed, 0 failed, 2 skipped"),
])
def test_what_it_prints_and_exits_with(monkeypatch, capsys, words, code, last):
    """The third row is the oldest torch, with the first Python that is there."""
    asked, answers = [], iter(words)
    monkeypatch.setattr(matrix, "verdict", lambda *row: (asked.append(row), (next(answers), "why"))[1])
    assert matrix.main(["python3.10", "python3.11"]) == code
    assert capsys.readouterr().out.splitlines()[-1] == last
    found = [row for row, word in zip(asked, words) if word != "skipped"]
    assert asked[2:] == [(python, matrix.OLDEST_TORCH) for python, _ in found[:1]] or len(words) == 2
