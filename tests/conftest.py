"""No network and one thread for each test and kernel; what nbval compares, and one more cell for each lesson."""
import os
import pathlib

import pytest

from helpers.data.published import CACHE
from tests import offline
from tests.lessons import approximate, labs
from tests.notebooks import ROOT

# Before any kernel starts: two kernels that fight over two cores with two threads each take ten times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")

offline.cut()
os.environ["PYTHONSTARTUP"] = offline.__file__      # a kernel runs it before its first cell
os.environ["NO_PROXY"] = "*"                        # a proxy on this machine would lead out of it


def pytest_collection_modifyitems(items):
    labs.add_to(items)
    approximate.add_to(items)


@pytest.fixture
def published(monkeypatch):
    """Makes a folder that holds a published file the cache, and returns the file's path; skips the test where there is none."""
    def use(file):
        folder = pathlib.Path(os.environ.get(CACHE) or ROOT.parent / "shared" / "data")
        if not (folder / file).exists():
            pytest.skip(f"{file} is not here: {CACHE} names the folder that holds it")
        monkeypatch.setenv(CACHE, str(folder))
        return folder / file
    return use
