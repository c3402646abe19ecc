"""Long files start first, so that the processors finish together."""
from types import SimpleNamespace

from tests.notebooks import ROOT
from tests.order import LONGEST, longest_first


def test_every_file_that_is_to_be_first_is_there():
    assert [file for file in LONGEST if not (ROOT / file).exists()] == []


def test_long_files_come_first_and_the_tests_of_a_file_stay_in_order():
    short, long = "tests/unit/test_order.py::", f"{LONGEST[1]}::"
    items = [SimpleNamespace(nodeid=file + name) for file, name in [(short, "b"), (short, "a"), (long, "Cell 1"), (long, "Cell 0")]]
    longest_first(items)
    assert [item.nodeid for item in items] == [long + "Cell 1", long + "Cell 0", short + "b", short + "a"]
