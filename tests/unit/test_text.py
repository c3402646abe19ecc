"""From text to batches: words in two languages, a vocabulary, padding, and batches that leave nothing out."""
import random
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.text import BOS, EOS, PAD, SPECIAL, UNK, Vocab, batches, labelled_batches, pad, split_words

quick = settings(max_examples=30, deadline=None, derandomize=True)


@pytest.mark.parametrize("text, words", [
    ("The cat sleeps.", "the cat sleeps ."),
    ("It's John's; don't say we'll, I'm or they're!", "it's john's ; don't say we'll , i'm or they're !"),
    ("She’d gone, I’ve heard.", "she'd gone , i've heard ."),
    ("L'homme n'est pas là.", "l' homme n' est pas là ."),
    ("J’ai l’été, qu’il s’arrête !", "j' ai l' été , qu' il s' arrête !"),
    ("S'il t'aime, d'accord.", "s' il t' aime , d' accord ."),          # s, t and d, as in an English ending, open a word
    ("O'Donnell's at O'Reilly's.", "o' donnell's at o' reilly's ."),      # an ending ends
    ("Aujourd'hui, va-t'en !", "aujourd' hui , va-t' en !"),
    ("Qu'est-ce que c'est\u202f?", "qu' est-ce que c' est ?"),
    ("«\u00a0Où es-tu\u00a0?\u00a0»", "« où es-tu ? »"),
    ("y a-t-il un porte-monnaie - ou deux --", "y a-t-il un porte-monnaie - ou deux - -"),
    ("ÇA, NAÏF ŒUF", "ça , naïf œuf"),
    ("e\u0301te\u0301 E\u0301TE\u0301", "été été"),                        # accents that come as characters of their own
    ("Ещё 3,50 € 你好。", "ещё 3 , 50 € 你好 。"),
    ("one\ttwo\n three", "one two three"),
    ("  \u00a0\n", ""),
    ("", ""),
])
def test_words_are_split(text, words):
    assert split_words(text) == words.split()


@quick
@given(st.text(max_size=40))
def test_no_character_is_lost_and_no_word_is_split_twice(text):
    words = split_words(text)
    assert all(word and not any(map(str.isspace, word)) for word in words)
    assert split_words(" ".join(words)) == words
    ascii_only = text.encode("ascii", "ignore").decode()
    assert "".join(split_words(ascii_only)) == "".join(ascii_only.lower().split())


TEXTS = [["the", "cat", "sees", "the", "dog"], ["the", "dog", "sleeps", "!"], ["a", "cat", "sleeps", "a", "lot"]]


def test_the_vocabulary_goes_by_frequency_then_by_alphabet():
    vocab = Vocab(TEXTS)
    assert vocab.tokens == ["<pad>", "<unk>", "<bos>", "<eos>", "the", "a", "cat", "dog", "sleeps", "!", "lot", "sees"]
    assert [vocab.tokens[i] for i in (PAD, UNK, BOS, EOS)] == SPECIAL and len(vocab) == 12
    assert Vocab(TEXTS, min_count=2).tokens[4:] == ["the", "a", "cat", "dog", "sleeps"]
    assert Vocab(TEXTS, min_count=3).tokens[4:] == ["the"]
    assert len(Vocab(TEXTS, min_count=4)) == len(Vocab([])) == 4


