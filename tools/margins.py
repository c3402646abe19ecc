"""A pytest plugin, `python -m pytest -p tools.margins`: how close the comparisons that hold come to failing.

A margin is what a comparison allows over what it finds, at the element where that is smallest: below 1 the comparison fails.
Recorded are torch.testing.assert_close and torch.allclose, in tests and in the kernels of notebooks, and the numbers that
notebooks print after ≈. At the end stand the ten thinnest margins of tests that passed, one for each, and what was skipped.
"""
import collections
import json
import linecache
import os
import pathlib
import sys
import tempfile

import pytest
import torch
from nbval.plugin import IPyNbCell

RECORD = "ATTENTION_COURSE_MARGINS"     # names the file where this process and its kernels note what they compare
# (rtol, atol) of assert_close where none is given, from its documentation; of other types it allows no difference.
DEFAULTS = {torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5), torch.float32: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7)}


def note(what, allowed=None, found=None):
    """Add to the record: a margin with the line of code it comes from, or only in words why there is none."""
    if RECORD in os.environ:
        with open(os.environ[RECORD], "a") as file:
            print(json.dumps([what, allowed, found]), file=file)


def compare(line, actual, expected, rtol, atol, **others):
    """Note the margin of two tensors or numbers, or of each pair in two collections."""
    if isinstance(actual, dict):
        return compare(line, list(actual.values()), [expected[key] for key in actual], rtol, atol)
    if isinstance(actual, (list, tuple)):
        return [compare(line, *pair, rtol, atol) for pair in zip(actual, expected)]
    actual, expected = (torch.as_tensor(x).detach().cpu() for x in (actual, expected))
    if rtol is None:                                                    # assert_close takes both or neither
        rtol, atol = map(max, *(DEFAULTS.get(x.dtype, (0, 0)) for x in (actual, expected)))
    found, allowed = torch.broadcast_tensors((actual.double() - expected.double()).abs(), atol + rtol * expected.double().abs())
    pairs = list(zip(allowed[found > 0].tolist(), found[found > 0].tolist()))      # neither equal nor NaN on both sides
    note(line, *min(pairs, key=lambda pair: pair[0] / pair[1])) if pairs else note("comparisons of equal numbers")


def watched(real, rtol, atol):
    """The function, with these tolerances where none are given, whose comparisons are noted if they hold."""
    def function(actual, expected, *args, **options):
        result, caller = real(actual, expected, *args, **options), sys._getframe(1)
        line = linecache.getline(caller.f_code.co_filename, caller.f_lineno).strip()
        given = {"rtol": rtol, "atol": atol} | dict(zip(("rtol", "atol"), args)) | options
        note("torch.allclose that were false") if result is False else compare(line, actual, expected, **given)
        return result
    return function


torch.testing.assert_close = watched(torch.testing.assert_close, None, None)
torch.allclose = torch.Tensor.allclose = watched(torch.allclose, 1e-5, 1e-8)


def compare_printed(cell):
    """Note the margins of the numbers after ≈ that a notebook's cell printed, as tests/lessons/approximate.py compares them."""
    from tests.lessons.approximate import NUMBER, tolerances_of, value  # here: kernels need none of it
    texts = ("".join(output.get("text", output.get("data", {}).get("text/plain", "")) for output in outputs)
             for outputs in (cell.cell.get("outputs", []), cell.test_outputs or []))
    for saved, new in zip(*map(NUMBER.finditer, texts)):
        a, b, (relative, absolute) = value(saved), value(new), tolerances_of(cell.cell)
        allowed = max(relative * max(abs(a), abs(b)), absolute)
        note(f"saved {saved[0]}, new {new[0]}", allowed, abs(a - b)) if a != b else note("equal numbers after ≈")


def pytest_configure(config):
    config.margins = tempfile.TemporaryDirectory()                      # kept as long as the configuration
    folder = pathlib.Path(config.margins.name, "profile_default", "startup")       # a kernel runs what is here
    folder.mkdir(parents=True)
    (folder / "margins.py").write_text("__import__('tools.margins')\n")            # it binds no name there
    os.environ |= {"IPYTHONDIR": config.margins.name, RECORD: str(folder / "record")}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    (record := pathlib.Path(os.environ[RECORD])).write_text("")
    yield
    if isinstance(item, IPyNbCell):
        compare_printed(item)
    item.user_properties.append(("margins", [json.loads(line) for line in record.read_text().splitlines()]))


def pytest_terminal_summary(terminalreporter):
    margins, skipped = [], collections.Counter()
    for report in terminalreporter.stats.get("passed", []):
        noted = dict(report.user_properties)["margins"]
        skipped.update(what for what, allowed, _ in noted if allowed is None)
        some = [(allowed / found, allowed, found, report.nodeid, what) for what, allowed, found in noted if allowed is not None]
        margins += sorted(some)[:1]
    terminalreporter.section("margins")
    for ratio, allowed, found, test, what in sorted(margins)[:10]:
        terminalreporter.write_line(f"margin {ratio:6.2g}: allowed {allowed:.1e}, found {found:.1e}, in {test}: {what[:100]}")
    counts = "".join(f"{count:,} {what}, " for what, count in skipped.items())
    terminalreporter.write_line(f"skipped: {counts}and all of pytest.approx, torch.equal, plain comparisons and other processes")
