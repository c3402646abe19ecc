"""What BERT is pretrained on: how many tokens are masked and how, pairs half and half, and losses over the right tokens alone."""
import collections
import math
import random

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import BertWordPieceTokenizer
from torch.testing import assert_close

from helpers.bert import Bert, BertForPretraining
from helpers.pretraining.objectives import (
    SentencePairs,
    evaluate,
    join,
    mask_tokens,
    pretraining_batches,
    pretraining_loss,
    unigram_loss,
)
from helpers.text import BERT_SPECIAL, PAD, pad

SPECIALS, MASK, VOCAB = range(5), 4, 60
WORDS = [f"w{i}" for i in range(VOCAB - 5)]
quick = settings(max_examples=60, deadline=None, derandomize=True)


@pytest.fixture(scope="module")
def tokenizer():
    return BertWordPieceTokenizer({token: i for i, token in enumerate([*BERT_SPECIAL, *WORDS])})


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def sentences(seed=0, paragraphs=40, repeat=False):
    """Paragraphs of ids; with repeat, of few different sentences, many of them twice in a paragraph."""
    rng = random.Random(seed)
    some = [[rng.randrange(5, VOCAB) for _ in range(rng.randrange(2, 9))] for _ in range(12 if repeat else 200)]
    return [[rng.choice(some) for _ in range(rng.randrange(2, 7))] for _ in range(paragraphs)]


def test_the_shares():
    """15 % are chosen; of these 80 % are masked, 10 % a random token, 10 % as they were."""
    ids = torch.randint(5, VOCAB, (2000, 100), generator=seeded(0))
    masked_ids, positions, labels = mask_tokens(ids, SPECIALS, MASK, VOCAB, generator=seeded(1))
    assert positions.shape == labels.shape == (2000, 15)
    assert torch.equal(ids.gather(1, positions), labels)
    shown = masked_ids.gather(1, positions)
    parts = [(shown == MASK).float().mean(), ((shown != MASK) & (shown != labels)).float().mean(), (shown == labels).float().mean()]
    assert parts == pytest.approx([0.8, 0.1 * 54 / 55, 0.1 + 0.1 / 55], abs=0.006)
    chosen = torch.zeros_like(ids, dtype=torch.bool).scatter(1, positions, True)
    assert torch.equal(masked_ids[~chosen], ids[~chosen]) and int(chosen.sum()) == 30_000
    places = chosen.float().mean(0)                                        # every place as often as any other
    assert places.min() > 0.12 and places.max() < 0.18
    others = shown[(shown != MASK) & (shown != labels)]
    assert set(others.tolist()) == set(range(5, VOCAB))                    # any word, and nothing else


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_another_share(share):
    ids = torch.randint(5, VOCAB, (50, 40), generator=seeded(0))
    _, positions, _ = mask_tokens(ids, SPECIALS, MASK, VOCAB, share, seeded(1))
    assert positions.shape == (50, max(1, round(40 * share)))


@quick
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 30))
def test_only_ordinary_tokens_are_masked_one_of_each_row_at_least(seed, B, T):
    g = seeded(seed)
    any_word, special = torch.randint(VOCAB, (B, T), generator=g), torch.randint(5, (B, T), generator=g)
    ids = any_word.where(torch.rand(B, T, generator=g) < 0.7, special)
    ids[:, 0] = torch.randint(5, VOCAB, (B,), generator=g)
    masked_ids, positions, labels = mask_tokens(ids, SPECIALS, MASK, VOCAB, generator=g)
    real = ids >= 5
    for row in range(B):
        chosen = [(p, w) for p, w in zip(positions[row].tolist(), labels[row].tolist()) if w != PAD]
        assert len(chosen) == max(1, round(0.15 * int(real[row].sum())))
        assert len({p for p, _ in chosen}) == len(chosen)
        assert all(real[row, p] and ids[row, p] == w for p, w in chosen)
        others = torch.ones(T, dtype=torch.bool)
        others[[p for p, _ in chosen]] = False
        assert torch.equal(masked_ids[row][others], ids[row][others])
        rest = labels[row] == PAD
        assert torch.equal(positions[row][rest], torch.zeros_like(positions[row][rest]))
    assert torch.equal(masked_ids < 5, (ids < 5) | (masked_ids == MASK))           # no other special token comes in


def test_the_same_seed_masks_the_same_tokens():
    ids = torch.randint(5, VOCAB, (8, 40), generator=seeded(0))
    kept = ids.clone()
    runs = [mask_tokens(ids, SPECIALS, MASK, VOCAB, generator=seeded(seed)) for seed in (1, 1, 2)]
    assert all(torch.equal(a, b) for a, b in zip(runs[0], runs[1]))
    assert not torch.equal(runs[0][1], runs[2][1]) and torch.equal(ids, kept)


def test_nothing_to_mask_is_refused():
    with pytest.raises(ValueError, match="row 1 has no token to mask"):
        mask_tokens(torch.tensor([[2, 9, 3], [2, 1, 3]]), SPECIALS, MASK, VOCAB)
    for share in (-0.1, 1.5, math.nan):
        with pytest.raises(ValueError, match=f"share={share}"):
            mask_tokens(torch.tensor([[2, 9, 3]]), SPECIALS, MASK, VOCAB, share)


