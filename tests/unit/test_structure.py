"""The tree is what the README and the design say: small flat modules that import one way down."""
import ast
import re

import pytest

from tests.notebooks import ROOT

IMPORTS = {
    "masks": {},
    "kernels": {},
    "attention": {"masks"},
    "recording": {},
    "text": {},
    "corpora": {"corpora", "text"},
    "recurrent": {"attention", "masks"},
    "transformer": {"attention", "masks", "positions"},
    "bert": {"masks", "positions", "transformer"},
    "wordpiece": {},
    "masking": {"text", "wordpiece"},
    "finetuning": {"bert", "text"},
    "checkpoints": {"bert", "loading", "wordpiece"},
    "hub": {"checkpoints", "corpora"},
    "inside": {"recording", "text"},
    "decoding": {"text"},
    "answers": {"decoding", "text", "transformer"},
    "fonts": {"corpora"},
    "training": {"text"},
    "parallel": {"text"},
    "resuming": {"loading"},
    "pretrain": {"bert", "checkpoints", "corpora", "loading", "masking", "parallel", "resuming", "training", "wordpiece"},
    "loading": {},
    "environment": {},
    "weights": {"bert", "checkpoints", "corpora", "decoding", "finetuning", "loading", "recording", "recurrent", "text", "training",
                "transformer"},
    "positions": {},
    "pictures": {},
    "figures": {"pictures"},
    "controls": {},
    "widgets": {"controls", "figures", "pictures"},
    "previews": {"answers", "attention", "checkpoints", "corpora", "decoding", "figures", "fonts", "hub", "inside", "kernels",
                 "loading", "masking", "masks", "positions", "previews", "recording", "recurrent", "text", "training",
                 "transformer", "weights"},
    "checks": {"checks"},
}
MADE = {"student", "site"}                                   # by make, for others; git knows neither
MODULES = [path for path in sorted((ROOT / "helpers").rglob("*.py")) if path.name != "__init__.py" or path.parent.name == "checks"]


def name_of(path):
    return path.relative_to(ROOT / "helpers").parts[0].removesuffix(".py")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "helpers":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module.startswith("helpers."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("helpers."))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT / "helpers")))
def test_a_module_imports_what_it_may(path):
    allowed = IMPORTS[name_of(path)]
    assert set(imported(path)) <= set(allowed), f"{path.name} may import {sorted(allowed)} from helpers"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT / "helpers")))
def test_a_module_is_small(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 260


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT / "helpers")))
def test_what_is_public_says_what_it_is(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{path.name} needs a docstring"
    if "checks" not in path.parts:
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and name_of(path) not in ("widgets", "figures", "pictures"):
                assert ast.get_docstring(node), f"{path.name}: {node.name} needs a docstring"


def test_the_top_level_holds_what_it_should():
    there = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert there <= {"notebooks", "helpers", "environment.yml", "README.md", "tests", "pyproject.toml", "Makefile"} | MADE


def test_no_six_lines_stand_twice():
    """But for blank ones, imports, comments, and those that hold brackets alone."""
    places = {}
    files = [path for folder in ("helpers", "tests") for path in sorted((ROOT / folder).rglob("*"))]
    for path in [path for path in files if path.suffix in (".py", ".js")]:
        lines = [(number, " ".join(line.split())) for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)]
        lines = [(number, line) for number, line in lines if re.search(r"\w", line) and not re.match(r"#|//|import |from ", line)]
        for start in range(len(lines) - 5):
            place = f"{path.relative_to(ROOT)}:{lines[start][0]}"
            six = tuple(line for _, line in lines[start:start + 6])
            assert places.setdefault(six, place) == place, f"{place} is written already at {places[six]}: share it"
