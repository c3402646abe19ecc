"""How fast and how well a BERT is pretrained: against the setting of a well-known book, and on WikiText-2.

The book is Zhang et al., Dive into Deep Learning, section 15.10: 2 layers, 128 wide, 2 heads, texts of 64, 512 of them in a batch.
WikiText-2 is read where it is there; `load_wikitext` says where it comes from. A few minutes: `make bench`.
"""
import itertools
import json
import math
import random
import statistics
from time import perf_counter

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from helpers.bert import Bert, BertForPretraining
from helpers.checkpoints import load_tokenizer
from helpers.corpora.documentation import load_paragraphs
from helpers.corpora.wikitext import load_wikitext
from helpers.masking import SentencePairs, pretraining_batches, pretraining_loss
from helpers.pretrain import pretrain
from helpers.text import PAD
from helpers.wordpiece import train_wordpiece
from notebooks import ROOT

WIDTH, HEADS, LAYERS, LENGTH, BATCH, HIDDEN = 128, 2, 2, 64, 512, 10
OURS = 64                                                               # pairs in a batch of ours


class PlainLayer(nn.Module):
    """Explicit scores, softmax over all places with the padded ones at -1e6, ReLU, the norm after each part."""

    def __init__(self):
        super().__init__()
        self.projections = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.norms, self.dropout = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2)), nn.Dropout(0.2)

    def forward(self, x, lengths):
        B, T = x.shape[:2]
        q, k, v = (projection(x).view(B, T, HEADS, -1).transpose(1, 2) for projection in self.projections[:3])
        scores = q @ k.transpose(2, 3) / math.sqrt(WIDTH / HEADS)
        scores = scores.masked_fill(torch.arange(T) >= lengths.view(B, 1, 1, 1), -1e6)
        found = (self.dropout(scores.softmax(-1)) @ v).transpose(1, 2).reshape(B, T, WIDTH)
        x = self.norms[0](x + self.dropout(self.projections[3](found)))
        return self.norms[1](x + self.dropout(self.down(self.up(x).relu())))


class PlainBert(nn.Module):
    """Both answers from texts that are all padded to the same length: scores [B, HIDDEN, V] and [B, 2]."""

    def __init__(self, vocab_size):
        super().__init__()
        self.words, self.segments = nn.Embedding(vocab_size, WIDTH), nn.Embedding(2, WIDTH)
        self.places = nn.Parameter(torch.randn(1, 1000, WIDTH))
        self.layers = nn.ModuleList(PlainLayer() for _ in range(LAYERS))
        self.word_head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, vocab_size))
        self.next_head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 2))

    def forward(self, ids, lengths, segments, positions):
        x = self.words(ids) + self.segments(segments) + self.places[:, :ids.shape[1]]
        for layer in self.layers:
            x = layer(x, lengths)
        return self.word_head(x[torch.arange(len(x)).unsqueeze(1), positions]), self.next_head(x[:, 0])


def plain_loss(model, ids, lengths, segments, positions, words, is_next):
    """The losses of the places that are filled up count nothing, but are worked out."""
    word_scores, next_scores = model(ids, lengths, segments, positions)
    real = words.flatten() != PAD
    losses = F.cross_entropy(word_scores.flatten(0, 1), words.flatten(), reduction="none") * real
    return losses.sum() / real.sum() + F.cross_entropy(next_scores, is_next)


def padded(batch):
    """The batch, with every text as long as the longest may be."""
    ids, lengths, segments, positions, words, is_next = batch
    fill, more = (0, LENGTH - ids.shape[1]), (0, HIDDEN - words.shape[1])
    return (F.pad(ids, fill, value=PAD), lengths, F.pad(segments, fill), F.pad(positions, more), F.pad(words, more, value=PAD),
            is_next)


def seconds_of(model, optimizer, loss, batches):
    start = perf_counter()
    for batch in batches:
        optimizer.zero_grad()
        loss(model, *batch).backward()
        optimizer.step()
    return perf_counter() - start


def test_pairs_a_second():
    """A model of the same size, trained as the course does: pairs of like length together, and therefore little padding; scores for
    hidden words alone; fused attention, which the lack of dropout allows; smaller batches."""
    tokenizer = load_tokenizer(ROOT / "helpers" / "weights" / "bert")
    paragraphs = random.Random(0).sample(load_paragraphs(), 3000)
    pairs = SentencePairs([[found.ids for found in tokenizer.encode_batch(some, add_special_tokens=False)] for some in paragraphs])
    ours = list(pretraining_batches(pairs, tokenizer, OURS, len(pairs.real) // OURS, LENGTH))
    random.Random(0).shuffle(ours)
    together = [tuple(map(list, zip(*map(padded, ours[i:i + BATCH // OURS])))) for i in range(0, len(ours), BATCH // OURS)]
    theirs = [tuple(map(torch.cat, parts)) for parts in together if len(parts[0]) == BATCH // OURS]
    V = tokenizer.get_vocab_size()
    torch.manual_seed(0)
    model, plain = BertForPretraining(Bert(V, WIDTH, HEADS, 2 * WIDTH, LAYERS, LENGTH, dropout=0.0)), PlainBert(V)
    optimizers = torch.optim.Adam(model.parameters(), fused=True), torch.optim.Adam(plain.parameters())
    ratios, speeds = [], []
    for i, batch in enumerate(theirs[:5]):
        some = ours[i * BATCH // OURS:(i + 1) * BATCH // OURS]
        slow = seconds_of(plain, optimizers[1], plain_loss, [batch])
        fast = seconds_of(model, optimizers[0], pretraining_loss, some)
        ratios.append(slow / fast), speeds.append((BATCH / slow, BATCH / fast))
    ratio = statistics.median(ratios[1:])
    print(f"\npairs a second: {speeds[-1][0]:.0f} in the book's setting, {speeds[-1][1]:.0f} in ours; ratios "
          f"{', '.join(f'{r:.2f}' for r in ratios[1:])}, median {ratio:.2f}")
    assert ratio > 2


def test_wikitext(tmp_path):
    try:
        known, held_out = load_wikitext("wikitext-2")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    tokenizer = train_wordpiece(itertools.chain.from_iterable(known), 8000)
    pretrain(known, held_out, tokenizer, tmp_path, save_every=10_000, layers=2, width=64, heads=4, norm="pre", dropout=0.0,
             batch_size=16, steps=6000, lr=2.5e-3)
    record = json.loads((tmp_path / "training.json").read_text())
    loss, unigram, accuracy = (record[key] for key in ("held_out_masked_word_loss", "unigram_loss", "held_out_accuracy"))
    print(f"\nWikiText-2, {record['steps']:,} steps of 16 pairs, {record['seconds']} s: masked words {loss:.2f} nats, by frequency "
          f"{unigram:.2f}; next sentence {accuracy:.3f}")
    assert unigram - loss > 0.5 and accuracy > 0.5
