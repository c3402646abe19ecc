"""Every control of every lab and explorer, moved through its range in a live kernel: each move changes the picture."""
import json

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

from notebooks import NAMES, PATHS, printed, read

# Runs in the lesson's own kernel, after its last cell. `Out` holds what the cells showed.
MOVE_EVERYTHING = '''
import json as _json
from helpers.widgets import AttentionExplorer as _Explorer, Lab as _Lab

def _pixels(part):
    return part.image.png if isinstance(part, _Lab) else part.picture()._repr_mimebundle_()[0]["image/png"]

def _trouble(part, name):
    values = list(part.ranges[name])
    chosen = values if len(values) <= 9 else [values[round(i * (len(values) - 1) / 8)] for i in range(9)]
    seen = []
    for value in chosen:
        part.move(**{name: value})
        if isinstance(part, _Lab) and part.message.layout.display != "none":
            return f"{name}={value}: {part.message.value}"
        seen.append(_pixels(part))
    if any(a == b for a, b in zip(seen, seen[1:])):
        return f"{name}: a move between {chosen} leaves the picture as it was"

_parts = [part for part in Out.values() if isinstance(part, (_Lab, _Explorer))]
print(_json.dumps({"parts": len(_parts), "trouble": [t for p in _parts for n in p.ranges if (t := _trouble(p, n))]}))
'''


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_every_control_moves_the_picture(path):
    notebook = read(path)
    shown = sum("application/vnd.jupyter.widget-view+json" in output.get("data", {})
                for cell in notebook.cells for output in cell.get("outputs", []))
    notebook.cells.append(new_code_cell(MOVE_EVERYTHING))
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(path.parent)}}).execute()
    report = json.loads(printed(notebook.cells[-1]))
    assert report == {"parts": shown, "trouble": []}
    assert shown >= 1
