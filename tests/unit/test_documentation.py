"""Real sentences to pretrain on: prose alone, in the same order everywhere, without giveaways."""
import ast
import importlib.util
import os
import pathlib

import pytest

from helpers.data import documentation
from helpers.data.documentation import (
    docstrings,
    is_clean,
    load_paragraphs,
    prose,
    source_files,
    texts,
)
from helpers.text import split_words


@pytest.fixture(scope="module")
def paragraphs():
    return load_paragraphs()


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Writes source files of a library that is then the only one installed."""
    def write(files, libraries=("shapes",)):
        monkeypatch.setattr(documentation, "LIBRARIES", list(libraries))
        monkeypatch.setattr(documentation, "OTHERS", [])
        monkeypatch.syspath_prepend(str(tmp_path))
        for name, source in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(source, encoding="utf-8")
        importlib.invalidate_caches()
    return write


# ---- what is prose --------------------------------------------------------------------------------------------------

DOCSTRING = '''Draw the outline of a shape. The pen
    is lifted first, e.g. by *one* centimetre.

    The ``width`` of :meth:`~shape.Line` is kept. See `the guide <https://example.org/a>`_ for all of it.

    .. note:: This is a directive of some kind.

    - This is an item of a list. It goes
      on here in one more line.

    >>> draw(shape)
    This is what the example prints.

    Parameters
    ----------
    width : float
        This is the width of the pen. Its unit is one point.
    colour, fill : str or None
        This is the colour of the pen.

    Then x = y + 1 is what it solves. The angle is :math:`\\alpha / 2` in this case. It is about 1.5 times as fast as before.
    Is it ever used like this? Read https://example.org/page for more of this. It has no
    '''


def test_prose_is_taken_out_of_a_docstring():
    assert prose(DOCSTRING) == [
        ["Draw the outline of a shape.", "The pen is lifted first, e.g. by one centimetre.", "The width of Line is kept.",
         "See the guide for all of it."],
        ["This is the width of the pen.", "Its unit is one point."],
        ["This is the colour of the pen."],
        ["It is about 1.5 times as fast as before."],
    ]


def test_what_lies_between_two_sentences_parts_them():
    one, other = "This is the first sentence.", "This is the other sentence."
    assert prose(f"{one} {other}") == prose(f"{one}\n\n{other}") == [[one, other]]
    for between in ["X = 1.", "\n\n>>> draw()\n\n", "\n\n- an item\n\n", "\n    code()\n"]:
        assert prose(f"{one} {between} {other}".replace("\n ", "\n")) == [[one], [other]], between


@pytest.mark.parametrize("beginning", [
    ">>> ", "- ", "* ", "+ ", "# ", "| ", ".. note:: ", ":param width: ", "@param width ", "1. ", "a) ", "(ii) ", "width : float ",
    "width: ", "width (float): ", "*args, **kwargs : ",
])
def test_what_begins_like_this_is_no_prose(beginning):
    text = "It draws the shape once. It lifts the pen at last."
    assert prose(text) and not prose(beginning + text)


@pytest.mark.parametrize("text", [
    "It draws shapes, e.g. Circles or Squares, on paper.",
    "It draws one shape, i.e. Circle, on paper.",
    "It draws a pair of shapes (cf. Circle), on paper.",
])
def test_an_abbreviation_ends_no_sentence(text):
    assert prose(f"It lifts the pen first. {text}") in ([["It lifts the pen first.", text]], [["It lifts the pen first."]])


@pytest.mark.parametrize("sentence, clean", [
    ("It draws the shape once.", True),
    ("It draws (as asked) the shape's outline; then, e.g. here, it stops: that is all.", True),
    ("The argument line_width is 2.5 points wide.", True),
    ("It draws the shape, the pen, etc.", True),
    ("it draws the shape once.", False),                              # no capital
    ("It draws the shape once", False),                               # no full stop
    ("It draws the shape once:", False),
    ("Does it draw the shape once?", False),
    ("It draws it.", False),                                          # 4 tokens
    ("It draws " + "very " * 36 + "well.", True),                     # 40
    ("It draws " + "very " * 37 + "well.", False),                    # 41
    ("It calls shape.draw before it ends.", False),
    ("It is on https://example.org somewhere.", False),
    ("It holds where x < 3 in the end.", False),
    ("It draws the caf\u00e9 of the town.", False),
    ("It draws {name} where it can.", False),
    ("It draws the `shape where it can.", False),
    ("It draws the shape. and it goes on.", False),
    ("It draws as in the example, e.g.", False),
])
def test_a_clean_sentence(sentence, clean):
    assert is_clean(sentence) == clean


# ---- what is read ---------------------------------------------------------------------------------------------------

def test_literals_are_read_as_python_reads_them():
    source = r'''
# A comment's quote and """ three more
"""One \"quoted\" word,
two."""
x = 'a " b', "it's"
r"""A raw \d."""
f"""Formatted {x}."""
rb"""Bytes."""
topics = {'one': 'First line\n'
                 "second\tline\n"}
