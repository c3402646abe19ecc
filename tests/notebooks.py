"""The lessons as the tests read them."""
import pathlib
import re

import nbformat

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAMES = [path.stem for path in PATHS]


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def is_solution(cell):
    return "solution" in cell.metadata.get("tags", [])


def shown_definitions(notebook):
    """(name, path, source) of every definition that a lesson shows from its module."""
    for cell in code_cells(notebook):
        if match := re.match(r"# %load -s (\w+) (\S+)\n", cell.source):
            yield match[1], ROOT / "notebooks" / match[2], cell.source


def printed(cell):
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")