@pytest.mark.parametrize("repeat", [False, True])
def test_half_of_the_pairs_are_real_and_no_wrong_one_is(repeat):
    paragraphs = sentences(repeat=repeat)
    pairs = SentencePairs(paragraphs)
    after = collections.defaultdict(list)
    for paragraph in paragraphs:
        for a, b in zip(paragraph, paragraph[1:]):
            after[tuple(a)].append(tuple(b))
    total = sum(len(paragraph) - 1 for paragraph in paragraphs)
    for seed in range(5):
        drawn = pairs.one_pass(seed)
        assert len(drawn) == total and sum(real for *_, real in drawn) == total // 2
        for first, second, is_next in drawn:
            assert (tuple(second) in after[tuple(first)]) == is_next
            assert is_next or first != second
        firsts = collections.Counter(tuple(first) for first, *_ in drawn)
        assert firsts == {first: len(seconds) for first, seconds in after.items()}
    assert pairs.one_pass(3) == SentencePairs(paragraphs).one_pass(3) != pairs.one_pass(4)


def test_wrong_seconds_come_from_everywhere():
    pairs = SentencePairs(sentences())
    drawn = [second for seed in range(40) for _, second, real in pairs.one_pass(seed) if not real]
    assert {tuple(second) for second in drawn} == {tuple(sentence) for sentence in pairs.sentences}


@pytest.mark.parametrize(("paragraphs", "words"), [
    ([], "0 paragraphs"), ([[[5], [6]]], "1 paragraphs"), ([[[5], [6]], [[7]]], "2 paragraphs: .* each of two sentences or more"),
])
def test_too_little_text_is_refused(paragraphs, words):
    with pytest.raises(ValueError, match=words):
        SentencePairs(paragraphs)


def test_sentences_that_are_all_the_same_are_refused():
    with pytest.raises(ValueError, match="no wrong second sentence was found among 4: too few of them differ"):
        SentencePairs([[[5], [5]], [[5], [5]]]).one_pass(0)


@quick
@given(st.lists(st.integers(5, 59), max_size=12), st.lists(st.integers(5, 59), max_size=12), st.integers(5, 30))
def test_the_longer_one_is_cut_at_its_end(first, second, max_len):
    kept = list(first), list(second)
    ids, segments = join(first, second, 2, 3, max_len)
    assert (first, second) == kept                                         # what was given is as it was
    assert len(ids) == len(segments) == min(max_len, len(first) + len(second) + 3)
    a, b = ids[1:segments.index(1) - 1], ids[segments.index(1):-1]
    assert ids == [2, *a, 3, *b, 3] and segments == [0] * (len(a) + 2) + [1] * (len(b) + 1)
    assert a == first[:len(a)] and b == second[:len(b)]
    for mine, whole, other in ((a, first, b), (b, second, a)):
        assert len(mine) == len(whole) or len(mine) >= len(other) - 1      # only the longer one is cut


def test_a_pair_as_bert_reads_it(tokenizer):
    assert join([7, 8], [9], 2, 3, 9) == ([2, 7, 8, 3, 9, 3], [0, 0, 0, 0, 1, 1])
    assert join([7, 8, 9], [5, 6], 2, 3, 6) == ([2, 7, 8, 3, 5, 3], [0, 0, 0, 0, 1, 1])
    encoded = tokenizer.encode("w0 w1", "w2")
    assert (encoded.ids, encoded.type_ids) == join([5, 6], [7], 2, 3, 9)
    with pytest.raises(ValueError, match="max_len=4"):
        join([7], [8], 2, 3, 4)


