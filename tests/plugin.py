"""No network and one thread for each test and kernel; what nbval compares, and one more cell for each lesson."""
import os

import pytest

from helpers.data.published import CACHE, cache_folder
from tests import offline
from tests.lessons import approximate, labs
from tests.order import longest_first

# Before any kernel starts: two kernels that fight over two cores with two threads each take ten times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")

offline.cut()
os.environ["PYTHONSTARTUP"] = offline.__file__      # a kernel runs it before its first cell
os.environ["NO_PROXY"] = "*"                        # a proxy on this machine would lead out of it


def pytest_collection_modifyitems(items):
    longest_first(items)
    labs.add_to(items)
    approximate.add_to(items)


@pytest.fixture
def published():
    """Gives the path of a file in the cache folder that ATTENTION_COURSE_CACHE names; skips the test where it is not."""
    def use(file):
        if not os.environ.get(CACHE) or not (cache_folder() / file).exists():
            pytest.skip(f"{file} is not here: {CACHE} names the folder that holds it")
        return cache_folder() / file
    return use
