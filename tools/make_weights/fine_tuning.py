"""Measures what pretraining is worth, for the four tasks of lesson 14: python -m tools.make_weights.fine_tuning

From the weights that ship, from scratch, and by counting alone (see RULES), with 100 and 1,000 examples and three seeds, which
choose the examples, what is random in the model, and the order. Writes fine_tuning.csv beside this file, in place of the one that
is there; about six minutes on one core.
"""
import csv
import itertools
import json
import math
import pathlib
import random
from collections import Counter, defaultdict

import torch

from helpers import finetuning
from helpers.bert import Bert, BertClassifier, BertTagger
from helpers.data.documentation import load_documentation
from helpers.data.entailment import load_entailment
from helpers.data.questions import load_questions
from helpers.data.tagging import load_tagging
from helpers.pretrained.format import SIZES, load_bert, load_tokenizer
from helpers.text import split_words
from helpers.training import one_cycle, train

HERE = pathlib.Path(__file__).parent
STEPS = {100: 100, 1000: 300}                                           # examples: steps, of sixteen examples each
RATES = {"pretrained": 7e-4, "from scratch": 1e-3}                       # from trials with 5e-4, 1e-3 and 3e-3
TASKS = {
    "one text": (lambda bert: BertClassifier(bert, 5), finetuning.class_loss, finetuning.accuracy, finetuning.text_examples),
    "two texts": (lambda bert: BertClassifier(bert, 3), finetuning.class_loss, finetuning.accuracy, finetuning.text_examples),
    "each word": (lambda bert: BertTagger(bert, 2), finetuning.tag_loss, finetuning.tag_f1, finetuning.tag_examples),
    "a span": (lambda bert: BertTagger(bert, 2), finetuning.span_loss, finetuning.exact_match, finetuning.span_examples),
}


def load_rows():
    """By task, 2,000 rows to learn from and 400 to be tested on."""
    sentences = load_documentation(480)
    return {"one text": (sentences[400:], sentences[:400]), "two texts": load_entailment(n_train=2000, n_test=400),
            "each word": load_tagging(n_train=2000, n_test=400), "a span": load_questions(n_train=2000, n_test=400)}


def untrained():
    """A BERT of the size that ships, with random weights."""
    config = json.loads((HERE / "bert" / "config.json").read_text())
    return Bert(**{ours: config[theirs] for theirs, ours in SIZES.items()}, dropout=config["hidden_dropout_prob"])


def by_model(task, known, tested, start, seed):
    """The score on the rows `tested` of a model that learned from those known."""
    tokenizer = load_tokenizer(HERE / "bert")
    tokenizer.enable_truncation(96)
    head, loss, measure, encode = TASKS[task]
    known, tested = encode(tokenizer, known), encode(tokenizer, tested)
    torch.manual_seed(seed)
    model, steps = head(load_bert(HERE / "bert").bert if start == "pretrained" else untrained()), STEPS[len(known)]
    train(model, finetuning.finetuning_batches(known, 16, steps, seed), loss, RATES[start], one_cycle(steps, warm=0.1),
          clip=1.0)
    return measure(finetuning.predict(model, tested), tested)


def by_words(known, tested):
    """The share of texts whose class, of those known, is the one in which their words are most frequent."""
    return naive_bayes(*([(split_words(text), label) for text, label in rows] for rows in (known, tested)))


def by_numbers(known, tested):
    """The share of pairs whose class is the most frequent one among pairs with as many words that are in one text alone."""
    return naive_bayes(*([([unshared(one, other)], label) for one, other, label in rows] for rows in (known, tested)))


def naive_bayes(known, tested):
    """The share of `tested`, pairs of (things, label), for which counting things by label, one added to each, finds the label."""
    counts = defaultdict(Counter)
    for things, label in known:
        counts[label].update(things)
    different, totals = len(set().union(*counts.values())), {label: count.total() for label, count in counts.items()}

    def likelihood(label, things):
        return sum(math.log((counts[label][thing] + 1) / (totals[label] + different)) for thing in things)
    return sum(max(counts, key=lambda label: likelihood(label, things)) == wanted for things, wanted in tested) / len(tested)


def unshared(one, other):
    """How many words each of two texts has that the other has not."""
    one, other = set(split_words(one)), set(split_words(other))
    return len(one - other), len(other - one)


def by_tags(known, tested):
    """The F1 of names, where each word has the tag that it had most often, and a new one is no name."""
    seen = defaultdict(Counter)
    for words, tags in known:
        for word, tag in zip(words, tags):
            seen[word][tag] += 1
    pairs = [(max(seen[word], key=seen[word].get) if word in seen else 0, tag)
             for words, tags in tested for word, tag in zip(words, tags)]
    return 2 * pairs.count((1, 1)) / sum(map(sum, pairs))


def by_answers(known, tested):
    """The share of passages in which the right answer is the one that was most often one before, of those that stand there."""
    answers = [answer for answer, _ in Counter(passage[start:end].lower() for _, passage, start, end in known).most_common()]
    found = [next((answer for answer in answers if answer in passage.lower()), "") for _, passage, *_ in tested]
    return sum(one == passage[start:end].lower() for one, (_, passage, start, end) in zip(found, tested)) / len(tested)


RULES = {"one text": by_words, "two texts": by_numbers, "each word": by_tags, "a span": by_answers}


def measured(task, known, tested):
    """(task, start, examples, seed, score) of all that is compared in one task."""
    for size, seed in itertools.product(STEPS, range(3)):
        some = random.Random(seed).sample(known, size)
        yield task, "counting", size, seed, round(RULES[task](some, tested), 4)
        for start in RATES:
            yield task, start, size, seed, round(by_model(task, some, tested, start, seed), 4)


def main():
    """Measure all, and write it at the end."""
    found = [["task", "start", "examples", "seed", "score"]]
    for task, rows in load_rows().items():
        for row in measured(task, *rows):
            found.append(row)
            print(*row, flush=True)
    with (HERE / "fine_tuning.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(found)


if __name__ == "__main__":
    main()
