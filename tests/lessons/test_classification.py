"""The text boxes of lesson 10 take whatever is typed: the functions of the page, with small models that were not trained."""
import pytest
import torch

from helpers.text import Vocab
from helpers.transformer import Classifier
from helpers.widgets import AttentionExplorer, explore
from tests.lessons.typed import some, typed
from tests.notebooks import ROOT, code_cells, read

NEEDED = ("import torch", "def encode(", "def logits_of(", "def attention_of(", "def take_away(", "def reading(")  # held by cells


@pytest.fixture(scope="module")
def page():
    """The namespace of the page, its trained models replaced."""
    torch.manual_seed(0)
    vocab = Vocab([["<cls>", "expected", "a", "string", ",", "…"]])
    small = {"d_model": 8, "num_heads": 4, "d_ff": 8}
    namespace = {"classifier": Classifier(len(vocab), 4, **small).eval(), "kinds": ["NotImplemented", "Runtime", "Type", "Value"],
                 "diary_models": [Classifier(len(vocab), 2, **small).eval()], "diary_vocab": vocab,
                 "train_rows": [("a string, expected …", 0)] * 2}
    for cell in code_cells(read(ROOT / "notebooks" / "10_classification.ipynb")):
        if any(needed in cell.source for needed in NEEDED):
            exec(cell.source, namespace)
    for model in (namespace["classifier"], *namespace["diary_models"]):
        model.to(namespace["device"])
    return namespace


def test_the_lab_shows_something_for_whatever_is_typed(page, recwarn):
    lab = explore(page["take_away"], text="expected a string",
                  remove=lambda text: (0, max(1, len(page["split_words"](text)[:page["MOST"]]))))
    for text in some(typed()):
        lab.move(text=text)
        assert lab.message.layout.display == "none", (text, lab.message.value)
        page["take_away"](text, lab.ranges["remove"][-1])
    assert not list(recwarn)


def test_the_lab_names_the_words_that_the_model_does_not_know(page):
    attention, occlusion, probabilities = page["take_away"]("expected a <zebra\U0001f642 über", 4).axes
    labels = [label.get_text() for label in attention.get_yticklabels()]
    assert labels == ["<cls>", "expected", "a", "< = <unk>", "zebra = <unk>", "? = <unk>", "über = <unk>"]
    assert len(attention.texts) == len(occlusion.texts) + 1 == 7                   # <cls> stays: it has no fall
    assert probabilities.get_title().startswith("without 'zebra': ")


def test_the_explorer_shows_something_for_whatever_is_typed(page):
    explorer = AttentionExplorer.of_texts(page["reading"], text="expected a string")
    for text in some(typed()):
        explorer.texts = {"text": text}
        assert explorer.message == "", text
        explorer.make_changes([{"kind": "cut", "index": [0], "query": 0, "key": 0}])
        assert explorer.answer_after.split(",")[0] in ("worse", "better"), text
