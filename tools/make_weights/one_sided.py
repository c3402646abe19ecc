"""Trains the BERT that ships to read one side, and measures what lesson 13 measures: five minutes of one core for 1,400 steps.

The training hides one token in each of many sentences. With SHARES the model then sees the left side, the right side, neither, or
both. one_sided.csv: the share of right first guesses in the lesson's gaps, with one side in view, by the product of both sides, by
that product with the powers that suit other gaps best, and with both in view at once; the mean losses of the last three; and the
lead of reading at once over each product, in points, with its standard error over the test sentences. The row without a seed is the
model that ships.
"""
import argparse
import itertools
import pathlib
import random

import torch
import torch.nn.functional as F

from helpers.data.documentation import load_paragraphs
from helpers.pretrained.format import load_bert, load_tokenizer
from helpers.pretrained.weights import SHIPPED
from helpers.pretraining.run import hold_out
from helpers.text import pad
from helpers.training import one_cycle, train
from tools.make_weights import tables

BATCH, RATE, DRAWS = 64, 3e-4, 3
TRAININGS = [("", 0), (0, 1_400), (1, 1_400), (2, 1_400), (0, 4_200)]          # (seed, steps)
VIEWS = {"left": (True, False), "right": (False, True), "nothing": (False, False), "both": (True, True)}
SHARES = (0.3, 0.3, 0.1, 0.3)                                # of the views, in the training
POWERS = list(itertools.product((0.7, 0.85, 1), (0.7, 0.85, 1), (0.4, 0.6, 0.8, 1)))       # of left, right and nothing
COLUMNS = ["seed", "steps", "left", "right", "nothing", "both", "product", "weighted", "product_loss", "weighted_loss", "both_loss",
           "product_lead", "product_error", "weighted_lead", "weighted_error"]


def hidden(ids, position, left, right, mask):
    """The ids with `mask` at the position, and at all tokens of a side that is not in view, but for the first and the last."""
    return [i if t in (0, len(ids) - 1) or t < position and left or t > position and right else mask
            for t, i in enumerate(ids)]


def batch(texts, positions, views, mask):
    """(ids [B, T], lengths [B], positions [B, 1], the hidden tokens [B])."""
    ids, lengths = pad([hidden(text, p, *VIEWS[view], mask) for text, p, view in zip(texts, positions, views)])
    return ids, lengths, torch.tensor(positions).unsqueeze(1), torch.tensor([text[p] for text, p in zip(texts, positions)])


def logits_of(model, ids, lengths, positions):
    return model(ids, lengths, torch.zeros_like(ids), positions)[0][:, 0]                  # [B, vocab_size]


def training(texts, seed, steps, mask):
    """Batches, one for each step; a batch holds sentences of about one length, its gaps are drawn anew."""
    rng, texts = random.Random(seed), sorted(texts, key=len)
    for _ in range(steps):
        start = rng.randrange(len(texts) - BATCH)
        some = texts[start:start + BATCH]
        yield batch(some, [rng.randrange(1, len(text) - 1) for text in some], rng.choices(list(VIEWS), SHARES, k=BATCH), mask)


def draw_gaps(sentences, seed):
    """(ids, position), one gap in each sentence, drawn as on the page."""
    rng = random.Random(seed)
    texts = rng.sample(sentences, len(sentences))
    return [(text, rng.randrange(2, len(text) - 2)) for text in sorted(texts, key=lambda text: (len(text), text))]


@torch.no_grad()
def read(model, gaps, mask):
    """By 50 gaps: the log-probabilities in each view, [50, vocab_size] each, and the hidden tokens [50]."""
    for part in (gaps[k:k + 50] for k in range(0, len(gaps), 50)):
        found = {}
        for view in VIEWS:
            *given, tokens = batch(*zip(*part), [view] * len(part), mask)
            found[view] = logits_of(model, *given).log_softmax(-1)
        yield found, tokens


def product(found, left=1.0, right=1.0, nothing=1.0):
    """The log-probabilities of the product of both sides, each raised to a power, divided by those of nothing in view."""
    return (left * found["left"] + right * found["right"] - nothing * found["nothing"]).log_softmax(-1)


def choose_powers(model, gaps, mask):
    """Those of POWERS with the smallest loss in some gaps."""
    losses = sum(torch.stack([F.nll_loss(product(found, *powers), tokens, reduction="sum") for powers in POWERS])
                 for found, tokens in read(model, gaps, mask))
    return POWERS[int(losses.argmin())]


def measure(model, sentences, mask, draws=DRAWS):
    """What a row says after seed and steps; sentences: lists of ids. Powers are chosen in every other gap of one more draw."""
    powers, right, losses = choose_powers(model, draw_gaps(sentences, draws)[::2], mask), {}, {}
    gaps = [gap for seed in range(draws) for gap in draw_gaps(sentences, seed)]
    for found, tokens in read(model, gaps, mask):
        for name, log_p in (found | {"product": product(found), "weighted": product(found, *powers)}).items():
            right.setdefault(name, []).append((log_p.argmax(-1) == tokens).float())
            losses.setdefault(name, []).append(F.nll_loss(log_p, tokens, reduction="none"))
    right, losses = ({name: torch.cat(parts).view(draws, -1).mean(0) for name, parts in some.items()}
                     for some in (right, losses))                                          # of each sentence, [N]
    row = {name: f"{share.mean():.4f}" for name, share in right.items()}
    row |= {f"{name}_loss": f"{losses[name].mean():.3f}" for name in ("product", "weighted", "both")}
    for name in ("product", "weighted"):
        lead = 100 * (right["both"] - right[name])
        row |= {f"{name}_lead": f"{lead.mean():.2f}", f"{name}_error": f"{lead.std() / len(lead) ** 0.5:.2f}"}
    return row


def measured(seed, steps):
    """A row without its seed and steps."""
    model, tokenizer = load_bert(SHIPPED / "bert"), load_tokenizer(SHIPPED / "bert")
    mask = tokenizer.token_to_id("[MASK]")
    known, test = ([encoding.ids for encoding in tokenizer.encode_batch([text for texts in part for text in texts])]
                   for part in hold_out(load_paragraphs()))
    if steps:
        torch.manual_seed(seed)
        train(model, training([ids for ids in known if len(ids) <= 64], seed, steps, mask),
              lambda model, *given: F.cross_entropy(logits_of(model, *given[:-1]), given[-1]), RATE, one_cycle(steps), clip=1.0)
    return measure(model.eval(), test, mask)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.one_sided", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED, help="the folder to write to (default: the one that ships)")
    torch.set_num_threads(1)
    tables.fill(parser.parse_args().out / "one_sided.csv", COLUMNS, TRAININGS, measured)
