"""One thread for each kernel, and one more cell for each lesson."""
import os

import labs

# Before any kernel starts: two kernels that fight over two cores with two threads each take ten times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_collection_modifyitems(items):
    labs.add_to(items)
