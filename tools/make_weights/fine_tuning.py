"""Measures what pretraining is worth for the four tasks of lesson 15, in about six minutes of one core.

From the weights that ship, from scratch, and by counting alone (see RULES), with 100 and 1,000 examples and
three seeds, which choose the examples, what is random in the model, and the order.
"""
import argparse
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
from helpers.pretrained.weights import SHIPPED
from helpers.text import split_words
from helpers.training import one_cycle, train

BERT = SHIPPED / "bert"
STEPS = {100: 100, 1000: 300}                                           # examples: steps, of sixteen examples each
RATES = {"pretrained": 7e-4, "from scratch": 1e-3}                       # from trials with 5e-4, 1e-3 and 3e-3
TASKS = {
    "one text": (lambda bert: BertClassifier(bert, 5), finetuning.class_loss, finetuning.accuracy, finetuning.text_examples),
    "two texts": (lambda bert: BertClassifier(bert, 3), finetuning.class_loss, finetuning.accuracy, finetuning.text_examples),
    "each word": (lambda bert: BertTagger(bert, 2), finetuning.tag_loss, finetuning.tag_f1, finetuning.tag_examples),
    "a span": (lambda bert: BertTagger(bert, 2), finetuning.span_loss, finetuning.exact_match, finetuning.span_examples),
}


def load_rows():
    """By task, 2,000 rows to train on and 400 to test on."""
    sentences = load_documentation(480)
    return {"one text": (sentences[400:], sentences[:400]), "two texts": load_entailment(n_train=2000, n_test=400),
            "each word": load_tagging(n_train=2000, n_test=400), "a span": load_questions(n_train=2000, n_test=400)}


def untrained():
    """A BERT of the size that ships, with random weights."""
    config = json.loads((BERT / "config.json").read_text())
    return Bert(**{ours: config[theirs] for theirs, ours in SIZES.items()}, dropout=config["hidden_dropout_prob"])


def by_model(task, train_rows, test_rows, start, seed):
    """The score on test_rows of a model that was trained on train_rows."""
    tokenizer = load_tokenizer(BERT)
    tokenizer.enable_truncation(96)
    head, loss, measure, encode = TASKS[task]
    train_rows, test_rows = encode(tokenizer, train_rows), encode(tokenizer, test_rows)
    torch.manual_seed(seed)
    model, steps = head(load_bert(BERT).bert if start == "pretrained" else untrained()), STEPS[len(train_rows)]
    train(model, finetuning.finetuning_batches(train_rows, 16, steps, seed), loss, RATES[start], one_cycle(steps, warm=0.1),
          clip=1.0)
    return measure(finetuning.predict(model, test_rows), test_rows)


def by_words(train_rows, test_rows):
    """Accuracy of naive Bayes on the words of a text."""
    return naive_bayes(*([(split_words(text), label) for text, label in rows] for rows in (train_rows, test_rows)))


def by_numbers(train_rows, test_rows):
    """Accuracy of the most frequent class among pairs with the same numbers of words that are in one text alone."""
    return naive_bayes(*([([unshared(one, other)], label) for one, other, label in rows] for rows in (train_rows, test_rows)))


def naive_bayes(train_rows, test_rows):
    """Accuracy of naive Bayes with add-one smoothing; rows: (things, label)."""
    counts = defaultdict(Counter)
    for things, label in train_rows:
        counts[label].update(things)
    different, totals = len(set().union(*counts.values())), {label: count.total() for label, count in counts.items()}

    def likelihood(label, things):
        return sum(math.log((counts[label][thing] + 1) / (totals[label] + different)) for thing in things)
    return sum(max(counts, key=lambda label: likelihood(label, things)) == wanted for things, wanted in test_rows) / len(test_rows)


def unshared(one, other):
    """How many words each of two texts has that the other has not."""
    one, other = set(split_words(one)), set(split_words(other))
    return len(one - other), len(other - one)


def by_tags(train_rows, test_rows):
    """The F1 of names, where each word has the tag that it had most often, and a new one is no name."""
    seen = defaultdict(Counter)
    for words, tags in train_rows:
        for word, tag in zip(words, tags):
            seen[word][tag] += 1
    pairs = [(max(seen[word], key=seen[word].get) if word in seen else 0, tag)
             for words, tags in test_rows for word, tag in zip(words, tags)]
    return 2 * pairs.count((1, 1)) / sum(map(sum, pairs))


def by_answers(train_rows, test_rows):
    """The share of passages in which the right answer is the one that was most often one before, of those that stand there."""
    answers = [answer for answer, _ in Counter(passage[start:end].lower() for _, passage, start, end in train_rows).most_common()]
    found = [next((answer for answer in answers if answer in passage.lower()), "") for _, passage, *_ in test_rows]
    return sum(one == passage[start:end].lower() for one, (_, passage, start, end) in zip(found, test_rows)) / len(test_rows)


RULES = {"one text": by_words, "two texts": by_numbers, "each word": by_tags, "a span": by_answers}


def measured(task, train_rows, test_rows):
    """(task, start, examples, seed, score) of all that is compared in one task."""
    for size, seed in itertools.product(STEPS, range(3)):
        some = random.Random(seed).sample(train_rows, size)
        yield task, "counting", size, seed, round(RULES[task](some, test_rows), 4)
        for start in RATES:
            yield task, start, size, seed, round(by_model(task, some, test_rows, start, seed), 4)


def make(folder: pathlib.Path) -> None:
    """Measure all, and write it at the end."""
    rows = [["task", "start", "examples", "seed", "score"]]
    for task, (train_rows, test_rows) in load_rows().items():
        for row in measured(task, train_rows, test_rows):
            rows.append(row)
            print(*row, flush=True)
    with (folder / "fine_tuning.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.fine_tuning", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder to write fine_tuning.csv to (default: the one of the weights that ship)")
    make(parser.parse_args().out)
