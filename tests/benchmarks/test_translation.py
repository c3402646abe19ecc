"""Lesson 9: a Transformer on sentences that people wrote, the translator that ships, and what a wider beam finds.

20,000 short pairs of fra-eng take ten minutes of one core, the race between eight translators fifty, that of lesson 9's models
twenty; `make bench` runs them where the published file is in the cache folder (see helpers.data.published), and nothing is
fetched. The table of the translator that ships is made with its weights.
"""
import csv
import functools
import itertools
import math
import os
import random
from time import process_time

import pytest
import sacrebleu
import torch

import phrases
import race
from helpers.data.published import cache_folder
from helpers.data.translation import load_translation
from helpers.generation import beam_search, translate
from helpers.pretrained.weights import SHIPPED, read_record
from helpers.text import Vocab, batches, pad, split_words
from helpers.training import one_cycle, sequence_loss, train
from helpers.transformer import Transformer
from tools.make_weights import decoding, tables

SECONDS = float(os.environ.get("FRA_ENG_SECONDS", 570))
FIELDS = ["model", "seed", "parameters", "steps", "seconds", "bleu", "bleu_all", "sentences_a_second"]        # of fra_eng.csv
ORDER = ["none", "bahdanau", "transformer", "phrases"]
RACE_SECONDS = float(os.environ.get("FRA_ENG_RACE_SECONDS", 120))       # of one core for each model: a minute of two
there = pytest.mark.skipif(not (cache_folder() / "fra-eng/fra.txt").exists(), reason="needs fra-eng/fra.txt in the cache folder")


def split(held_out=1000):
    """(known pairs, held-out English, its translations): no English sentence is on both sides; all as lists of words."""
    pairs = [tuple(map(split_words, pair)) for pair in load_translation("fra-eng")[:20_000]]
    asked, answers = sample(pairs, held_out)
    known = [pair for pair in pairs if tuple(pair[0]) not in set(asked)]
    return known, asked, answers


def sample(pairs, count):
    """(English sentences at random, all translations of each)."""
    answers = {}
    for english, french in pairs:
        answers.setdefault(tuple(english), []).append(" ".join(french))
    asked = random.Random(0).sample(sorted(answers), count)
    return asked, [answers[english] for english in asked]


def score(written, answers):
    """(corpus BLEU against the first translation of each sentence alone, against all of them)."""
    references = list(itertools.zip_longest(*answers))                     # None where a sentence has fewer
    return [sacrebleu.corpus_bleu(written, some, force=True).score for some in (references[:1], references)]


@there
def test_fra_eng(figure, one_thread):
    known, asked, answers = split()
    assert not {tuple(english) for english, _ in known} & set(asked)
    en, fr = Vocab((e for e, _ in known), min_count=2), Vocab((f for _, f in known), min_count=2)
    torch.manual_seed(0)
    model = Transformer(len(en), len(fr), d_model=128, num_heads=4, d_ff=256, num_layers=1, dropout=0.2, base=20)
    start, cycle = process_time(), one_cycle(1000, warm=0.2)

    def done():
        return (process_time() - start) / SECONDS

    data = [(en.encode(e), fr.encode(f)) for e, f in known]
    losses = train(model, itertools.takewhile(lambda _: done() < 1, batches(data, 128, 10**6)),
                   lambda *batch: sequence_loss(*batch, label_smoothing=0.1), 4e-3, lambda _: cycle(int(1000 * done())), clip=1.0)
    src, lengths = pad([en.encode(english) for english in asked])
    greedy, beam = (score([" ".join(fr.decode(row)) for row in ids], answers)
                    for ids in (translate(model, src, lengths, 20), beam_search(model, src, lengths, 20)[0]))
    for which, narrow, wide in zip(("the first translation of each", "all translations of each"), greedy, beam):
        figure(f"fra-eng, 20,000 short pairs that people wrote, Transformer of 1 layer, against {which}: by beam search", [wide],
               {"greedily": [narrow]}, how=f"1 seed, {len(losses):,} steps in {SECONDS:.0f} s of one core")
    assert greedy[1] > 28                                  # a GRU with attention, measured once in a minute


def raced(names, seed):
    """(name, entrant, a function from English sentences to its translations, sentences a second) of each entrant of the race.

    Greedily both times. The speed is that of 100 sentences at once, with what a model keeps from step to step; the fastest of three
    turns.
    """
    known, asked, _ = split()
    en, fr = Vocab((e for e, _ in known), min_count=2), Vocab((f for _, f in known), min_count=2)
    data = [(en.encode(e), fr.encode(f)) for e, f in known]
    trained = race.run(names, max(len(en), len(fr)), lambda size: batches(data, size, 10**6, seed), RACE_SECONDS, seed)
    asked = sorted(asked, key=len)
    hundreds = [pad([en.encode(e) for e in asked[i:i + 100]]) for i in range(0, len(asked), 100)]
    for name, entrant in trained.items():
        took = []
        for _ in range(3 if name in race.OURS else 0):
            start = process_time()
            for hundred in hundreds:
                translate(entrant.model, *hundred, 15)
            took.append(process_time() - start)
        yield name, entrant, functools.partial(written_by, entrant, en, fr), len(asked) / min(took, default=math.inf)


def written_by(entrant, en, fr, asked, beam=False):
    """An entrant's translations of English sentences, as texts; sentences of one length go in together."""
    texts = {}
    for _, some in itertools.groupby(sorted(asked, key=len), len):
        some = list(some)
        src, lengths = pad([en.encode(english) for english in some])
        ids = beam_search(entrant.model, src, lengths, 15)[0] if beam else entrant.write(src, lengths)
        texts |= zip(some, (" ".join(fr.decode(row)) for row in ids))
    return [texts[english] for english in asked]


