import os
import pathlib
import shutil

import pytest

from tests.browser.labdriver import CHROMIUM, chromium, lab_server

ROOT = pathlib.Path(__file__).resolve().parents[2]


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
