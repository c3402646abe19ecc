"""How well: the encoder of lesson 10 and what can be counted, on error messages, on diaries, and on SST-2, from scratch.

SST-2 needs sst2/train.tsv and sst2/dev.tsv in the cache folder; `load_sentiment` says where they come from. A few minutes:
`make bench`.
"""
import random
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from helpers.data import messages
from helpers.data.diaries import load_diaries
from helpers.data.messages import load_messages
from helpers.data.sentiment import load_sentiment
from helpers.masks import padding_mask
from helpers.text import UNK, Vocab, labelled_batches, pad, split_words
from helpers.training import one_cycle, train
from helpers.transformer import Classifier, mean_pool


class Bag(nn.Module):
    """A score of each word for each class, summed over the words."""

    def __init__(self, vocab_size, num_classes):
        super().__init__()
        self.scores = nn.Embedding(vocab_size, num_classes, padding_idx=0)
        nn.init.zeros_(self.scores.weight)

    def forward(self, ids, lengths):
        return self.scores(ids).sum(1)


def loss(model, ids, lengths, labels):
    """Cross-entropy with word dropout, which spares <cls>: as in lesson 10."""
    hidden = (torch.rand(ids.shape) < 0.1) & (ids > UNK)
    hidden[:, 0] = False
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
    return read_or_skip(load_sentiment)


def test_how_far_dev_overlaps_with_train(rows, figure):
    """The phrases are parts of the same sentences: most of dev stands word for word inside a phrase of train."""
    train_rows, dev_rows = rows
    everything = "\n".join(f" {text} " for text, _ in train_rows)
    inside = sum(f" {text} " in everything for text, _ in dev_rows) / len(dev_rows)
    figure("SST-2: phrases of dev that stand inside a phrase of train (so what follows is no GLUE score), %", [100 * inside])
    assert inside > 0.5


class Recurrent(nn.Module):
    """A GRU, whose last state enters a linear layer: a rival that reads the order, too."""

    def __init__(self, vocab_size, num_classes, d_model):
        super().__init__()
        self.embed, self.gru = nn.Embedding(vocab_size, d_model), nn.GRU(d_model, d_model, batch_first=True)
        self.output = nn.Linear(d_model, num_classes)

    def forward(self, ids, lengths):
        outputs, _ = self.gru(self.embed(ids))
        return self.output(outputs[torch.arange(len(ids)), lengths - 1])


class NoAttention(Classifier):
    """The classifier without its attention and its normalisation: the mean over x + FFN(x)."""

    def forward(self, ids, lengths):
        x = self.embed(ids)
        x = x + self.encoder.layers[0].feed_forward(x)
        return self.output(mean_pool(x, padding_mask(lengths, ids.shape[1])))


def encoder(size, pooling, num_classes=4):
    return Classifier(size, num_classes, 64, 4, 64, dropout=0.2, pooling=pooling)


def small(kind, size):
    return kind(size, 2, 32, 4, 64, dropout=0.0)


def runs(most):
    """What splits a text into all its runs of 1 to `most` tokens, sorted."""
    def split(text):
        tokens = split_words(text)
        return sorted(" ".join(tokens[i:i + n]) for n in range(1, most + 1) for i in range(len(tokens) - n + 1))
    return split


def ordered_pairs(text):
    """All pairs of a token and a later one, each once, sorted."""
    tokens = split_words(text)
    return sorted({f"{a} … {b}" for i, a in enumerate(tokens) for b in tokens[i + 1:]})


def coded(parts, split, min_count=1):
    """The size of the vocabulary of the first part, and each part as a list of (ids, label), <cls> in front."""
    vocab = Vocab((["<cls>", *split(text)] for text, _ in parts[0]), min_count=min_count)
    return len(vocab), *([(vocab.encode(["<cls>", *split(text)]), label) for text, label in part] for part in parts)


def best_of(parts, split, build, rates, steps, min_count=1):
    """% right of each part from the third on, three seeds, at the rate that is best on the second with the first seed."""
    size, known, validation, *tests = coded(parts, split, min_count)

    def fit(lr, seed):
        torch.manual_seed(seed)
        model = build(size)
        train(model, labelled_batches(known, 64, steps, seed), loss, lr, one_cycle(steps), clip=1.0)
        return model

    first = {lr: fit(lr, 0) for lr in rates}
    lr = max(rates, key=lambda lr: accuracy(first[lr], validation))
    models = [first[lr], fit(lr, 1), fit(lr, 2)]
    return [[100 * accuracy(model, test) for model in models] for test in tests]


def naive_bayes(parts, num_classes):
    """% right of the third part by a bag whose scores are counted, as in lesson 10."""
    size, known, _, fresh = coded(parts, split_words, 2)
    counts, cls = torch.ones(size, num_classes), known[0][0][:1]
    for ids, label in known:
        counts[list(set(ids)), label] += 1
    model = Bag(size, num_classes)
    with torch.no_grad():
        model.scores.weight.copy_((counts / counts.sum(0)).log())
        model.scores.weight[cls] = counts[cls].log()
        model.scores.weight[0] = 0.0
    return [100 * accuracy(model, fresh)]


