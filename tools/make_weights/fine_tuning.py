"""Measures what pretraining is worth for the four tasks of lesson 15, in about two hours of one core.

Compared are the BERT that ships, the same from scratch and with a part of its weights, the published one of lesson 16, both with
frozen features, counting, and logistic regression. Three seeds choose the examples, what is random in the model, and the order.
Rates and passes are chosen on validation rows, with 1,000 examples and seed 0, from TRIALS; scores are of test rows that choose
nothing. An answer may be as long as the longest of the training rows. Rows that are there already are not measured again.
"""
import argparse
import csv
import functools
import itertools
import json
import pathlib
import random
import time

import torch
from torch import nn

from helpers import finetuning
from helpers.bert import Bert, BertClassifier, BertTagger
from helpers.data.entailment import load_entailment
from helpers.data.messages import EXCEPTIONS, load_messages
from helpers.data.questions import load_questions
from helpers.data.tagging import load_tagging
from helpers.pretrained.download import fetch_bert
from helpers.pretrained.format import SIZES, load_bert, load_tokenizer
from helpers.pretrained.weights import SHIPPED
from helpers.training import one_cycle, train
from tools.make_weights import counting, logistic

COLUMNS = ["task", "start", "examples", "seed", "rate", "passes", "validation", "score", "seconds"]
EXAMPLES = [50, 100, 250, 500, 1000]
TRIALS = {                                                   # (learning rate, passes), 16 examples at a time; of equals the first
    "pretrained": [(3e-4, 5), (7e-4, 5), (1.5e-3, 5), (3e-3, 5), (7e-4, 10), (1.5e-3, 20), (1.5e-3, 10), (6e-3, 5)],
    "from scratch": [(2.5e-4, 20), (5e-4, 20), (1e-3, 20), (5e-4, 40), (2e-3, 20)],
    "embeddings alone": [(5e-4, 20), (1e-3, 20), (5e-4, 40)],
    "all but token vectors": [(5e-4, 20), (1e-3, 20), (5e-4, 40)],
    "frozen": [(1e-3, 20), (3e-3, 20), (1e-2, 20), (1e-2, 200), (3e-2, 200), (1e-1, 200)],    # a linear layer alone is quick
    "published, frozen": [(1e-3, 20), (3e-3, 20), (1e-2, 20), (1e-2, 200), (3e-2, 200)],
    "published": [(1e-4, 5)],                                # of 1,000 examples and seed 0 only: it takes half a second a step
}
SIMPLE = {"counting": counting, "logistic regression": logistic}
SEEDS = [0, 1, 2]
TASKS = {
    "one text": (BertClassifier, len(EXCEPTIONS), finetuning.class_loss, finetuning.accuracy, finetuning.text_examples),
    "two texts": (BertClassifier, 3, finetuning.class_loss, finetuning.accuracy, finetuning.text_examples),
    "each word": (BertTagger, 2, finetuning.tag_loss, finetuning.tag_f1, finetuning.tag_examples),
    "a span": (BertTagger, 2, finetuning.span_loss, finetuning.exact_match, finetuning.span_examples),
}


def load_rows():
    """By task: rows to train on, 400 to choose rates on and 400 to test on, 250 of each of spans."""
    messages, choosing, testing, _ = load_messages()
    pairs, other_pairs = load_entailment(n_train=2000, n_test=900)
    tagged, others_tagged = load_tagging(n_train=2000, n_test=800)
    asked, others_asked = load_questions(n_train=2000, n_test=500)
    return {"one text": (messages, choosing[:400], testing[:400]), "two texts": (pairs, other_pairs[500:], other_pairs[:400]),
            "each word": (tagged, others_tagged[400:], others_tagged[:400]),
            "a span": (asked, others_asked[250:], others_asked[:250])}


def untrained():
    """A BERT of the size that ships, with random weights."""
    config = json.loads((SHIPPED / "bert" / "config.json").read_text())
    return Bert(**{ours: config[theirs] for theirs, ours in SIZES.items()}, dropout=config["hidden_dropout_prob"])


