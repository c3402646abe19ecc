"""Measures how a judge of entailment answers where logic decides: texts exchanged, repeated, one word changed. Writes judge.csv.

The judges are the BERT that ships, fine-tuned on 1,000 made pairs as in lesson 15, and a logistic regression on the words that one
text alone has, with three seeds each. All judges have the rate and the passes of the page, RATE and PASSES. More judges learn from
those pairs with five more seeds; from the pairs with 70 contradictions replaced (see `replaced`), or 70 neutral pairs (see
`other_verbs`); and from the pairs with the two texts of every second contradiction exchanged, or of every second contradiction and
entailment. Those of the page, the regressions and those of `other_verbs` also answer further questions: what a judge makes of a
word that is another, and no opposite (see `words_replaced`); of contradictions to which a place is added (see `places_added`); and
of those that are exchanged, by what the hypothesis tells (see `by_what_is_told`). It takes twenty-five minutes of one core.
"""
import argparse
import csv
import itertools
import pathlib
import random
import re

import torch

from helpers import finetuning
from helpers.bert import BertClassifier
from helpers.data.entailment import TOLD, load_entailment, told_more
from helpers.pretrained.format import load_bert, load_tokenizer
from helpers.pretrained.weights import SHIPPED
from helpers.training import one_cycle, train
from tools.make_data.entailment import ACTORS, MUTUAL, THINGS
from tools.make_weights import fine_tuning, logistic
from tools.make_weights.counting import crossed, unshared

ADJECTIVES = "large small, old new, long short, black white, positive negative"
VERBS = ("opens closes, sends receives, saves loads, shows hides, reads writes, adds removes, starts stops, locks unlocks, "
         "calls ignores, accepts rejects, leads follows")
SYNONYMS = {"shows": "displays", "removes": "deletes", "saves": "stores", "sends": "transmits", "starts": "begins"}
ACTOR = {word: group.split()[0] for group in ACTORS for word in group.split()[1:]}                     # from specific to general
OBJECT = {word: general for line in THINGS.strip().splitlines() for first, *others in [line.split(" | ")[0].split(", ")]
          for pair in others for word, general in zip(pair.split(), first.split())}
AS_IT_IS, TRAININGS = "as it is", ["one adjective changed", "one verb changed", "opposite adjectives among other changes"]
EXCHANGED = {"every second contradiction exchanged": [2], "every second contradiction and entailment exchanged": [2, 0]}    # labels
NO_REPEATS, OTHER_VERB = "one adjective changed, no repeats", "another verb, neutral"
RATE, PASSES = 7e-4, 10                                      # of the judge that the reader trains
NUMBER = 70                                                  # of the contradictions, and of the entailments, that are replaced


def opposites(couples):
    """From each word to its opposite."""
    return {a: b for couple in couples.split(", ") for a, b in (couple.split(), couple.split()[::-1])}


def swapped(text, couples):
    """The text, each word of the couples replaced by its opposite."""
    return " ".join(opposites(couples).get(word, word) for word in text.split())


def made_general(text, general):
    """The text, each specific word replaced by the one that leaves open which is meant."""
    return re.sub(r"\w+", lambda word: general.get(word[0], word[0]), text)


def others_of(column):
    """From (thing, word) to a word of the next couple that the same thing has in this column of THINGS: 1 adjectives, 2 verbs."""
    lines = [line.split(" | ") for line in THINGS.strip().splitlines()] + [(", ".join(ACTORS), "old new", MUTUAL)]
    couples = [(re.findall(r"\w+", line[0]), [couple.split() for couple in line[column].split(", ")]) for line in lines]
    return {(thing, word): other for things, some in couples if len(some) > 1 for thing in things
            for one, following in zip(some, some[1:] + some[:1]) for word, other in zip(one, following)}


def with_other(text, others):
    """The text with another word for the one that the things named after the verb have in `others`; the text if there is none."""
    things = re.findall(r"\w+", text)[3:]
    return " ".join(next((others[thing, word] for thing in things if (thing, word) in others), word) for word in text.split())


def words_replaced(pairs):
    """The sentences of `changed_pairs` with one word replaced: by a word that is no opposite, or by one that means the same."""
    def changed(change):
        return [(one, change(one)) for one, _, _ in pairs if " not " not in one and change(one) != one]

    return {"another verb": (changed(lambda text: with_other(text, others_of(2))), 1),
            "synonym of the verb": (changed(lambda text: " ".join(SYNONYMS.get(word, word) for word in text.split())), 0),
            "another adjective": (changed(lambda text: with_other(text, others_of(1))), 1)}


