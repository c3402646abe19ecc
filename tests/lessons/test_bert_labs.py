"""The text boxes of lesson 13 take whatever is typed: the functions of the page, without its corpus."""
import ast

import pytest
import torch

from helpers.bert import Bert, BertForPretraining
from helpers.pretrained.format import load_tokenizer
from helpers.pretrained.weights import SHIPPED
from helpers.text import train_wordpiece
from helpers.widgets import AttentionExplorer, explore
from tests.lessons.typed import some, typed
from tests.notebooks import ROOT, code_cells, has_tag, is_solution, read

VALUES = {"COLORS", "MOST", "CLS", "BARS"}                         # what the functions need of the page's values


@pytest.fixture(scope="module")
def page():
    """What the lesson imports, its functions, a model of the shipped one's vocabulary that was not trained."""
    torch.manual_seed(0)
    wordpiece = load_tokenizer(SHIPPED / "bert")
    model = BertForPretraining(Bert(8000, 8, 4, 8, 2, 128)).eval()
    names = {"trained": model, "wordpiece": wordpiece,
             "CHOICES": {"shipped": wordpiece, "tiny": train_wordpiece(["lock clock"], 20)}}
    for cell in code_cells(read(ROOT / "notebooks" / "13_bert.ipynb")):
        if not is_solution(cell) and not has_tag(cell, "claims"):
            kept = [node for node in ast.parse(cell.source).body if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef))
                    or isinstance(node, ast.Assign) and VALUES & {name.id for name in ast.walk(node.targets[0])
                                                                  if isinstance(name, ast.Name)}]
            exec(compile(ast.Module(kept, []), "13_bert", "exec"), names)
    return names


def in_lab(lab, texts, name):
    """Type texts into a box of a lab, which has to show something for each."""
    for text in texts:
        lab.move(**{name: text})
        assert lab.message.layout.display == "none", (text, lab.message.value)


def test_the_tokens_are_drawn_whatever_is_typed(page, recwarn):
    for text in typed():
        for tokenizer in page["CHOICES"].values():
            assert all(len(page["spelled"](token)[0]) < 12 for token in tokenizer.encode(text, text).tokens[:30]), text
    in_lab(explore(page["draw_reading"], first="a file", second="", choice=["shipped", "tiny"]), some(typed()), "first")
    assert not list(recwarn)


def test_a_gap_is_filled_whatever_is_typed(page, recwarn):
    for text in typed():
        ids, gap = page["with_gap"](text)
        shown = page["in_view"](ids, gap, 1, 1)
        assert shown[gap] == page["MASK"] and len(shown) <= page["MOST"] and page["likely"]([shown], [gap]).isfinite().all(), text
    lab = explore(page["draw_gap"], text="the [MASK]", word="file",
                  left=lambda text: (0, max(2, page["with_gap"](text)[1] - 1), 1, 2),
                  right=lambda text: (0, max(2, len(page["with_gap"](text)[0]) - page["with_gap"](text)[1] - 2), 1, 2))
    in_lab(lab, some(typed()), "text")
    in_lab(lab, some(typed()), "word")
    assert not list(recwarn)


@pytest.mark.parametrize("text, around, said", [
    ("a " * 40 + "the [mask] file", "the [MASK] file", True), ("the [MASK] " + "a " * 40, "the [MASK] a", True),
    ("a " * 40 + "the [MASK] file " + "a " * 40, "the [MASK] file", True), ("a " * 40 + "the", "the [MASK] .", True),
    ("a " * 28, "a [MASK] .", True), ("a " * 26, "a [MASK] .", False), ("the [MASK]", "the [MASK] [SEP]", False)])
def test_of_a_text_that_is_too_long_the_tokens_around_the_gap_are_read(page, text, around, said):
    ids, gap = page["with_gap"](text)
    assert [page["wordpiece"].id_to_token(i) for i in ids[gap - 1:gap + 2]] == around.split()
    titles = [ax.get_title() for ax in page["draw_gap"](text, 1, 1, "file").axes]
    assert titles[0] == ("only the 28 tokens around the gap are read" if said else "")
    assert len(ids) == 30 if said else len(ids) <= 30


@pytest.mark.parametrize("word, scored, note", [
    ("file", True, ""), ("", False, ""), ("a file", False, "the hidden word is 2 tokens"),
    ("日", False, "the hidden word has no token")])
def test_every_reading_says_how_likely_it_takes_the_hidden_token(page, word, scored, note):
    note_shown, *titles = [ax.get_title() for ax in page["draw_gap"]("the [MASK]", 1, 1, word).axes]
    assert note_shown.endswith(note) and bool(note_shown) == bool(note)
    assert all((f"\n{word}: 0." in title) == scored for title in titles)


def test_the_explorer_shows_something_for_whatever_is_typed(page):
    explorer = AttentionExplorer.of_texts(page["reading"], text="the [MASK]")
    for text in some(typed()):
        explorer.texts = {"text": text}
        assert explorer.message == "", (text, explorer.message)
        explorer.make_changes([{"kind": "cut", "index": [0, 0], "query": 0, "key": 0}])
        assert explorer.answer_after.count("%") >= 3, text