def with_embeddings():
    """The same, with the embeddings of the BERT that ships: of tokens, segments and positions, and their norm."""
    bert = untrained()
    bert.embed.load_state_dict(load_bert(SHIPPED / "bert").bert.embed.state_dict())
    return bert


def without_token_vectors():
    """The BERT that ships, with random vectors for the tokens."""
    bert = load_bert(SHIPPED / "bert").bert
    bert.embed.tokens.load_state_dict(untrained().embed.tokens.state_dict())
    return bert


class Frozen(nn.Module):
    """A BERT that does not learn: the vectors of each input are computed once and kept. Its `pool` is the mean over the tokens."""

    def __init__(self, bert):
        super().__init__()
        self.bert, self.kept = [bert.requires_grad_(False).eval()], {}       # in a list: `train` leaves it in eval mode

    @property
    def embed(self):
        return self.bert[0].embed

    def forward(self, ids, lengths, segments):
        rows = [tuple(row[:n].tolist()) for row, n in zip(ids, lengths)]
        fresh = [i for i, row in enumerate(rows) if row not in self.kept]
        if fresh:
            with torch.no_grad():
                found = self.bert[0](ids[fresh], lengths[fresh], segments[fresh])
            self.kept |= {rows[i]: x[:len(rows[i])].clone() for i, x in zip(fresh, found)}
        return nn.utils.rnn.pad_sequence([self.kept[row] for row in rows], batch_first=True)     # [B, T, d_model]

    def pool(self, x):
        return x.sum(1) / (x != 0).any(2).sum(1, keepdim=True)


def bodies():
    """By start: the folder of its tokenizer, and a function that returns the BERT under the head."""
    ours, published = SHIPPED / "bert", fetch_bert("all-MiniLM-L6-v2")
    frozen = {folder: Frozen(load_bert(folder).bert) for folder in (ours, published)}
    return {"pretrained": (ours, lambda: load_bert(ours).bert), "from scratch": (ours, untrained),
            "embeddings alone": (ours, with_embeddings), "all but token vectors": (ours, without_token_vectors),
            "frozen": (ours, lambda: frozen[ours]), "published, frozen": (published, lambda: frozen[published]),
            "published": (published, lambda: load_bert(published).bert)}