def changed_pairs(pairs):
    """Pairs made from (premise, hypothesis, label), by question: a list of pairs, and the answer to each by logic."""
    def without_adjectives(text):
        return " ".join(word for word in text.split() if word not in opposites(ADJECTIVES))

    def of_contradictions(more, longer):                     # two guesses at what tells apart those that a judge gets wrong
        return [(b, a) for a, b, label in pairs
                if label == 2 and bool(told_more(b, a)) == more and (len(a.split()) > len(b.split())) == longer]

    told = [one for one, _, _ in pairs if " not " not in one]
    described = [one for one in told if without_adjectives(one) != one]
    made = {}
    for name, general in (("object", OBJECT), ("actor", ACTOR)):
        some = [(one, made_general(one, general)) for one in told if made_general(one, OBJECT) != one != made_general(one, general)]
        made |= {f"{name} made general": (some, 0), f"{name} made specific": ([pair[::-1] for pair in some], 1)}
    # Each sentence with an adjective, and each with its opposite, as premise: so both directions ask about the same sentences.
    either = [premise for one in described for premise in (one, swapped(one, ADJECTIVES))]
    opposed_to = {f"opposite adjective, {a} to {b}": ([(one, swapped(one, ADJECTIVES)) for one in either if a in one.split()], 2)
                  for a, b in opposites(ADJECTIVES).items()}
    return {
        "the same sentence twice": ([(one, one) for one, _, _ in pairs], 0),
        **{f"contradiction exchanged, {tells}, {length}": (of_contradictions(tells == "tells more", length == "longer"), 2)
           for tells in ("tells more", "not more") for length in ("longer", "not longer")},
        "entailment exchanged": ([(b, a) for a, b, label in pairs if label == 0], 1),
        "adjective left out of the hypothesis": ([(one, without_adjectives(one)) for one in described], 0),
        "adjective left out of the premise": ([(without_adjectives(one), one) for one in described], 1),
        **made,
        **{question: asked for question, asked in opposed_to.items() if asked[0]},
        "opposite verb": ([(one, swapped(one, VERBS)) for one in told if swapped(one, VERBS) != one], 2),
    }


def places_added(pairs):
    """Contradictions without a place, a time or a "not", by question: as they are, and with a place added to one text or to both.

    What is denied in one place may be so elsewhere: there the place would change the answer.
    """
    def ending(text, added="in the cache"):
        return f"{text.removesuffix('.')} {added}."

    words = {"not", *f"{TOLD['where']} {TOLD['when']}".split()}
    silent = [(one, other) for one, other, label in pairs if label == 2 and not words & {*re.findall(r"\w+", f"{one} {other}")}]
    return {"place added to neither": (silent, 2),
            "place added to the premise": ([(ending(one), other) for one, other in silent], 2),
            "place added to the hypothesis": ([(one, ending(other)) for one, other in silent], 2),
            "place added to both": ([(ending(one), ending(other)) for one, other in silent], 2),
            "time added to the premise and place to the hypothesis":
                ([(ending(one, "before the test"), ending(other)) for one, other in silent], 2),
            "as it is added to the hypothesis": ([(one, ending(other, "as it is")) for one, other in silent], 2)}


def by_what_is_told(pairs):
    """Contradictions with their texts exchanged, by question: what the hypothesis tells and the premise leaves open."""
    found = {}
    for one, other, label in pairs:
        told = [*told_more(other, one), "nothing"]
        if label == 2:
            found.setdefault(told[0] if len(told) < 3 else "several", []).append((other, one))
    return {f"exchanged and telling {kind}": (some, 2) for kind, some in sorted(found.items())}


def opposed(one, other):
    """Whether a text has an adjective whose opposite the other one has."""
    return any(a in one.split() and b in other.split() for a, b in opposites(ADJECTIVES).items())


def replaced(pairs, others, training):
    """The pairs, with NUMBER contradictions and as many entailments replaced; neither had opposite adjectives.

    Each entailment becomes a premise and the same once more. training, one of TRAININGS, says what becomes of a contradiction: its
    premise and the same with the opposite of one word, an adjective or the verb; or one of the others that has opposite adjectives
    and more that differs. NO_REPEATS is the first of them, with the entailments as they are.
    """
    told = [i for i, (one, other, label) in enumerate(pairs) if label == 2 and " not " not in one and not opposed(one, other)
            and swapped(one, ADJECTIVES) != one != swapped(one, VERBS)][:NUMBER]
    found = [(*texts, label) for *texts, label in others if label == 2 and opposed(*texts) and unshared(*texts) != (1, 1)]
    made = [[(pairs[i][0], swapped(pairs[i][0], couples), 2) for i in told] for couples in (ADJECTIVES, VERBS)]
    repeated = [i for i, pair in enumerate(pairs) if pair[2] == 0 and training != NO_REPEATS][:NUMBER]
    new = dict(zip(told, made[0] if training == NO_REPEATS else [*made, found][TRAININGS.index(training)]))
    new |= {i: (pairs[i][0], pairs[i][0], 0) for i in repeated}
    return [new.get(i, pair) for i, pair in enumerate(pairs)]


