"""What a reader does out of turn: a kernel is interrupted, a lesson is run twice, a cell is run again after later ones."""
import ast
import re
import symtable

import pytest
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from tests.lessons.approximate import NUMBER
from tests.notebooks import NAMES, PATHS, ROOT, code_cells, has_tag, read

CHEAP = ["00_start_here", "01_nadaraya_watson"]
TRAIN_UNTIL_INTERRUPTED = """
import itertools, signal, torch
from torch import nn
from helpers.training import train

model, x = nn.Sequential(nn.Linear(2, 1), nn.Dropout(0.5)), torch.randn(8, 2)

def batches():
    for step in itertools.count():
        if step == 3:      # the signal that Jupyter's stop button sends, and at a moment when the kernel runs the cell
            print("training", model.training)
            signal.raise_signal(signal.SIGINT)
        yield x, x.sum(1, keepdim=True)

def loss_fn(model, x, y):
    return (model(x) - y).square().mean()

train(model, batches(), loss_fn)
"""
USE_THE_MODEL = """
print("training", model.training, bool(model(x).isfinite().all()), torch.equal(model(x), model(x)))
print(len(train(model, itertools.islice(batches(), 3), loss_fn)), "steps more")
"""


@pytest.fixture(scope="module")
def kernel():
    """The client of a kernel such as each lesson has."""
    manager, client = start_new_kernel(kernel_name="python3", cwd=ROOT / "notebooks")
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run(client, code):
    """What a cell prints, and the name of its error."""
    said = []

    def hear(message):
        if message["msg_type"] == "stream":
            said.append(message["content"]["text"])

    reply = client.execute_interactive(code, output_hook=hear, timeout=120)["content"]
    return "".join(said) + reply.get("ename", "")


def test_a_kernel_has_no_network_and_no_names_that_a_lesson_did_not_give_it(kernel):
    assert run(kernel, "print([name for name in ('errno', 'os', 'socket', 'sys', 'torch') if name in globals()])") == "[]\n"
    code = 'import socket\ntry: socket.create_connection(("192.0.2.1", 80), 1)\nexcept OSError as error: print(error)'
    assert "the tests have no network" in run(kernel, code)


def test_a_model_whose_training_is_interrupted_can_be_used(kernel):
    assert run(kernel, TRAIN_UNTIL_INTERRUPTED) == "training True\nKeyboardInterrupt"
    assert run(kernel, USE_THE_MODEL) == "training False True True\n3 steps more\n"


def shown(cell):
    """What a cell shows, without times, and without the ids of widgets."""
    for output in cell.outputs:
        data = output.get("data", {})
        text = output.get("text", data.get("text/plain", ""))
        yield output.output_type, re.sub(r"\d+(\.\d+)? ms", "", text), data.get("image/png")


@pytest.mark.parametrize("name", CHEAP)
def test_a_lesson_that_is_run_twice_shows_the_same(name):
    cells = code_cells(read(ROOT / "notebooks" / f"{name}.ipynb"))
    twice = new_notebook(cells=[new_code_cell(cell.source) for cell in cells * 2])
    NotebookClient(twice, timeout=600, coalesce_streams=True, resources={"metadata": {"path": ROOT / "notebooks"}}).execute()
    for cell, first, second in zip(cells, twice.cells, twice.cells[len(cells):]):
        assert list(shown(first)) == list(shown(second)), cell.source
        saved, new = ([NUMBER.sub("", text) for _, text, _ in shown(one)] for one in (cell, second))
        assert saved == new, cell.source


def bound(source):
    """The names that a cell binds. symtable adds the variables of its comprehensions, from Python 3.12 on (PEP 709)."""
    names, left = set(), [ast.parse(source)]
    while left:
        for node in ast.iter_child_nodes(left.pop()):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.alias):
                names.add(node.asname or node.name.split(".")[0])
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif not isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda):
                left.append(node)
    return names


def read_later(table):
    """The names of the notebook that a cell's functions read whenever they are called; a comprehension reads its own at once."""
    names = set()
    for inner in table.get_children():
        if isinstance(inner, symtable.Function) and not inner.get_name().endswith(("comp", "genexpr")):
            names |= {symbol.get_name() for symbol in inner.get_symbols() if symbol.is_referenced()     # symtable takes a
                      and symbol.is_global() and not symbol.is_local()}                # function named `top` for a module
        names |= read_later(inner)
    return names


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_no_function_reads_what_a_later_cell_binds_to_something_else(path):
    """It would answer otherwise when the reader calls it again, or moves the lab that it draws.

    Definitions that are shown are those that were imported, which another test says, so that they may be bound anew.
    """
    cells = [cell.source for cell in code_cells(read(path))]
    tables = [symtable.symtable(source, path.name, "exec") for source in cells]
    for i, table in enumerate(tables):
        known = set().union(*map(bound, cells[:i + 1]))
        anew = [bound(later) for later in cells[i + 1:] if not later.startswith("# %load")]
        trouble = read_later(table) & known & set().union(*anew)
        assert not trouble, cells[i]


def assigned(table):
    """The names that a cell binds, and from Python 3.12 on those of its comprehensions, as in `used`."""
    return {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}


def used(table):
    """The names of the notebook that a cell or its functions read."""
    names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()
             and (table.get_type() == "module" or symbol.is_global())}
    return names.union(*map(used, table.get_children()))


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_no_cell_needs_what_only_claims_bind(path):
    """Claims are tests: who reads the page, or copies a solution, leaves them out."""
    tables = {True: [], False: []}
    for cell in code_cells(read(path)):
        tables[has_tag(cell, "claims")].append(symtable.symtable(cell.source, path.name, "exec"))
    needed, given = (set().union(*map(names, tables[False])) for names in (used, assigned))
    assert not needed & set().union(*map(assigned, tables[True])) - given
