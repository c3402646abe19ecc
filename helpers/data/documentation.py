"""English to pretrain on: sentences from the documentation of the libraries that this course installs.

Nothing is downloaded or imported: the source files are read, and the prose taken out of their docstrings. What is there
depends on the versions installed, so numbers differ a little between machines; on one machine they never do.
"""
import ast
import contextlib
import importlib.util
import inspect
import itertools
import os
import pathlib
import re
import sysconfig
import warnings
from collections.abc import Iterable

from helpers.data.wikitext import read_text
from helpers.text import split_words

LIBRARIES = ["matplotlib", "networkx", "numpy", "python", "torch"]             # "python" is its standard library
OTHERS = ["IPython", "PIL", "babel", "debugpy", "fontTools", "fsspec", "jedi", "jinja2", "jupyter_client", "jupyter_server",
          "mpmath", "nbconvert", "packaging", "prompt_toolkit", "psutil", "pygments", "pyparsing", "setuptools", "sympy",
          "tornado", "traitlets", "urllib3", "zmq"]                            # read where they are installed
# Folders of tests, of other people's code, of tables, and of torch's compiler, which is long and seldom explains itself.
SKIPPED = {"test", "tests", "testing", "site-packages", "dist-packages", "_vendor", "ensurepip", "lib2to3", "encodings",
           "_dynamo", "_inductor"}

# The comments and string literals of Python source. Each alternative begins with a plain character: so the search is fast.
DOUBLE, SINGLE = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"', r"'[^'\\\n]*(?:\\.[^'\\\n]*)*'"
CONTINUED = rf"(?:\s*(?:{DOUBLE}|{SINGLE}))*"                                  # "one " 'literal' in several
COMMENT_OR_LITERAL = re.compile("|".join([
    r"#[^\n]*",
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""',
    r"'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''",
    DOUBLE + CONTINUED, SINGLE + CONTINUED,
]), re.DOTALL)

# What a line begins with that is no prose: markup, the item of a list, the name of a parameter with its type or meaning.
PARAMETER = r"\*{0,2}\w+(?:, \*{0,2}\w+)*(?: \([^)]*\))? ?:(?: |$)"
NOT_PROSE = re.compile(rf"[^\w\"'(`:*]|\*+ |:\w+[^:`]*:(?!`)|\w{{1,2}}[.)] |\(\w{{1,3}}\) |{PARAMETER}")
# :meth:`~pen.draw`, ``draw``, `page <address>`_, and *draw*, **draw**
ROLE = re.compile(r"(?::[\w:]+:)?(`{1,2})(?:~[\w.]*\.)?([^`]*?)(?:\s*<[^`]*>)?\1_{0,2}")
STRESS = re.compile(r"(?<![\w*])(\*{1,2})(\w[^*]*)\1(?![\w*])")
# What parts two sentences, and what a whole one may be made of: no markup, code or dotted names.
SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!\bcf\.)(?<!\bvs\.)(?<!\bal\.) (?=[A-Z(\"'])")
WHOLE = re.compile(r"[A-Z](?:\be\.g\.|\bi\.e\.|\betc\.(?=[,)])|[A-Za-z0-9_ ,;'\"()-]|:(?= )|\.(?=\d))*\.")


def load_paragraphs(also: Iterable[str] = (), path=None) -> list[list[str]]:
    """Lists of two or more sentences that follow each other in one docstring: English to pretrain on, library by library.

    Read from LIBRARIES, from those of OTHERS that are installed, and last from the libraries named in `also`, which change
    nothing before them. No sentence is there twice, in any case of letters. Where something was left out between two
    sentences, an example or a repetition, a new list begins. path: in place of all that, a text of one's own (see `read_text`).
    Raises ModuleNotFoundError where one of LIBRARIES or of `also` is not installed.
    """
    if path is not None:
        return read_text(path)
    seen, paragraphs = set(), []
    for library in dict.fromkeys([*LIBRARIES, *filter(importlib.util.find_spec, OTHERS), *also]):
        for text in docstrings(library):
            for sentences in prose(text):
                fresh = []
                for sentence in sentences:
                    fresh.append(None if key(sentence) in seen else sentence)
                    seen.add(key(sentence))
                paragraphs += [run for run in runs(fresh) if len(run) > 1]
    return paragraphs


def key(sentence):
    """What two sentences have in common that a reader of lower-case tokens cannot tell apart."""
    return " ".join(split_words(sentence))


def docstrings(library):
    """What is written between three quotes, or over several lines, in the source files of a library, by path.

    Scanned for, not parsed: all of torch takes about a second so, and ten with `ast`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                                 # "\d" in somebody's docstring
        sources = (path.read_text(encoding="utf-8", errors="replace") for path in source_files(library))
        return [text for source in sources for text in texts(source)]


def texts(source):
    """The long string literals of a source file, as Python reads them, without those that are bytes or formatted."""
    for found in COMMENT_OR_LITERAL.finditer(source):
        if found[0].startswith(('"""', "'''")) or (r"\n" in found[0] and found[0][0] != "#"):
            prefix = re.search(r"[a-z]*\Z", source[max(0, found.start() - 2):found.start()].lower())[0]
            if prefix in ("", "r", "u"):
                with contextlib.suppress(SyntaxError):                  # newer formatted strings can lead the scan astray
                    yield ast.literal_eval(f"({prefix}{found[0]})")


def source_files(library):
    """The paths of a library's Python files, in the same order everywhere."""
    if library == "python":
        root = sysconfig.get_path("stdlib")
    elif (spec := importlib.util.find_spec(library)) and spec.submodule_search_locations:
        root = spec.submodule_search_locations[0]
    else:
        raise ModuleNotFoundError(f"{library} is not installed, or is no package: its documentation is what is to be read")
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(set(subfolders) - SKIPPED)               # where os.walk goes on, and in which order
        yield from (pathlib.Path(folder, name) for name in sorted(names) if name.endswith(".py"))


def prose(text):
    """The clean sentences of a docstring: a list for each run of them that nothing interrupts.

    Lines that are indented count, too: notes and descriptions of parameters.
    """
    sentences = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        for _, group in itertools.groupby(block.split("\n"), lambda line: len(line) - len(line.lstrip())):
            lines = [line.strip() for line in group]
            if any(map(NOT_PROSE.match, lines)):
                sentences.append(None)
            else:
                plain = STRESS.sub(r"\2", ROLE.sub(r"\2", " ".join(lines)))
                parts = SENTENCE_END.split(" ".join(plain.split()))
                sentences += [part if is_clean(part) else None for part in parts]
    return runs(sentences)


def is_clean(sentence):
    """Whether it goes from a capital to a full stop, in words, plain numbers and punctuation, in 5 to 40 tokens."""
    return WHOLE.fullmatch(sentence) is not None and 5 <= len(split_words(sentence)) <= 40


def runs(sentences):
    """The lists between the Nones."""
    return [list(run) for there, run in itertools.groupby(sentences, bool) if there]
