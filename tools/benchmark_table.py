"""Writes the table of tests/benchmarks/README.md and the headline figures of README.md from tests/benchmarks/figures.csv.

`make bench` measures the figures, and writes all three.
"""
import argparse
import csv
import itertools
import re
import statistics

from tests.notebooks import ROOT

FIGURES = ROOT / "tests" / "benchmarks" / "figures.csv"
PAGE, README = FIGURES.with_name("README.md"), ROOT / "README.md"
FIELDS = ["test", "measured", "here", "against", "ratio", "how", "on"]             # on: the day, as 2026-11-29
HEADINGS = {
    "test_widgets.py": "From a slider's move to new pixels, milliseconds",
    "test_transformer.py": "The same work, against `torch.nn`",
    "test_books.py": "The same task, against plain transcriptions of published settings",
    "test_positions.py": "Positions",
    "test_bahdanau.py": "One vector against attention, 128 wide (lesson 4)",
    "test_reversing.py": "Copying and reversing",
    "test_dates.py": "Dates",
    "test_translation.py": "Translation, BLEU of held-out sentences",
    "test_classification.py": "Sentiment",
    "test_gpt.py": "A small GPT",
    "test_couplets.py": "Couplets",
    "test_pretraining.py": "Pretraining",
    "test_shipped.py": "What ships",
    "test_snli.py": "Fine-tuning on SNLI",
}
# Each sentence has gaps. What fills a gap: the row (measured), the field, and the words before the number.
HEADLINES = [
    ("Lesson 8 trains a Transformer in {} s on one core. It then reads {} % of the dates that it has never seen without a mistake.",
     [("training the Transformer of lesson 8, seconds of one core", "here", ""),
      ("dates never trained on, % read without a mistake", "here", "")]),
    ("An explorer shows a new attention map {} ms after its slider moves. A lab with two panels takes {} ms if only what moves is "
     "redrawn, {} ms if all is.",
     [("explorer, one map of 16 x 16", "here", ""), ("lab with two panels, only what moves redrawn", "here", ""),
      ("lab with two panels, all redrawn", "here", "")]),
    ("Lesson 9's translator, which comes with the course, writes greedily and scores {} BLEU (lower-cased, split into words) on "
     "2,000 sentences that it has never seen. A table of phrases, counted in the same sentence pairs, scores {}.",
     [("the same, in small letters, words apart", "here", ""),
      ("the same, in small letters, words apart", "against", "a table of phrases of the same pairs ")]),
]
BEGIN, END = "<!-- The figures begin: `make bench` writes them -->", "<!-- The figures end -->"


def number(x):
    """Three digits that count, 12,300, 97.0 or 0.814; a whole number as it is."""
    if isinstance(x, int):
        return f"{x:,}"
    return f"{float(f'{x:.3g}'):,.0f}" if abs(x) >= 99.95 else f"{x:#.3g}"


def spread(found):
    """The median of several numbers, with the least and the largest; a number, or words, as they are."""
    if isinstance(found, str):
        return found
    low, middle, high = (number(f(found)) for f in (min, statistics.median, max))
    return middle if low == high else f"{middle} ({low} to {high})"


def read():
    """The rows of the file, in its order."""
    with FIGURES.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def file_of(row):
    return row["test"].split("::")[0]


def merged(old, new):
    """The rows of old, those of a test that has new ones replaced, by file in the order of HEADINGS."""
    tests = {}
    for rows in (old, new):
        tests.update((test, list(some)) for test, some in itertools.groupby(rows, lambda row: row["test"]))
    return sorted(itertools.chain(*tests.values()), key=lambda row: list(HEADINGS).index(file_of(row)))


def table(rows):
    """The lines of the table: a heading for each file, then what it measured."""
    lines = ["| measured | this course | held against | ratio | how | on |", "| --- | --- | --- | --- | --- | --- |"]
    for file, some in itertools.groupby(rows, file_of):
        lines.append(f"| **{HEADINGS[file]}** | | | | | |")
        lines += ["| " + " | ".join(row[field] for field in FIELDS[1:]) + " |" for row in some]
    return lines


def headlines(rows):
    """The lines of HEADLINES, their gaps filled from these rows.

    Raises LookupError when no row has a number for a gap.
    """
    def number_in(measured, field, before):
        for row in rows:
            if row["measured"] == measured and (found := re.search(re.escape(before) + r"([\d.,]*\d)", row[field])):
                return found[1]
        raise LookupError(f"figures.csv has no number under {field!r} of {measured!r}")
    return ["- " + sentence.format(*(number_in(*gap) for gap in gaps)) for sentence, gaps in HEADLINES]


def with_lines(text, lines):
    """The text with these lines between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([before + BEGIN, *lines, END + after])


def write(new=()):
    """Take new rows into the file, and write what the two pages show of it."""
    rows = merged(read(), new)
    with FIGURES.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for page, lines in ((PAGE, table(rows)), (README, headlines(rows))):
        page.write_text(with_lines(page.read_text(encoding="utf-8"), lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m tools.benchmark_table", description=__doc__).parse_args()
    write()
