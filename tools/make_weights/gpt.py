"""Trains the GPT of lesson 11 with three seeds; writes how well it predicts test files, and how much of what it writes parses.

The same GPT also with more steps; and trained on every second training file, with what it needs on those and on the others. Beside
it the GPT that ships and counting: the best n-gram model of orders 1 to 8 with Witten-Bell smoothing, of 1 to 16 with
Kneser-Ney smoothing, and this one with a rule that copies from the window. The seeds of all but the lesson's GPT are of what
is drawn alone. About half an hour of one core. The rows that are in the table already are kept, so that it can be stopped and
started again.
"""
import argparse
import math
import pathlib
import string
from functools import partial
from time import process_time

import torch

from helpers.data.programs import load_programs
from helpers.generation import drawing, stream
from helpers.ngrams import NGrams
from helpers.pretrained.weights import SHIPPED, load_weights, read_record
from helpers.text import Vocab, windows
from helpers.training import next_token_loss, one_cycle, train
from helpers.transformer import GPT
from tools.make_weights import copying, parsing, tables

CONTEXT, BATCH, STEPS, MORE, ORDERS = 128, 8, 4000, 10_000, {"Witten-Bell": 8, "Kneser-Ney": 16}
LONGEST, MEASURED = 256, 64                                  # the context of the large GPT that ships; characters of each window
COPIES, SHIPS, REAL = "Kneser-Ney with copies", "GPT that ships", "test files"
MORE_STEPS, HALF, COUNTED_HALF = "GPT, 10,000 steps", "GPT, every second file", "Kneser-Ney, every second file"
GRID = [*((model, seed) for model in ("GPT", "Kneser-Ney") for seed in (0, 1, 2)),
        (SHIPS, 0), (SHIPS, 1), ("Witten-Bell", 0), (COPIES, 0), (REAL, 0),
        *((model, seed) for model in (MORE_STEPS, HALF) for seed in (0, 1, 2)), (COUNTED_HALF, 0)]
COLUMNS = ["model", "seed", "seconds", "bits", "read", "other", "new", "stood", "else",
           *(f"{what} {t}" for t in parsing.TEMPERATURES for what in ("first", "lines", "number", "copied", "fresh")), "functions"]


def load():
    """The vocabulary, and the ids of the training, the validation and the test files, [T] each."""
    vocab = Vocab([string.printable])
    return vocab, *(torch.tensor(vocab.encode("".join(files))) for files in load_programs().values())


def halves(vocab):
    """The ids of every second training file, and of the others, [T] each."""
    files = load_programs()["train"]
    return [torch.tensor(vocab.encode("".join(some))) for some in (files[::2], files[1::2])]


def trained(ids, vocab_size, seed, steps=STEPS):
    """The lesson's GPT, and the seconds of the processor that training took."""
    torch.manual_seed(seed)
    model, start = GPT(vocab_size, d_model=64, num_heads=4, d_ff=256, num_layers=2, dropout=0.0), process_time()
    train(model, windows(ids, CONTEXT, BATCH, steps, seed), next_token_loss, lr=6e-3, schedule=one_cycle(steps, warm=0.1), clip=1.0)
    return model, process_time() - start


def windows_of(ids, context):
    """Pieces of a long text, [N, context + 1], whose last MEASURED characters are the same whatever the context."""
    return ids[LONGEST - context:].unfold(0, context + 1, 3 * MEASURED)


