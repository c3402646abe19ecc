"""Run notebooks top to bottom in a fresh kernel and keep their outputs: python tools/execute.py [notebooks/01_....ipynb ...]

What a run leaves that is not the lesson's (times, versions, widget state, random ids) is not kept.
"""
import pathlib
import sys

import nbformat
from nbclient import NotebookClient

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def execute(path):
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python", "file_extension": ".py"}}
    NotebookClient(notebook, timeout=600, record_timing=False, store_widget_state=False, coalesce_streams=True,
                   resources={"metadata": {"path": str(path.parent)}}).execute()
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python", "file_extension": ".py"}}
    notebook.nbformat_minor = 5
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:02d}"
        cell.metadata = {key: value for key, value in cell.metadata.items() if key in ("tags", "jupyter")}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for path in [pathlib.Path(name) for name in sys.argv[1:]] or sorted((ROOT / "notebooks").glob("*.ipynb")):
        execute(path)
        print("ran", path.name)
