"""The course's models against plain ones in published settings (see plain.py): the same batches, trained and written from in turns.

A few minutes of one thread: `make bench`.
"""
import pytest
import torch
import torch.nn.functional as F

import plain
from helpers.data.translation import load_translation
from helpers.generation import greedy
from helpers.recurrent import Seq2Seq
from helpers.text import BOS, PAD, Vocab, batches, split_words
from helpers.training import sequence_loss, train
from helpers.transformer import Transformer

LONGEST, TURNS = 9, 5
BOOK, ANNOTATED = "Dive into Deep Learning, section", "The Annotated Transformer"


@pytest.fixture(scope="module")
def sentences():
    """(number of words known, 4 batches of 128 pairs of like length, the same padded to 9 places, words to predict)."""
    pairs = [tuple(map(split_words, pair)) for pair in load_translation("grammar")]
    pairs = [pair for pair in pairs if max(map(len, pair)) < LONGEST][:512]
    en, fr = (Vocab(side) for side in zip(*pairs))
    ours = list(batches([(en.encode(e), fr.encode(f)) for e, f in pairs], 128, 4))
    padded = [(F.pad(src, (0, LONGEST - src.shape[1]), value=PAD), lengths, F.pad(tgt, (0, LONGEST + 1 - tgt.shape[1]), value=PAD))
              for src, lengths, tgt in ours]
    return max(len(en), len(fr)), ours, padded, sum(len(f) + 1 for _, f in pairs)


def test_translation_with_a_transformer(sentences, faster, take_turns):
    V, ours, padded, words = sentences
    torch.manual_seed(0)
    model, other = Transformer(V, V, 256, 4, 64, 2, 0.2, norm="post"), plain.Transformer(V, 256, 4, 64, 2, 0.2, bias=False)
    plain.same_weights(model, other)
    src, lengths, tgt = padded[0]
    torch.testing.assert_close(model.eval()(src, lengths, tgt), other.eval()(src, lengths, tgt), atol=1e-4, rtol=0)
    optimizer = torch.optim.Adam(other.train().parameters())
    turns = take_turns(TURNS, theirs=lambda: plain.learn(other, optimizer, plain.translation_loss, padded, clip=1.0),
                       ours=lambda: train(model, ours, sequence_loss, 1e-3, clip=1.0))
    faster("training a Transformer, 2 layers, 256 wide, up to 8 words: words a second", words, f"{BOOK} 11.7", **turns)


def test_translation_with_attention_of_bahdanau(sentences, faster, take_turns):
    V, ours, padded, words = sentences
    torch.manual_seed(0)
    model, other = Seq2Seq(V, V, 256, 2), plain.Recurrent(V, 256, 2, 0.2)
    optimizer = torch.optim.Adam(other.parameters())
    turns = take_turns(TURNS, theirs=lambda: plain.learn(other, optimizer, plain.translation_loss, padded, clip=1.0),
                       ours=lambda: train(model, ours, sequence_loss, 1e-3, clip=1.0))
    faster("training GRUs with Bahdanau's attention, 2 layers, 256 wide: words a second", words, f"{BOOK} 11.4", **turns)


def test_copying(faster, take_turns):
    torch.manual_seed(0)
    ids = torch.randint(1, 11, (80, 10))
    ids[:, 0] = 1
    batch = ids, torch.full((80,), 10), ids
    model, other = Transformer(11, 11, 512, 8, 2048, 2, 0.1), plain.Transformer(11, 512, 8, 2048, 2, 0.1, annotated=True)
    plain.same_weights(model, other)
    mine, theirs = model.eval()(*batch), other.eval()(*batch)
    assert (mine - theirs).norm() < 0.01 * mine.norm()                     # its norm divides by 511, not 512
    optimizer = torch.optim.Adam(other.train().parameters(), betas=(0.9, 0.98), eps=1e-9)
    turns = take_turns(TURNS, theirs=lambda: plain.learn(other, optimizer, plain.divergence, [batch]),
                       ours=lambda: train(model, [batch], sequence_loss, 1e-3))
    faster("training to copy, 2 layers, 512 wide, 80 rows of 10: words a second", 80 * 9, ANNOTATED, **turns)


@pytest.mark.parametrize("B", [1, 32])
def test_writing(B, faster, take_turns, T=128):
    torch.manual_seed(0)
    V, d_model, num_heads, d_ff, num_layers = sizes = 100, 64, 4, 256, 2
    src, lengths, start = torch.randint(4, V, (B, 20)), torch.full((B,), 20), torch.full((B, 1), BOS)
    model = Transformer(V, V, *sizes[1:], dropout=0.0, norm="post").eval()
    model.output.weight.data[:4] = 0.0                                     # no answer ends early
    again, vectors = (plain.Transformer(*sizes, 0.0, annotated=annotated).eval() for annotated in (True, False))
    plain.same_weights(model, vectors)

    def cached(T=T):
        return greedy(model, model.start(src, lengths), start, T)

    model.double(), vectors.double()                                       # so that no two words are as likely as each other
    assert torch.equal(cached(32), plain.write_from_vectors(vectors, src, lengths, 32))
    assert torch.equal(cached(32), plain.write_all_again(vectors, src, lengths, 32))
    model.float(), vectors.float()
    seconds = take_turns(TURNS, again=lambda: plain.write_all_again(again, src, lengths, T), ours=cached,
                         vectors=lambda: plain.write_from_vectors(vectors, src, lengths, T))
    what = f"writing {T} words, {B} at a time, 2 layers, 64 wide: words a second"
    faster(what, B * T, f"{BOOK} 11.7", seconds["vectors"], seconds["ours"])
    assert min(faster(what, B * T, ANNOTATED, seconds["again"], seconds["ours"])) > (3 if B > 1 else 1.2)