def some_of(ids):
    """Such pieces of a long text, 4,000 or up to twice as many where there are so many."""
    return windows_of(ids, CONTEXT)[::max(1, len(ids) // (4_000 * 3 * MEASURED))]


@torch.no_grad()
def losses(model, rows):
    """Bits of each of the last MEASURED characters of windows [N, context + 1]: [N, MEASURED]."""
    found = [-model(part[:, :-1]).log_softmax(-1).gather(-1, part[:, 1:, None])[..., 0] for part in rows.split(64)]
    return torch.cat(found)[:, -MEASURED:] / math.log(2)


def bits(model, rows):
    """Their mean."""
    return losses(model, rows).mean().item()


def best_probs(n_grams, rows):
    """How probable the last MEASURED characters of rows [N, T] are for the order that predicts them best: [N, MEASURED]."""
    order = len(n_grams.tables)
    contexts = rows[:, -MEASURED - order + 1:-1].unfold(1, order - 1, 1)                 # [N, MEASURED, order - 1]
    probs = n_grams.probs(contexts, rows[:, -MEASURED:, None])[..., 0]                   # [order, N, MEASURED]
    return probs[probs.log2().mean((1, 2)).argmax()]


def counting(vocab, known, validation, rows):
    """What counting predicts and writes: by name bits [N, MEASURED], and a function as `parsing.written` calls it, or None."""
    models = {name: NGrams(known, len(vocab), order, name == "Kneser-Ney") for name, order in ORDERS.items()}
    found = {name: best_probs(model, rows) for name, model in models.items()}
    fit_rows = windows_of(validation, CONTEXT)
    copied = copying.with_copies(fit_rows, best_probs(models["Kneser-Ney"], fit_rows), rows, found["Kneser-Ney"], vocab.tokens)
    return {"Witten-Bell": (-found["Witten-Bell"].log2(), None), COPIES: (copied, None),
            "Kneser-Ney": (-found["Kneser-Ney"].log2(), partial(parsing.by_counting, models["Kneser-Ney"]))}


def writes(model, context):
    """The function by which a GPT writes, as `parsing.written` calls it."""
    return lambda start, count, **options: stream(model, start, count, context, drawing(**options))


def written(write, vocab, seed):
    """By temperature, the texts that a model writes, drawn with this seed."""
    generator = torch.Generator().manual_seed(seed)
    return {t: parsing.written(vocab, partial(write, temperature=t, generator=generator)) for t in parsing.TEMPERATURES}


def parsed(texts, known=frozenset()):
    """The shares that parse: by temperature first lines, all others, and how many these are; functions of all temperatures.

    Of the others that are long enough also the share that is copied, a line of those known, and of the rest the share that parses.
    """
    found = {}
    for t, some in texts.items():
        lines = list(map(parsing.lines_in, some))
        first, others = sum((part[:1] for part in lines), []), sum((part[1:] for part in lines), [])
        long = [line for line in others if len(line) >= parsing.SHORTEST]
        fresh = [line for line in long if line not in known]
        shares = {"first": first, "lines": others, "fresh": fresh}
        found |= {f"{what} {t}": f"{parsing.share(list(map(parsing.completed, part))):.3f}"
                  for what, part in shares.items() if part}
        found[f"number {t}"] = len(others)
        found |= {f"copied {t}": f"{1 - len(fresh) / len(long):.3f}"} if long else {}
    return found | {"functions": f"{parsing.share(list(map(parsing.function_in, sum(texts.values(), [])))):.3f}"}


def write(path, grid=GRID):
    """Write a row for each of the grid that the table at path lacks."""
    vocab, known, validation, test = load()
    half, others = halves(vocab)
    rows = windows_of(test, CONTEXT)
    kinds = copying.words_in(rows, vocab.tokens, MEASURED)
    groups = {"bits": kinds >= 0, "new": kinds == 1, "stood": kinds == 2, "else": kinds == 0}
    counted = counting(vocab, known, validation, rows)
    pieces = "".join(vocab.tokens[i] for i in test.tolist()).split("\ndef ")[1:parsing.PIECES + 1]
    known_lines = set(map(str.strip, "".join(vocab.tokens[i] for i in known.tolist()).split("\n")))

    def measured(name, seed):
        if name == REAL:
            return parsed({1.0: ["def " + piece[:parsing.LENGTH] for piece in pieces]}, known_lines)
        seconds, on_halves, how = {}, {}, None
        if name in counted:
            each, how = counted[name]
        elif name == COUNTED_HALF:
            n_grams = NGrams(half, len(vocab), ORDERS["Kneser-Ney"], kneser_ney=True)
            each, of_others = (-best_probs(n_grams, some).log2() for some in (rows, some_of(others)))
            on_halves = {"other": f"{of_others.mean():.4g}"}                             # what it read it has stored
        elif name == SHIPS:
            record = read_record("gpt")
            model = load_weights(GPT(len(vocab), **record["sizes"]), "gpt").eval()
            each, how = losses(model, rows), writes(model, record["context"])
        else:
            model, took = trained(half if name == HALF else known, len(vocab), seed, MORE if name == MORE_STEPS else STEPS)
            each, seconds = losses(model, rows), {"seconds": f"{took:.0f}"}
            if name == HALF:
                on_halves = {what: f"{bits(model, some_of(ids)):.4g}" for what, ids in (("read", half), ("other", others))}
            elif name == "GPT":
                how = writes(model, CONTEXT)
        found = seconds | on_halves | {group: f"{each[where].mean():.4g}" for group, where in groups.items()}
        return found | parsed(written(how, vocab, seed), known_lines) if how else found

    tables.fill(path, COLUMNS, grid, measured)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.gpt", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder to write gpt.csv to (default: the one of the weights that ship)")
    torch.set_num_threads(1)
    write(parser.parse_args().out / "gpt.csv")
