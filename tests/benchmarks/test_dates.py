"""What the model of lesson 8 reaches, for three seeds: dates of all forms, misspelt ones, and no dates at all."""
import datetime
import random
import re
from collections import defaultdict
from time import process_time

import babel
import pytest
import torch
from babel.dates import format_date

from helpers.data.dates import FIRST, LAST, MONTHS, TWO_DIGIT_YEARS, load_dates
from helpers.data.translation import load_translation
from helpers.generation import answer_scores, translate
from helpers.hooks import effects, record
from helpers.pretrained.dates import SOURCE, TARGET, date_model, encode
from helpers.text import BOS, batches, pad
from helpers.training import one_cycle, sequence_loss, train
from helpers.transformer import Transformer

STEPS, SEEDS = 2_000, range(3)


def new_model(seed, base=10_000.0, size=1):
    """The untrained model of lesson 8; size: that of its tokens beside its positions."""
    torch.manual_seed(seed)
    model = Transformer(len(SOURCE), len(TARGET), d_model=64, num_heads=4, d_ff=128, num_layers=1, dropout=0.0, base=base)
    for embedding in (model.src_embed, model.tgt_embed):
        embedding.tokens.weight.data *= size
    return model


def encoded(pairs):
    return [(encode(written), TARGET.encode(iso)) for written, iso in pairs]


def read(model, texts):
    """The answers as texts, and their confidence, [B]."""
    src, lengths = pad([encode(text) for text in texts])
    ids = translate(model, src, lengths, max_len=12)
    return ["".join(TARGET.decode(row)) for row in ids], answer_scores(model, src, lengths, ids, length_penalty=0.0).exp()


def right(model, pairs):
    """Which of the pairs are read without a mistake, and how confidently: [N] each."""
    answers, confidence = read(model, [written for written, _ in pairs])
    return torch.tensor([answer == iso for answer, (_, iso) in zip(answers, pairs)]), confidence


def percent(found):
    return 100 * found.float().mean().item()


def calibration_error(confidence, found, bins=10):
    """Expected calibration error, Guo et al. 2017."""
    places = (confidence * bins).long().clamp(max=bins - 1)
    return torch.zeros(bins).index_add(0, places, confidence - found.float()).abs().sum().item() / len(found)


def auroc(ours, others):
    return (ours.unsqueeze(1) > others).float().mean().item()


