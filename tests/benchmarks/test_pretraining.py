"""How fast and how well a BERT is pretrained: against a well-known book, on WikiText-2, and with its tokens shown in other ways.

The book is Zhang et al., Dive into Deep Learning, section 15.10: 2 layers, 128 wide, 2 heads, texts of 64, 512 of them in a batch.
WikiText-2 is read where it is there; `load_wikitext` says where it comes from. Twenty minutes, most of them for the
last table: `make bench`.
"""
import csv
import itertools
import json
import random

import torch
import torch.nn.functional as F
from torch import nn

import plain
from helpers.bert import Bert, BertForPretraining
from helpers.data.documentation import load_paragraphs
from helpers.data.wikitext import load_wikitext
from helpers.pretrained.format import load_tokenizer
from helpers.pretrained.weights import SHIPPED
from helpers.pretraining.objectives import pretraining_batches, pretraining_loss, sentence_pairs
from helpers.pretraining.run import pretrain
from helpers.text import PAD, train_wordpiece
from helpers.training import train
from tools.make_weights import masking

WIDTH, HEADS, LAYERS, LENGTH, BATCH, HIDDEN = 128, 2, 2, 64, 512, 10
OURS = 64                                                               # pairs in a batch of ours


class PlainBert(nn.Module):
    """Both answers from texts that are all padded to the same length: scores [B, HIDDEN, V] and [B, 2]."""

    def __init__(self, vocab_size):
        super().__init__()
        self.tokens, self.segments = nn.Embedding(vocab_size, WIDTH), nn.Embedding(2, WIDTH)
        self.places = nn.Parameter(torch.randn(1, 1000, WIDTH))
        self.layers = nn.ModuleList(plain.Layer(WIDTH, HEADS, 2 * WIDTH, 0.2) for _ in range(LAYERS))
        self.word_head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, vocab_size))
        self.next_head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 2))

    def forward(self, ids, lengths, segments, positions):
        x = self.tokens(ids) + self.segments(segments) + self.places[:, :ids.shape[1]]
        for layer in self.layers:
            x = layer(x, lengths.unsqueeze(1))
        return self.word_head(x[torch.arange(len(x)).unsqueeze(1), positions]), self.next_head(x[:, 0])


def plain_loss(model, ids, lengths, segments, positions, words, is_next):
    mlm_logits, nsp_logits = model(ids, lengths, segments, positions)
    return plain.masked_loss(mlm_logits, words) + F.cross_entropy(nsp_logits, is_next)


def padded(batch):
    """The batch, with every text as long as the longest may be."""
    ids, lengths, segments, positions, words, is_next = batch
    fill, more = (0, LENGTH - ids.shape[1]), (0, HIDDEN - words.shape[1])
    return (F.pad(ids, fill, value=PAD), lengths, F.pad(segments, fill), F.pad(positions, more), F.pad(words, more, value=PAD),
            is_next)


def test_pairs_a_second(faster, take_turns):
    """A model of the same size, trained as the course does: pairs of like length together, and therefore little padding; scores for
    hidden words alone; fused attention, which the lack of dropout allows; smaller batches."""
    tokenizer = load_tokenizer(SHIPPED / "bert")
    paragraphs = random.Random(0).sample(load_paragraphs(), 3000)
    pairs = sentence_pairs(paragraphs, tokenizer)
    ours = list(pretraining_batches(pairs, tokenizer, OURS, len(pairs.real) // OURS, LENGTH))
    random.Random(0).shuffle(ours)
    together = [tuple(map(list, zip(*map(padded, ours[i:i + BATCH // OURS])))) for i in range(0, len(ours), BATCH // OURS)]
    theirs = [tuple(map(torch.cat, parts)) for parts in together if len(parts[0]) == BATCH // OURS]
    V = tokenizer.get_vocab_size()
    torch.manual_seed(0)
    model, other = BertForPretraining(Bert(V, WIDTH, HEADS, 2 * WIDTH, LAYERS, LENGTH, dropout=0.0)), PlainBert(V)
    optimizer, batches = torch.optim.Adam(other.parameters()), iter(ours)
    turns = take_turns(4, theirs=lambda: plain.learn(other, optimizer, plain_loss, [theirs.pop(0)]),
                       ours=lambda: train(model, itertools.islice(batches, BATCH // OURS), pretraining_loss, 1e-3))
    ratios = faster("pretraining, 2 layers, 128 wide, texts of 64: pairs a second", BATCH,
                    "Dive into Deep Learning, section 15.10", **turns)
    assert min(ratios) > 1.5


def test_wikitext(tmp_path, read_or_skip, figure):
    train_set, validation_set = read_or_skip(load_wikitext, "wikitext-2")
    tokenizer = train_wordpiece(itertools.chain.from_iterable(train_set), 8000)
    pretrain(train_set, validation_set, tokenizer, tmp_path, save_every=10_000, layers=2, width=64, heads=4, norm="pre",
             dropout=0.0, batch_size=16, steps=6000, lr=2.5e-3)
    record = json.loads((tmp_path / "training.json").read_text())
    loss, unigram, accuracy = (record[key] for key in ("validation_mlm_loss", "unigram_loss", "validation_nsp_accuracy"))
    figure("WikiText-2, 2 layers, 64 wide, 6,000 steps of 16 pairs: nats a hidden word", [loss],
           {"by frequency alone": [unigram], "printed in Dive into Deep Learning (50 steps, a mean over all places)": "5.885",
            "its setting, with the mean over the hidden words": "about 6.5 where the frequencies give 6.4"})
    figure("the same: % of next sentences told right", [100 * accuracy],
           {"a coin": [50.0], "printed in Dive into Deep Learning": "a loss of 0.760, where chance is 0.693"})
    assert unigram - loss > 0.5 and accuracy > 0.5


def test_ways_to_show_chosen_tokens(figure, tmp_path, one_thread):
    """Lesson 14's table: what a model pays at visible tokens depends on how chosen ones were shown; at [MASK] it hardly does."""
    masking.write(tmp_path / "masking.csv")
    with (tmp_path / "masking.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    def of(way, column):
        return [float(row[column]) for row in rows if row["shown"] == way]

    ways = {"[MASK] alone": "100 0 0", "80 / 0 / 20": "80 0 20", "random alone": "0 100 0"}
    for column, where in (("loss_mask", "at [MASK]"), ("loss_random", "at a random token"), ("loss_same", "at the token itself")):
        figure(f"documentation, 6,000 steps of 32 pairs, 80 / 10 / 10: nats {where}", of(masking.BERTS, column),
               {name: of(way, column) for name, way in ways.items()}, how="1 thread, 3 seeds")
    assert min(of("100 0 0", "loss_same")) > 4 > 1 > max(of(masking.BERTS, "loss_same"))
    assert min(of("80 0 20", "loss_random")) > 12 > max(of(masking.BERTS, "loss_random"))
