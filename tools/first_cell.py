"""Writes the first code cell of every lesson, which does nothing where the course is installed.

Elsewhere it says what to do. In Colab it installs the course from the address that CITATION.cff names as repository-code, once
one is named there. It stands under the card, collapsed. The executions are counted again; the other cells keep their ids.
"""
import argparse
import re

import nbformat

from tests.notebooks import PATHS, ROOT, code_cells, has_tag, read
from tools.execute import fold

TAG, PLACE = "install", 2                                    # under the title and the card
CELL = '''# Does nothing where the course is installed.
try:
    import helpers.environment
except ModuleNotFoundError:
{}'''
HOW = '''raise ModuleNotFoundError(
            "this Python does not have the course: open the lesson by `make lab` in the course's folder") from None'''
INSTALL = '''    import sys

    if "google.colab" not in sys.modules:
        {}
    get_ipython().run_line_magic("pip", "install --quiet 'attention-course[test] @ git+{}'")'''
SAY = '''    raise ModuleNotFoundError(
        "this Python does not have the course: open the lesson by `make lab` in the course's folder; in Colab, run "
        "%pip install 'attention-course[test] @ git+ADDRESS', with its repository's address, and then this cell again"
    ) from None'''


def source(citation):
    """The code of the cell, given the text of CITATION.cff."""
    address = re.search(r"^repository-code: *[\"']?([^\s\"']+)", citation, flags=re.M)
    return CELL.format(INSTALL.format(HOW, address[1]) if address else SAY)


def insert(notebook, code):
    """Put the cell into its place, or write it again; count executions as a run from the top does."""
    cell = nbformat.v4.new_code_cell(code, id=TAG, metadata={"tags": [TAG]})
    fold(cell)
    notebook.cells = [other for other in notebook.cells if not has_tag(other, TAG)]
    notebook.cells.insert(PLACE, cell)
    for number, cell in enumerate(code_cells(notebook), 1):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number


def main():
    code = source((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    for path in PATHS:
        notebook = read(path)
        insert(notebook, code)
        nbformat.write(notebook, path)


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m tools.first_cell", description=__doc__,
                            formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
