"""The table and the headlines are what the file of figures says, and nothing beside them claims a measured figure."""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import date

import pytest
import torch

from helpers.masks import padding_mask
from tests.notebooks import ROOT
from tools import benchmark_table as table
from tools.make_weights.fine_tuning import chosen

SHIPPED = ROOT / "helpers" / "pretrained"
PAGE, README = (path.read_text(encoding="utf-8") for path in (table.PAGE, table.README))


RUN = '''
import pathlib

import pytest
from tools import benchmark_table as table

HERE = pathlib.Path(__file__).parent
table.FIGURES, table.PAGE, table.README = HERE / "figures.csv", HERE / "table.md", HERE / "README.md"
table.HEADLINES = [("good {}, theirs {}", [("good", "here", ""), ("good", "against", "theirs ")])]


def test_good(faster):
    assert faster("good", 6, "theirs", theirs=[3.0, 4.0], ours=[2.0, 1.0]) == [1.5, 4.0]


def test_bad(figure):
    figure("bad", [1.0], how="at once")
    assert False


def test_skipped(read_or_skip, figure):
    read_or_skip(open, HERE / "not here")
'''


def row(test, what="speed", here="1.00"):
    return dict(zip(table.FIELDS, [test, what, here, "", "", "", "2026-11-21"], strict=True))


@pytest.mark.parametrize(("text", "lines"), [(PAGE, table.table), (README, table.headlines)], ids=["table", "headlines"])
def test_the_pages_show_what_the_file_says(text, lines):
    assert text.count(table.BEGIN) == text.count(table.END) == 1
    assert table.with_lines(text, lines(table.read())) == text, "python -m tools.benchmark_table writes both again"


def test_a_headline_takes_its_numbers_from_rows_and_says_which_row_is_missing(monkeypatch):
    monkeypatch.setattr(table, "HEADLINES", [("{} %, not {} %.", [("speed", "here", ""), ("speed", "against", "theirs ")])])
    full = {**row("test_books.py::a", here="1,234 (9 to 2,000)"), "against": "others 7; theirs 0.50"}
    assert table.headlines([row("test_books.py::a", "size"), full]) == ["- 1,234 %, not 0.50 %."]
    with pytest.raises(LookupError, match="no number under 'against' of 'speed'"):
        table.headlines([row("test_books.py::a")])


def test_every_row_has_its_benchmark_and_every_benchmark_its_heading():
    for test in {row["test"] for row in table.read()}:
        file, name = test.split("::")
        source = (table.FIGURES.parent / file).read_text(encoding="utf-8")
        assert f"def {name.split('[')[0]}(" in source, f"{test} is no more: take its rows out of figures.csv"
    assert {path.name for path in table.FIGURES.parent.glob("test_*.py")} == set(table.HEADINGS)


@pytest.mark.parametrize("text", [PAGE, README], ids=["table", "headlines"])
def test_no_figure_stands_beside_them(text):
    outside = re.sub(f"{table.BEGIN}.*{table.END}", "", text, flags=re.S)
    versions_and_size = r"ython\s?3\.\d+( to 3\.\d+)?|==[\d.]+|version [\d.]+|CC BY 4\.0|1\.6 GB"
    outside = re.sub(versions_and_size, "", outside)
    assert not re.findall(r"\d\.\d|\d ?%|\d (?:times|ms|MB|nats)", outside)


def test_a_newcomer_reads_the_readme_in_a_few_minutes():
    assert len(README.splitlines()) <= 100 and len(table.HEADLINES) == 3


def test_what_ships_was_measured_after_it_was_made():
    rows = {row["measured"]: row for row in table.read() if row["test"].startswith("test_shipped.py")}
    seconds = json.loads((SHIPPED / "bert" / "training.json").read_text())["seconds"]
    assert f"{seconds:,} s" in next(row["how"] for what, row in rows.items() if what.startswith("BERT"))
    scores = chosen("a span", "pretrained", 1000)
    assert next(row["here"] for what, row in rows.items() if "a span" in what).endswith(f"{sum(scores) / 3:.2f}")


