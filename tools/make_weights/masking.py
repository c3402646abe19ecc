"""Pretrains the BERT of lesson 14 with three seeds, shows it the chosen tokens in four ways, and measures what each has learned.

One way is tried without next sentence prediction, too. `names` and `names_tuned` are the F1 of names of code in sentences (lesson
15), by a linear layer on frozen vectors and after fine-tuning. An hour of one core. The rows that are in the table already
are kept, so that it can be stopped and started again.
"""
import argparse
import copy
import pathlib

import torch
import torch.nn.functional as F

from helpers.bert import Bert, BertForPretraining, BertTagger
from helpers.data.documentation import load_paragraphs
from helpers.data.tagging import load_tagging
from helpers.finetuning import finetuning_batches, predict, tag_examples, tag_f1, tag_loss
from helpers.pretrained.format import load_tokenizer
from helpers.pretrained.weights import SHIPPED
from helpers.pretraining.objectives import pretraining_batches, pretraining_loss, sentence_pairs
from helpers.pretraining.run import hold_out
from helpers.text import BERT_SPECIAL, PAD
from helpers.training import one_cycle, train
from tools.make_weights import tables
from tools.make_weights.counting import by_word

STEPS, BATCH, MAX_LEN, LR = 6_000, 32, 128, 3e-3
TAGGING = 300, 16                                            # steps, sentences of a batch
VOCAB, MASK = 8_000, 4
BERTS, UNTRAINED, COUNTING = "80 10 10", "untrained", "counting"
GRID = {BERTS: (0.8, 0.1), "100 0 0": (1.0, 0.0), "80 0 20": (0.8, 0.0), "0 100 0": (0.0, 1.0),        # [MASK], random
        f"{BERTS}, no NSP": (0.8, 0.1), UNTRAINED: None, COUNTING: None}
COLUMNS = ["shown", "seed", "loss", "loss_mask", "loss_random", "loss_same", "nsp", "names", "names_tuned"]


def shown(batch, mask, random, generator):
    """The batch, its chosen tokens shown anew: a share `mask` as [MASK], a share `random` as another token, the rest as is."""
    ids, lengths, segments, positions, labels, is_next = batch
    fill = torch.rand(labels.shape, generator=generator)
    other = torch.randint(len(BERT_SPECIAL), VOCAB, labels.shape, generator=generator)
    instead = torch.where(fill < mask, MASK, torch.where(fill < mask + random, other, labels))
    real = labels != PAD                                     # [B, P]
    ids = ids.index_put((real.nonzero()[:, 0], positions[real]), instead[real])
    return ids, lengths, segments, positions, labels, is_next


def mlm_loss(model, ids, lengths, segments, positions, labels, is_next):
    """The loss of masked language modelling alone."""
    logits, _ = model(ids, lengths, segments, positions)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)


def pretrained(pairs, tokenizer, way, seed, steps=STEPS):
    """A BertForPretraining, trained with one of the ways in GRID."""
    torch.manual_seed(seed)
    model = BertForPretraining(Bert(VOCAB, 64, 4, 128, num_layers=2, max_len=MAX_LEN, dropout=0.0, norm="pre"))
    batches, generator = pretraining_batches(pairs, tokenizer, BATCH, steps, MAX_LEN, seed), torch.Generator().manual_seed(seed)
    if way == UNTRAINED:
        return model
    if GRID[way] != GRID[BERTS]:
        batches = (shown(batch, *GRID[way], generator) for batch in batches)
    train(model, batches, mlm_loss if "no NSP" in way else pretraining_loss, LR, one_cycle(steps, warm=0.1), clip=1.0)
    return model


@torch.no_grad()
def measured(model, trials):
    """The loss of all chosen tokens and of each kind, and the accuracy of next sentence prediction."""
    losses, kinds, right = [], [], []
    for ids, lengths, segments, positions, labels, is_next in trials:
        logits, nsp_logits = model.eval()(ids, lengths, segments, positions)
        real, there = labels != PAD, ids.gather(1, positions)
        losses.append(F.cross_entropy(logits[real], labels[real], reduction="none"))
        kinds.append(torch.where(there == MASK, 0, torch.where(there != labels, 1, 2))[real])
        right.append((nsp_logits.argmax(1) == is_next).float())
    losses, kinds = torch.cat(losses), torch.cat(kinds)
    found = [losses.mean(), *(losses[kinds == kind].mean() for kind in range(3)), torch.cat(right).mean()]
    return dict(zip(COLUMNS[2:7], map(float, found)))


def names(bert, rows, test_rows, seed, lr):
    """F1 of names, after the tagger was trained; what is frozen in bert stays so."""
    torch.manual_seed(seed)
    tagger, (steps, size) = BertTagger(bert, 2, dropout=0.0), TAGGING
    train(tagger, finetuning_batches(rows, size, steps, seed), tag_loss, lr, one_cycle(steps, warm=0.1), clip=1.0)
    return tag_f1(predict(tagger, test_rows), test_rows)


def load():
    """(pairs to learn from, test batches, tokenizer, sentences with tags, others to test on)."""
    tokenizer = load_tokenizer(SHIPPED / "bert")
    known, test = (sentence_pairs(part, tokenizer) for part in hold_out(load_paragraphs()))
    trials = list(pretraining_batches(test, tokenizer, 64, 40, MAX_LEN, seed=1))
    return known, trials, tokenizer, *load_tagging(n_train=1000, n_test=400)


def row_of(way, seed, data, steps=STEPS):
    """What one training gives, by column."""
    pairs, trials, tokenizer, tagged, fresh = data
    if way == COUNTING:
        return {"names": by_word(tagged, fresh)}
    model = pretrained(pairs, tokenizer, way, seed, steps)
    short = load_tokenizer(SHIPPED / "bert")
    short.enable_truncation(MAX_LEN)
    rows, test_rows = tag_examples(short, tagged), tag_examples(short, fresh)
    frozen = copy.deepcopy(model.bert).requires_grad_(False)
    found = {"names": names(frozen, rows, test_rows, seed, 1e-2), "names_tuned": names(copy.deepcopy(model.bert), rows, test_rows,
                                                                                      seed, 1e-3)}
    return found if way == UNTRAINED else measured(model, trials) | found


def write(path, grid=GRID, seeds=(0, 1, 2), steps=STEPS, data=None):
    """Write a row for each of the grid and the seeds that the table at path lacks."""
    data = data or load()
    tables.fill(path, COLUMNS, [(way, seed) for seed in seeds for way in grid], lambda way, seed: {
        name: f"{value:.4g}" for name, value in row_of(way, seed, data, steps).items()})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.masking", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder to write masking.csv to (default: the one of the weights that ship)")
    torch.set_num_threads(1)
    write(parser.parse_args().out / "masking.csv")