"""An \x escape that is none."""
\'\'\'The "last" one.\'\'\'
'''.replace("\\'", "'")
    assert list(texts(source)) == ['One "quoted" word,\ntwo.', r"A raw \d.", "First line\nsecond\tline\n", 'The "last" one.']


@pytest.mark.parametrize("name", ["statistics", "textwrap", "random", "ast", "argparse", "re"])
def test_every_docstring_that_ast_finds_is_found(name):
    source = pathlib.Path(ast.__file__.replace("ast.py", f"{name}.py"))
    source = (source if source.exists() else source.parent / name / "__init__.py").read_text(encoding="utf-8")
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))]
    expected = {ast.get_docstring(node, clean=False) for node in nodes} - {None}
    long = {text for text in expected if "\n" in text}
    assert long and long <= set(texts(source))


def test_tests_and_copies_of_others_are_not_read(library):
    names = ["__init__.py", "tests/a.py", "_vendor/b.py", "dist-packages/e.py", "deep/c.py", "d.txt"]
    library({f"shapes/{name}": '"""It draws the shape once."""' for name in names})
    assert [path.name for path in source_files("shapes")] == ["__init__.py", "c.py"]
    assert len(docstrings("shapes")) == 2


def test_the_order_is_not_that_of_the_file_system(library, monkeypatch):
    library({f"shapes/{name}.py": f'"""It draws the shape {name} once."""' for name in ["__init__", "b", "sub/c", "a", "other/d"]})
    straight, walk = docstrings("shapes"), os.walk

    def backwards(root):
        for folder, subfolders, names in walk(root):
            subfolders.reverse()
            names.reverse()
            yield folder, subfolders, names
    monkeypatch.setattr(os, "walk", backwards)
    assert docstrings("shapes") == straight and len(straight) == 5


def test_a_library_that_is_not_installed_is_named(library):
    library({}, ["no_such_library"])
    with pytest.raises(ModuleNotFoundError, match="no_such_library is not installed"):
        load_paragraphs()


# ---- paragraphs -----------------------------------------------------------------------------------------------------

def test_paragraphs_are_many(paragraphs):
    assert min(map(len, paragraphs)) == 2
    assert sum(len(split_words(sentence)) for paragraph in paragraphs for sentence in paragraph) > 300_000


def test_paragraphs_are_clean_and_never_repeat_a_sentence(paragraphs):
    sentences = [sentence for paragraph in paragraphs for sentence in paragraph]
    assert all(map(is_clean, sentences))
    assert len({tuple(split_words(sentence)) for sentence in sentences}) == len(sentences)


def test_sentences_of_a_paragraph_follow_one_another(library):
    """In the docstrings as they are written, nothing but spaces is between one sentence and the next."""
    library({}, ["networkx"])
    plain = [" ".join(text.split()).replace("*", "") for text in docstrings("networkx")]               # *stress* is taken away
    found = [(p, near) for p in load_paragraphs() if (near := [text for text in plain if all(s in text for s in p)])]
    assert len(found) > 500 and all(any(" ".join(p) in text for text in near) for p, near in found)


def test_a_sentence_that_was_there_before_parts_a_paragraph(library):
    one, two, three, four, five = (f"This is sentence {n} of some." for n in ["one", "two", "three", "four", "five"])
    library({"shapes/__init__.py": f'"""{one} {two}"""\n"""{three} {four} {one.upper()[:1]}{one[1:]} {five} {two}"""'})
    assert load_paragraphs() == [[one, two], [three, four]]


def test_paragraphs_of_one_s_own(tmp_path):
    (tmp_path / "mine.txt").write_text("It is one. It is two.\n\nIt is alone.\n")
    assert load_paragraphs(path=tmp_path / "mine.txt") == [["It is one.", "It is two."]]


def test_libraries_read_besides_come_last_and_add_only_what_is_new(library):
    one, two, three, four = (f"This is sentence {n} of some." for n in ["one", "two", "three", "four"])
    library({"shapes/__init__.py": f'"""{one} {two}"""', "colours/__init__.py": f'"""{two} {three} {four}"""', "flat.py": ""})
    assert load_paragraphs(["colours", "shapes"]) == [[one, two], [three, four]]
    for name in ("flat", "no_such_library"):
        with pytest.raises(ModuleNotFoundError, match=f"{name} is not installed, or is no package"):
            load_paragraphs([name])
