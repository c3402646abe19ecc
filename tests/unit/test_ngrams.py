"""n-gram models: counts and Witten-Bell smoothing by hand, and distributions that sum to 1."""
from collections import Counter
from fractions import Fraction

import pytest
import torch

from helpers.ngrams import NGrams

LETTERS = "ab c"


def ids_of(text):
    return torch.tensor([LETTERS.index(letter) for letter in text])


def slowly(text, context, letter, order):
    """The same by dictionaries and fractions."""
    p = Fraction(1, len(LETTERS))
    for n in range(1, order + 1):
        h = context[len(context) - n + 1:]
        grams = Counter(text[i:i + n] for i in range(len(text) - n + 1))
        followers = {gram[-1]: count for gram, count in grams.items() if gram[:-1] == h}
        if followers:
            p = (followers.get(letter, 0) + len(followers) * p) / (sum(followers.values()) + len(followers))
    return p


def test_known_by_hand():
    """aab: a 2 of 3, 2 kinds, uniform 1/4: p(a) = (2 + 2/4) / 5 = 1/2. After a: once a, once b: (1 + 2 * 1/2) / 4 = 1/2."""
    p = NGrams(ids_of("aab"), 4, 2).probs(ids_of("a"), ids_of("abc"))
    assert p[0].tolist() == pytest.approx([0.5, 0.3, 0.1]) and p[1].tolist() == pytest.approx([0.5, 0.4, 0.05])


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_every_order_is_what_dictionaries_give(order):
    text = "abba cab abc cabba bac a"
    model, contexts = NGrams(ids_of(text), 4, order), ["abba", "ccaa", " cab", "bbbb"]
    found = model.probs(torch.stack([ids_of(context[4 - order + 1:]) for context in contexts]), torch.arange(4))     # [order, 4, 4]
    for n in range(1, order + 1):
        for row, context in zip(found[n - 1], contexts):
            assert row.tolist() == pytest.approx([float(slowly(text, context, letter, n)) for letter in LETTERS])
    assert torch.allclose(found.sum(-1), torch.ones((), dtype=torch.float64))


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="order=3 for 2 ids"):
        NGrams(torch.tensor([0, 1]), 2, 3)
    with pytest.raises(ValueError, match="below 2"):
        NGrams(torch.zeros(50, dtype=torch.long), 104, 10)
