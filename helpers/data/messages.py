"""Error messages of the libraries that this course installs, and the exceptions that they are raised with.

Nothing is downloaded or imported: the source files are searched for `raise ValueError("...")`. What is there depends on versions.
"""
import re
import zlib
from collections import defaultdict

from helpers.data.documentation import DOUBLE, SINGLE, source_files
from helpers.data.sentiment import load_parts
from helpers.text import split_words

EXCEPTIONS = ["NotImplementedError", "RuntimeError", "TypeError", "ValueError"]
LIBRARIES = ["fontTools", "matplotlib", "networkx", "numpy", "python", "sympy", "torch"]     # "python": its standard library
LITERAL = rf"[fFrR]{{0,2}}(?:{DOUBLE}|{SINGLE})"
RAISED = re.compile(rf"\braise ({'|'.join(EXCEPTIONS)})\(\s*({LITERAL}(?:\s*{LITERAL})*)")
# What a program fills in: {value!r}, %s, %(name)d
FILLED_IN = re.compile(r"\{[^{}]*\}|%(?:\(\w+\))?[-+.\d]*[sdrfg]")


def load_messages(path=None) -> tuple[list, list, list, list[str]]:
    """(train, validation, test, names): lists of (message, label), the label an index in names, those of four exceptions.

        "expected a string, got …"    -> 2, TypeError

    "…" stands for what the program fills in. Messages have 3 to 40 tokens of `split_words` and are there once; what is raised with
    two of the four exceptions is left out. Of the source files, 70 % are for training, 10 % for validation, 20 % for testing.
    path: a table of one's own with texts and labels (see `load_labelled`) in place of all that: a folder with train and dev, as
        SST-2's, whose dev is then the test, or one file, of which a tenth is for testing; a tenth of the rest is for validation.
    """
    if path is not None:
        return load_parts(path)
    found = defaultdict(set)                                 # from tokens to {(exception, message, part)}
    for message, exception, file in raised():
        if 3 <= len(tokens := split_words(message)) <= 40:
            found[tuple(tokens)].add((exception, message, part_of(file)))
    parts = [], [], []
    for tokens in sorted(found, key=lambda tokens: zlib.crc32(" ".join(tokens).encode())):
        exception, message, part = min(found[tokens])
        if {exception} == {other for other, _, _ in found[tokens]}:
            parts[part].append((message, EXCEPTIONS.index(exception)))
    return *parts, EXCEPTIONS


def raised():
    """Each (message, exception, file) of the libraries' sources, one for every `raise` of one of the four with a literal."""
    for library in LIBRARIES:
        for file in source_files(library):
            for exception, literals in RAISED.findall(file.read_text(encoding="utf-8", errors="replace")):
                yield read_message(literals), exception, file


def part_of(file):
    """0, 1 or 2, by the last two names of the path: the same on every machine."""
    share = zlib.crc32("/".join(file.parts[-2:]).encode()) % 10
    return 0 if share < 7 else 1 if share < 8 else 2


def read_message(literals):
    """The text of string literals that follow each other, with "…" for what a program fills in."""
    inner = (literal.lstrip("fFrR")[1:-1] for literal in re.findall(LITERAL, literals))
    text = re.sub(r"\\.", " ", "".join(inner))
    return " ".join(FILLED_IN.sub(" … ", text).split())