def test_batches(tokenizer):
    pairs = SentencePairs(sentences())
    number = len(pairs.real)
    steps = 2 * math.ceil(number / 8)
    batches = list(pretraining_batches(pairs, tokenizer, 8, steps, max_len=12, seed=5))
    assert len(batches) == steps
    for part in (batches[:steps // 2], batches[steps // 2:]):              # each pass has every pair once
        assert sum(len(batch[0]) for batch in part) == number
        assert sum(int(batch[5].sum()) for batch in part) == number // 2
    sizes = [batch[1].tolist() for batch in batches]
    assert sorted(sizes[:steps // 2]) != sorted(sizes[steps // 2:])        # of other pairs
    for ids, lengths, segments, positions, labels, is_next in batches:
        B, T = ids.shape
        assert B <= 8 and T == int(lengths.max()) <= 12 and segments.shape == ids.shape and labels.shape == positions.shape
        assert lengths.shape == is_next.shape == (B,) and is_next.dtype == torch.int64
        for row, n in zip(range(B), lengths.tolist()):
            assert ids[row, 0] == 2 and ids[row, n - 1] == 3 and (ids[row, n:] == PAD).all() and (ids[row, :n] != PAD).all()
            assert segments[row, :n].diff().tolist().count(1) == 1 and (segments[row, n:] == 0).all()
            assert (positions[row] < n).all() and (labels[row] >= 5).any() and not ((labels[row] > 0) & (labels[row] < 5)).any()
    again = list(pretraining_batches(pairs, tokenizer, 8, steps, max_len=12, seed=5))
    assert all(torch.equal(a, b) for one, other in zip(batches, again) for a, b in zip(one, other))
    other = next(pretraining_batches(pairs, tokenizer, 8, 1, max_len=12, seed=6))
    assert not (other[0].shape == batches[0][0].shape and torch.equal(other[0], batches[0][0]))
    with pytest.raises(ValueError, match="batch_size=0"):
        next(pretraining_batches(pairs, tokenizer, 0, 1))


@pytest.mark.parametrize("share", [0.15, 0.4, 1.0])
def test_batches_with_another_share_masked(tokenizer, share):
    for _, lengths, _, _, labels, _ in pretraining_batches(SentencePairs(sentences()), tokenizer, 8, 5, share=share):
        assert (labels != PAD).sum(1).tolist() == [max(1, round(share * (n - 3))) for n in lengths.tolist()]


def test_a_batch_is_what_join_and_mask_tokens_make(tokenizer):
    """Put back what was masked: it is a pair, real where is_next says so."""
    pairs = SentencePairs(sentences())
    for ids, lengths, _, positions, labels, is_next in pretraining_batches(pairs, tokenizer, 16, 6, max_len=40):
        for row in range(len(ids)):
            whole = ids[row].clone()
            whole[positions[row][labels[row] != PAD]] = labels[row][labels[row] != PAD]
            first, second = " ".join(map(str, whole[1:lengths[row] - 1].tolist())).split(" 3 ")
            real = tuple(map(int, second.split())) in pairs.after[tuple(map(int, first.split()))]
            assert real == bool(is_next[row])


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return BertForPretraining(Bert(VOCAB, 16, 2, 24, 1, 40)).eval()


def test_the_loss_is_averaged_over_the_masked_tokens_alone(model, tokenizer):
    pairs = SentencePairs(sentences())
    for ids, lengths, segments, positions, labels, is_next in pretraining_batches(pairs, tokenizer, 5, 4):
        logits, following = model(ids, lengths, segments, positions)
        losses = [-logits[b, p].log_softmax(-1)[labels[b, p]] for b, p in (labels != PAD).nonzero().tolist()]
        expected = torch.stack(losses).mean() + F.cross_entropy(following, is_next)
        loss = pretraining_loss(model, ids, lengths, segments, positions, labels, is_next)
        assert_close(loss, expected)
        more = torch.zeros(len(ids), 3, dtype=torch.long)                  # padding in every direction changes nothing
        wider = [torch.cat([t, more], 1) for t in (ids, segments, positions, labels)]
        assert_close(pretraining_loss(model, wider[0], lengths, *wider[1:], is_next), loss)


def test_evaluation_is_over_all_tokens_and_all_pairs(model, tokenizer):
    batches = list(pretraining_batches(SentencePairs(sentences()), tokenizer, 7, 9, seed=3))
    losses, right = [], []
    with torch.no_grad():
        for ids, lengths, segments, positions, labels, is_next in batches:
            logits, following = model(ids, lengths, segments, positions)
            losses += F.cross_entropy(logits[labels != PAD], labels[labels != PAD], reduction="none").tolist()
            right += (following.argmax(1) == is_next).tolist()
    model.bert.embed.dropout.p = 0.5                                        # evaluation is without it
    model.train()
    loss, accuracy = evaluate(model, batches)
    assert model.training
    model.eval()
    assert evaluate(model, batches) == (loss, accuracy) and not model.training
    assert loss == pytest.approx(sum(losses) / len(losses), rel=1e-5) and accuracy == sum(right) / len(right)


def test_the_unigram_baseline():
    """Counted by hand: of 5 tokens and 5 added ones, token 1 has 3 + 1, token 2 has 1 + 1, token 4 none + 1."""
    pairs = SentencePairs([[[1, 1], [2]], [[1], [3]]])
    labels = torch.tensor([[1, 2, PAD], [4, PAD, PAD]])
    batch = (None, None, None, None, labels, None)
    expected = -(math.log(4 / 10) + math.log(2 / 10) + math.log(1 / 10)) / 3
    assert unigram_loss(pairs, [batch], 5) == pytest.approx(expected, rel=1e-6)
    assert unigram_loss(pairs, [batch, batch], 5) == pytest.approx(expected, rel=1e-6)


def test_even_chance_is_what_it_should_be():
    """All tokens equally frequent: the logarithm of their number, and the first of two batches of unequal size counts for less."""
    pairs = SentencePairs([[[0, 1], [2, 3]], [[0, 1], [2, 3]]])
    labels, _ = pad([[1, 2, 3], [1]])
    assert unigram_loss(pairs, [(0, 0, 0, 0, labels), (0, 0, 0, 0, labels[1:])], 4) == pytest.approx(math.log(4), rel=1e-6)