def test_what_lesson_10_reaches_on_sst2(rows, figure, one_thread):
    """Its encoder, its bag and its counting, each at one rate: dev, the only other part, is what is measured."""
    known, dev = rows
    bag = best_of((known, dev, dev), split_words, lambda size: Bag(size, 2), (0.01,), 1000, 2)[0]
    cls, mean = (best_of((known, dev, dev), split_words, partial(encoder, pooling=pooling, num_classes=2), (0.003,), 1000, 2)[0]
                 for pooling in ("cls", "mean"))
    counted = naive_bayes((known, dev, dev), 2)
    figure("SST-2 dev, encoder of 1 layer of 64, class token: % right", cls, {
        "mean pooling": mean, "bag of words": bag, "naive Bayes": counted},
        how="3 seeds, 1,000 steps of 64; rate 0.003, of the bag 0.01")
    assert min(cls + mean) > 80 and min(bag + counted) > 75


def test_error_messages(figure, one_thread):
    """The table of lesson 10: the same models, and the same rates to choose from."""
    *parts, names = load_messages()
    always = 100 * sum(label == names.index("ValueError") for _, label in parts[2]) / len(parts[2])
    bag = best_of(parts, split_words, lambda size: Bag(size, 4), (0.0025, 0.005, 0.01, 0.03), 300, 2)[0]
    attending = best_of(parts, split_words, partial(encoder, pooling="cls"), (0.0005, 0.001, 0.002, 0.006), 300, 2)[0]
    counted = naive_bayes(parts, 4)
    figure("which of four exceptions, from the message: encoder, class token: % right", attending, {
        "naive Bayes": counted, "bag of words": bag, "the most frequent": [always]},
        how="3 seeds, 300 steps of 64, the best of four rates")
    assert min(attending + bag + counted) > always + 5


def test_error_messages_on_other_splits(figure, one_thread, monkeypatch):
    """Is the lead of counting one of the split? The files parted five other times, by whole file again."""
    attending, counted = [], []
    for split in range(5):
        def part_of(file, split=split):
            share = random.Random(f"{split} {'/'.join(file.parts[-2:])}").random()
            return 0 if share < 0.7 else 1 if share < 0.8 else 2

        monkeypatch.setattr(messages, "part_of", part_of)
        parts = load_messages()[:3]
        shares = best_of(parts, split_words, partial(encoder, pooling="cls"), (0.001, 0.002, 0.006), 300, 2)[0]
        attending.append(sum(shares) / 3)
        counted += naive_bayes(parts, 4)
        print(split, [len(part) for part in parts], f"naive Bayes {counted[-1]:.1f}, encoder", [round(s, 1) for s in shares])
    gaps = [by_counting - by_encoder for by_counting, by_encoder in zip(counted, attending)]
    figure("which of four exceptions, five other splits of the files: encoder, class token: % right", attending, {
        "naive Bayes": counted}, how="each the mean of 3 seeds, 300 steps of 64, the best of three rates")
    figure("which of four exceptions, five other splits of the files: naive Bayes minus encoder, points", gaps,
           how="each the mean of 3 seeds, 300 steps of 64, the best of three rates")
    assert -1 < min(gaps) and max(gaps) < 4                          # lesson 10: nothing to three points


def test_diaries(figure, one_thread):
    parts = *load_diaries(), *(load_diaries(0, 0, 300, visits=(visits, visits))[2] for visits in (8, 12))
    counted = [best_of(parts, runs(most), lambda size: Bag(size, 2), (0.03,), 100)[0] for most in range(1, 6)]
    attending = best_of(parts, split_words, partial(small, Classifier), (0.005,), 600)
    others = {
        "ordered pairs, counted": best_of(parts, ordered_pairs, lambda size: Bag(size, 2), (0.03,), 600),
        "no attention": best_of(parts, split_words, partial(small, NoAttention), (0.01,), 600),
        "GRU": best_of(parts, split_words, lambda size: Recurrent(size, 2, 32), (0.01,), 600)}
    figure("diaries, better or worse: encoder of 1 layer: % right", attending[0], {
        "runs of up to 1, 2, 3, 4 and 5 tokens, counted": [share for shares in counted for share in shares],
        **{name: shares[0] for name, shares in others.items()}}, how="3 seeds")
    for place, visits in ((1, 8), (2, 12)):
        figure(f"diaries of {visits} visits, where training had 2 to 5: encoder of 1 layer: % right", attending[place],
               {name: shares[place] for name, shares in others.items()}, how="3 seeds")
    assert min(attending[0]) > 95 and all(abs(share - 50) < 0.5 for shares in counted for share in shares)
    assert max(attending[2]) < 75 < min(others["GRU"][2])