class Measuring:
    """Runs and their rows; file: a csv with those that are there already, which grows."""

    def __init__(self, file):
        self.file, self.rows, self.bodies, self.tasks = file, [], bodies(), load_rows()
        if file.exists():
            with file.open(newline="", encoding="utf-8") as there:
                self.rows = list(csv.DictReader(there))
        else:
            file.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")

    def run(self, task, start, examples, seed, rate, passes):
        """The row of one training."""
        key = dict(zip(COLUMNS, map(str, (task, start, examples, seed, rate, passes))))
        for row in self.rows:
            if key.items() <= row.items():
                return row
        began = time.process_time()
        scores = self.trained(task, start, examples, seed, rate, passes)
        return self.keep(key | dict(zip(COLUMNS[6:], scores, strict=False)) | {"seconds": f"{time.process_time() - began:.1f}"})

    def keep(self, row):
        self.rows.append(row)
        with self.file.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(row)
        print(*row.values(), flush=True)
        return row

    def trained(self, task, start, examples, seed, rate, passes):
        """(validation, test): scores of a model that was trained on some of the rows."""
        head, outputs, loss, measure, encode = TASKS[task]
        folder, body = self.bodies[start]
        tokenizer = load_tokenizer(folder)
        tokenizer.enable_truncation(96)
        known, *others = (encode(tokenizer, rows) for rows in (self.some(task, examples, seed), *self.tasks[task][1:]))
        if measure is finetuning.exact_match:
            measure = functools.partial(measure, max_len=max(last - first + 1 for *_, (first, last) in known))
        torch.manual_seed(seed)
        bert = body()
        dropout = 0.0 if isinstance(bert, Frozen) else 0.1       # a linear layer alone on frozen vectors underfits with dropout
        model, steps = head(bert, outputs, dropout), max(100, passes * examples // 16)
        train(model, finetuning.finetuning_batches(known, 16, steps, seed), loss, rate, one_cycle(steps, warm=0.1), clip=1.0)
        return [f"{measure(finetuning.predict(model, rows), rows):.4f}" for rows in others]

    def some(self, task, examples, seed):
        """The training rows of a seed."""
        return random.Random(seed).sample(self.tasks[task][0], examples)

    def choose(self, task, start):
        """(rate, passes): the best of TRIALS on the validation rows, with 1,000 examples and seed 0."""
        rows = [self.run(task, start, 1000, 0, *trial) for trial in TRIALS[start]]
        best = max(range(len(rows)), key=lambda i: float(rows[i]["validation"]))
        return TRIALS[start][best]

    def curves(self, seeds, starts, sizes):
        """All runs of some seeds, ways to start and numbers of examples."""
        for seed, task, examples, start in itertools.product(seeds, TASKS, sizes, starts):
            if start in SIMPLE:
                self.simple(task, start, examples, seed)
            else:
                self.run(task, start, examples, seed, *self.choose(task, start))

    def simple(self, task, start, examples, seed):
        """Rows of the rules without a network; of a logistic regression the rate is its penalty."""
        for name, rule in SIMPLE[start].RULES[task].items():
            key = dict(zip(COLUMNS, (task, f"{start}: {name}", str(examples), str(seed))))
            if not any(key.items() <= row.items() for row in self.rows):
                known, others = self.some(task, examples, seed), self.tasks[task][1:]
                rate, *scores = rule(known, *others) if start != "counting" else ("", *(rule(known, rows) for rows in others))
                self.keep(dict.fromkeys(COLUMNS, "") | key | {"rate": rate} | dict(
                    zip(("validation", "score"), (f"{score:.4f}" for score in scores))))


def chosen(task, start, examples, file=SHIPPED / "fine_tuning.csv"):
    """The test scores of each seed: of networks with the rate and the passes that are best with 1,000 examples and seed 0.

    Of the rules without a network, those of the run that is best on the validation rows.
    """
    with file.open(newline="", encoding="utf-8") as rows:
        found = [row for row in csv.DictReader(rows) if (row["task"], row["start"].partition(":")[0]) == (task, start)]
    if start in TRIALS:
        first = [row for row in found if (row["examples"], row["seed"]) == ("1000", "0")]
        best = max(first, key=lambda row: float(row["validation"]))
        found = [row for row in found if (row["rate"], row["passes"]) == (best["rate"], best["passes"])]
    best = {}
    for row in found:
        if row["examples"] == str(examples):
            best[row["seed"]] = max(best.get(row["seed"], row), row, key=lambda row: float(row["validation"]))
    return [float(best[seed]["score"]) for seed in sorted(best)]


def make(folder: pathlib.Path) -> None:
    """Measure all that is not in the file; what takes longest and says least comes last."""
    measuring = Measuring(folder / "fine_tuning.csv")
    measuring.curves(SEEDS, [*SIMPLE, "pretrained", "frozen"], EXAMPLES)
    measuring.curves(SEEDS, ["from scratch", "published, frozen"], [1000])
    measuring.curves(SEEDS, ["from scratch"], EXAMPLES)
    measuring.curves(SEEDS, ["embeddings alone", "all but token vectors"], [1000])
    measuring.curves([0], ["published"], [1000])
    for seed in SEEDS:                                       # as many steps as with 1,000 examples
        rate, passes = measuring.choose("a span", "pretrained")
        measuring.run("a span", "pretrained", 250, seed, rate, 4 * passes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.fine_tuning", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder of fine_tuning.csv (default: the one of the weights that ship)")
    make(parser.parse_args().out)
