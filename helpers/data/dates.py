"""Dates as people write them in English, each with its ISO form, `1997-11-30`: made here, with nothing to fetch.

Four rules give every written form one reading:

- A date that begins with four digits goes year, month, day: 1997-11-30.
- With the month as a number, slashes put the month first (11/3/1997 is the 3rd of November); dots and dashes put the day
  first (3.11.1997). Where that would make a month above 12, it is the other way round (30/11/1997, 11.30.1997).
- A year of two digits is one from 1969 to 2068, as in POSIX and in Python's own `strptime`. Others are written in full.
- A weekday adds nothing: it is always the right one. Nor does AD behind a year.
"""
import datetime
import random
import unicodedata

from helpers.data.published import columns, read_files, two_parts

FIRST, LAST = datetime.date(1925, 1, 1), datetime.date(2069, 12, 31)
TWO_DIGIT_YEARS = range(1969, 2069)
MONTHS = "January February March April May June July August September October November December".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
LONGER_SHORTS = {"September": ["Sept"], "Tuesday": ["Tues"], "Thursday": ["Thur", "Thurs"]}      # beside the first three letters
LOOKALIKES = str.maketrans("‘’‐–—−", "''----")


def load_dates(n_train: int = 60_000, n_test: int = 2000, seed: int = 0, path=None) -> tuple[list, list]:
    """(train, test): lists of pairs (written, iso), such as ("Sunday, November 30, 1997", "1997-11-30").

    The dates are from 1925 to 2069. Each date of the test is there once, and in no form in the training pairs.
    path: in place of these, a table of such pairs, a tenth of whose dates are the test, or two, (train, test).
    Raises ValueError for a negative number of pairs, where the test would leave no date to train on, and for a
    table that is damaged or has no such dates, FileNotFoundError where it is missing.
    """
    if path is not None:
        parts = [read_dates(file) for file in read_files(path, ("*train*.?sv", "*test*.?sv"))]
        return two_parts(parts, key=lambda pair: pair[1])
    days = (LAST - FIRST).days + 1
    if n_train < 0 or not 0 <= n_test < days:
        raise ValueError(f"n_train={n_train}, n_test={n_test}: both need to be 0 or more, and n_test below {days:,} dates")
    rng = random.Random(seed)
    dates = [FIRST + datetime.timedelta(day) for day in rng.sample(range(days), days)]
    chosen = rng.choices(dates[n_test:], k=n_train) + dates[:n_test]
    pairs = [(write_date(date, rng), date.isoformat()) for date in chosen]
    return pairs[:n_train], pairs[n_train:]


def read_dates(file):
    """The pairs of a table of dates."""
    pairs = []
    for number, (written, iso) in columns(file, "written", "iso"):
        try:
            pairs.append((written, datetime.datetime.strptime(iso, "%Y-%m-%d").date().isoformat()))
        except ValueError as error:
            raise file.error(number, iso, "a date as 1997-11-30") from error
    return pairs


def normalise(text: str) -> str:
    """Lower case, single spaces, and one character for those that look alike: "３  May ’01 " gives "3 may '01"."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(LOOKALIKES).lower().split())


def write_date(date: datetime.date, rng: random.Random) -> str:
    """One way to write a `datetime.date` from FIRST to LAST, at most 41 characters, chosen by `rng`, a `random.Random`."""
    style = rng.choices([in_a_sentence, joined, in_numbers], [7, 1, 5])[0]
    written = style(date, rng)
    if rng.random() < (0.4 if style is in_a_sentence else 0.25):
        written = name(WEEKDAYS[date.weekday()], rng) + rng.choice([" ", ", "]) + written
    return rng.choice([str, str.lower, str.upper])(written)


def in_a_sentence(date, rng):
    """The month named, between spaces and commas: Nov. 3rd, 1997; the 3rd of November '97."""
    month, year, comma = name(MONTHS[date.month - 1], rng), short_or_full_year(date, rng), rng.choice([" ", ", ", ","])
    if len(year) == 2:
        year = rng.choice(["", "'"]) + year
    day, the = rng.choice([f"{date.day}", f"{date.day:02}"]), ""
    if rng.random() < 0.4:
        ending = "th" if date.day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(date.day % 10, "th")
        day, the = f"{date.day}{ending}", rng.choice(["", "the "])
    day_first = the + day + rng.choices([" ", " of ", ", "], [6, 2, 1])[0] + month + comma + year
    month_first = f"{month} {the}{day}{comma}{year}"
    return rng.choice([day_first, month_first])


def joined(date, rng):
    """The month named, between marks: 03-Nov-97, 3/November/1997."""
    day = rng.choice([f"{date.day}", f"{date.day:02}"])
    month, year = name(MONTHS[date.month - 1], rng).rstrip("."), short_or_full_year(date, rng)
    return rng.choice("--/").join([day, month, year])             # the dash twice as often


def in_numbers(date, rng):
    """The month as a number: 11/3/97, 3.11.1997, 1997-11-03."""
    padded, plain, month_padded = f"{date:%d %m}", f"{date.day} {date.month}", f"{date.day} {date:%m}"
    day, month = rng.choices([padded, plain, month_padded], [4, 4, 1])[0].split()
    mark = rng.choice("//.-")                                    # the slash twice as often as each of the others
    if rng.random() < 0.25:
        return mark.join([str(date.year), month, day])
    month_first = mark == "/"
    if date.day > 12 and rng.random() < 0.3:                     # no month: it can stand on either side
        month_first = not month_first
    return mark.join([*([month, day] if month_first else [day, month]), short_or_full_year(date, rng)])


def name(full, rng):
    """A month or weekday in full, or shortened with or without a dot: September, Sep, Sep., Sept, Sept."""
    if full == "May":
        return full
    shorts = [full[:3], *LONGER_SHORTS.get(full, [])]
    return rng.choice([full, rng.choice(shorts), rng.choice(shorts) + "."])


def short_or_full_year(date, rng):
    """The year in full, now and then with AD behind it; or, where two digits can name it, in one case of three by these."""
    if date.year in TWO_DIGIT_YEARS and rng.random() < 1 / 3:
        return f"{date.year % 100:02}"
    return f"{date.year} AD" if rng.random() < 0.05 else str(date.year)
