"""One thread for each kernel, and the lessons spread over the processors."""
import os

import pytest

# Before any kernel starts: two kernels that fight over two cores take ten times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_collection_modifyitems(items):
    """A notebook's cells stay together, as a file's tests do; of the labs each lesson can run elsewhere."""
    for item in items:
        file = item.nodeid.split("::")[0]
        item.add_marker(pytest.mark.xdist_group(item.nodeid if file.endswith("test_labs.py") else file))