def test_a_test_that_ran_replaces_its_rows_and_the_others_keep_theirs():
    books, shipped, snli = (f"{file}::test" for file in ("test_books.py", "test_shipped.py", "test_snli.py"))
    old = [row(books), row(books, "gone"), row(books + "[1]"), row(snli)]
    new = [row(shipped), row(books, here="2.00"), row(books, "more")]
    assert table.merged(old, new) == [row(books, here="2.00"), row(books, "more"), row(books + "[1]"), row(shipped), row(snli)]
    assert table.merged(old, []) == old


def test_a_table_has_a_heading_for_each_file():
    lines = table.table([row("test_books.py::a"), row("test_books.py::b", "size"), row("test_snli.py::a")])
    assert [line.split(" | ")[0] for line in lines[2:]] == [
        f"| **{table.HEADINGS['test_books.py']}**", "| speed", "| size", f"| **{table.HEADINGS['test_snli.py']}**", "| speed"]
    assert {line.count("|") for line in lines} == {7}


def test_what_is_around_the_table_stays():
    text = f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n"
    assert table.with_lines(text, ["new"]) == f"before\n{table.BEGIN}\nnew\n{table.END}\nafter\n"


def test_only_what_passed_is_kept(tmp_path):
    bad = row("test_books.py::test_bad", "bad", "7.00")
    shutil.copy(table.FIGURES.parent / "conftest.py", tmp_path)
    (tmp_path / "test_books.py").write_text(RUN)
    (tmp_path / "figures.csv").write_text(",".join(bad) + "\n" + ",".join(bad.values()) + "\n")
    for name in ("table.md", "README.md"):
        (tmp_path / name).write_text(f"{table.BEGIN}\n{table.END}\n")
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    run = subprocess.run([sys.executable, "-m", "pytest", "--rootdir", str(tmp_path), "-rs", str(tmp_path)], text=True,
                         capture_output=True, env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"})
    assert "1 failed, 1 passed, 1 skipped" in run.stdout and "not here" in run.stdout, run.stdout
    assert (tmp_path / "README.md").read_text().splitlines()[1:-1] == ["- good 4.50, theirs 1.75"]
    *lines, _ = (tmp_path / "table.md").read_text().splitlines()
    assert lines[-2].startswith("| bad | 7.00 |")
    assert lines[-1].startswith("| good | 4.50 (3.00 to 6.00) | theirs 1.75 (1.50 to 2.00) | 2.75 (1.50 to 4.00) | 1 thread, 0 s")
    assert lines[-1].endswith(f"| {date.today()} |")


@pytest.mark.parametrize(("found", "text"), [
    ([12345.6], "12,300"), ([99.96], "100"), ([14], "14"), ([1234, 1240.0, 9], "1,234 (9 to 1,240)"),
    ([14.0], "14.0"), ([0.8144], "0.814"), ([1.07, 1.03, 1.05], "1.05 (1.03 to 1.07)"),
    ([1.001, 1.002], "1.00"), ("as it is", "as it is")])
def test_numbers_have_three_digits_and_several_their_range(found, text):
    assert table.spread(found) == text


def benchmark(name):
    """A module of benchmarks. `make bench` takes hours, and nothing else runs them: a call that fails would be found much later."""
    spec = importlib.util.spec_from_file_location("benchmark", ROOT / "tests" / "benchmarks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_timed_against_torch_can_be_called():
    x, mask = torch.randn(2, 5, 8), padding_mask(torch.tensor([5, 3]), 5)
    for name, theirs, ours in benchmark("test_transformer").models(8, x, mask, ~mask[:, 0]):
        assert theirs().shape == ours().shape == x.shape, name


def test_what_is_trained_for_longer_is_found_in_lesson_6():
    names = benchmark("test_positions").lesson()
    model, loss = names["trained"](names["tasks"]["five back"], "ALiBi", 0, steps=2)
    assert 0 < loss < 10 and {"tests", "accuracies"} <= set(names)
