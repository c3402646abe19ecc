"""The lessons as the tests and tools read them."""
import ast
import pathlib
import re

import nbformat

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATHS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))                    # the glossary is no lesson
NAMES = [path.stem for path in PATHS]
LOAD = re.compile(r"# %load -s (\w+(?:,\w+)*) (\S+)\n")      # the first line of a cell that shows definitions


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def has_tag(cell, tag):
    return tag in cell.metadata.get("tags", [])


def is_solution(cell):
    return has_tag(cell, "solution")


def definition(names, path):
    """The source of functions or classes at the top of a module, with their decorators; names: with commas between them.

    Raises ValueError when the module defines nothing of a name.
    """
    text = path.read_text(encoding="utf-8")
    nodes = {node.name: node for node in ast.parse(text).body if hasattr(node, "name")}
    if missing := [name for name in names.split(",") if name not in nodes]:
        raise ValueError(f"{path.name} defines no {missing[0]}")
    found = [nodes[name] for name in names.split(",")]
    first = [min(part.lineno for part in (node, *node.decorator_list)) for node in found]
    return "\n\n".join("\n".join(text.splitlines()[line - 1:node.end_lineno]) for line, node in zip(first, found))


def printed(cell):
    return "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
