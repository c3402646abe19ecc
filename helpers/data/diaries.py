"""Diaries of visits to a café: the order of two opinions alone says whether it got better or worse. Made up here."""
import random

from helpers.data.sentiment import load_parts

NAMES = ["worse", "better"]
GOOD = "superb excellent wonderful delightful perfect lovely great splendid fantastic brilliant charming marvellous".split()
BAD = "awful terrible dreadful horrible poor appalling disappointing mediocre unpleasant miserable bad dire".split()
THINGS = "soup bread fish coffee cake service music waiter table pie salad wine".split()
EVENTS = ["we sat by the window", "it was raining", "a friend came along", "we paid by card", "the room was half empty",
          "they had a new menu", "the soup was green", "the wine was from Spain", "the music was jazz", "we came by bus",
          "the waiter was tall", "the table was round", "the cake was for two", "it was Sunday", "the fish was from the lake"]
FIRST = ["we only had tea", "we only read the menu", "it was closed", "we sat outside"]
LAST = ["we may bring friends", "we will come by train", "we may try the pie", "we will book a table"]


def load_diaries(n_train: int = 4000, n_validation: int = 500, n_test: int = 1000, visits: tuple[int, int] = (2, 5),
                 seed: int = 0, path=None) -> tuple[list, list, list]:
    """(train, validation, test): lists of (text, label); label 1: it got better, 0: it got worse.

        First time, it was closed. Next time, the soup was awful. Next time, it was raining.
        Next time, the bread was lovely. Next time, we may bring friends.                       -> 1

    Texts come as twins, one after the other: the same visits, the one with praise and the one with blame exchanged. Between two
    visits stands ". Next time,", which is four tokens of `split_words`: no run of five tokens or fewer reaches from one visit
    into another, so twins have the same such runs, equally often, and opposite labels. No adjective of praise meets the same
    adjective of blame in two of the three lists.
    visits: the fewest and the most visits between the first and the last, the two with an opinion included.
    path: in place of all that, a table of one's own with texts and labels, as for `load_messages`.
    Raises ValueError for an odd number of texts, and for visits that there are not.
    """
    if path is not None:
        return load_parts(path)[:3]
    if any(n % 2 for n in (n_train, n_validation, n_test)):
        raise ValueError(f"{n_train}, {n_validation} and {n_test} texts: twins need even numbers")
    if not 2 <= visits[0] <= visits[1] <= len(EVENTS) + 2:
        raise ValueError(f"visits={visits}: there are from 2 to {len(EVENTS) + 2}")
    pairs = [(good, bad) for good in GOOD for bad in BAD]
    random.Random(seed).shuffle(pairs)
    parts = (n_train, pairs[40:]), (n_validation, pairs[20:40]), (n_test, pairs[:20])
    return tuple(twins(n, some, visits, random.Random(seed + part)) for part, (n, some) in enumerate(parts, 1))


def twins(count, pairs, visits, rng):
    """`count` texts with labels, twins side by side."""
    rows = []
    for _ in range(count // 2):
        good, bad = rng.choice(pairs)
        one, other = rng.sample(THINGS, 2)
        praise, blame = f"the {one} was {good}", f"the {other} was {bad}"
        middle = rng.sample(EVENTS, rng.randint(*visits) - 2)
        first, second = sorted(rng.sample(range(len(middle) + 2), 2))
        opening, closing = rng.choice(FIRST), rng.choice(LAST)
        for label, before, after in ((0, praise, blame), (1, blame, praise)):
            between = middle.copy()
            between.insert(first, before)
            between.insert(second, after)
            rows.append((f"First time, {'. Next time, '.join([opening, *between, closing])}.", label))
    return rows
