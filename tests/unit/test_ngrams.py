"""n-gram models: counts, Witten-Bell and Kneser-Ney smoothing by hand, and distributions that sum to 1."""
from collections import Counter
from fractions import Fraction

import pytest
import torch

from helpers.ngrams import NGrams, discounts

LETTERS = "ab c"
TEXT = "abba cab abc cabba bac a"


def ids_of(text):
    return torch.tensor([LETTERS.index(letter) for letter in text])


def grams_of(text, n):
    return Counter(text[i:i + n] for i in range(len(text) - n + 1))


def witten_bell(text, context, letter, order):
    """The same by dictionaries and fractions."""
    p = Fraction(1, len(LETTERS))
    for n in range(1, order + 1):
        followers = {gram[-1]: count for gram, count in grams_of(text, n).items() if gram[:-1] == context[len(context) - n + 1:]}
        if followers:
            p = (followers.get(letter, 0) + len(followers) * p) / (sum(followers.values()) + len(followers))
    return float(p)


def kneser_ney(text, context, letter, order):
    p = 1 / len(LETTERS)
    for n in range(1, order + 1):
        counts = grams_of(text, n) if n == order else Counter(gram[1:] for gram in grams_of(text, n + 1))
        taken = dict(zip(counts, discounts(torch.tensor(list(counts.values()))).tolist()))
        followers = {gram[-1]: gram for gram in counts if gram[:-1] == context[len(context) - n + 1:]}
        if followers:
            kept = counts[followers[letter]] - taken[followers[letter]] if letter in followers else 0
            given = sum(taken[gram] for gram in followers.values())
            p = (kept + given * p) / sum(counts[gram] for gram in followers.values())
    return p


def test_witten_bell_by_hand():
    """aab: a 2 of 3, 2 kinds, uniform 1/4: p(a) = (2 + 2/4) / 5 = 1/2. After a: once a, once b: (1 + 2 * 1/2) / 4 = 1/2."""
    p = NGrams(ids_of("aab"), 4, 2).probs(ids_of("a"), ids_of("abc"))
    assert p[0].tolist() == pytest.approx([0.5, 0.3, 0.1]) and p[1].tolist() == pytest.approx([0.5, 0.4, 0.05])


def test_kneser_ney_by_hand():
    """aab: a stood behind 1 kind of token, b behind 1; each keeps 1/2: p(a) = (1/2 + 1 * 1/4) / 2 = 3/8, p(c) = 1/8.

    After a: once a, once b, each keeps 1/2: (1/2 + 1 * 3/8) / 2 = 7/16, c 1/16.
    """
    p = NGrams(ids_of("aab"), 4, 2, kneser_ney=True).probs(ids_of("a"), ids_of("abc"))
    assert p[1].tolist() == pytest.approx([7 / 16, 7 / 16, 1 / 16])


def test_discounts_by_hand():
    """8 counts are 1, 4 are 2, 2 are 3, 1 is 4: Y = 8 / 16; 1 - 2 Y 4 / 8, 2 - 3 Y 2 / 4, 3 - 4 Y 1 / 2."""
    counts = torch.tensor([1] * 8 + [2] * 4 + [3] * 2 + [4, 90])
    assert discounts(counts).tolist() == [0.5] * 8 + [1.25] * 4 + [2.0] * 4
    assert discounts(torch.tensor([1, 1, 3])).tolist() == [0.5, 0.5, 1.5]                 # too few to estimate them from


@pytest.mark.parametrize("slowly", [witten_bell, kneser_ney])
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_every_order_is_what_dictionaries_give(order, slowly):
    model, contexts = NGrams(ids_of(TEXT), 4, order, slowly is kneser_ney), ["abba", "ccaa", " cab", "bbbb"]
    found = model.probs(torch.stack([ids_of(context[4 - order + 1:]) for context in contexts]), torch.arange(4))     # [order, 4, 4]
    for n in range(1, order + 1):
        for row, context in zip(found[n - 1], contexts):
            assert row.tolist() == pytest.approx([slowly(TEXT, context, letter, n) for letter in LETTERS])
    assert torch.allclose(found.sum(-1), torch.ones((), dtype=torch.float64))


@pytest.mark.parametrize("kneser_ney", [False, True])
def test_orders_beyond_what_a_number_holds(kneser_ney):
    """20 tokens of 104 are 134 bits."""
    ids = torch.randint(104, (500,), generator=torch.Generator().manual_seed(0))
    p = NGrams(ids, 104, 21, kneser_ney).probs(ids[100:120], torch.arange(104))
    assert torch.allclose(p.sum(-1), torch.ones((), dtype=torch.float64)) and p[-1].argmax() == ids[120]


def test_too_few_ids_are_refused():
    with pytest.raises(ValueError, match="order=3 for 2 ids"):
        NGrams(torch.tensor([0, 1]), 2, 3)
