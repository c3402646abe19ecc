"""Run lessons from top to bottom, each in a fresh kernel, and keep their outputs.

First every cell that begins with `# %load -s NAME FILE` gets the definition as it stands in that file now.
What a run leaves that is not the lesson's (times, versions, widget state, random ids) is not kept.
Cells are folded as their tags ask: `solution`, `claims`, `predict`, `install`, `drawing`, `aside`. So is the part `For the
curious`.
"""
import argparse
import pathlib

import nbformat
from nbclient import NotebookClient

from tests.notebooks import LOAD, PATHS, definition, has_tag

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
COLLAPSED = "jp-MarkdownHeadingCollapsed"                    # JupyterLab hides what stands under such a heading until it is opened
KEPT = ("tags", "jupyter", "tolerance", "absolute", COLLAPSED)
FOLDED = {"solution": ("source_hidden", "outputs_hidden"), "claims": ("source_hidden",), "predict": ("outputs_hidden",),
          "install": ("source_hidden",), "drawing": ("source_hidden",), "aside": ("source_hidden",)}


def execute(path):
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        refresh(cell, path.parent)
        fold(cell)
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python", "file_extension": ".py"}}
    NotebookClient(notebook, timeout=600, record_timing=False, store_widget_state=False,
                   coalesce_streams=True, resources={"metadata": {"path": str(path.parent)}}).execute()
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python", "file_extension": ".py"}}
    notebook.nbformat_minor = 5
    for number, cell in enumerate(cell for cell in notebook.cells if cell.id != "install"):     # links lead to the others by number
        cell.id = f"cell-{number:02d}"
    for cell in notebook.cells:
        cell.metadata = {key: value for key, value in cell.metadata.items() if key in KEPT}
    nbformat.write(notebook, path)


def refresh(cell, folder):
    """Let a cell that shows a definition show what its file, named as seen from `folder`, says now."""
    if shown := LOAD.match(cell.source):
        cell.source = shown[0] + definition(shown[1], folder / shown[2])


def fold(cell):
    """Hide solutions with their output, the source of claims, drawings and asides, the output that answers a Predict, and what
    stands under `For the curious`; show all else."""
    if cell.source.startswith("## For the curious"):
        cell.metadata[COLLAPSED] = True
    if cell.cell_type == "code":
        cell.metadata.pop("jupyter", None)
        if hidden := {what: True for tag, parts in FOLDED.items() if has_tag(cell, tag) for what in parts}:
            cell.metadata["jupyter"] = hidden


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.execute", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", type=pathlib.Path, metavar="notebook", default=PATHS,
                        help="such as notebooks/01_nadaraya_watson.ipynb; all lessons if none is named")
    for path in parser.parse_args().notebooks:
        execute(path)
        print("ran", path, flush=True)
