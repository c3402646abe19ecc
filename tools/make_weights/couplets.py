"""Trains the GPT of lesson 12 on the answers alone and on both lines, and measures it beside counting.

Five minutes of one core for the couplets of the course; seven more for published ones, with one seed, which are left out where
they are not in the cache folder. The rows that are in the table already are kept, so that it can be stopped and started again.
"""
import argparse
import math
import pathlib
from collections import Counter, defaultdict

import torch
import torch.nn.functional as F

from helpers.data.couplets import load_couplets
from helpers.generation import SEP, answer_batches, answer_loss, answers
from helpers.pretrained.weights import SHIPPED
from helpers.text import EOS, PAD, Vocab
from helpers.training import one_cycle, train
from helpers.transformer import GPT
from tools.make_weights import tables

LONGEST, HELD_OUT, FREQUENT = 12, 1000, {"made": 1, "published": 5}      # a rarer character is <unk>
SIZES = {"made": {"d_model": 64, "d_ff": 128, "dropout": 0.0}, "published": {"d_model": 128, "d_ff": 256, "dropout": 0.1}}
STEPS, RATES = {"made": 800, "published": 2500}, {"made": 5e-3, "published": 3e-3}


def both_lines_loss(model, ids, targets):
    """The mean loss of all tokens that follow another, those of the first line, too."""
    following = F.pad(ids[:, 1:], (0, 1), value=PAD)                       # [B, T]
    return answer_loss(model, ids, torch.where(targets == PAD, following, targets))


def at(line, i):
    """The token at place i, PAD before and after the line."""
    return line[i] if 0 <= i < len(line) else PAD


# What a counting model goes by to predict character i of the second line b, given the first line a: the nearest first.
CONTEXTS = {
    "counting: its own line so far": lambda a, b, i: (at(b, i - 1), at(b, i - 2), at(b, i - 3)),
    "counting: the facing character": lambda a, b, i: (a[i],),
    "counting: the character before and the facing one": lambda a, b, i: (at(b, i - 1), a[i]),
    "counting: the facing character, the one before, the next to face": lambda a, b, i: (a[i], at(b, i - 1), at(a, i + 1)),
}
ANSWER, BOTH = "GPT, loss on the answer", "GPT, loss on both lines"
TWICE = {name: f"{name}, twice the steps" for name in (ANSWER, BOTH)}
LOSSES = {ANSWER: answer_loss, BOTH: both_lines_loss, TWICE[ANSWER]: answer_loss, TWICE[BOTH]: both_lines_loss}
GRID = [*(("made", model, "") for model in CONTEXTS), *(("made", model, seed) for model in LOSSES for seed in range(3)),
        *(("published", model, "") for model in CONTEXTS), ("published", ANSWER, 0)]
COLUMNS = ["corpus", "model", "seed", "couplets", "d_model", "steps", "bits", "as_long"]


def load(corpus):
    """The vocabulary, and the couplets to train and to test on as lists of pairs of ids."""
    couplets = [pair for pair in load_couplets(corpus) if len(pair[0]) <= LONGEST]
    order = torch.randperm(len(couplets), generator=torch.Generator().manual_seed(0)).tolist()
    held_out, known = ([couplets[i] for i in part] for part in (order[:HELD_OUT], order[HELD_OUT:]))
    firsts = {first for first, _ in known}
    vocab = Vocab(([*first, SEP, *second] for first, second in known), min_count=FREQUENT[corpus])
    fresh = [pair for pair in held_out if pair[0] not in firsts]
    return vocab, *([(vocab.encode(first), vocab.encode(second)) for first, second in pairs] for pairs in (known, fresh))


@torch.no_grad()
def bits(model, pairs, sep):
    """Bits per character of the second lines; their `<eos>` is not counted."""
    total = characters = 0
    for ids, targets in answer_batches(pairs, 50, -(-len(pairs) // 50), sep):
        targets = targets.masked_fill(targets == EOS, PAD).flatten()
        total += F.cross_entropy(model(ids).flatten(0, 1), targets, ignore_index=PAD, reduction="sum").item()
        characters += (targets != PAD).sum().item()
    return total / characters / math.log(2)


def steps_of(corpus, model):
    """The steps that a model is trained for."""
    return STEPS[corpus] * (2 if model in TWICE.values() else 1)


def trained(corpus, vocab, pairs, loss, steps, seed):
    """A GPT of the lesson's kind."""
    torch.manual_seed(seed)
    model = GPT(len(vocab), num_heads=4, num_layers=2, **SIZES[corpus])
    batches = answer_batches(pairs, 64, steps, vocab.index[SEP], seed)
    train(model, batches, loss, RATES[corpus], one_cycle(steps), clip=1.0)
    return model


def counted_bits(vocab_size, known, fresh, context):
    """The same of a counting model with Witten-Bell smoothing, over the contexts (), (c1,), (c1, c2) ... of a character."""
    counts, total, characters = defaultdict(Counter), 0, 0
    for first, second in known:
        for i, token in enumerate(second):
            seen = context(first, second, i)
            for n in range(len(seen) + 1):
                counts[seen[:n]][token] += 1
    sums = {seen: sum(tokens.values()) for seen, tokens in counts.items()}
    for first, second in fresh:
        for i, token in enumerate(second):
            p, seen = 1 / vocab_size, context(first, second, i)
            for tokens, of_context in ((counts[part], sums[part]) for n in range(len(seen) + 1) if (part := seen[:n]) in sums):
                p = (tokens[token] + len(tokens) * p) / (of_context + len(tokens))
            total, characters = total - math.log2(p), characters + 1
    return total / characters


def measured(corpus, model, seed):
    """Bits per character of held-out second lines, and the share of greedy answers that are as long as their lines.

    Beside them what it learned from: the number of couplets, and for a GPT its width and its steps.
    """
    vocab, known, fresh = load(corpus)
    row = {"couplets": len(known)}
    if model in CONTEXTS:
        return row | {"bits": f"{counted_bits(len(vocab), known, fresh, CONTEXTS[model]):.4g}"}
    sep, steps = vocab.index[SEP], steps_of(corpus, model)
    gpt = trained(corpus, vocab, known, LOSSES[model], steps, seed)
    written = answers(gpt, [first for first, _ in fresh], sep)
    as_long = sum(len(first) == len(answer) for (first, _), answer in zip(fresh, written)) / len(fresh)
    return row | {"d_model": SIZES[corpus]["d_model"], "steps": steps, "bits": f"{bits(gpt, fresh, sep):.4g}",
                  "as_long": f"{as_long:.3f}"}


def write(path, grid=GRID):
    """Write a row for each of the grid that the table at path lacks."""
    try:
        tables.fill(path, COLUMNS, grid, measured)
    except FileNotFoundError as error:                                     # the published couplets
        print(error)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.couplets", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder to write couplets.csv to (default: the one of the weights that ship)")
    torch.set_num_threads(1)
    write(parser.parse_args().out / "couplets.csv")
