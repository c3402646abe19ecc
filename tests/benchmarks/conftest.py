"""What the benchmarks share: the recorder of figures, turns, and published data that may be missing."""
from datetime import date
from time import perf_counter, process_time

import pytest
import torch

from tools import benchmark_table as table


@pytest.fixture
def figure(record_property):
    """Notes one row of the table in tests/benchmarks/README.md; it is kept if the test passes.

    measured: what. here, ratio: one number a turn (or a seed), or words. against: such numbers by name.
    how: threads and seconds of the test so far, unless given.
    """
    start = perf_counter()

    def note(what, here, against=None, ratio="", how=None):
        names = "; ".join(f"{name} {table.spread(found)}".strip() for name, found in (against or {}).items())
        threads = f"{(n := torch.get_num_threads())} thread" + "s" * (n > 1)
        row = [what, table.spread(here), names, table.spread(ratio), how or f"{threads}, {perf_counter() - start:.0f} s"]
        print("\n" + " | ".join(row))
        record_property("figure", row)
    return note


@pytest.fixture
def faster(figure):
    """Notes a row of how much is done in a second, from the seconds of each turn; gives how many times as fast ours is."""
    def note(what, amount, of, theirs, ours):
        ratios = [slow / fast for slow, fast in zip(theirs, ours)]
        figure(what, [amount / s for s in ours], {of: [amount / s for s in theirs]}, ratios)
        return ratios
    return note


@pytest.fixture
def one_thread():
    """With one thread the seconds of the processor are those of the work, whatever else the machine does."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def take_turns(one_thread):
    """Seconds of the processor that each function takes, in each of some rounds; the first round, a warm-up, is not counted."""
    def run(rounds, **functions):
        seconds = {name: [] for name in functions}
        for _ in range(rounds + 1):
            for name, function in functions.items():
                start = process_time()
                function()
                seconds[name].append(process_time() - start)
        return {name: found[1:] for name, found in seconds.items()}
    return run


@pytest.fixture(scope="module")
def read_or_skip():
    """Calls a function that reads published data; skips, and says what is missing, where it is not there."""
    def read(load, *args):
        try:
            return load(*args)
        except FileNotFoundError as error:
            pytest.skip(str(error))
    return read


def pytest_terminal_summary(terminalreporter):
    """Keep the figures of the tests that passed."""
    rows = [dict(zip(table.FIELDS, [report.nodeid.split("/")[-1], *row, date.today().isoformat()], strict=True))
            for report in terminalreporter.stats.get("passed", []) for name, row in report.user_properties if name == "figure"]
    table.write(rows)
    terminalreporter.write_line(f"{len(rows)} figures measured; tests/benchmarks/figures.csv and README.md hold them")
