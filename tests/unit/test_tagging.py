"""Names of code among words: tagged as the authors of documentation marked them, and hard to tell without the sentence."""
import collections
import importlib

import pytest

from helpers.data import documentation, tagging
from helpers.data.documentation import key
from helpers.data.tagging import FORGOTTEN, TAGS, load_tagging, tagged_sentences

WORD, NAME = range(2)


@pytest.fixture(scope="module")
def tagged():
    return load_tagging()


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Writes the source of a library that is then the only one read."""
    def write(source):
        monkeypatch.setattr(tagging, "LIBRARIES", ["marked_shapes"])
        tagging.sentences_by_docstring.cache_clear()
        monkeypatch.syspath_prepend(str(tmp_path))
        (tmp_path / "marked_shapes").mkdir()
        (tmp_path / "marked_shapes" / "__init__.py").write_text(source, encoding="utf-8")
        importlib.invalidate_caches()
    return write


def shown(text):
    """The tagged sentences of a docstring, with brackets around the names."""
    return [" ".join(f"[{word}]" if tag else word for word, tag in zip(words, tags)) for words, tags in tagged_sentences(text)]


@pytest.mark.parametrize("text, expected", [
    ("If ``axis`` is given, the sum is along that axis.", "If [axis] is given , the sum is along that axis ."),
    ("If `axis` is given, the sum is along it.", "If [axis] is given , the sum is along it ."),
    ("The width of :class:`~shape.Line` and :meth:`draw` is kept.", "The width of [Line] and [draw] is kept ."),
    ("See :func:`~.draw` for what is drawn.", "See [draw] for what is drawn ."),
    ("The :py:attr:`width`'s unit isn't kept.", "The [width] ' s unit isn't kept ."),
    ("The ``line_width`` and ``__init__`` of it are kept.", "The [line_width] and [__init__] of it are kept ."),
    ("The ``n``-th point of the line is drawn.", "The [n] - th point of the line is drawn ."),
    ("The base-``n`` digits of it are kept.", "The base - [n] digits of it are kept ."),
    ("``axis`` is what is kept.", "[axis] is what is kept ."),
    ("It draws ``shape`` (or ``None``), e.g. twice.", "It draws [shape] ( or [None] ) , e . g . twice ."),
])
def test_what_is_marked_is_a_name(text, expected):
    assert shown(text) == [expected]
    [(words, tags)] = tagged_sentences(text)
    assert len(words) == len(tags) and set(tags) == {WORD, NAME} and not [word for word in words if "NAME_" in word or "`" in word]


@pytest.mark.parametrize("text", [
    "If axis is given, the sum is along that axis.",                  # nothing is marked
    "If ``axis`` is None, the sum is over all.",                      # forgotten: None
    "The ``axis`` and the line_width of it are kept.",                # forgotten: line_width
    "The ``axis`` of *shape* is what is kept.",                       # a name, or stress?
    "The ``axis`` of **kwargs** is what is kept.",
    "If ``axis=0`` and ``keep`` are given, it is kept.",              # marked, and no single name
    "See `the guide <https://example.org>`_ and ``axis`` for all of it.",
    "See the `guide`_ and ``axis`` for all of it.",
    "See :ref:`lines` and ``axis`` for all of it.",
    "The value of :math:`x` and ``axis`` is what is kept.",
    "It calls draw() with ``axis`` at the end.",
    ">>> print('the ``axis`` of a line')",
    "axis : the ``axis`` of all lines.",
])
def test_what_is_unclear_is_left_out(text):
    assert shown(text) == []


def test_sentences_near_an_unclear_one_are_kept():
    text = "It keeps ``axis`` as it is. It keeps ``axis=0`` as it is.\n\n    It keeps ``line`` as\n    it is. It is over then."
    assert shown(text) == ["It keeps [axis] as it is .", "It keeps [line] as it is ."]


def test_there_are_as_many_as_were_asked_for(tagged):
    assert list(map(len, tagged)) == [5000, 800] and TAGS == ["word", "name"]
    assert list(map(len, load_tagging(0, 3))) == [0, 3]


def test_sentences_are_there_once_and_have_a_name_each(tagged):
    keys = [key(" ".join(words)) for part in tagged for words, _ in part]
    assert len(set(keys)) == len(keys)
    for words, tags in tagged[0] + tagged[1]:
        assert len(words) == len(tags) and NAME in tags and words[-1] == "."
        assert not [word for word, tag in zip(words, tags) if tag == WORD and FORGOTTEN.fullmatch(word)]


def test_the_same_word_is_both_and_its_most_frequent_tag_is_not_enough(tagged):
    train, test = tagged
    counts = collections.defaultdict(collections.Counter)
    for words, tags in train:
        for word, tag in zip(words, tags):
            counts[word.lower()][tag] += 1
    assert sum(min(count[WORD], count[NAME]) >= 5 for count in counts.values()) > 40
    assert min(counts["axis"][WORD], counts["axis"][NAME], counts["input"][WORD], counts["input"][NAME]) > 10
    gold = [tag for _, tags in test for tag in tags]
    assert 0.05 < sum(gold) / len(gold) < 0.2
    for unknown in (WORD, NAME):                                      # the tag of a word that was never seen
        tag_of = {word: count.most_common(1)[0][0] for word, count in counts.items()}
        guesses = [tag_of.get(word.lower(), unknown) for words, _ in test for word in words]
        right = sum(guess == tag == NAME for guess, tag in zip(guesses, gold))
        assert 0.4 < 2 * right / (sum(guesses) + sum(gold)) < 0.8     # F1 of names


def test_no_docstring_is_divided(library):
    texts = [" ".join(f"It draws the ``shape`` {a} and {b}." for b in "abcd") for a in "klmnopqrstuvwxyz"]
    library("".join(f'"""{text}\n"""\n' for text in texts))
    for seed in range(5):
        train, test = load_tagging(30, 9, seed)
        drawn = [{words[4] for words, _ in part} for part in (train, test)]
        assert not drawn[0] & drawn[1] and [len(train), len(test)] == [30, 9]


def test_the_seed_decides_what_is_drawn(library):
    texts = [f"It draws the ``shape`` of number {n}." for n in range(50)] + ["It DRAWS the ``Shape`` of number 7."]
    library("".join(f'"""{text}\n"""\n' for text in texts))
    assert load_tagging(20, 5, seed=1) == load_tagging(20, 5, seed=1) != load_tagging(20, 5, seed=2)
    with pytest.raises(ValueError, match="n_train=50, n_test=1: .* 50 sentences are there"):
        load_tagging(50, 1)


@pytest.mark.parametrize("sizes", [(-1, 5), (5, -1)])
def test_a_negative_number_is_refused(sizes):
    with pytest.raises(ValueError, match=rf"n_train={sizes[0]}, n_test={sizes[1]}: both need to be 0 or more"):
        load_tagging(*sizes)


def test_a_library_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(tagging, "LIBRARIES", ["no_such_library"])
    with pytest.raises(ModuleNotFoundError, match="no_such_library is not installed"):
        load_tagging()


CONLL = "-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n. . O O\n\nPeter NNP B-NP B-PER\nBlackburn NNP I-NP I-PER\n"


def test_tagged_text_of_one_s_own(tmp_path):
    (tmp_path / "mine.txt").write_text(CONLL)
    sentences = [(["EU", "rejects", "."], [NAME, WORD, WORD]), (["Peter", "Blackburn"], [NAME, NAME])]
    train, test = load_tagging(path=tmp_path / "mine.txt")
    assert (train, test) in [(sentences[:1], sentences[1:]), (sentences[1:], sentences[:1])]
    (tmp_path / "mine.txt").write_text(CONLL + "left\n")
    with pytest.raises(ValueError, match="mine.txt, line 9: 'left', where a word and its tag is needed"):
        load_tagging(path=tmp_path / "mine.txt")


def test_the_sentences_are_those_that_classifiers_and_bert_read():
    assert set(tagging.LIBRARIES) <= set(documentation.LIBRARIES)
