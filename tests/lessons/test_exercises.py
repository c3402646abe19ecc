"""Every exercise: the stub is not attempted, the solution passes, and typical mistakes are named."""
import ast

import pytest
import torch

from helpers.exercises import EXERCISES, check
from tests.notebooks import PATHS, code_cells, is_solution, read


def answers():
    """(lesson, exercise, its stub, its solution) in every lesson: functions as ast has them.

    A solution has a name of its own, so that it does not replace the reader's function.
    """
    found = []
    for path in PATHS:
        stubs, solutions = {}, {}
        for cell in code_cells(read(path)):
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.FunctionDef):
                    (solutions if is_solution(cell) else stubs)[node.name] = node
        found += [(path, name, stubs[name], solutions[f"{name}_solution"]) for name in stubs if name in EXERCISES]
    return found


def function(node, path):
    """What the cell defines, in a namespace with the imports of the lesson."""
    namespace = {}
    setup = next(cell for cell in code_cells(read(path)) if "import torch" in cell.source)
    exec(setup.source, namespace)
    exec(ast.unparse(node), namespace)
    return namespace[node.name]


def verdict_of(answer, name, capsys):
    answer.__name__ = name
    check(answer)
    return capsys.readouterr().out


@pytest.mark.parametrize(("path", "name", "stub", "solution"), answers(), ids=lambda value: value if value in EXERCISES else "")
def test_stub_and_solution(path, name, stub, solution, capsys):
    check(function(stub, path))
    assert capsys.readouterr().out.startswith(f"{name}: not attempted")
    check(function(solution, path))
    assert capsys.readouterr().out.startswith(f"{solution.name}: correct")


def test_every_exercise_is_asked_somewhere():
    assert {name for _, name, _, _ in answers()} == set(EXERCISES)


@pytest.mark.parametrize(("name", "mistake"), [(name, text) for name, e in EXERCISES.items() for text in e.mistakes])
def test_a_typical_mistake_is_named(name, mistake, capsys):
    assert mistake in verdict_of(EXERCISES[name].mistakes[mistake], name, capsys)


@pytest.mark.parametrize("name", EXERCISES)
def test_other_answers_are_told_what_is_wrong(name, capsys):
    exercise = EXERCISES[name]
    assert len(exercise.mistakes) >= 2
    right = exercise.spec
    assert "needs [" in verdict_of(lambda *case: torch.zeros(1, 1, 1), name, capsys)
    as_python = verdict_of(lambda *case: right(*case).tolist(), name, capsys)
    one_number = all(right(*case).dim() == 0 for case in exercise.cases)
    assert ("needs to return a tensor" in as_python) != one_number and "raised" not in as_python
    assert "raised ZeroDivisionError" in verdict_of(lambda *case: 1 / 0, name, capsys)
    def off(*case):
        result = right(*case)
        return torch.cat([~result[:1], result[1:]]) if result.dtype == torch.bool else result + 7

    def of_another_kind(*case):
        result = right(*case)
        return result.int() if result.dtype == torch.bool else result > 0

    assert "where the plain version returns" in verdict_of(off, name, capsys)
    assert "and needs torch." in verdict_of(of_another_kind, name, capsys)

    def without_return(*case):
        result = right(*case)
        assert result is not None

    assert "Is a `return` missing?" in verdict_of(without_return, name, capsys)


def test_an_unknown_exercise_is_refused():
    with pytest.raises(ValueError, match="no exercise asks for"):
        check(test_an_unknown_exercise_is_refused)
