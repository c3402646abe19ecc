"""What of a lesson answers on its page: the explorers' states and what its labs need, from one run."""
import functools
import json
import operator

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from tests.notebooks import ROOT, printed, read
from tools.site.computed import carry
from tools.site.labs import record

WIDGETS = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
EXPLORERS = ("AttentionExplorer", "ModelExplorer")
# Run below a cell that shows a lab; prints what its page needs.
RECORD = f"""import json as _json, sys as _sys
_sys.path.append({str(ROOT)!r})
from tools.site.running import for_page as _for_page
print(_json.dumps(_for_page({{!r}}, Out[max(Out)], globals())))"""


def run(path):
    """The states of a lesson's explorers and what the pages of its labs need, each by the number of its cell.

    The lesson is run up to the last of them. Raises RuntimeError with the lesson and the cell if that fails.
    """
    notebook = read(path)
    explorers, labs = numbers(notebook, EXPLORERS), numbers(notebook, ("Lab",))
    if not explorers and not labs:
        return {}, {}
    run_cells, reached, below = [], [], RECORD.format(path.stem)        # (number, cell), one more below each lab
    for number, cell in enumerate(notebook.cells[:max(explorers + labs) + 1]):
        run_cells += [(number, cell), *[(number, nbformat.v4.new_code_cell(below))] * (number in labs)]
    notebook.cells = [cell for _, cell in run_cells]
    client = NotebookClient(notebook, timeout=1800, store_widget_state=True, resources={"metadata": {"path": str(path.parent)}},
                            on_cell_start=lambda cell, cell_index: reached.append(run_cells[cell_index][0]))
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise RuntimeError(f"{path.stem}, cell {reached[-1]}: {error}") from error
    states = notebook.metadata.widgets[WIDGETS]["state"]
    return ({number: state_of(states[output.data[VIEW]["model_id"]]) for number, cell in run_cells if number in explorers
             for output in cell.outputs if VIEW in output.get("data", {})},
            {number: json.loads(printed(cell).splitlines()[-1]) for number, cell in run_cells if cell.source == below})


def for_page(lesson, lab, names):
    """What the page of a lesson needs of a lab that is computed there, or recorded; names: what the lesson has defined."""
    return carry(lesson, lab, names) or record(lab)


def numbers(notebook, kinds):
    """The cells whose saved output is a widget of one of these kinds."""
    return [i for i, cell in enumerate(notebook.cells) for output in cell.get("outputs", [])
            if output.get("data", {}).get("text/plain", "").startswith(tuple(f"{kind}(" for kind in kinds))]


def state_of(widget):
    """What the JavaScript reads of an explorer; in place of bytes {"base64": text}."""
    values = {name: value for name, value in widget["state"].items() if not name.startswith("_")}
    for buffer in widget["buffers"]:
        *path, last = buffer["path"]
        functools.reduce(operator.getitem, path, values)[last] = {"base64": buffer["data"]}
    return values