@there
def test_race(figure, one_thread):
    names, (_, asked, answers) = [name for name in race.ENTRANTS if name != race.ONE_VECTOR], split()
    of = {name: [] for name in names}
    for seed in range(3):
        for name, _, write, _ in raced(names, seed):
            of[name].append(score(write(asked), answers)[0])
    transformer, recurrent = of.pop(race.TRANSFORMER), of.pop(race.RECURRENT)
    how = f"3 seeds, {RACE_SECONDS:.0f} s of one core for each model"
    for ours, what, kind in ((transformer, "Transformer of 1 layer", "Transformer"), (recurrent, "Bahdanau's attention", "GRU")):
        figure(f"fra-eng, the same pairs, one reference, greedily: {what}", ours,
               {name: bleu for name, bleu in of.items() if kind in name}, how=how)
    assert min(transformer) - 4 > max(max(of[name]) for name in of if "its recipe" in name)


def counted():
    """The row of fra_eng.csv of a table of phrases."""
    known, asked, answers = split()
    en, fr = Vocab((e for e, _ in known), min_count=2), Vocab((f for _, f in known), min_count=2)
    by_phrases = phrases.translator(known, en, fr)
    start = process_time()
    written = [" ".join(by_phrases(english)) for english in asked]
    speed = len(asked) / (process_time() - start)
    return row_of("phrases", 0, *score(written, answers), speed)


def row_of(model, seed, one, every, speed, **others):
    """A row of fra_eng.csv: BLEU against the first translation and against all, sentences a second, and what else is known."""
    return {"model": model, "seed": seed, "bleu": f"{one:.1f}", "bleu_all": f"{every:.1f}", "sentences_a_second": f"{speed:.0f}",
            **others}


@there
def test_with_and_without_attention(figure, one_thread):
    """Writes lesson 9's table of models trained on fra-eng; and scores the Transformer on sentences that it read, too."""
    known, asked, answers = split()
    rows, scores, (read, of_read) = [counted()], [], sample(known, len(asked))
    for seed in range(3):
        for name, entrant, write, speed in raced(race.OURS, seed):
            found = score(write(asked), answers)
            rows.append(row_of(race.OURS[name], seed, *found, speed, parameters=sum(p.numel() for p in entrant.model.parameters()),
                               steps=entrant.steps, seconds=round(entrant.spent)))
            if name == race.TRANSFORMER:
                scores.append(found + score(write(asked, beam=True), answers) + score(write(read), of_read))
    tables.write(SHIPPED / "fra_eng.csv", FIELDS, sorted(rows, key=lambda row: (ORDER.index(row["model"]), row["seed"])))
    note(figure, rows, scores)


def note(figure, rows, scores):
    """The figures of fra_eng.csv; scores: of the Transformer of each seed, as in its figure."""
    bleu, speed = ({model: [float(row[column]) for row in rows if row["model"] == model] for model in ORDER}
                   for column in ("bleu", "sentences_a_second"))
    how = f"{len(scores)} seed{'s' * (len(scores) > 1)}, {RACE_SECONDS:.0f} s of one core for each model"
    for what, of in (("one reference, greedily", bleu), ("greedily, sentences a second", speed)):
        figure(f"fra-eng, the same pairs, with and without attention, {what}: Transformer of 1 layer", of["transformer"],
               {"Bahdanau's attention": of["bahdanau"], "no attention": of["none"], "table of phrases": of["phrases"]}, how=how)
    one, every, one_beam, every_beam, one_read, every_read = zip(*scores)
    figure("fra-eng, this Transformer, 1,000 English sentences held out: one reference, greedily", one,
           {"all references": every, "by beam search, one reference": one_beam, "by beam search, all": every_beam,
            "on 1,000 sentences that it read, greedily, one": one_read, "all": every_read}, how=how)


def test_the_translator_that_ships(figure):
    *_, whole = tables.read(SHIPPED / "translator.csv")
    record = read_record("translator")
    figure(f"fra-eng, {int(whole['sentences']):,} held-out sentences, one reference, the translator that ships: BLEU, greedily",
           [record["bleu"]], {"by a beam of 4": [float(whole["beam"])]},
           how=f"{record['pairs']:,} pairs, {record['seconds']:,} s of one {record['device']}; "
               + record["signature"].replace("|", ", "))
    figure("the same, in small letters, words apart", [float(whole["greedy_words"])],
           {"a table of phrases of the same pairs": [float(whole["phrases_words"])]}, how="1 training")


def test_smoothing_and_width(figure, tmp_path, one_thread):
    decoding.make(tmp_path)
    with (tmp_path / "search.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["penalty"] == "0.0" and row["factor"] == "1.0"]
    for share, steps in decoding.TRAININGS:
        some = [row for row in rows if (row["smoothing"], row["steps"]) == (str(share), str(steps))]
        of = {width: [float(row["bleu"]) for row in some if row["width"] == width] for width in ("1", "4", "100")}
        figure(f"grammar, Transformer of 1 layer, {steps} steps, label smoothing {share}, no length penalty, beam of 4: BLEU",
               of["4"], {"greedily": of["1"], "beam of 100": of["100"]}, how="3 seeds, 100 sentences")
        assert (max(of["100"]) < min(of["4"]) - 2) == (share > 0 or steps == 180)