@quick
@given(st.lists(st.lists(st.text(max_size=2), max_size=6), max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_the_texts_does_not_matter(texts, chance):
    shuffled = [chance.sample(text, len(text)) for text in chance.sample(texts, len(texts))]
    assert Vocab(shuffled).tokens == Vocab(texts).tokens
    assert Vocab([frozenset(text) for text in texts]).tokens == Vocab([sorted(set(text)) for text in texts]).tokens


def test_what_is_special_is_there_once():
    vocab = Vocab([["<bos>", "<pad>", "x", "<eos>", "<unk>"]])
    assert vocab.tokens == [*SPECIAL, "x"]
    assert vocab.encode(SPECIAL) == [PAD, UNK, BOS, EOS]


@quick
@given(st.lists(st.lists(st.text(st.characters(exclude_characters="<>"), max_size=3), max_size=6), min_size=1, max_size=6))
def test_encode_and_decode_go_there_and_back(texts):
    vocab = Vocab(texts)
    assert all(vocab.decode(vocab.encode(text)) == text for text in texts)
    ids, _ = pad([[BOS, *vocab.encode(text), EOS] for text in texts])
    assert [vocab.decode(row) for row in ids] == texts                       # rows of a tensor, framed and padded
    assert len(set(vocab.tokens)) == len(vocab)


def test_unknown_words_and_the_end():
    vocab = Vocab([["a", "b"]])
    assert vocab.encode(["b", "zebra", "a", ""]) == [5, UNK, 4, UNK]
    assert vocab.decode([BOS, 5, PAD, UNK, 4, EOS, 5, EOS, PAD]) == ["b", "<unk>", "a"]
    assert vocab.decode([EOS, 4]) == vocab.decode([]) == []


@pytest.mark.parametrize("unknown", [-1, -4, 6, 10**9])
def test_ids_that_no_token_has_are_refused(unknown):
    with pytest.raises(ValueError, match=f"id {unknown}: this vocabulary has the ids 0 to 5"):
        Vocab([["a", "b"]]).decode(torch.tensor([4, unknown]))


@quick
@given(st.lists(st.lists(st.integers(0, 99), max_size=7), min_size=1, max_size=6))
def test_pad_fills_up_and_says_how_long(sequences):
    ids, lengths = pad(sequences)
    assert lengths.tolist() == [len(sequence) for sequence in sequences]
    assert ids.shape == (len(sequences), max(lengths)) and ids.dtype == lengths.dtype == torch.long
    for row, sequence in zip(ids.tolist(), sequences):
        assert row == sequence + [PAD] * (len(row) - len(sequence))


def numbered(n, longest=9):
    """n pairs that can be told apart, of lengths from 1 to `longest`."""
    chance = random.Random(0)
    return [([i + 4] * chance.randint(1, longest), [i + 4] * chance.randint(1, longest)) for i in range(n)]


def read(batch):
    """The pairs in a batch, as tuples."""
    src, lengths, tgt = batch
    assert len(src) == len(lengths) == len(tgt) and src.shape[1] == lengths.max()
    pairs = []
    for row, n, target in zip(src.tolist(), lengths.tolist(), tgt.tolist()):
        end = target.index(EOS)
        assert target[0] == BOS and not any(target[end + 1:]) and not any(row[n:])
        pairs.append((tuple(row[:n]), tuple(target[1:end])))
    return pairs


@quick
@given(n=st.integers(1, 150), batch_size=st.integers(1, 9), seed=st.integers(0, 99), passes=st.integers(1, 3))
def test_every_pair_comes_once_in_every_pass(n, batch_size, seed, passes):
    pairs, in_a_pass = numbered(n), -(-n // batch_size)
    made = list(batches(pairs, batch_size, passes * in_a_pass, seed))
    assert len(made) == passes * in_a_pass
    expected = Counter((tuple(src), tuple(tgt)) for src, tgt in pairs)
    for first in range(0, len(made), in_a_pass):
        once = made[first:first + in_a_pass]
        assert Counter(pair for batch in once for pair in read(batch)) == expected
        assert all(len(src) == batch_size for src, _, _ in once) or n % batch_size
        assert max(len(src) for src, _, _ in once) <= batch_size
        assert max(tgt.shape[1] for _, _, tgt in once) == max(len(tgt) for _, tgt in pairs) + 2


@pytest.mark.parametrize("steps", [0, 1, 6, 7, 8, 25])
def test_there_are_as_many_batches_as_asked_for(steps):
    assert len(list(batches(numbered(20), 3, steps))) == steps               # a pass has 7


def test_the_seed_decides_and_nothing_else():
    pairs = numbered(100)

    def order(seed):
        return [pair for batch in batches(pairs, 8, 13, seed) for pair in read(batch)]

    torch.manual_seed(1)
    before, first = torch.get_rng_state(), order(3)
    assert torch.equal(torch.get_rng_state(), before)                        # a model's start does not depend on its batches
    torch.manual_seed(2)
    assert order(3) == first != order(4)
    assert order(0) == [pair for batch in batches(pairs, 8, 13) for pair in read(batch)]
    twice = [read(batch) for batch in batches(pairs, 8, 26, 3)]
    assert twice[:13] != twice[13:]                                          # shuffled anew


def test_there_is_little_padding_and_still_much_chance():
    pairs, sizes = numbered(3000, 30), []
    real = whole = 0
    for src, lengths, tgt in batches(pairs, 32, 94):
        real, whole = real + int(lengths.sum()), whole + src.numel()
        sizes.append((int(lengths.sum()) + int((tgt != PAD).sum())) / len(src))
    unsorted = sum(len(src) for src, _ in pairs) / (30 * len(pairs))
    assert unsorted < 0.55 and real / whole > unsorted + 0.1
    assert all(sizes[i:i + 20] != sorted(sizes[i:i + 20]) for i in range(0, 80, 20))      # short ones do not come first


@quick
@given(n=st.integers(1, 90), batch_size=st.integers(1, 9), seed=st.integers(0, 99))
def test_every_labelled_example_comes_once_in_every_pass(n, batch_size, seed):
    examples = [(src, i) for i, (src, _) in enumerate(numbered(n))]
    made = list(labelled_batches(examples, batch_size, 2 * -(-n // batch_size), seed))
    for once in (made[:len(made) // 2], made[len(made) // 2:]):
        found = [(row[:k].tolist(), int(label)) for ids, lengths, labels in once for row, k, label in zip(ids, lengths, labels)]
        assert sorted(found) == sorted(examples)
        assert all(ids.shape[1] == lengths.max() for ids, lengths, _ in once)


def test_labelled_batches_are_grouped_as_pairs_are():
    pairs = numbered(100)
    with_labels = [(src + tgt, i) for i, (src, tgt) in enumerate(pairs)]
    number = {(tuple(src), tuple(tgt)): i for i, (src, tgt) in enumerate(pairs)}
    groups = [labels.tolist() for _, _, labels in labelled_batches(with_labels, 8, 26, 3)]
    assert groups == [[number[pair] for pair in read(batch)] for batch in batches(pairs, 8, 26, 3)]


def test_which_batches_there_are_never_changes():
    """Lessons that are committed were trained on these."""
    groups = [labels.tolist() for _, _, labels in labelled_batches([([4] * (1 + i % 5), i) for i in range(10)], 4, 4, seed=1)]
    assert groups == [[5, 0, 6, 1], [2, 7, 8, 3], [9, 4], [0, 5, 1, 6]]


@pytest.mark.parametrize("act, message", [
    (lambda: pad([]), "no sequences: a batch needs at least one"),
    (lambda: next(batches([], 4, 3)), "examples=0, batch_size=4: each needs to be at least 1"),
    (lambda: next(batches(numbered(5), 0, 3)), "examples=5, batch_size=0"),
    (lambda: next(batches(numbered(5), -1, 3)), "examples=5, batch_size=-1"),
    (lambda: next(labelled_batches([], 4, 3)), "examples=0, batch_size=4: each needs to be at least 1"),
    (lambda: next(labelled_batches([([4], 0)], 0, 3)), "examples=1, batch_size=0"),
])
def test_what_does_not_fit_is_refused(act, message):
    with pytest.raises(ValueError, match=message):
        act()
