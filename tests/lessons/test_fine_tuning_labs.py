"""The text boxes of lesson 15 take whatever is typed: the functions of the page, with heads that were not trained."""
import pytest
import torch

from helpers.widgets import explore
from tests.lessons.typed import some, typed
from tests.notebooks import ROOT, code_cells, read

SAID = ("type a sentence", "type less")                      # how a message ends that says what is needed


@pytest.fixture(scope="module")
def page():
    """The functions of the two labs, with a judge and a reader whose heads are random."""
    cells, namespace = code_cells(read(ROOT / "notebooks" / "15_fine_tuning.ipynb")), {}
    setup = next(number for number, cell in enumerate(cells) if "import torch" in cell.source)
    for cell in cells[setup:setup + 2]:
        exec(cell.source, namespace)
    torch.manual_seed(0)
    judge = namespace["BertClassifier"](namespace["pretrained"](), 3).eval()
    reader = namespace["BertTagger"](namespace["pretrained"](), 2).eval()
    namespace |= {"judge": judge, "longest": 5, "models": {"a span": reader}, "LABELS": ["entailment", "neutral", "contradiction"],
                  "rows": {"two texts": ((), (), [("It is.", "It is not.", 2)] * 2),
                           "a span": ((), (), [("Who?", "It is I.", 6, 7)])}}
    for cell in cells:
        if any(f"def {name}(" in cell.source for name in ("encode_pair", "changing_each", "follows", "spans")):
            exec(cell.source, namespace)
    return namespace


def type_all(lab, boxes):
    """Type every text into the boxes in turn; the lab has to answer, or to say what is needed."""
    answered = 0
    for n, text in enumerate(some(typed())):
        lab.move(**{boxes[n % len(boxes)]: text})
        hidden = lab.message.layout.display == "none"
        assert hidden or any(words in lab.message.value for words in SAID), (text, lab.message.value)
        answered += hidden
    assert answered > 5


def test_the_judge_answers_or_says_what_is_needed(page, recwarn):
    lab = explore(page["follows"], premise="It is.", hypothesis="It is not.", exchange=False, way=page["WAYS"],
                  piece=lambda premise, hypothesis: (0, page["pieces"](premise, hypothesis)))
    for way in page["WAYS"]:
        lab.move(way=way, piece=2)
        type_all(lab, ("premise", "hypothesis"))
    assert not list(recwarn)


def test_every_piece_can_be_changed_in_three_ways(page):
    lab = explore(page["follows"], premise="The server opens the large file.", hypothesis="It closes the file.", exchange=False,
                  way=page["WAYS"], piece=lambda premise, hypothesis: (0, page["pieces"](premise, hypothesis)))
    found, tokenizer = page["tokenizer"].encode("The server opens the large file.", "It closes the file."), page["tokenizer"]
    assert list(lab.ranges["piece"]) == list(range(len(found) + 1))

    def read(i, way):
        ids, segments, _ = page["changed"](found, i, way)
        assert len(ids) == len(segments) and ids[segments.index(1) - 1] == ids[-1] == tokenizer.token_to_id("[SEP]")
        return " ".join(tokenizer.id_to_token(n) for n in ids[1:-1])

    assert read(2, "[MASK]") == "the [MASK] opens the large file . [SEP] it closes the file ."
    assert read(5, "left out") == "the server opens the file . [SEP] it closes the file ."
    assert read(5, "made as in the other text") == "the server opens the file . [SEP] it closes the file ."
    assert read(9, "left out") == "the server opens the large file . [SEP] closes the file ."
    for way in page["WAYS"]:
        assert read(0, way) == read(8, way) == read(len(found) - 1, way) == " ".join(found.tokens[1:-1])     # [CLS] and [SEP] stay
        assert page["changing_each"](found, way).shape == (1 + len(found), 3)


def test_one_difference_is_undone_at_a_time(page):
    one, other = "the editor loads the new file".split(), "the program saves the file".split()
    assert page["made_as"](one, other, 1) == "the program loads the new file".split()
    assert page["made_as"](one, other, 2) == "the editor saves the new file".split()
    assert page["made_as"](one, other, 4) == "the editor loads the file".split()
    assert page["made_as"](one, other, 0) == one


def test_the_reader_answers_or_says_what_is_needed(page, recwarn):
    lab = explore(page["spans"], passage="It is I.", question="Who?", most=(1, 8, 1, 8))
    type_all(lab, ("passage", "question"))
    assert not list(recwarn)
