"""Trains the date model that ships for lessons 0 and 8, longer than lesson 8 does and on more pairs.

Sinusoids as long as the texts (base 20) make it easier to find a character's neighbours.
"""
import argparse
import pathlib

import torch

from helpers.data.dates import load_dates
from helpers.generation import translate
from helpers.pretrained.dates import TARGET, encode, new_model
from helpers.pretrained.weights import SHIPPED, save_weights
from helpers.text import batches, pad
from helpers.training import one_cycle, sequence_loss, train

TRAIN_PAIRS, STEPS = 300_000, 6_000


def trained(train_pairs, seed=0, steps=STEPS):
    """The date model that ships, or another seed of it."""
    torch.manual_seed(seed)
    data = [(encode(written), TARGET.encode(iso)) for written, iso in train_pairs]
    model = new_model()
    train(model, batches(data, 64, steps, seed), sequence_loss, 1e-2, one_cycle(steps), clip=1.0)
    return model.eval()


def make(folder: pathlib.Path) -> None:
    """Train, measure on dates that were not trained on, and save."""
    train_pairs, test_pairs = load_dates(TRAIN_PAIRS)
    model = trained(train_pairs)
    src, lengths = pad([encode(written) for written, _ in test_pairs])
    answers = ["".join(TARGET.decode(ids)) for ids in translate(model, src, lengths, max_len=12)]
    right = sum(iso == answer for (_, iso), answer in zip(test_pairs, answers))
    print(f"exact match: {right} of {len(test_pairs)} test dates")
    save_weights(model, folder / "dates.safetensors", {"steps": STEPS, "right": right, "of": len(test_pairs)})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.dates", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder to write dates.safetensors to (default: the one that ships)")
    make(parser.parse_args().out)
