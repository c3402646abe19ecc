"""The rules of the tree, one test for each: imports, places, docstrings, names, and how much there is."""
import ast
import re

import helpers
from tests.notebooks import ROOT

TOP = {"README.md", "LICENSE", "CITATION.cff", "CONTRIBUTING.md", "environment.yml", "pyproject.toml",
       "requirements.lock", "Makefile", "notebooks", "helpers", "tools", "tests"}
MADE = {"student", "site"}                                   # by make, for others; git knows neither
ORDER = ["masks", "hooks", "kernel_regression", "attention", "positions", "text", "ngrams", "recurrent", "transformer",
         "bert", "training", "generation", "finetuning"]     # each may import those before it
MAY_IMPORT = {
    **{name: set(ORDER[:i]) for i, name in enumerate(ORDER)},
    "environment": set(),
    "plots": set(),
    "data": {"data", "text"},
    "widgets": {"widgets", "plots", "hooks"},
    "pretrained": {"pretrained", "data", *ORDER},
    "pretraining": {"pretraining", "pretrained", "data", *ORDER},
    "exercises": {"exercises"},
    "jupyter": set(),
}
OLD_NAMES = re.compile(
    r"helpers[./](answers|checkpoints|checks|controls|corpora|decoding|explorer|figures|fonts|hub|inside"
    r"|kernels|loading|masking|parallel|picture|pictures|pretrain|previews|recording|resuming|weights"
    r"|wordpiece)\b"
    r"|tests/(execute|handout|matrix|measured|prose|website)\b"
    r"|\b(Cache\(|DecoderOnly|MaskedWordHead|both_ways|check_ids|check_model_sizes|fill_gaps|for_heads"
    r"|held_out_scores|hide_words|in_place_of|is_watched|masked_words|mean_over_words|next_word"
    r"|source_mask)\b")
LINES = 6_498                                           # of Python in helpers, without exercises


def written(*names, suffixes):
    """(path, text) of the files that somebody wrote: these, and those in these folders."""
    for top in (ROOT / name for name in names):
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.suffix in suffixes and path.is_file() and ".ipynb_checkpoints" not in path.parts:
                yield path, path.read_text(encoding="utf-8")


def modules():
    """Of helpers: (flat module or folder, path, syntax tree)."""
    for path, text in written("helpers", suffixes={".py"}):
        yield path.relative_to(ROOT / "helpers").parts[0].removesuffix(".py"), path, ast.parse(text)


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
            names = (alias.name.split(".") for alias in node.names)
            yield from ((name[1], node) for name in names if name[0] == "helpers" and len(name) > 1)


def test_modules_import_downwards_only():
    upwards = [f"{place(path, node)}: {name} may not import {other}" for name, path, tree in modules()
               for other, node in imported(tree) if other not in MAY_IMPORT.get(name, ())]
    assert not upwards


def test_the_top_level_holds_what_it_should():
    there = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert TOP <= there <= TOP | MADE


def test_the_map_names_every_module_and_folder():
    named = re.findall(r"^([a-z_]+)/?  ", helpers.__doc__, flags=re.MULTILINE)
    assert sorted([*named, "__init__"]) == sorted({name for name, _, _ in modules()})


def test_what_is_public_has_a_docstring():
    public = [(path, node) for name, path, tree in modules() if name != "exercises" for node in tree.body
              if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")]
    silent = [f"{place(path, node)} {node.name}" for path, node in public if not ast.get_docstring(node)]
    silent += [str(path.relative_to(ROOT)) for _, path, tree in modules() if not ast.get_docstring(tree)]
    assert not silent


def test_nothing_private_is_read():
    """No attribute of a foreign object that begins with an underscore, and no `.data`, hidden from autograd.

    Those that end in an underscore, too, such as `_repr_mimebundle_`, are IPython's protocol; `_replace` is a
    named tuple's.
    """
    foreign = [(path, node) for _, path, tree in modules() for node in ast.walk(tree)
               if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") not in ("self", "cls")]
    read = [f"{place(path, node)} .{node.attr}" for path, node in foreign
            if node.attr == "data" or re.fullmatch("_[^_].*[^_]", node.attr) and node.attr != "_replace"]
    assert not read


def test_no_old_name_is_left():
    files = written("helpers", "tools", "tests", "notebooks", ".github", "README.md", "CONTRIBUTING.md",
                    "Makefile", "pyproject.toml",
                    suffixes={".py", ".ipynb", ".md", ".js", ".css", ".html", ".toml", ".yml", ""})
    left = [f"{path.relative_to(ROOT)}:{number}: {match[0]}" for path, text in files
            if path.name != "test_structure.py"
            for number, line in enumerate(text.splitlines(), 1) for match in OLD_NAMES.finditer(line)]
    assert not left


def test_the_package_is_small():
    files = written("helpers", suffixes={".py"})
    assert sum(len(text.splitlines()) for path, text in files if "exercises" not in path.parts) <= LINES


def test_no_six_lines_stand_twice():
    """But for blank ones, imports, comments, and those that hold brackets alone."""
    places = {}
    for path, text in written("helpers", "tools", "tests", suffixes={".py", ".js"}):
        lines = [(number, " ".join(line.split())) for number, line in enumerate(text.splitlines(), 1)]
        lines = [(number, line) for number, line in lines
                 if re.search(r"\w", line) and not re.match(r"#|//|import |from ", line)]
        for start in range(len(lines) - 5):
            found = f"{path.relative_to(ROOT)}:{lines[start][0]}"
            six = tuple(line for _, line in lines[start:start + 6])
            assert places.setdefault(six, found) == found, f"{found} repeats {places[six]}: share it"
