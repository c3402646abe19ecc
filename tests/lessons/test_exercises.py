"""Every exercise: the stub is not attempted, the solution passes, and typical mistakes are named."""
import ast

import pytest
import torch

from helpers.exercises import EXERCISES, check
from tests.notebooks import PATHS, code_cells, is_solution, read


def answers():
    """(exercise, its stub's source, its solution's source, all definitions above them) in every lesson."""
    found = []
    for path in PATHS:
        stubs, solutions = {}, {}
        for cell in code_cells(read(path)):
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.FunctionDef) and node.name in EXERCISES:
                    (solutions if is_solution(cell) else stubs)[node.name] = ast.unparse(node)
        found += [(path, name, stubs[name], solutions.get(name)) for name in stubs]
    return found


def function(source, name, path):
    """What the reader's cell defines, in a namespace with the imports of the lesson."""
    namespace = {}
    setup = next(cell for cell in code_cells(read(path)) if "import torch" in cell.source)
    exec(setup.source, namespace)
    exec(source, namespace)
    return namespace[name]


def verdict_of(answer, name, capsys):
    answer.__name__ = name
    check(answer)
    return capsys.readouterr().out


@pytest.mark.parametrize(("path", "name", "stub", "solution"), answers(), ids=lambda value: value if value in EXERCISES else "")
def test_stub_and_solution(path, name, stub, solution, capsys):
    assert "not attempted" in verdict_of(function(stub, name, path), name, capsys)
    assert "correct" in verdict_of(function(solution, name, path), name, capsys)


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
    assert "needs to return a tensor" in verdict_of(lambda *case: right(*case).tolist(), name, capsys)
    assert "raised ZeroDivisionError" in verdict_of(lambda *case: 1 / 0, name, capsys)
    def off(*case):
        result = right(*case)
        return ~result.tril() if result.dtype == torch.bool else result + 7

    def of_another_kind(*case):
        result = right(*case)
        return result.int() if result.dtype == torch.bool else result > 0

    assert "where the plain version returns" in verdict_of(off, name, capsys)
    assert "and needs torch." in verdict_of(of_another_kind, name, capsys)
    assert "not attempted" in verdict_of(lambda *case: None, name, capsys)


@pytest.mark.parametrize("name", EXERCISES)
def test_an_answer_that_changes_its_arguments_spoils_nothing(name, capsys):
    def careless(*case):
        result = EXERCISES[name].spec(*case)
        for value in case:
            if isinstance(value, torch.Tensor):
                value.zero_()
        return result

    assert "correct" in verdict_of(careless, name, capsys)
    assert "correct" in verdict_of(EXERCISES[name].spec, name, capsys)


def test_an_unknown_exercise_is_refused():
    with pytest.raises(ValueError, match="no exercise asks for"):
        check(test_an_unknown_exercise_is_refused)