def without_a_letter(text, rng):
    place = rng.choice([i for i, character in enumerate(text) if character.isalpha()])
    return text[:place] + text[place + 1:]


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
def trained():
    """(seconds, models) of the training of lesson 8, one thread, three seeds."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    data, seconds, models = encoded(load_dates(100_000)[0]), [], []
    for seed in SEEDS:
        model, start = new_model(seed), process_time()
        train(model, batches(data, 64, STEPS, seed), sequence_loss, 1e-2, one_cycle(STEPS), clip=1.0)
        seconds.append(process_time() - start)
        models.append(model)
    torch.set_num_threads(threads)
    return seconds, models


@pytest.fixture
def how(trained):
    return f"1 thread, 3 seeds, {sum(trained[0]) / 3:.0f} s of training each"


@pytest.fixture(scope="module")
def test_pairs():
    return load_dates(0)[1]


def test_dates_of_lesson_8(trained, test_pairs, figure, how):
    scores = [percent(right(model, test_pairs)[0]) for model in trained[1]]
    figure("dates never trained on, % read without a mistake", scores,
           {"the one that ships": [percent(right(date_model(), test_pairs)[0])]}, how=how)
    assert min(scores) >= 99


def test_every_format_of_the_english_speaking_countries(trained, figure, how):
    every = formats()
    shares = {name: [[percent(right(model, pairs)[0]) for pairs in every.values()] for model in models]
              for name, models in (("lesson 8", trained[1]), ("shipped", [date_model()]))}
    for name, rows in shares.items():
        for row in rows:
            print(name, {pattern: share for pattern, share in zip(every, row) if share < 99})
    figure(f"the worst of {len(every)} formats that CLDR has for English, % read without a mistake",
           [min(row) for row in shares["lesson 8"]], {"the one that ships": [min(row) for row in shares["shipped"]]}, how=how)
    figure(f"of these {len(every)} formats, how many are read in 99 % of the texts or more",
           [sum(share >= 99 for share in row) for row in shares["lesson 8"]],
           {"the one that ships": [sum(share >= 99 for share in row) for row in shares["shipped"]]}, how=how)
    assert min(shares["shipped"][0]) >= 99


def test_confidence(trained, test_pairs, figure, how):
    rng, years = random.Random(0), range(1930, 2065, 3)
    named = [pair for pair in test_pairs if any(month[:3].lower() in pair[0].lower() for month in MONTHS)]
    misspelt = [(without_a_letter(written, rng), iso) for written, iso in named]
    sentences = [english for english, _ in load_translation() if len(english) <= 41][:500]
    impossible = [f"{day} {month} {year}" for year in years for day, month in (
        (31, "April"), (31, "June"), (31, "September"), (31, "November"), (30, "February"), (31, "February"))]
    found = [(right(model, test_pairs), right(model, misspelt), read(model, sentences)[1], read(model, impossible)[1])
             for model in trained[1]]
    figure("dates with a letter left out, % read without a mistake", [percent(ours) for _, (ours, _), *_ in found], how=how)
    figure("expected calibration error: test dates", [calibration_error(sure, ours) for (ours, sure), *_ in found],
           {"with a letter left out": [calibration_error(sure, ours) for _, (ours, sure), *_ in found]}, how=how)
    figure("AUROC of confidence: test dates against sentences", [auroc(sure, other) for (_, sure), _, other, _ in found],
           {"against impossible days": [auroc(sure, other) for (_, sure), _, _, other in found]}, how=how)
    figure("days that do not exist, % answered with a confidence above 0.9", [percent(other > 0.9) for *_, other in found],
           {"sentences": [percent(other > 0.9) for *_, other, _ in found]}, how=how)
    for (ours, sure), (theirs, sure_too), other, never in found:
        assert calibration_error(sure, ours) < 0.02 and calibration_error(sure_too, theirs) > 0.05
        assert auroc(sure, other) > 0.98 and percent(never > 0.9) > 90 and percent(other > 0.9) < 5


def test_large_weights_that_matter(trained, test_pairs, figure, how):
    later = [day for _, iso in test_pairs if (day := datetime.date.fromisoformat(iso)).day > 9][:20]
    shares = []
    for model in trained[1]:
        large = matter = 0
        for day in later:
            src, lengths = pad([encode(f"{day:%A %B} {day.day} {day.year}")])
            ids = translate(model, src, lengths, max_len=12)
            inputs = src, lengths, torch.cat([torch.tensor([[BOS]]), ids[:, :-1]], 1)
            with torch.no_grad(), record(model) as seen:
                model(*inputs)

            def log_probability(logits, ids=ids):
                return logits.log_softmax(-1).gather(-1, ids.expand(len(logits), -1).unsqueeze(-1)).sum((1, 2))

            top, key = seen["decoder.layers.0.cross_attn.attention_weights"][0][0][:, :10].max(-1, keepdim=True)
            cut = effects(model, inputs, log_probability, where="cross_attn")[0][:, :10].gather(-1, key)
            large += (top > 0.5).sum().item()
            matter += ((top > 0.5) & (cut < -0.1)).sum().item()
        shares.append(100 * matter / large)
    figure("largest weights above 0.5 whose cut costs 0.1 nats or more, %", shares, how=how)
    assert max(shares) < 35


def test_what_holds_up_training(one_thread, figure):
    data = encoded(load_dates(100_000)[0])

    def last(**options):
        """The mean loss of the last 50 of 300 steps, for each seed."""
        found = []
        for seed in SEEDS:
            losses = train(new_model(seed, **options), batches(data, 64, 300, seed), sequence_loss, 6e-3, one_cycle(300), clip=1.0)
            found.append(sum(losses[-50:]) / 50)
        return found

    plain, short, large, both = last(), last(base=20), last(size=8), last(base=20, size=8)
    figure("loss after 300 steps, tokens as large as positions", plain,
           {"base 20": short, "tokens 8 times as large": large, "both": both}, how="1 thread, 3 seeds, 5 s each")
    assert all(b < a < min(c, d) for a, b, c, d in zip(plain, short, large, both))