def other_verbs(pairs):
    """The pairs, NUMBER neutral ones replaced by their premise and the same with another verb, no opposite: still neutral."""
    found = [i for i, (one, _, label) in enumerate(pairs) if label == 1 and with_other(one, others_of(2)) != one][:NUMBER]
    return [(one, with_other(one, others_of(2)), 1) if i in found else (one, *rest) for i, (one, *rest) in enumerate(pairs)]


def exchanged(pairs, labels):
    """The pairs, the two texts of every second one of each of these labels exchanged; what was an entailment is neutral then."""
    counts = {label: itertools.count() for label in labels}
    return [(other, one, label or 1) if label in counts and next(counts[label]) % 2 else (one, other, label)
            for one, other, label in pairs]


def rows_of(classify, pairs, more):
    """A row for each question: how often each of the three answers was given; classify: from pairs to answers.

    more: further questions, as those of `changed_pairs`.
    """
    for question, (changed, wanted) in {"the test pairs": (pairs, None), **changed_pairs(pairs), **more}.items():
        answers = classify([texts[:2] for texts in changed])
        right = sum(found == (pair[2] if wanted is None else wanted) for found, pair in zip(answers, changed))
        yield [question, "" if wanted is None else wanted, len(changed), *map(answers.count, range(3)), right]


def make(folder: pathlib.Path) -> None:
    """Train and measure; the penalty of the logistic regression is the one that fine_tuning.csv chose for its seed."""
    with (folder / "fine_tuning.csv").open(newline="", encoding="utf-8") as file:
        runs = [run for run in csv.DictReader(file) if (run["task"], run["examples"]) == ("two texts", "1000")]
    penalties = {int(run["seed"]): float(run["rate"]) for run in runs if run["start"].startswith("logistic regression")}
    tokenizer, rows, (pool, choosing, _) = load_tokenizer(SHIPPED / "bert"), [], fine_tuning.load_rows()["two texts"]
    tests, others = load_entailment(n_train=0, n_test=400)[1], load_entailment(n_train=6000, n_test=0)[0][2000:]

    def bert(known, seed):
        known = finetuning.text_examples(tokenizer, known)
        torch.manual_seed(seed)                              # before the body, as in fine_tuning.py and on the page
        judge, steps = BertClassifier(load_bert(SHIPPED / "bert").bert, 3), PASSES * len(known) // 16
        train(judge, finetuning.finetuning_batches(known, 16, steps, seed), finetuning.class_loss, RATE,
              one_cycle(steps, warm=0.1), clip=1.0)
        return lambda pairs: [int(row.argmax()) for row in finetuning.predict(
            judge, finetuning.text_examples(tokenizer, [(*texts, 0) for texts in pairs]))]

    def regression(known, seed):
        logits = logistic.logistic_regression([crossed(*texts) for *texts, _ in known], [row[-1] for row in known],
                                              penalties[seed])
        return lambda pairs: logits([crossed(*texts) for texts in pairs]).argmax(1).tolist()

    trainings = [AS_IT_IS, *TRAININGS, NO_REPEATS, OTHER_VERB, *EXCHANGED]
    judges = [("logistic regression", AS_IT_IS), *(("BERT", training) for training in trainings)]
    for seed, (judge, training) in [*itertools.product(range(3), judges), *((seed, ("BERT", AS_IT_IS)) for seed in range(3, 8))]:
        known = random.Random(seed).sample(pool, 1000)
        if training in (*TRAININGS, NO_REPEATS):
            known = replaced(known, others, training)
        elif training in EXCHANGED:
            known = exchanged(known, EXCHANGED[training])
        elif training == OTHER_VERB:
            known = other_verbs(known)
        more = ({**words_replaced(tests), **places_added(tests + choosing), **by_what_is_told(tests + choosing)}
                if training in (AS_IT_IS, OTHER_VERB) and seed < 3 else {})
        for row in rows_of((bert if judge == "BERT" else regression)(known, seed), tests, more):
            recipe = (RATE, PASSES) if judge == "BERT" else ("", "")
            rows.append([seed, judge, *recipe, training, *row])
            print(*rows[-1], flush=True)
    header = "seed judge rate passes training question wanted pairs entailment neutral contradiction right".split()
    with (folder / "judge.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.judge", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder of judge.csv and fine_tuning.csv (default: the one of the weights that ship)")
    make(parser.parse_args().out)
