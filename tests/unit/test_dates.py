"""Dates and their written forms: one right reading each, every common shape among them, and nothing tested that was trained on."""
import datetime
import hashlib
import random
import re

import babel
import pytest
from babel.dates import format_date

from helpers.data.dates import load_dates, normalise, write_date
from helpers.pretrained.dates import LONGEST

ORDERS = ["%d %b %Y", "%d %b %y", "%b %d %Y", "%b %d %y"]
NAMED = ORDERS + [order.replace("%b", "%B") for order in ORDERS]
NUMERIC = {"/": ["%Y/%m/%d", "%m/%d/%Y", "%m/%d/%y", "%d/%m/%Y", "%d/%m/%y"]}
for mark in ".-":
    NUMERIC[mark] = [order.replace("/", mark) for order in ("%Y/%m/%d", "%d/%m/%Y", "%d/%m/%y", "%m/%d/%Y", "%m/%d/%y")]
WEEKDAY = r"(mon|tue|wed|thu|fri|sat|sun)(?:day|s|sday|nesday|r|rs|rsday|urday)?\b\.?"
STRFTIME = [
    "%d %b %Y", "%A, %B %d, %Y", "%m/%d/%y", "%d-%b-%y", "%B %d, %Y", "%a %d %b %Y", "%Y.%m.%d", "%b %d, '%y",
    "%d, %b %Y", "the %dth of %B %Y", "%B %dth, '%y", "%d/%b/%Y", "%b. %d, %Y", "%d/%m/%Y", "%m-%d-%Y", "%A %B %d %Y",
]


@pytest.fixture(scope="module")
def pairs():
    return load_dates()


@pytest.fixture(scope="module")
def shapes(pairs):
    return {shape(written) for written, _ in pairs[0]}


def read(written):
    """(date, weekday or None) as the rules and `strptime` have it: a reader that shares no code with the writer."""
    text = written.lower()
    weekday = re.match(rf"{WEEKDAY},? ", text)
    if weekday:
        text = text.replace(weekday[0], "")
    text = text.removesuffix(" ad")
    formats = NUMERIC[re.findall(r"\D", text)[0]] if not re.search("[a-z]", text) else NAMED
    if formats is NAMED:
        text = re.sub(r"(?<=\d)(st|nd|rd|th)\b|\b(the|of)\b|(?<=sep)t(?![a-z])", "", text)
        text = " ".join(re.findall(r"\d+|[a-z]+", text))
    for form in formats:
        try:
            return datetime.datetime.strptime(text, form).date(), weekday and weekday[1]
        except ValueError:
            continue
    raise AssertionError(f"{written!r} has no reading")


