"""Numbers after ≈: nbval compares them within a tolerance, and everything else as it stands.

What training or a machine's arithmetic decides is printed after the sign and a space, as in
`exact match ≈ 99.9 %`, `largest difference ≈ 3e-07`, `≈ 1,234 steps`. A text that a model writes is shown
as HTML, which is not compared, beside a plain text, which is.
"""
import math
import re
from functools import partial

from nbval.plugin import IPyNbCell

# The spaces that line up a column belong to the number, and so does its sign.
NUMBER = re.compile(r"≈ +([+-]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?)")
RELATIVE, ABSOLUTE = 0.1, 0.02
HTML = "text/html"


def value(match):
    return float(match[1].replace(",", ""))


def with_saved_numbers(new, saved, tolerance=RELATIVE, absolute=ABSOLUTE):
    """The text `new`, where each number after ≈ that is close to its counterpart in `saved` is written as there.

    tolerance: relative to the larger of the two. Numbers that differ by at most `absolute` are always close.
    """
    counterparts = NUMBER.finditer(saved)

    def settle(match):
        other = next(counterparts, match)
        close = math.isclose(value(match), value(other), rel_tol=tolerance, abs_tol=absolute)
        return other[0] if close else match[0]

    return NUMBER.sub(settle, new)


def with_saved_outputs(new, saved, *tolerances):
    """The same for all texts of a cell's outputs, which nbval keeps in lists and dictionaries."""
    if isinstance(new, str) and isinstance(saved, str):
        return with_saved_numbers(new, saved, *tolerances)
    if isinstance(new, list) and isinstance(saved, list):
        return [with_saved_outputs(a, b, *tolerances) for a, b in zip(new, saved)] + new[len(saved):]
    if isinstance(new, dict) and isinstance(saved, dict):
        kept = {HTML: saved[HTML]} if HTML in new and HTML in saved else {}
        return type(new)({key: with_saved_outputs(new[key], saved.get(key), *tolerances) for key in new} | kept)
    return new


def compare_outputs(strict, tolerances, new, saved, **options):
    return strict(with_saved_outputs(new, saved, *tolerances), saved, **options)


def tolerances_of(cell):
    """(relative, absolute): how far a number of this cell may be from the saved one, whichever allows more."""
    return cell.metadata.get("tolerance", RELATIVE), cell.metadata.get("absolute", ABSOLUTE)


def add_to(items):
    """Compare every cell among pytest's items so; a cell's metadata may hold a `tolerance` and an `absolute` one of its own."""
    for item in items:
        if isinstance(item, IPyNbCell):
            item.compare_outputs = partial(compare_outputs, item.compare_outputs, tolerances_of(item.cell))
