"""Trains the GPT that ships for lesson 11: larger than the reader's, on more characters of the same files.

A minute and a half of a data centre's GPU, or some hours of one core. Matrix products are in bfloat16. An interrupted run goes on
from its last checkpoint.
"""
import argparse
import itertools
import math
import pathlib

import torch

from helpers.pretrained.weights import SHIPPED, save_weights
from helpers.text import windows
from helpers.training import next_token_loss, one_cycle
from helpers.transformer import GPT
from tools.make_weights import gpt
from tools.make_weights.resumed import device_name, train_resumed

CONTEXT, BATCH, STEPS, RATE, SAVE_EVERY = 256, 64, 6_000, 2e-3, 250
SIZES = {"d_model": 256, "num_heads": 8, "d_ff": 1024, "num_layers": 3, "dropout": 0.1}


def low_precision_loss(model, ids):
    """Matrix products in bfloat16: twice as fast on processors that have it."""
    with torch.autocast(next(model.parameters()).device.type, torch.bfloat16):
        return next_token_loss(model, ids)


def make(folder: pathlib.Path, work: pathlib.Path) -> None:
    """Train, with a checkpoint in `work`; measure on the test files; save the weights in `folder`."""
    vocab, train_ids, validation_ids, test_ids = gpt.load()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    validation, test = (gpt.windows_of(ids, CONTEXT).to(device) for ids in (validation_ids, test_ids))
    torch.manual_seed(0)
    model = GPT(len(vocab), **SIZES).to(device)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.95), fused=True)

    def report(done, seconds, losses):
        measured = f", validation {gpt.bits(model, validation[::5]):.3f}" if done % (4 * SAVE_EVERY) == 0 else ""
        print(f"{done} of {STEPS} steps, {seconds:.0f} s, {sum(losses) / len(losses) / math.log(2):.3f} bits{measured}", flush=True)

    seconds = train_resumed(model, optimizer, lambda done: itertools.islice(windows(train_ids, CONTEXT, BATCH, STEPS), done, None),
                            low_precision_loss, RATE, one_cycle(STEPS, warm=0.05), work / "large_gpt.pt", SAVE_EVERY, report)
    record = {"sizes": SIZES, "context": CONTEXT, "steps": STEPS, "batch": BATCH, "characters": STEPS * BATCH * CONTEXT,
              "seconds": round(seconds), "device": device_name(model), "bits": round(gpt.bits(model, test), 3)}
    print(record)
    save_weights(model, folder / "gpt.safetensors", record, torch.float16)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.large_gpt", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED, help="the folder to write to (default: the one that ships)")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("."), help="the folder of the checkpoint")
    torch.set_num_threads(1)
    given = parser.parse_args()
    make(given.out, given.work)
