"""The text boxes of lesson 15 take whatever is typed: the functions of the page, with heads that were not trained."""
import pytest
import torch

from helpers.widgets import explore
from test_classification import typed
from tests.notebooks import ROOT, code_cells, read

TYPED = [*typed()[:-1], "half an emoji \ud83d"]
SAID = ("type a sentence", "type less")                      # how a message ends that says what is needed


@pytest.fixture(scope="module")
def page():
    """The functions of the two labs, with a judge and a reader whose heads are random."""
    cells, namespace = code_cells(read(ROOT / "notebooks" / "15_fine_tuning.ipynb")), {}
    for cell in cells[:2]:
        exec(cell.source, namespace)
    torch.manual_seed(0)
    judge = namespace["BertClassifier"](namespace["pretrained"](), 3).eval()
    reader = namespace["BertTagger"](namespace["pretrained"](), 2).eval()
    namespace |= {"judge": judge, "models": {"a span": reader}, "LABELS": ["entailment", "neutral", "contradiction"],
                  "rows": {"two texts": ((), (), [("It is.", "It is not.", 2)]), "a span": ((), (), [("Who?", "It is I.", 6, 7)])}}
    for cell in cells:
        if any(f"def {name}(" in cell.source for name in ("encode_pair", "hiding_each", "follows", "spans")):
            exec(cell.source, namespace)
    return namespace


def type_all(lab, boxes):
    """Type every text into the boxes in turn; the lab has to answer, or to say what is needed."""
    assert len(TYPED) == 200
    answered = 0
    for n, text in enumerate(TYPED):
        lab.move(**{boxes[n % len(boxes)]: text})
        hidden = lab.message.layout.display == "none"
        assert hidden or any(words in lab.message.value for words in SAID), (text, lab.message.value)
        answered += hidden
    assert answered > 50


def test_the_judge_answers_or_says_what_is_needed(page, recwarn):
    lab = explore(page["follows"], premise="It is.", hypothesis="It is not.", exchange=False,
                  hide=lambda premise, hypothesis: (0, page["pieces"](premise, hypothesis)))
    type_all(lab, ("premise", "hypothesis"))
    assert not list(recwarn)


def test_every_piece_can_be_hidden(page):
    lab = explore(page["follows"], premise="The server opens the large file.", hypothesis="It closes the file.", exchange=False,
                  hide=lambda premise, hypothesis: (0, page["pieces"](premise, hypothesis)))
    found = page["tokenizer"].encode("The server opens the large file.", "It closes the file.")
    assert list(lab.ranges["hide"]) == list(range(len(found) + 1))
    assert page["hiding_each"](found).shape == (1 + len(found), 3)


def test_the_reader_answers_or_says_what_is_needed(page, recwarn):
    lab = explore(page["spans"], passage="It is I.", question="Who?", most=(1, 8, 1, 8))
    type_all(lab, ("passage", "question"))
    assert not list(recwarn)
