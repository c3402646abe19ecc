"""The text boxes of lesson 14 take whatever is typed: its functions, with an untrained model and counts of a few sentences."""
import pytest
import torch

from helpers.bert import Bert, BertForPretraining
from helpers.widgets import explore
from test_bert_labs import in_lab
from tests.lessons.typed import some, typed
from tests.notebooks import ROOT, code_cells, has_tag, is_solution, read

# What marks the cells that no lab needs.
UNNEEDED = ("# %load", "TrainingCurve(", "SENSES", "losses_of(", "of_seeds(", "explore(guess", "small_losses", "by_shipped",
            "new_trials")
NOTEBOOK = read(ROOT / "notebooks" / "14_pretraining.ipynb")
PARAGRAPHS = [["the file is read.", "it is an array.", "the key is in it."]] * 40


@pytest.fixture(scope="module")
def page():
    """The namespace of the page after the cells that its labs need."""
    torch.manual_seed(0)
    names = {}
    for cell in code_cells(NOTEBOOK):
        if not (has_tag(cell, "claims") or is_solution(cell) or any(word in cell.source for word in UNNEEDED)):
            exec(cell.source, names)
        names |= {"load_paragraphs": lambda: None, "hold_out": lambda _: (PARAGRAPHS, PARAGRAPHS[:9]),
                  "shipped": BertForPretraining(Bert(8000, 8, 4, 8, 2, 128)).eval()}
    return names


def test_both_answers_are_drawn_whatever_is_typed(page, recwarn):
    lab = eval(next(cell.source for cell in code_cells(NOTEBOOK) if "explore(compare" in cell.source), page)
    in_lab(lab, ["lock", "", "an error", *some(typed())], "text")               # fewer tokens than the number of the first gap
    for text in some(typed()):
        page["compare"](text, 7)
    assert not list(recwarn)


def test_pairs_are_judged_whatever_is_typed(page, recwarn):
    lab = explore(page["judge"], pair=["a key / a file", "an error / a list"], own_first="a key", own_second="")
    for name in ("own_first", "own_second"):
        in_lab(lab, some(typed()), name)
    for first, second in some(list(zip(typed(), typed()[1:]))):
        page["judge"]("a key / a file", first, second)
    assert not list(recwarn)
