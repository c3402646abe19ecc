"""The rules of the tree, one test for each: who imports whom, what is where, what is documented, and how much there is."""
import ast
import re

import helpers
from tests.notebooks import ROOT

HELPERS = ROOT / "helpers"
TOP = {"README.md", "LICENSE", "CITATION.cff", "CONTRIBUTING.md", "environment.yml", "pyproject.toml", "requirements.lock",
       "Makefile", "notebooks", "helpers", "tools", "tests"}
MADE = {"student", "site"}                                   # by make, for others; git knows neither
ORDER = ["masks", "hooks", "kernel_regression", "attention", "positions", "text", "recurrent", "transformer", "bert", "training",
         "generation", "finetuning"]                         # each may import those before it
MAY_IMPORT = {
    **{name: set(ORDER[:i]) for i, name in enumerate(ORDER)},
    "environment": set(),
    "plots": set(),
    "data": {"data", "text"},
    "widgets": {"widgets", "plots"},
    "pretrained": {"pretrained", "data", *ORDER},
    "pretraining": {"pretraining", "pretrained", "data", *ORDER},
    "exercises": {"exercises"},
}
OLD_NAMES = re.compile(
    r"helpers[./](answers|checkpoints|checks|controls|corpora|decoding|figures|fonts|hub|inside|kernels|loading|masking|parallel"
    r"|pictures|pretrain|previews|recording|resuming|weights|wordpiece|explorer|picture)\b"
    r"|tests/(execute|handout|matrix|measured|prose|website)\b"
    r"|\b(Cache\(|DecoderOnly|MaskedWordHead|both_ways|check_ids|check_model_sizes|fill_gaps|for_heads|held_out_scores|hide_words"
    r"|in_place_of|is_watched|masked_words|mean_over_words|next_word|source_mask)\b")
LINES = 4600                                                 # of Python in helpers, without exercises


def written(*folders, suffixes):
    """The files of these folders, or these files, that somebody wrote."""
    for folder in folders:
        paths = sorted((ROOT / folder).rglob("*")) if (ROOT / folder).is_dir() else [ROOT / folder]
        yield from (path for path in paths if path.suffix in suffixes and not set(path.parts) & {"__pycache__", ".ipynb_checkpoints"})


def modules():
    """Of helpers: (name of the flat module or folder, path, syntax tree)."""
    for path in written("helpers", suffixes={".py"}):
        yield path.relative_to(HELPERS).parts[0].removesuffix(".py"), path, ast.parse(path.read_text(encoding="utf-8"))


def place(path, node):
    return f"{path.relative_to(ROOT)}:{node.lineno}"


def imported(tree):
    """(what is imported of helpers, the statement) of every import, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "helpers":
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module.startswith("helpers."):
            yield node.module.split(".")[1], node
        elif isinstance(node, ast.Import):
            yield from ((alias.name.split(".")[1], node) for alias in node.names if alias.name.startswith("helpers."))


def test_modules_import_downwards_only():
    upwards = [f"{place(path, node)}: {name} may not import {other}" for name, path, tree in modules()
               for other, node in imported(tree) if other not in MAY_IMPORT.get(name, ())]
    assert not upwards
    assert {name for name, _, _ in modules()} <= {*MAY_IMPORT, "__init__"}


def test_the_top_level_holds_what_it_should():
    there = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert TOP <= there <= TOP | MADE


def test_the_map_names_every_module_and_folder():
    named = re.findall(r"^([a-z_]+)/?  ", helpers.__doc__, flags=re.MULTILINE)
    assert sorted([*named, "__init__"]) == sorted({name for name, _, _ in modules()})


def test_what_is_public_has_a_docstring():
    silent = [f"{place(path, node)} {node.name}" for name, path, tree in modules() if name != "exercises" for node in tree.body
              if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_") and not ast.get_docstring(node)]
    silent += [str(path.relative_to(ROOT)) for _, path, tree in modules() if not ast.get_docstring(tree)]
    assert not silent


def test_nothing_private_is_read():
    """No attribute of a foreign object that begins with an underscore; nor `.data`, which goes behind autograd's back.

    Those that end in one, too, as `_repr_mimebundle_`, are IPython's protocol; `_replace` is a named tuple's.
    """
    read = [f"{place(path, node)} .{node.attr}" for _, path, tree in modules() for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") not in ("self", "cls")
            and (re.fullmatch("_[^_].*[^_]", node.attr) and node.attr != "_replace" or node.attr == "data")]
    assert not read


def test_no_old_name_is_left():
    files = written("helpers", "tools", "tests", "notebooks", "README.md", "CONTRIBUTING.md", "Makefile", "pyproject.toml", ".github",
                    suffixes={".py", ".ipynb", ".md", ".js", ".css", ".html", ".toml", ".yml", ""})
    left = [f"{path.relative_to(ROOT)}:{number}: {match[0]}" for path in files if path.is_file() and path.name != "test_structure.py"
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if (match := OLD_NAMES.search(line))]
    assert not left


def test_the_package_is_small():
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for name, path, _ in modules() if name != "exercises"}
    assert sum(lines.values()) <= LINES


def test_no_six_lines_stand_twice():
    """But for blank ones, imports, comments, and those that hold brackets alone."""
    places = {}
    for path in written("helpers", "tools", "tests", suffixes={".py", ".js"}):
        lines = [(number, " ".join(line.split())) for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)]
        lines = [(number, line) for number, line in lines if re.search(r"\w", line) and not re.match(r"#|//|import |from ", line)]
        for start in range(len(lines) - 5):
            found = f"{path.relative_to(ROOT)}:{lines[start][0]}"
            six = tuple(line for _, line in lines[start:start + 6])
            assert places.setdefault(six, found) == found, f"{found} is written already at {places[six]}: share it"
