"""Diaries: twins with the same runs of five tokens and opposite labels, and nothing of the test in training."""
from collections import Counter

import pytest

from helpers.data.diaries import BAD, EVENTS, FIRST, GOOD, LAST, THINGS, load_diaries
from helpers.text import split_words


@pytest.fixture(scope="module")
def diaries():
    return load_diaries()


def runs(tokens, n):
    return Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1))


def opinions(text):
    """The adjectives of a text, in order."""
    return [token for token in split_words(text) if token in GOOD + BAD]


def test_twins_differ_in_nothing_that_is_counted_up_to_five_tokens(diaries):
    for rows in diaries:
        for (one, worse), (other, better) in zip(rows[::2], rows[1::2]):
            assert [worse, better] == [0, 1] and one != other
            a, b = split_words(one), split_words(other)
            assert all(runs(a, n) == runs(b, n) for n in range(1, 6))


def test_the_label_says_whether_the_praise_comes_last(diaries):
    for rows in diaries:
        for text, label in rows:
            first, second = opinions(text)
            assert label == (first in BAD) == (second in GOOD)


def test_parts_share_no_text_and_no_pair_of_opinions(diaries):
    pairs = [{frozenset(opinions(text)) for text, _ in rows} for rows in diaries]
    assert [len(rows) for rows in diaries] == [4000, 500, 1000] and all(pairs)
    assert not (pairs[0] & pairs[1] or pairs[0] & pairs[2] or pairs[1] & pairs[2])
    assert all({word for pair in pairs[0] for word in pair} >= {*GOOD, *BAD} for _ in pairs)


def test_a_diary_reads_as_its_docstring_says(diaries):
    visits = [text[:-1].split(". Next time, ") for text, _ in load_diaries(0, 0, 200, visits=(3, 7))[2]]
    for first, *middle, last in visits:
        assert first.removeprefix("First time, ") in FIRST and last in LAST and 3 <= len(middle) <= 7
        assert sum(visit in EVENTS for visit in middle) == len(middle) - 2
        assert all(visit.split()[1] in THINGS for visit in middle if visit not in EVENTS)
    assert load_diaries() == diaries and load_diaries(seed=1) != diaries


@pytest.mark.parametrize("wrong, message", [
    ({"n_test": 3}, "4000, 500 and 3 texts: twins need even numbers"),
    ({"visits": (1, 5)}, r"visits=\(1, 5\): there are from 2 to 17"), ({"visits": (2, 18)}, "from 2 to 17"),
])
def test_what_is_not_there_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        load_diaries(**wrong)


def test_a_table_of_one_s_own(tmp_path):
    (tmp_path / "mine.csv").write_text("text,label\n" + "".join(f"text {n},{n % 2}\n" for n in range(40)))
    parts = load_diaries(path=tmp_path / "mine.csv")
    assert [len(part) for part in parts] == [33, 3, 4] and len({text for part in parts for text, _ in part}) == 40
