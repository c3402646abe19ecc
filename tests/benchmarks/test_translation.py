"""Lesson 9: a Transformer on sentences that people wrote, the translator that ships, and what a wider beam finds.

20,000 short pairs of fra-eng take ten minutes of one core, and the race between eight translators fifty; `make bench` runs both
where the published file is in the cache folder (see helpers.data.published), and nothing is fetched. The table of the translator
that ships is made with its weights.
"""
import csv
import itertools
import os
import random
from time import process_time

import pytest
import sacrebleu
import torch

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
RACE_SECONDS = float(os.environ.get("FRA_ENG_RACE_SECONDS", 120))       # of one core for each model: a minute of two
there = pytest.mark.skipif(not (cache_folder() / "fra-eng/fra.txt").exists(), reason="needs fra-eng/fra.txt in the cache folder")


def split(held_out=1000):
    """(known pairs, held-out English, its translations): no English sentence is on both sides; all as lists of words."""
    pairs = [tuple(map(split_words, pair)) for pair in load_translation("fra-eng")[:20_000]]
    answers = {}
    for english, french in pairs:
        answers.setdefault(tuple(english), []).append(" ".join(french))
    asked = random.Random(0).sample(sorted(answers), held_out)
    known = [pair for pair in pairs if tuple(pair[0]) not in set(asked)]
    return known, asked, [answers[english] for english in asked]


def score(ids, fr, answers):
    """Corpus BLEU against all translations of each sentence."""
    written = [" ".join(fr.decode(row)) for row in ids]
    references = list(itertools.zip_longest(*answers))                     # None where a sentence has fewer
    return sacrebleu.corpus_bleu(written, references, force=True).score


@there
def test_fra_eng(figure):
    known, asked, answers = split()
    assert not {tuple(english) for english, _ in known} & set(asked)
    en, fr = Vocab((e for e, _ in known), min_count=2), Vocab((f for _, f in known), min_count=2)
    torch.manual_seed(0)
    model = Transformer(len(en), len(fr), d_model=128, num_heads=4, d_ff=256, num_layers=1, dropout=0.2, base=20)
    start, cycle = process_time(), one_cycle(1000, warm=0.2)

    def done():
        return (process_time() - start) / SECONDS

    data = [(en.encode(e), fr.encode(f)) for e, f in known]
    train(model, itertools.takewhile(lambda _: done() < 1, batches(data, 128, 10**6)),
                   lambda *batch: sequence_loss(*batch, label_smoothing=0.1), 4e-3, lambda _: cycle(int(1000 * done())), clip=1.0)
    src, lengths = pad([en.encode(english) for english in asked])
    greedy = score(translate(model, src, lengths, 20), fr, answers)
    beam = score(beam_search(model, src, lengths, 20)[0], fr, answers)
    figure(f"fra-eng, {round(len(known), -3):,} short pairs that people wrote, Transformer of 1 layer: by beam search", [beam],
           {"greedily": [greedy]})
    assert greedy > 28                                     # a GRU with attention, measured once in a minute


def greedy_bleu(names, seed):
    """BLEU of each entrant of the race with its first translation alone as reference, by name."""
    known, asked, answers = split()
    en, fr = Vocab((e for e, _ in known), min_count=2), Vocab((f for _, f in known), min_count=2)
    data = [(en.encode(e), fr.encode(f)) for e, f in known]
    trained = race.run(names, max(len(en), len(fr)), lambda size: batches(data, size, 10**6, seed), RACE_SECONDS, seed)
    asked, right = zip(*sorted(zip(asked, answers), key=lambda pair: len(pair[0])))
    groups = [pad([en.encode(e) for e in some]) for _, some in itertools.groupby(asked, len)]
    return {name: score([row for group in groups for row in entrant.write(*group)], fr, [some[:1] for some in right])
            for name, entrant in trained.items()}


@there
def test_race(figure, one_thread):
    found = [greedy_bleu(race.ENTRANTS, seed) for seed in range(3)]
    of = {name: [bleu[name] for bleu in found] for name in race.ENTRANTS}
    transformer, recurrent = of.pop(race.TRANSFORMER), of.pop(race.RECURRENT)
    how = f"3 seeds, {RACE_SECONDS:.0f} s of one core for each model"
    for ours, what, kind in ((transformer, "Transformer of 1 layer", "Transformer"), (recurrent, "Bahdanau's attention", "GRU")):
        figure(f"fra-eng, the same pairs, one reference, greedily: {what}", ours,
               {name: bleu for name, bleu in of.items() if kind in name}, how=how)


def test_the_translator_that_ships(figure):
    *_, whole = tables.read(SHIPPED / "translator.csv")
    record = read_record("translator")
    figure(f"fra-eng, {int(whole['sentences']):,} held-out sentences, one reference, the translator that ships: BLEU, greedily",
           [record["bleu"]], {"by a beam of 4": [float(whole["beam"])]},
           how=f"{record['pairs']:,} pairs, {record['seconds']:,} s of one core; " + record["signature"].replace("|", ", "))
    figure("the same, in small letters, words apart", [float(whole["greedy_words"])],
           {"a table of phrases of the same pairs": [float(whole["phrases_words"])]}, how="1 training")


def test_smoothing_and_width(figure, tmp_path, one_thread):
    decoding.make(tmp_path)
    with (tmp_path / "search.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["penalty"] == "0.0"]
    plain = [row for row in rows if row["probabilities"] == "as they are"]
    for share in (0.1, 0.0):
        of = {width: [float(row["bleu"]) for row in plain if (row["smoothing"], row["width"]) == (str(share), width)]
              for width in ("1", "4", "100")}
        figure(f"grammar, Transformer of 1 layer, label smoothing {share}, no length penalty, beam of 4: BLEU", of["4"],
               {"greedily": of["1"], "beam of 100": of["100"]}, how="3 seeds, 100 sentences")
        assert (max(of["100"]) < min(of["4"]) - 2) == (share > 0)
