"""Error messages: read from the sources as a program would show them, each once, in parts that share no file."""
import importlib
from collections import Counter

import pytest

from helpers.data import messages
from helpers.data.messages import EXCEPTIONS, load_messages, part_of, raised, read_message
from helpers.text import split_words


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Writes the source files of a library that is then the only one."""
    def write(**files):
        monkeypatch.setattr(messages, "LIBRARIES", ["shapes"])
        monkeypatch.setattr(messages, "part_of", lambda file: {"a": 0, "b": 1, "c": 2}.get(file.stem, 0))
        monkeypatch.syspath_prepend(str(tmp_path))
        for name, source in {"__init__": "", **files}.items():
            (tmp_path / "shapes").mkdir(exist_ok=True)
            (tmp_path / "shapes" / f"{name}.py").write_text(source, encoding="utf-8")
        importlib.invalidate_caches()
    return write


def test_what_is_installed_has_thousands_of_each_part_s_share():
    *parts, names = load_messages()
    assert names == EXCEPTIONS
    total = sum(map(len, parts))
    assert total > 6000 and [round(len(part) / total, 1) for part in parts] == [0.7, 0.1, 0.2]
    assert all(len(Counter(label for _, label in part)) == 4 for part in parts)
    keys = [tuple(split_words(message)) for part in parts for message, _ in part]
    assert len(set(keys)) == len(keys) and all(3 <= len(key) <= 40 for key in keys)
    assert load_messages() == (*parts, names)


@pytest.mark.parametrize("literals, message", [
    ('"width must be positive"', "width must be positive"),
    ("f'{name!r} is {kind}, not a list'", "… is …, not a list"),
    ('"%s: %d of %(all)s is 5 % too much"', "…: … of … is 5 % too much"),
    ('"one "\n    f"two {three:.2f} "\n  \'four\'', "one two … four"),
    (r'"a \"quoted\" word\n"', "a quoted word"),
])
def test_a_message_as_a_program_shows_it(literals, message):
    assert read_message(literals) == message.replace("…:", "… :").replace("…,", "… ,")


def test_only_clear_cases_are_taken(library):
    library(a='raise ValueError("the width is wrong")\nraise TypeError(f"{x} is no list")\nraise KeyError("this is not asked")\n',
            b='raise ValueError("The width is wrong")\nraise RuntimeError("it was called twice")\nraise ValueError("short")\n',
            c='raise TypeError("it was called twice")\nraise ValueError(message)\nraise NotImplementedError("not yet done here")\n')
    train, validation, test, _ = load_messages()
    assert sorted(train + validation + test, key=lambda row: row[1]) == [
        ("not yet done here", 0), ("… is no list", 2), ("The width is wrong", 3)]
    assert test == [("not yet done here", 0)]


def test_what_is_raised_is_told_with_its_exception_and_its_file(library):
    library(a='raise ValueError("one")\nraise TypeError(f"{x} two")\nraise KeyError("three")\n', b='raise RuntimeError("one")\n')
    assert {(message, exception, file.stem) for message, exception, file in raised()} == {
        ("one", "ValueError", "a"), ("… two", "TypeError", "a"), ("one", "RuntimeError", "b")}


def test_the_part_of_a_file_does_not_depend_on_where_it_is(tmp_path):
    names = [f"module_{n}.py" for n in range(1000)]
    parts = [part_of(tmp_path / "library" / name) for name in names]
    assert parts == [part_of(tmp_path / "elsewhere" / "library" / name) for name in names]
    assert [round(parts.count(part) / 1000, 1) for part in range(3)] == [0.7, 0.1, 0.2]


def test_tables_of_one_s_own(tmp_path):
    table = "text,label\n" + "".join(f"text {n},{'spam' if n % 2 else 'ham'}\n" for n in range(100))
    (tmp_path / "mine.csv").write_text(table)
    *parts, names = load_messages(path=tmp_path / "mine.csv")
    assert [len(part) for part in parts] == [81, 9, 10] and names == ["ham", "spam"]
    assert all(label == int(text.split()[1]) % 2 for part in parts for text, label in part)
    for name in ("train", "dev"):
        (tmp_path / f"{name}.tsv").write_text(table.replace(",", "\t"))
    *parts, _ = load_messages(path=tmp_path)
    assert [len(part) for part in parts] == [90, 10, 100]


def test_sst2_is_read_by_path(published):
    *parts, names = load_messages(path=published("sst2/train.tsv").parent)
    assert [len(part) for part in parts][2] == 6735 and names == ["0", "1"]
