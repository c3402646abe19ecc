"""The text box of lesson 11 takes whatever is typed: the functions of the page, with small models that were not trained."""
import functools
import string

import pytest
import torch

from helpers.text import Vocab
from helpers.transformer import GPT
from helpers.widgets import explore
from tests.lessons.typed import some, typed
from tests.notebooks import ROOT, code_cells, read


@pytest.fixture(scope="module")
def page():
    """The namespace of the page, its trained models replaced; five characters are written, not 240."""
    torch.manual_seed(0)
    vocab = Vocab([string.printable])
    model = GPT(len(vocab), d_model=8, num_heads=2, d_ff=8, num_layers=1).eval()
    namespace = {"model": model, "vocab": vocab, "writers": {"your GPT": (model, 128), "shipped GPT": (model, 256)}}
    for cell in code_cells(read(ROOT / "notebooks" / "11_small_gpt.ipynb")):
        if any(needed in cell.source for needed in ("import torch", "def draw_writing(")):
            exec(cell.source, namespace)
    model.to(namespace["device"])
    namespace["written_after"] = functools.partial(namespace["written_after"], count=5)
    return namespace


def test_the_lab_writes_after_whatever_is_typed(page, recwarn):
    lab = explore(page["draw_writing"], writer=list(page["writers"]), prompt="def ", temperature=[0.8], top_p=[1.0], cursor=(0, 4))
    for i, text in enumerate(some(typed())):
        lab.move(prompt=text, writer=list(page["writers"])[i % 2])
        assert lab.message.layout.display == "none", (text, lab.message.value)
    assert not list(recwarn)


def test_a_typed_line_end_is_one(page):
    written = page["draw_writing"]("your GPT", r"\n    def ", 0.8, 1.0, 0)
    assert written.alt.startswith(f"After the prompt {chr(10) + '    def '!r}")
