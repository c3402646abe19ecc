"""Whatever is typed into the lab of lesson 8, it answers, or says in words what is needed."""
import ast
import random
import string

import pytest
import torch

from helpers.data.dates import normalise
from helpers.pretrained.dates import SOURCE, TARGET, date_model
from helpers.widgets import AttentionExplorer
from tests.lessons.typed import some
from tests.notebooks import ROOT, code_cells, has_tag, is_solution, read

KINDS = [
    string.printable, "".join(map(chr, range(32))) + "\x7f\x85\u200b\u2028\ufeff", "😀👩\u200d👧🇨🇭❤️🫠𝟙𝟚", "שלום ١٢ מאי\u202e\u2067",
    "二〇二四年五月三日 ３ ㍻", "ﷺﬁ½ǆ", "éè\u0301\u0302ß", "0123456789-/. ", "<>&\"'\\$_{}%", "november 30 1997 ",
]
KNOWN = [
    "", " ", "\n\t", "x", "😀", "v", "30 february 2001", "明天", "מחר", "\u202e1997", "<eos>", "<b>3 may</b>", "$x_1$",
    "a" * 41, "a" * 42, "monday " * 1000, "1" * 41, "ﷺ" * 3, "\x00", "3\x003\x002001",
]


def texts():
    """200 of them: empty and long, control characters, emoji, right to left, Chinese, and mixtures."""
    rng, found = random.Random(0), list(KNOWN)
    while len(found) < 200:
        letters = rng.choice(KINDS) + rng.choice(KINDS)
        found.append("".join(rng.choices(letters, k=rng.randrange(1, 48))))
    return found


@pytest.fixture(scope="module")
def lesson():
    """What the lesson imports and the functions that it defines, with the model that ships."""
    names = {"model": date_model(), "source": SOURCE, "target": TARGET, "device": "cpu"}
    for cell in code_cells(read(ROOT / "notebooks" / "08_dates.ipynb")):
        if not is_solution(cell) and not has_tag(cell, "claims"):
            kept = [node for node in ast.parse(cell.source).body if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef))]
            exec(compile(ast.Module(kept, []), "08_dates", "exec"), names)
    return names


def type_all(explorer, texts):
    """Type each of some texts; how many were answered."""
    answered = 0
    for text in texts:
        explorer.texts = {"text": text}
        plain = normalise(text)
        if 1 <= len(plain) <= 41:
            assert explorer.message == "" and explorer.key_tokens == list(plain), repr(text)
            assert explorer.answer_before.endswith("%") and ", confidence " in explorer.answer_before, repr(text)
            answered += 1
        else:
            assert f"{len(plain)} characters: type a date of 1 to 41" in explorer.message, repr(text)
    return answered


def test_it_answers_or_says_what_is_needed(lesson, monkeypatch):
    explorer = AttentionExplorer.of_texts(lesson["reading"], text="20 july 2009")
    assert 0.5 * len(some(texts())) <= type_all(explorer, some(texts())) < len(some(texts()))
    monkeypatch.setitem(lesson, "effects", lambda model, inputs, *args, **options: torch.zeros(
        1, 4, inputs[2].shape[1], inputs[0].shape[1]))                  # most of the time goes into these
    assert 140 < type_all(explorer, texts()) < 200


def test_each_answer_can_be_touched(lesson):
    explorer = AttentionExplorer.of_texts(lesson["reading"], text="20 july 2009")
    assert explorer.answer_before.startswith("2009-07-20, confidence ")
    for text in ("v", "😀", "\u202e1997", "30 february 2001"):
        explorer.texts = {"text": text}
        explorer.make_changes([{"kind": "off", "index": [2]}])
        assert ", confidence " in explorer.answer_after and not explorer.error