def shape(text):
    """The text with what differs from date to date blotted out: "wednesday, sep 3rd, 1997" is "day, mon 9th, 9999"."""
    text = re.sub(r"\d(st|nd|rd|th)\b", "9th", normalise(text))
    text = re.sub(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day", "weekday", text)
    text = re.sub(rf"\b{WEEKDAY}", lambda found: "day." if found[0].endswith(".") else "day", text)
    for month in range(1, 13):
        full = f"{datetime.date(2000, month, 1):%B}".lower()
        text = text.replace(full, "month") if month == 5 else re.sub(rf"{full[:3]}t?(?![a-z])", "mon", text.replace(full, "month"))
    return re.sub(r"\d", "9", text)


def test_every_written_form_is_read_back_and_its_weekday_is_right(pairs):
    weekdays = 0
    for written, iso in pairs[0][:20_000] + pairs[1]:
        date, weekday = read(written)
        assert date.isoformat() == iso, written
        assert weekday in (None, f"{date:%a}".lower()), written
        weekdays += weekday is not None
    assert 5_000 < weekdays < 9_000


def test_the_test_dates_are_never_trained_on(pairs):
    train, test = pairs
    assert (len(train), len(test)) == (60_000, 2000)
    held_out = {iso for _, iso in test}
    assert len(held_out) == 2000 and not held_out & {iso for _, iso in train}


def test_all_the_dates_are_there(pairs):
    dates = {iso for part in pairs for _, iso in part}
    assert min(dates) >= "1925-01-01" and max(dates) <= "2069-12-31"
    assert {iso[:4] for iso in dates} == {str(year) for year in range(1925, 2070)}
    assert {iso[5:] for iso in dates} == {f"{datetime.date(2000, 1, 1) + datetime.timedelta(day):%m-%d}" for day in range(366)}
    _, every = load_dates(0, 52_960)
    assert len({iso for _, iso in every}) == 52_960


def test_the_same_seed_gives_the_same_pairs_everywhere():
    assert load_dates(50, 5) == load_dates(50, 5) != load_dates(50, 5, seed=1)
    text = repr(load_dates(1000, 100))
    assert hashlib.sha256(text.encode()).hexdigest()[:12] == "fe0d19e6a006"


def test_characters_and_lengths(pairs):
    written = [written for part in pairs for written, _ in part]
    assert "".join(sorted(set("".join(map(normalise, written))))) == " ',-./0123456789abcdefghijlmnoprstuvwy"
    assert all(normalise(text) == text.lower() for text in written)
    assert max(map(len, written)) <= LONGEST
    for case in (str.islower, str.isupper, str.istitle):
        assert sum(map(case, written)) > 5000


def test_two_digits_name_the_years_from_1969_to_2068(pairs):
    years = {iso[:4] for written, iso in pairs[0] if iso[:4] not in written}
    assert years == {str(year) for year in range(1969, 2069)}


def test_numbers_follow_their_mark(pairs):
    forms = {"/": set(), ".": set(), "-": set()}
    for written, iso in pairs[0]:
        found = re.search(r"\b(\d\d?)([/.-])(\d\d?)\2(\d{4}|\d\d)\b", written)
        if found and not re.search(r"\d{4}[/.-]\d", written):
            month, day = map(int, iso.split("-")[1:])
            forms[found[2]].add((int(found[1]) == month != day, day > 12))
    for mark, seen in forms.items():
        assert (mark == "/", False) in seen and {(True, True), (False, True)} <= seen
        if mark != "/":
            assert (True, False) not in seen                             # the month never first where the day could be it


@pytest.mark.parametrize(("iso", "forms"), [
    ("1997-11-30", ["sunday november 30 1997", "sun, 30 nov 97", "11/30/1997", "30/11/97", "30.11.1997", "30-11-1997", "1997-11-30",
                    "30th of november 1997", "30/nov/1997", "november the 30th, 1997"]),
    ("2009-07-20", ["20 july 2009", "monday, july 20, 2009", "20-jul-09", "jul 20, '09", "mon. 20 july 2009",
                    "mon 7/20/09", "monday, 20.7.2009", "mon, 2009-07-20", "mon. 20-jul-09", "july 20, 2009 ad"]),
    ("2001-05-03", ["3rd may 2001", "may 3rd, '01", "the 3rd of may, 2001", "5/3/01", "3.5.2001", "03-05-2001", "2001/5/3",
                    "03-may-2001"]),
])
def test_a_date_is_written_in_all_these_ways(iso, forms):
    rng = random.Random(0)
    written = {normalise(write_date(datetime.date.fromisoformat(iso), rng)) for _ in range(20_000)}
    assert not set(forms) - written
    assert {read(form)[0].isoformat() for form in written} == {iso}


def test_the_day_ends_as_it_is_said():
    rng, said = random.Random(0), {}
    for day in range(1, 32):
        for _ in range(200):
            said.update(re.findall(r"\b(\d+)(st|nd|rd|th)\b", normalise(write_date(datetime.date(1950, 1, day), rng))))
    assert said == {str(d): {1: "st", 21: "st", 31: "st", 2: "nd", 22: "nd", 3: "rd", 23: "rd"}.get(d, "th") for d in range(1, 32)}


def test_every_shape_of_the_english_speaking_countries_is_trained_on(pairs, shapes):
    """Weekdays (E) beside names and numbers, and those with an era (G): Sun, 11/30/1997; 30 Nov 1997 AD."""
    letters = set("".join(normalise(written) for written, _ in pairs[0]))
    names = [name for name in babel.localedata.locale_identifiers() if re.fullmatch(r"en(_[A-Z]{2})?", name)]
    assert len(names) > 90
    for locale in map(babel.Locale.parse, names):
        patterns = {pattern.pattern for pattern in [*locale.date_formats.values(), *locale.datetime_skeletons.values()]}
        for pattern in patterns:
            if set("yMd") <= set(pattern):
                for month in range(1, 13):
                    text = normalise(format_date(datetime.date(1997, month, 14), pattern, locale))
                    assert shape(text) in shapes and set(text) <= letters, (text, pattern, locale)


@pytest.mark.parametrize("form", STRFTIME)
def test_so_are_the_common_shapes_of_strftime(form, shapes):
    assert shape(datetime.date(1997, 11, 26).strftime(form)) in shapes


@pytest.mark.parametrize(("text", "plain"), [
    ("  Sunday,\tNovember\u00a030\u202f1997\n", "sunday, november 30 1997"),
    ("３ ＭＡＹ ’01", "3 may '01"), ("3–5–2001", "3-5-2001"), ("3\u20115\u20112001", "3-5-2001"), ("3ʳᵈ May", "3rd may"), ("", ""),
])
def test_what_looks_alike_is_written_alike(text, plain):
    assert normalise(text) == plain == normalise(plain)


@pytest.mark.parametrize("text", ["written\tiso\n3 May, 2001\t2001-05-03\nMay {0}, 1999\t1999-05-{0}\n5/{0}/99\t1999-05-{0}\n",
                                  'iso,written\n2001-05-03,"3 May, 2001"\n1999-05-{0},"May {0}, 1999"\n1999-05-{0},5/{0}/99\n'])
def test_dates_of_one_s_own(tmp_path, text):
    file = tmp_path / "mine.csv"
    file.write_text(text.format(11))
    train, test = load_dates(path=file)
    pairs = [("3 May, 2001", "2001-05-03"), ("May 11, 1999", "1999-05-11"), ("5/11/99", "1999-05-11")]
    assert (train, test) in [(pairs[:1], pairs[1:]), (pairs[1:], pairs[:1])]          # one date is held out, in all its forms
    assert load_dates(path=(file, file)) == (pairs, pairs)
    file.write_text(text.format(41))
    with pytest.raises(ValueError, match="mine.csv, line 3: '1999-05-41', where a date as 1997-11-30 is needed"):
        load_dates(path=file)


@pytest.mark.parametrize(("act", "message"), [
    (lambda: load_dates(-1), "n_train=-1"),
    (lambda: load_dates(10, 52_961), "n_test=52961: .* below 52,961"),
    (lambda: load_dates(10, -1), "n_test=-1"),
])
def test_what_does_not_fit_is_refused(act, message):
    with pytest.raises(ValueError, match=message):
        act()
