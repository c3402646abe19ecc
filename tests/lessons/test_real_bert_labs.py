"""Every cell of lesson 16 runs with another BERT, a small one that was not trained, and its text boxes take whatever is typed."""
import pytest
import torch

from helpers.bert import Bert, BertForPretraining
from helpers.pretrained.download import fetch_bert
from helpers.pretrained.format import load_tokenizer, save_bert
from helpers.widgets import AttentionExplorer, explore
from tests.lessons.typed import some, typed
from tests.notebooks import ROOT, code_cells, read

TYPED = [*some(typed()), "half an emoji \ud83d"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The namespace of the page after its last cell; all that it measures comes from the small model."""
    torch.manual_seed(0)
    folder, tokenizer, namespace = tmp_path_factory.mktemp("small"), load_tokenizer(fetch_bert()), {}
    save_bert(BertForPretraining(Bert(d_model=8, num_heads=2, d_ff=8, num_layers=2), False, False), folder, tokenizer)
    for cell in code_cells(read(ROOT / "notebooks" / "16_real_bert.ipynb")):
        exec(cell.source.replace('MODEL = "all-MiniLM-L6-v2"', 'MODEL = "small"'), namespace)
        namespace["fetch_bert"] = {"small": folder}.get
    return namespace


def test_every_cell_takes_another_model(page):
    assert (page["MODEL"], page["num_layers"], page["num_heads"]) == ("small", 2, 2)


def test_the_lab_of_heads_answers_every_query(page, recwarn):
    lab = explore(page["switch"], search="", word=list(page["SENSES"]), layer=[0, 1, "all"], heads=[0, 1, "all"],
                  how=list(page["HOW"]))
    for text in TYPED:
        lab.move(search=text)
        assert lab.message.layout.display == "none", (text, lab.message.value)
    for position, heads in (({}, "head 0"), ({"heads": 1}, "head 1"), ({"heads": "all"}, "all heads")):
        lab.move(**position)
        assert f"Layer 0, {heads} off:" in lab.image.alt
        lab.move(layer="all")
        assert f"All layers, {heads} off:" in lab.image.alt
        lab.move(layer=0)
    assert not list(recwarn)


def test_the_lab_of_classes_takes_whatever_is_typed(page, recwarn):
    """Each box and each kind of features meets a part of the texts; the text to sort, all of them."""
    kinds = ["embedding", "after 1 layers", "embedding, heads off", "tf-idf"]
    lab = explore(page["teach"], A="a parcel\nit came", B="money\na card", C="", text="", features=kinds)
    for n, text in enumerate(TYPED):
        lab.move(text=text, features=kinds[n // 3 % 4], **{"ABC"[n % 3]: f"{text}\n{TYPED[n - 1]}\n{text}"})
        assert lab.message.layout.display == "none", (text, lab.message.value)
    for features in kinds:
        lab.move(A="", B="one line", C="a\nb", features=features)
        assert lab.image.alt == "Two boxes need two lines each."
    lab.move(A="a parcel\nit came", B="money\na card", C="", features="tf-idf", text="")
    assert lab.image.alt.endswith("your text: empty.")
    lab.move(text="zebra")
    assert lab.image.alt.endswith("your text: no word in common.")
    lab = explore(page["teach"], A="", B="", C="", text="a parcel", features=kinds, examples=["15 by intent"])
    assert " of 15 right" in lab.image.alt
    assert not list(recwarn)


@pytest.mark.parametrize("reader, boxes", [("all_maps", {"first": "a word", "second": ""}), ("reading", {"text": "the seal"})])
def test_the_explorers_answer_or_say_what_is_needed(page, reader, boxes):
    explorer = AttentionExplorer.of_texts(page[reader], **boxes)
    answered = 0
    for n, text in enumerate(TYPED):
        explorer.texts = dict.fromkeys(boxes, text) if n % 2 else explorer.texts | {next(iter(boxes)): f"the bank {text}"}
        answered += not explorer.message
        assert not explorer.message or " tokens" in explorer.message, (text, explorer.message)
    assert (0.2 if reader == "reading" else 0.5) * len(TYPED) < answered < len(TYPED)
