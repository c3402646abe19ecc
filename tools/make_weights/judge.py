"""Measures how a judge of entailment answers where logic decides: texts exchanged, repeated, one word changed. Writes judge.csv.

The judges are the BERT that ships, fine-tuned on 1,000 made pairs as in lesson 15, with three seeds; and the same where
70 of the contradictions are replaced by opposite adjectives; and where, besides, 70 of the entailments are replaced by repeated
sentences.
"""
import argparse
import csv
import itertools
import pathlib

import torch

from helpers import finetuning
from helpers.bert import BertClassifier
from helpers.data.entailment import load_entailment
from helpers.pretrained.weights import SHIPPED
from helpers.training import one_cycle, train
from tools.make_weights import fine_tuning

OPPOSITES = ("large small, old new, long short, black white, positive negative, opens closes, sends receives, saves loads, "
             "shows hides, reads writes, adds removes, starts stops, locks unlocks, calls ignores, accepts rejects, leads follows")
ADJECTIVES = 5                                               # as many of OPPOSITES; the rest are verbs


def changed_pairs(pairs):
    """Pairs made from (premise, hypothesis, label), by question: a list of pairs, and the answer to each by logic."""
    couples = [pair.split() for pair in OPPOSITES.split(", ")]
    adjectives, verbs = ({a: b for pair in some for a, b in (pair, pair[::-1])}
                         for some in (couples[:ADJECTIVES], couples[ADJECTIVES:]))

    def swap(text, opposites):
        return " ".join(opposites.get(word, word) for word in text.split())

    def drop(text):
        return " ".join(word for word in text.split() if word not in adjectives)

    told = [one for one, _, _ in pairs if " not " not in one]
    described = [one for one in told if drop(one) != one]
    return {
        "contradiction, exchanged": ([(b, a) for a, b, label in pairs if label == 2], 2),
        "entailment, exchanged": ([(b, a) for a, b, label in pairs if label == 0], 1),
        "the same sentence twice": ([(one, one) for one, _, _ in pairs], 0),
        "adjective left out below": ([(one, drop(one)) for one in described], 0),
        "adjective left out above": ([(drop(one), one) for one in described], 1),
        "adjective's opposite below": ([(one, swap(one, adjectives)) for one in described], 2),
        "verb's opposite below": ([(one, swap(one, verbs)) for one in told if swap(one, verbs) != one], 2),
    }


def more_opposites(pairs, number, repeats=0):
    """The pairs, with `number` contradictions replaced by a premise and the same with the opposite of its adjective;
    and `repeats` entailments replaced by a premise and the same once more."""
    opposite = {a: b for pair in OPPOSITES.split(", ")[:ADJECTIVES] for a, b in (pair.split(), pair.split()[::-1])}
    changed = {i: (one, other, 2) for i, (one, _, label) in enumerate(pairs) if label == 2 and " not " not in one
               and one != (other := " ".join(opposite.get(word, word) for word in one.split()))}
    repeated = {i: (one, one, 0) for i, (one, _, label) in enumerate(pairs) if label == 0}
    new = dict([*list(changed.items())[:number], *list(repeated.items())[:repeats]])
    return [new.get(i, pair) for i, pair in enumerate(pairs)]


def rows_of(judge, tokenizer, pairs):
    """A row for each question: how often the judge gave each of the three answers."""
    for question, (changed, wanted) in {"the test pairs": (pairs, None), **changed_pairs(pairs)}.items():
        examples = finetuning.text_examples(tokenizer, [(*texts[:2], 0) for texts in changed])
        answers = [int(row.argmax()) for row in finetuning.predict(judge, examples)]
        right = sum(found == (pair[2] if wanted is None else wanted) for found, pair in zip(answers, changed))
        yield [question, "" if wanted is None else wanted, len(changed), *map(answers.count, range(3)), right]


def make(folder: pathlib.Path) -> None:
    """Train and measure; the rate is the one that fine_tuning.csv chose."""
    measuring, rows = fine_tuning.Measuring(folder / "fine_tuning.csv"), []
    tokenizer = fine_tuning.load_tokenizer(measuring.bodies["pretrained"][0])
    rate, passes = measuring.choose("two texts", "pretrained")
    for seed, more in itertools.product(range(3), ((0, 0), (70, 0), (70, 70))):            # opposites and repeats
        known = finetuning.text_examples(tokenizer, more_opposites(measuring.some("two texts", 1000, seed), *more))
        torch.manual_seed(seed)                              # before the body, as in fine_tuning.py and on the page
        judge, steps = BertClassifier(measuring.bodies["pretrained"][1](), 3), passes * len(known) // 16
        train(judge, finetuning.finetuning_batches(known, 16, steps, seed), finetuning.class_loss, rate,
              one_cycle(steps, warm=0.1), clip=1.0)
        for row in rows_of(judge, tokenizer, load_entailment(n_train=0, n_test=400)[1]):
            rows.append([seed, *more, *row])
            print(*rows[-1], flush=True)
    with (folder / "judge.csv").open("w", newline="", encoding="utf-8") as file:
        header = ["seed", "opposites", "repeats", "question", "wanted", "pairs", "entailment", "neutral", "contradiction", "right"]
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.judge", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder of judge.csv and fine_tuning.csv (default: the one of the weights that ship)")
    make(parser.parse_args().out)
