"""A tiny run of pretraining that the tests start, stop and kill: python pretraining.py FOLDER RANK STEP DROPOUT

The process of that rank, or the only one, kills itself in the middle of a step; "all" of them do, and "none" lets them live.
"""
import itertools
import os
import pathlib
import random
import signal
import sys

from helpers.pretraining import run as script
from helpers.pretraining.run import hold_out, pretrain
from helpers.pretraining.step import step_losses
from helpers.text import train_wordpiece

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)                      # on Windows, SIGTERM cannot be caught either
WORDS = "a the one list array file of in reads holds writes old new small large value name key tensor axis".split()
TINY = {"layers": 1, "width": 16, "heads": 2, "max_len": 24, "batch_size": 7, "steps": 12, "lr": 0.01}


def paragraphs(number=40, seed=0):
    """Two to four sentences each."""
    rng = random.Random(seed)
    return [[" ".join(rng.choices(WORDS, k=rng.randint(3, 9))) + "." for _ in range(rng.randint(2, 4))] for _ in range(number)]


TRAIN, VALIDATION = hold_out(paragraphs(), share=0.2)
TOKENIZER = train_wordpiece(itertools.chain.from_iterable(TRAIN), 90)


def run(out, save_every=5, train_set=TRAIN, **options):
    """All that `main` does, on the tiny text."""
    return pretrain(train_set, VALIDATION, TOKENIZER, out, save_every, **TINY | options)


def mortal(call, death):
    """A `step_losses` that is `death` in place of the step of this number, counted from 0."""
    calls = itertools.count()

    def step(*args):
        if next(calls) == call:
            return death()
        return step_losses(*args)

    return step


if __name__ == "__main__":
    folder, rank, step, dropout = sys.argv[1:]
    if rank in ("all", os.environ.get("RANK", "0")):
        script.step_losses = mortal(int(step), lambda: os.kill(os.getpid(), KILL))
    run(pathlib.Path(folder), dropout=float(dropout))
