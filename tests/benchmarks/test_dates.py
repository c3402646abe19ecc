"""What the model of lesson 8 reaches, with three seeds: all forms, misspelt dates, no dates; what holds up its training."""
import copy
import datetime
import random
import re
from collections import defaultdict
from time import process_time

import babel
import pytest
from babel.dates import format_date

from helpers.data.dates import FIRST, LAST, TWO_DIGIT_YEARS
from helpers.pretrained.dates import SOURCE, TARGET, date_model
from helpers.pretrained.weights import SHIPPED
from tools.make_weights import tables
from tools.make_weights.date_runs import GRID, LESSON, MEASURED, SEEDS, SETTING, Task, rows, share

PLAIN, LARGE, SHORT_WAVES = (1, 1, 10_000, 300), (8, 1, 10_000, 300), (1, 1, 20, 300)
HOW = "1 thread, 3 seeds"


def formats():
    """(text, iso) of 500 dates by each format with year, month and day of the English-speaking countries, Latin letters only.

    A two-digit year is one that the rules read, and a day between slashes is above 12 where it stands before the month.
    """
    rng, places = random.Random(0), defaultdict(list)
    for name in sorted(babel.localedata.locale_identifiers()):
        if re.fullmatch(r"en(_[A-Z]{2}|_\d{3})?", name):
            locale = babel.Locale.parse(name)
            for pattern in [*locale.date_formats.values(), *locale.datetime_skeletons.values()]:
                if set("yMd") <= set(pattern.pattern):
                    places[pattern.pattern].append(locale)
    pairs = {pattern: [] for pattern in sorted(places)}
    for pattern, found in pairs.items():
        while len(found) < 500:
            date = FIRST + datetime.timedelta(rng.randrange((LAST - FIRST).days + 1))
            named = date.year in TWO_DIGIT_YEARS or not re.search(r"\byy\b", pattern)
            if named and not (re.search(r"\bd+/M", pattern) and date.day <= 12):
                found.append((format_date(date, pattern, rng.choice(places[pattern])), date.isoformat()))
    return pairs


@pytest.fixture(scope="module")
def task():
    return Task()


@pytest.fixture(scope="module")
def shipped(task):
    """The same task in the vocabularies of the model that ships."""
    task = copy.copy(task)
    task.source, task.target = SOURCE, TARGET
    return task


@pytest.fixture(scope="module")
def recorded(task):
    """What lesson 8 reads in helpers/pretrained/dates.csv, written again here: the numbers of the three seeds."""
    found = list(rows(task=task))
    tables.write(SHIPPED / "dates.csv", [*SETTING, *MEASURED], found)

    def numbers(setting, measured, times=1):
        return [times * float(row[measured]) for row in found if tuple(row[name] for name in SETTING[:-1]) == setting]
    return numbers


def test_dates_of_lesson_8(one_thread, recorded, shipped, figure):
    scores, longer = recorded(LESSON, "exact_match", 100), 100 * share(shipped.right(date_model(), shipped.test_pairs)[0])
    figure("dates never trained on, % read without a mistake", scores, {"the one that ships": [longer]}, how=HOW)
    assert min(scores) >= 99


def test_every_format_of_the_english_speaking_countries(one_thread, task, shipped, figure):
    every, seconds = formats(), []
    models = {"lesson 8": [], "shipped": [(shipped, date_model())]}
    for seed in SEEDS:
        start = process_time()
        models["lesson 8"].append((task, task.trained(*LESSON, seed)[0]))
        seconds.append(process_time() - start)
    figure("training the Transformer of lesson 8, seconds of one core", seconds, how=HOW)
    shares = {name: [[100 * share(its.right(model, pairs)[0]) for pairs in every.values()] for its, model in some]
              for name, some in models.items()}
    for name, found in shares.items():
        for row in found:
            print(name, {pattern: one for pattern, one in zip(every, row) if one < 99})
    figure(f"the worst of {len(every)} formats that CLDR has for English, % read without a mistake",
           [min(row) for row in shares["lesson 8"]], {"the one that ships": [min(row) for row in shares["shipped"]]}, how=HOW)
    figure(f"of these {len(every)} formats, how many are read in 99 % of the texts or more",
           [sum(one >= 99 for one in row) for row in shares["lesson 8"]],
           {"the one that ships": [sum(one >= 99 for one in row) for row in shares["shipped"]]}, how=HOW)
    assert min(shares["shipped"][0]) >= 99


