"""The first page's question, whether everything is there, gets a sentence for each thing that is not."""
import importlib.metadata
import sys

import pytest

from helpers import environment


def with_versions(**other):
    """The real versions, but for these; None: not installed."""
    def version(name):
        if name in other and other[name] is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return other.get(name) or importlib.metadata.version(name)
    return version


def test_here_nothing_is_missing(capsys):
    environment.check_environment()
    assert capsys.readouterr().out == "Everything that the course needs is here.\n"


@pytest.mark.parametrize(("version", "sentence"), [
    (with_versions(torch=None), "torch is missing: run"),
    (with_versions(ipywidgets="7.8.5"), "ipywidgets is 7.8.5, and >=8.1.5 is needed"),
])
def test_a_package_that_is_missing_or_old_is_named(version, sentence):
    found, = environment.troubles(version=version)
    assert found.startswith(sentence) and sys.executable in found and "pip install" in found


def test_even_the_package_that_reads_versions_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "packaging.requirements", None)
    found, = environment.troubles()
    assert found.startswith("packaging is missing: run")


def test_what_only_the_tests_need_is_not_asked_for():
    assert environment.troubles(version=with_versions(nbval=None, playwright=None)) == []


@pytest.mark.parametrize("python", [(3, 9), (3, 14), (4, 0)])
def test_another_python_is_named(python):
    found, = environment.troubles(python)
    assert found.startswith(f"This is Python {python[0]}.{python[1]}: the course needs 3.10 to 3.13.")


def test_a_course_that_is_not_installed_says_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(environment, "COURSE", "attention-course-that-is-not-there")
    environment.check_environment()
    assert "make lab" in capsys.readouterr().out
