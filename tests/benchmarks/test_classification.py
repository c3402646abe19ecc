"""How well: the encoder of lesson 10 and a bag of words on SST-2, from scratch.

Needs sst2/train.tsv and sst2/dev.tsv in the cache folder; `load_sentiment` says where they come from. A few minutes: `make bench`.
"""
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from helpers.data.sentiment import load_sentiment
from helpers.text import UNK, Vocab, labelled_batches, pad, split_words
from helpers.training import one_cycle, train
from helpers.transformer import Classifier


class Bag(nn.Module):
    """A score of each word for each class, summed over the words."""

    def __init__(self, vocab_size, num_classes):
        super().__init__()
        self.scores = nn.Embedding(vocab_size, num_classes, padding_idx=0)
        nn.init.zeros_(self.scores.weight)

    def forward(self, ids, lengths):
        return self.scores(ids).sum(1)


def loss(model, ids, lengths, labels):
    hidden = (torch.rand(ids.shape) < 0.1) & (ids > UNK)
    return F.cross_entropy(model(ids.masked_fill(hidden, UNK), lengths), labels)


@torch.no_grad()
def accuracy(model, examples):
    right = 0
    for start in range(0, len(examples), 500):
        ids, labels = zip(*examples[start:start + 500])
        right += int((model(*pad(ids)).argmax(-1) == torch.tensor(labels)).sum())
    return right / len(examples)


@pytest.fixture(scope="module")
def rows(read_or_skip):
    return read_or_skip(load_sentiment, "sst2")


@pytest.fixture(scope="module")
def phrases(rows):
    train_rows, dev_rows = rows
    vocab = Vocab((["<cls>", *split_words(text)] for text, _ in train_rows), min_count=2)
    def encode(rows):
        return [(vocab.encode(["<cls>", *split_words(text)]), label) for text, label in rows]
    return vocab, encode(train_rows), encode(dev_rows)


def test_how_far_dev_overlaps_with_train(rows, figure):
    """The phrases are parts of the same sentences: most of dev stands word for word inside a phrase of train."""
    train_rows, dev_rows = rows
    everything = "\n".join(f" {text} " for text, _ in train_rows)
    inside = sum(f" {text} " in everything for text, _ in dev_rows) / len(dev_rows)
    figure("SST-2: phrases of dev that stand inside a phrase of train (so what follows is no GLUE score), %", [100 * inside])
    assert inside > 0.5


def test_encoders_and_a_bag_of_words(phrases, figure):
    vocab, known, fresh = phrases

    def score(model, steps, lr, clip=None):
        train(model, labelled_batches(known, 128, steps), loss, lr, one_cycle(steps), clip)
        return 100 * accuracy(model, fresh)

    torch.manual_seed(0)
    bag = score(Bag(len(vocab), 2), 2400, 0.03)
    encoders = [score(Classifier(len(vocab), 2, 64, 2, 128, dropout=0.2, pooling=pooling), 4800, 3e-3, 1.0)
                for pooling in ("cls", "mean")]
    figure("SST-2 dev, encoder, two ways of pooling: % right", encoders, {"bag of words": [bag]})
    assert bag > 80 and min(encoders) > 85
