"""Which words are names of code? Sentences of installed documentation, tagged by those who wrote them.

"If ``axis`` is given, the sum is along that axis": its author marked one word as a name. Here the marks are taken away, and which
words had them is what is to be found: the same word can be a name in one sentence and none in the next.
"""
import functools
import inspect
import itertools
import random
import re

from helpers.data.documentation import docstrings, key, prose
from helpers.data.published import read_files, two_parts

TAGS = ["word", "name"]
LIBRARIES = ["matplotlib", "networkx", "numpy", "torch"]               # those whose authors mark names

# One name that is marked: ``width``, `width`, :attr:`~pen.Line.width`.
ROLE = r":(?:py:)?(?:attr|class|const|data|exc|func|meth|mod|obj):"
MARKED = re.compile(rf"(?<![`\w])(?:{ROLE})?(`{{1,2}})(?:~[\w.]*\.)?([A-Za-z_]\w*)\1(?![`\w]|_\b)")
# What may be a name, or may not: other marks, words that are stressed *like this*, and calls.
UNCLEAR = re.compile(r"`|(?<![\w*])\*{1,2}\w[^*]*\*{1,2}(?![\w*])|\(\)")
SIGN = "NAME_"                                                # put before a marked name while sentences are told apart
TOKEN = re.compile(rf"{SIGN}\w+|\w+(?:[-'](?!{SIGN})\w+)*|[^\w\s]")
FORGOTTEN = re.compile(rf"(?!{SIGN})\w*_\w*|True|False|None")   # surely names: with these unmarked, others may be


def load_tagging(n_train: int = 5000, n_test: int = 800, seed: int = 0, path=None) -> tuple[list, list]:
    """(train, test): lists of (words, tags), of the same length; a tag is an index in TAGS.

    Words are as they are written, and punctuation marks are words too. Each sentence has a marked name at least, and none
    that was plainly forgotten. No sentence is there twice, in any case of letters, and no docstring is divided between
    train and test. What is there depends on the versions of LIBRARIES that are installed.
    path: in place of these, a folder or archive with train.txt and test.txt, or one file, of which a tenth is the test, in
    the layout of CoNLL-2003: a word on each line, its tag last, an empty line between sentences; every tag but O is a name.
    Raises ValueError for negative numbers, too many sentences and a damaged file, ModuleNotFoundError for a missing library.
    """
    if path is not None:
        parts = [read_tags(file) for file in read_files(path, ("*train*", "*test*"))]
        return two_parts(parts, key=lambda pair: " ".join(pair[0]))
    groups = list(sentences_by_docstring(*LIBRARIES))
    random.Random(seed).shuffle(groups)
    test, train = take(n_test, groups), take(n_train, groups)
    if (len(train), len(test)) != (n_train, n_test):
        there = sum(map(len, sentences_by_docstring(*LIBRARIES)))
        raise ValueError(f"n_train={n_train}, n_test={n_test}: both need to be 0 or more, and {there:,} sentences are there; "
                         "no docstring is divided")
    return train, test


@functools.cache
def sentences_by_docstring(*libraries):
    """Lists of (words, tags), one for each docstring: what was there before, in any case of letters, is left out."""
    seen, groups = set(), []
    for text in [text for library in libraries for text in docstrings(library)]:
        fresh = {key(" ".join(words)): (words, tags) for words, tags in tagged_sentences(text)}
        groups.append([pair for k, pair in fresh.items() if k not in seen])
        seen.update(fresh)
    return groups


def read_tags(file):
    """(words, tags) of each sentence of a file in the layout of CoNLL-2003."""
    rows = [line.split() for line in file.lines()]
    for number, row in enumerate(rows, 1):
        if len(row) == 1:
            raise file.error(number, row[0], "a word and its tag")
    rows = [row for row in rows if row[:1] != ["-DOCSTART-"]]
    sentences = [list(group) for filled, group in itertools.groupby(rows, bool) if filled]
    return [([row[0] for row in some], [int(row[-1] != "O") for row in some]) for some in sentences]


def take(count, groups):
    """`count` sentences from the last groups, which are taken off the list whole."""
    pairs = []
    while groups and len(pairs) < count:
        pairs += groups.pop()
    return pairs[:count]


def tagged_sentences(text):
    """(words, tags) of each clean sentence of a docstring (see `prose`) that has a marked name and nothing unclear."""
    if "`" not in text:
        return []
    marked = "\n\n".join(block for block in re.split(r"\n\s*\n", inspect.cleandoc(text)) if "`" in block)
    signed = UNCLEAR.sub(r"\\", MARKED.sub(rf"{SIGN}\2", f"\n{marked}")) # no sentence with a backslash is clean
    found = [TOKEN.findall(sentence) for run in prose(signed) for sentence in run if SIGN in sentence]
    clear = [tokens for tokens in found if not any(map(FORGOTTEN.fullmatch, tokens))]
    return [([token.removeprefix(SIGN) for token in tokens], [int(token.startswith(SIGN)) for token in tokens]) for tokens in clear]
