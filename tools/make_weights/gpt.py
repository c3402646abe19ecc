"""Trains the GPT of lesson 11 with three seeds, for fewer steps and for as many, and writes how well it predicts test files.

The best n-gram model with either smoothing is beside it, of orders 1 to 8 with Witten-Bell's and 1 to 16 with Kneser-Ney's.
About ten minutes of one core. The rows that are in the table already are kept, so that it can be stopped and started again.
"""
import argparse
import math
import pathlib
import string

import torch

from helpers.data.programs import load_programs
from helpers.ngrams import NGrams
from helpers.pretrained.weights import SHIPPED
from helpers.text import Vocab, windows
from helpers.training import next_token_loss, one_cycle, train
from helpers.transformer import GPT
from tools.make_weights import tables

CONTEXT, BATCH, ORDERS = 128, 8, {"witten_bell": 8, "kneser_ney": 16}
LONGEST, MEASURED = 256, 64                                  # the context of the large GPT that ships; characters of each window
GRID = [(steps, seed) for steps in (1000, 4000) for seed in (0, 1, 2)]


def load():
    """The vocabulary, and the ids of the training, the validation and the test files, [T] each."""
    vocab = Vocab([string.printable])
    return vocab, *(torch.tensor(vocab.encode("".join(files))) for files in load_programs().values())


def trained(ids, vocab_size, steps, seed):
    """The lesson's GPT after so many steps."""
    torch.manual_seed(seed)
    model = GPT(vocab_size, d_model=64, num_heads=4, d_ff=256, num_layers=2, dropout=0.0)
    train(model, windows(ids, CONTEXT, BATCH, steps, seed), next_token_loss, lr=6e-3, schedule=one_cycle(steps, warm=0.1), clip=1.0)
    return model


def windows_of(ids, context):
    """Pieces of a long text, [N, context + 1], whose last MEASURED characters are the same whatever the context."""
    return ids[LONGEST - context:].unfold(0, context + 1, 3 * MEASURED)


@torch.no_grad()
def bits(model, rows):
    """Bits per character of the last MEASURED characters of windows [N, context + 1]."""
    losses = [-model(part[:, :-1]).log_softmax(-1).gather(-1, part[:, 1:, None]) for part in rows.split(64)]
    return torch.cat(losses)[:, -MEASURED:].mean().item() / math.log(2)


def best_ngram_bits(ids, vocab_size, rows):
    """The same of the best n-gram model, for each smoothing."""
    best = {}
    for smoothing, order in ORDERS.items():
        contexts = rows[:, -MEASURED - order + 1:-1].unfold(1, order - 1, 1)              # [N, MEASURED, order - 1]
        found = NGrams(ids, vocab_size, order, smoothing == "kneser_ney").probs(contexts, rows[:, -MEASURED:, None])
        best[smoothing] = f"{-found.log2().mean((1, 2, 3)).max().item():.4g}"
    return best


def write(path, grid=GRID):
    """Write a row for each of the grid that the table at path lacks."""
    vocab, train_ids, _, test_ids = load()
    windows_of_test = windows_of(test_ids, CONTEXT)
    counted = best_ngram_bits(train_ids, len(vocab), windows_of_test)
    tables.fill(path, ["steps", "seed", "bits", *counted], grid, lambda steps, seed: {
        "bits": f"{bits(trained(train_ids, len(vocab), steps, seed), windows_of_test):.4g}"} | counted)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.gpt", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder to write gpt.csv to (default: the one of the weights that ship)")
    torch.set_num_threads(1)
    write(parser.parse_args().out / "gpt.csv")
