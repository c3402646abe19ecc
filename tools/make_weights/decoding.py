"""Measures lesson 9's model with three seeds, with and without label smoothing: some minutes of one core.

smoothing.csv: the loss of each next word, how often the likeliest word is right and how probable it is, BLEU. search.csv: what
beams of several widths find. The rows that are in a table already are kept, so that it can be stopped and started again.
"""
import argparse
import csv
import pathlib

import sacrebleu
import torch

from helpers.generation import beams, bleu, penalty
from helpers.pretrained.weights import SHIPPED
from helpers.text import BOS, EOS, PAD, batches, pad
from helpers.training import one_cycle, sequence_loss, train
from helpers.transformer import Transformer
from tools.make_weights.translation import corpus

SEEDS, STEPS, WIDTHS, PENALTIES, SENTENCES = 3, 350, (1, 4, 100), (0.0, 0.6, 1.0), 100
COLUMNS = {"smoothing": ["smoothing", "seed", "loss", "accuracy", "confidence", "bleu"],
           "translator": ["from", "to", "sentences", "greedy", "beam", "greedy_words", "phrases_words"],
           "search": ["smoothing", "seed", "width", "penalty", "log_prob", "tokens", "bleu"]}


def trained(pairs, en, fr, seed, smoothing):
    """The lesson's model."""
    torch.manual_seed(seed)
    model = Transformer(len(en), len(fr), d_model=64, num_heads=4, d_ff=256, num_layers=1, dropout=0.0)
    train(model, batches([(en.encode(e), fr.encode(f)) for e, f in pairs], 128, STEPS, seed),
          lambda *batch: sequence_loss(*batch, label_smoothing=smoothing), 5e-3, one_cycle(STEPS), clip=1.0)
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


@torch.no_grad()
def search_rows(model, smoothing, seed, pairs, en, fr, max_len=40):
    """A row for each width and length penalty."""
    src, lengths = pad([en.encode(english) for english, _ in pairs])
    references = [" ".join(french) for _, french in pairs]
    for width in WIDTHS:
        parts = [beams(model, *part, max_len, width) for part in zip(src.split(25), lengths.split(25))]
        ids = torch.cat([torch.nn.functional.pad(ids, (0, max_len - ids.shape[-1]), value=PAD) for ids, _ in parts])
        total = torch.cat([total for _, total in parts])                                   # [B, width]
        for alpha in PENALTIES:
            best = (total / penalty(ids, alpha)).argmax(-1, keepdim=True)                  # [B, 1]
            chosen = ids.take_along_dim(best.unsqueeze(-1), 1).squeeze(1)                  # [B, max_len]
            score = sacrebleu.corpus_bleu([" ".join(fr.decode(row)) for row in chosen], [references], force=True).score
            yield {"smoothing": smoothing, "seed": seed, "width": width, "penalty": alpha, "bleu": f"{score:.4g}",
                   "log_prob": f"{total.gather(1, best).mean():.4g}", "tokens": f"{(chosen != PAD).sum(1).float().mean():.4g}"}


def measured(smoothing, seed):
    """(a row of smoothing.csv, rows of search.csv) for one training."""
    pairs, test, en, fr = corpus()
    model = trained(pairs, en, fr, seed, smoothing)
    loss, accuracy, confidence = (f"{x:.4g}" for x in next_words(model, test, en, fr))
    row = {"smoothing": smoothing, "seed": seed, "loss": loss, "accuracy": accuracy, "confidence": confidence,
           "bleu": f"{bleu(model, test, en, fr):.4g}"}
    return row, search_rows(model, smoothing, seed, test[:SENTENCES], en, fr)


def read(path):
    """The rows of a table; none where there is no file."""
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) if path.exists() else []


def write(path, rows):
    """Write a table; its name is that of the file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS[path.stem], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def make(folder: pathlib.Path, seeds=range(SEEDS)) -> None:
    """Write the rows that the tables lack."""
    smoothing, search = (read(folder / f"{name}.csv") for name in ("smoothing", "search"))
    for seed in seeds:
        for share in (0.0, 0.1):
            if not any((row["smoothing"], row["seed"]) == (str(share), str(seed)) for row in smoothing):
                row, rows = measured(share, seed)
                smoothing.append(row)
                search += rows
                write(folder / "smoothing.csv", smoothing)
                write(folder / "search.csv", search)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.decoding", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED, help="the folder to write to (default: the one that ships)")
    torch.set_num_threads(1)
    make(parser.parse_args().out)