def test_confidence(recorded, figure):
    def of_lesson(measured, times=1):
        return recorded(LESSON, measured, times)

    typos = {"left out": "misspelt", "replaced": "replaced", "swapped with the next": "swapped", "doubled": "doubled"}
    for done, column in typos.items():
        figure(f"dates with a letter {done}, % read without a mistake", of_lesson(column, 100),
               {"of the answers above 0.99, % right": of_lesson(f"{column}_surest", 100)}, how=HOW)
    figure("expected calibration error: test dates", of_lesson("calibration_error"),
           {"with a letter left out": of_lesson("misspelt_calibration_error")}, how=HOW)
    figure("AUROC of confidence: test dates against sentences", of_lesson("auroc_sentences"),
           {"against impossible days": of_lesson("auroc_impossible")}, how=HOW)
    figure("AUROC of confidence: days such as 30 April against 31 April", of_lesson("auroc_same_form"), how=HOW)
    figure("days that do not exist, % answered with a confidence above 0.9", of_lesson("impossible_sure", 100),
           {"sentences": of_lesson("sentences_sure", 100), "months without a day": of_lesson("no_day_sure", 100)}, how=HOW)
    assert max(of_lesson("calibration_error")) < 0.02 and min(of_lesson("misspelt_calibration_error")) > 0.05
    assert min(of_lesson("auroc_sentences")) > 0.98 and min(of_lesson("impossible_sure")) > 0.9
    assert max(of_lesson("sentences_sure")) < 0.05 and max(of_lesson("auroc_same_form")) < min(of_lesson("auroc_sentences"))
    assert max(of_lesson("misspelt")) < min(of_lesson("swapped")) and max(of_lesson("replaced")) < min(of_lesson("doubled"))


def test_large_weights_that_matter(recorded, figure):
    matter, own = recorded(LESSON, "cuts_that_matter", 100), recorded(LESSON, "cuts_on_own_part", 100)
    figure("weights above 0.5 whose cut costs 0.1 nats or more, %", matter, how=HOW)
    figure("of all cuts that cost as much: on the part of the text that the digit comes from, %", own, how=HOW)
    small, harmless = recorded(LESSON, "wrong_small_cut"), recorded(LESSON, "wrong_harmless_cut")
    figure("of 20 dates, how many are read wrong once all weights above 0.5 without effect alone are cut", harmless,
           {"all weights below 0.1": small}, how=HOW)
    assert max(matter) < 35 and min(own) > 98 and max(small) < 4 and min(harmless) > 10


def test_what_holds_up_training(recorded, figure):
    plain, short, large = (recorded(setting, "loss") for setting in (PLAIN, SHORT_WAVES, LARGE))
    alone = {"both 8 times as large": recorded((8, 8, 10_000, 300), "loss"),
             "positions an eighth": recorded((1, 0.125, 10_000, 300), "loss")}
    figure("loss after 300 steps, tokens as large as positions", plain,
           {"tokens 8 times as large": large, **alone, "base 20": short}, how=HOW)
    slow = recorded(GRID[1], "exact_match", 100)
    figure("after 2,000 steps, % of dates read without a mistake", recorded(LESSON, "exact_match", 100),
           {"tokens 8 times as large": slow}, how=HOW)
    assert all(a < one < b for found in alone.values() for a, one, b in zip(plain, found, large))
    assert all(a < b for a, b in zip(short, plain)) and max(slow) < 90
