import contextlib
import os
import pathlib
import shutil

import nbformat
import pytest

from tests.browser.labdriver import CHROMIUM, chromium, lab_server, open_notebook
from tools.execute import KERNEL

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAILURES = pathlib.Path(__file__).parent / "failures"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A copy of the lessons, so that saving one changes nothing here."""
    copy = tmp_path_factory.mktemp("course") / "notebooks"
    shutil.copytree(ROOT / "notebooks", copy, ignore=shutil.ignore_patterns(".*"))
    return copy


@pytest.fixture(scope="session")
def server(folder):
    with lab_server(folder) as server:
        yield server


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        message = "no Chromium on this machine: install it, or name one with CHROMIUM=/path/to/chrome"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def opened(server, browser, request):
    """Opens a notebook of the folder by its name, and keeps a picture of the page if opening or running it fails."""
    FAILURES.mkdir(exist_ok=True)
    return lambda name: open_notebook(browser, server, f"{name}.ipynb", FAILURES / f"{request.node.name}-{name}.png")


@pytest.fixture(scope="module")
def running(folder, opened):
    """Runs a notebook of the cells given, once for the tests of a file."""
    with contextlib.ExitStack() as stack:
        def run(name, *sources):
            cells = [nbformat.v4.new_code_cell(source) for source in sources]
            made = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
            nbformat.write(made, folder / f"{name}.ipynb")
            notebook = stack.enter_context(opened(name))
            notebook.run_all()
            return notebook
        yield run
