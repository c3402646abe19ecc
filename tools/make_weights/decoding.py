"""Measures lesson 9's model with three seeds, with and without label smoothing: some minutes of one core.

smoothing.csv: the loss of each next word, how often the likeliest word is right and how probable it is, what an empty answer costs,
BLEU. search.csv: what beams of several widths find, chosen by log-probability and by that over a length penalty. `factor` is
what all logits were multiplied by in the search, `exact` how many answers are right from the first word to the last. The rows that
are in a table already are kept, so that it can be stopped and started again.
"""
import argparse
import pathlib
from types import SimpleNamespace

import sacrebleu
import torch

from helpers.generation import answer_scores, beams, bleu, penalty
from helpers.pretrained.weights import SHIPPED
from helpers.text import BOS, EOS, PAD, batches, pad
from helpers.training import one_cycle, sequence_loss, train
from helpers.transformer import Transformer
from tools.make_weights import tables
from tools.make_weights.translation import corpus

SEEDS, WIDTHS, SENTENCES = 3, (1, 4, 100), 100
TRAININGS = (0.0, 350), (0.1, 350), (0.0, 180)               # label smoothing and steps; the last is stopped early
FACTORS = 1.25, 1.0, 0.8, 0.7, 0.6                           # what logits are multiplied by
SEARCH = ["width", "penalty", "log_prob", "tokens", "empty", "bleu"]
COLUMNS = {"smoothing": ["smoothing", "steps", "seed", "loss", "accuracy", "confidence", "empty_costs", "bleu"],
           "translator": ["from", "to", "sentences", "greedy", "beam", "greedy_words", "phrases_words"],
           "translator_search": SEARCH, "search": ["smoothing", "steps", "seed", "factor", *SEARCH, "exact"]}


def trained(pairs, en, fr, seed, smoothing, steps):
    """The lesson's model."""
    torch.manual_seed(seed)
    model = Transformer(len(en), len(fr), d_model=64, num_heads=4, d_ff=256, num_layers=1, dropout=0.0)
    train(model, batches([(en.encode(e), fr.encode(f)) for e, f in pairs], 128, steps, seed),
          lambda *batch: sequence_loss(*batch, label_smoothing=smoothing), 5e-3, one_cycle(steps), clip=1.0)
    return model


@torch.no_grad()
def next_words(model, pairs, en, fr):
    """(loss, accuracy, confidence) of each next word, given the right ones before it."""
    src, lengths = pad([en.encode(e) for e, _ in pairs])
    tgt, _ = pad([[BOS, *fr.encode(f), EOS] for _, f in pairs])
    logs, real = model(src, lengths, tgt[:, :-1]).log_softmax(-1), tgt[:, 1:] != PAD       # [B, T, vocab_size], [B, T]
    top, word = logs.max(-1)
    right, loss = (word == tgt[:, 1:])[real].float().mean(), -logs.gather(-1, tgt[:, 1:, None])[..., 0][real].mean()
    return loss.item(), right.item(), top.exp()[real].mean().item()


def scaled(model, factor):
    """The model for `beams`, its logits multiplied by the factor: in the same order, below 1 less sure, above 1 surer."""
    return SimpleNamespace(start=model.start, step=lambda ids, state: factor * model.step(ids, state))


@torch.no_grad()
def search_rows(model, parts, references, decode, max_len=40, penalties=(0.0, 0.6)):
    """A row for each width and each length penalty, which chooses among the hypotheses that are kept to the end.

    parts: batches (src, lengths). references: one text for each sentence. decode: from ids [T] to text.
    """
    for width in WIDTHS:
        found = [beams(model, *part, max_len, width) for part in parts]
        ids = torch.cat([torch.nn.functional.pad(ids, (0, max_len - ids.shape[-1]), value=PAD) for ids, _ in found])
        total = torch.cat([total for _, total in found])                                   # [B, width]
        for alpha in penalties:
            best = (total / penalty(ids, alpha)).argmax(-1, keepdim=True)                  # [B, 1]
            chosen = ids.take_along_dim(best.unsqueeze(-1), 1).squeeze(1)                  # [B, max_len]
            texts = [decode(row) for row in chosen]
            score = sacrebleu.corpus_bleu(texts, [references], force=True).score
            yield {"width": width, "penalty": alpha, "log_prob": f"{total.gather(1, best).mean():.4g}",
                   "tokens": f"{(chosen != PAD).sum(1).float().mean():.4g}", "empty": (chosen[:, 0] == EOS).sum().item(),
                   "bleu": f"{score:.4g}", "exact": sum(map(str.__eq__, texts, references))}


def measured(smoothing, steps, seed):
    """(a row of smoothing.csv, rows of search.csv) for one training."""
    pairs, test, en, fr = corpus()
    model = trained(pairs, en, fr, seed, smoothing, steps)
    loss, accuracy, confidence = (f"{x:.4g}" for x in next_words(model, test, en, fr))
    src, lengths = pad([en.encode(english) for english, _ in test[:SENTENCES]])
    empty = answer_scores(model, src, lengths, torch.full((len(src), 1), EOS), length_penalty=0.0)     # [B]
    row = {"smoothing": smoothing, "steps": steps, "seed": seed, "loss": loss, "accuracy": accuracy, "confidence": confidence,
           "empty_costs": f"{-empty.mean():.4g}", "bleu": f"{bleu(model, test, en, fr):.4g}"}
    given = (list(zip(src.split(25), lengths.split(25))), [" ".join(french) for _, french in test[:SENTENCES]],
            lambda ids: " ".join(fr.decode(ids)))
    return row, [{"smoothing": smoothing, "steps": steps, "seed": seed, "factor": factor, **found}
                 for factor in FACTORS for found in search_rows(scaled(model, factor), *given)]


def write(path, rows):
    """Write a table; its name is that of the file, and says which columns it has."""
    columns = COLUMNS[path.stem]
    tables.write(path, columns, [{column: row[column] for column in columns} for row in rows])


def make(folder: pathlib.Path, seeds=range(SEEDS)) -> None:
    """Write the rows that the tables lack."""
    smoothing, search = (tables.read(folder / f"{name}.csv") for name in ("smoothing", "search"))
    for seed in seeds:
        for share, steps in TRAININGS:
            wanted = {"smoothing": str(share), "steps": str(steps), "seed": str(seed)}
            if not any(wanted.items() <= row.items() for row in smoothing):
                row, rows = measured(share, steps, seed)
                smoothing.append(row)
                search += rows
                write(folder / "smoothing.csv", smoothing)
                write(folder / "search.csv", search)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.decoding", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED, help="the folder to write to (default: the one that ships)")
    torch.set_num_threads(1)
    make(parser.parse_args().out)
