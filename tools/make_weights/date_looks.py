"""Trains the date model of lesson 0 three times more, and measures which looks each training needs: six minutes of one core.

date_looks.csv: for each training and name of a month, in how many of 20 test dates the month is lost when, in the row of its first
digit, the largest weight of one head is set to 0 or cut, and when all weights of all heads are set to 0 (the column none).
"""
import argparse
import pathlib
import re
from functools import partial

import torch

from helpers.data.dates import load_dates, normalise
from helpers.generation import translate
from helpers.hooks import what_if
from helpers.pretrained.dates import TARGET, encode, read_date
from helpers.pretrained.weights import SHIPPED
from helpers.text import pad
from tools.make_weights import tables
from tools.make_weights.dates import STEPS, TRAIN_PAIRS, trained

SEEDS, DATES, ROW = (1, 2, 3), 20, 5                         # ROW: of the first digit of the month
NAMES = {"oct": "10", "october": "10", "nov": "11", "november": "11", "dec": "12", "december": "12", "jan": "01", "january": "01"}
WAYS = [f"{kind}_{head}" for kind in ("zero", "cut") for head in range(4)] + ["none"]
COLUMNS = ["seed", "name", "right", "of", *WAYS]


def lost(model, texts, month):
    """By way of changing the row, in how many of the texts another month is written."""
    counts = dict.fromkeys(WAYS, 0)
    for text in texts:
        _, weights = read_date(model, text)
        run = what_if(model, partial(read_date, model, text), where="cross_attn")
        changes = {f"{kind}_{head}": [{"kind": kind, "index": [head], "query": ROW, "key": int(weights[head, ROW].argmax())}]
                   for kind in ("zero", "cut") for head in range(4)}
        changes["none"] = [{"kind": "zero", "index": [head], "query": ROW, "key": key}
                           for head in range(4) for key in range(weights.shape[-1])]
        for way, change in changes.items():
            counts[way] += run(change)[0][0][5:7] != month
    return counts


def rows(seeds=SEEDS, steps=STEPS, n_train=TRAIN_PAIRS, dates=DATES):
    """A row for each training and name."""
    train_pairs, test_pairs = load_dates(n_train)
    src, lengths = pad([encode(written) for written, _ in test_pairs])
    for seed in seeds:
        model = trained(train_pairs, seed, steps)
        answers = ["".join(TARGET.decode(ids)) for ids in translate(model, src, lengths, max_len=12)]
        right = sum(iso == answer for (_, iso), answer in zip(test_pairs, answers))
        for name, month in NAMES.items():
            texts = [written for written, _ in test_pairs if name in re.findall("[a-z]+", normalise(written))][:dates]
            yield {"seed": seed, "name": name, "right": right, "of": len(texts), **lost(model, texts, month)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.date_looks", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder to write date_looks.csv to (default: the one of the weights that ship)")
    torch.set_num_threads(1)
    tables.write(parser.parse_args().out / "date_looks.csv", COLUMNS, rows())
