"""Every control of every lab and explorer, moved through its range in a live kernel: each move changes the picture.

This is one more cell for nbval, run in each lesson's own kernel after its last one, so that no lesson is run twice.
"""
from collections import defaultdict

from nbformat.v4 import new_code_cell, new_output
from nbval.plugin import IPyNbCell

WIDGET = "application/vnd.jupyter.widget-view+json"
# Parts are looked up in the kernel's memory: nbval runs cells without a history, so Out does not hold them.
MOVE_EVERYTHING = '''
import gc as _gc, json as _json
from helpers.widgets import AttentionExplorer as _Explorer, Lab as _Lab, ModelExplorer as _Model

def _pixels(part):
    return part.image.pixels if isinstance(part, _Lab) else part.picture()._repr_mimebundle_()[0]["image/png"]

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

_parts = [part for part in _gc.get_objects() if issubclass(type(part), (_Lab, _Explorer, _Model))]
for _part in _parts:
    if getattr(_part, "run", None):
        _part.make_changes([{"kind": "off", "index": [0] * len(_part.axes)}])
print(_json.dumps({"parts": len(_parts), "trouble": [t for p in _parts for n in p.ranges if (t := _trouble(p, n))]}))
'''


def cell_that_moves_everything(lesson, number):
    """For `lesson`, nbval's file: the cell that comes last, and fails unless there is a lab or explorer and all is well."""
    shown = sum(WIDGET in output.get("data", {}) for cell in lesson.nb.cells for output in cell.get("outputs", []))
    wanted = f'{{"parts": {max(shown, 1)}, "trouble": []}}\n'
    cell = new_code_cell(MOVE_EVERYTHING, execution_count=number, outputs=[new_output("stream", name="stdout", text=wanted)])
    return IPyNbCell.from_parent(lesson, name="every control moves the picture", cell_num=number, cell=cell,
                                 options=defaultdict(bool, check=True))


def add_to(items):
    """Put that cell behind the last one of every lesson among pytest's items."""
    for item, following in list(zip(items, [*items[1:], None])):
        if isinstance(item, IPyNbCell) and (following is None or following.parent is not item.parent):
            items.insert(items.index(item) + 1, cell_that_moves_everything(item.parent, item.cell_num + 1))
