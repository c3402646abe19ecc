"""Tables of measurements, as CSV. One that takes long grows row by row, so that its tool can be stopped and started again."""
import csv
import pathlib
from collections.abc import Callable, Iterable, Sequence


def read(path: pathlib.Path) -> list[dict]:
    """The rows of a table, all values as text; none where there is no file."""
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) if path.exists() else []


def write(path: pathlib.Path, columns: Sequence[str], rows: Iterable[dict]) -> None:
    """Write a table; a value that a row lacks stays empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def fill(path: pathlib.Path, columns: Sequence[str], keys: Iterable[Sequence], measured: Callable[..., dict]) -> None:
    """Add a row for each key that the table lacks, and write the table at once.

    The first columns hold the key; measured(*key) gives the others.
    """
    rows = read(path)
    for key in keys:
        named = dict(zip(columns, map(str, key)))
        if not any(named.items() <= row.items() for row in rows):
            rows.append(named | measured(*key))
            write(path, columns, rows)
