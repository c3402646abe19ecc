"""The text boxes of lesson 12: a line of its characters is answered, anything else gets a sentence; nothing raises."""
import random
import re

import pytest
import torch

from helpers.data.couplets import PINYIN
from helpers.transformer import GPT
from helpers.widgets import AttentionExplorer, explore
from tests.lessons.typed import some
from tests.notebooks import ROOT, code_cells, read

ODD = ["", " ", "\n", "\t", "\0", "\x1b[31m", "日升水秀", " 日 升 水 秀\n", "日升水", "日" * 9, "日升水秀" * 3, "日升水秀" * 3000,
       "日升，水秀", "日升水龘", "rì shēng", "hello world", "word " * 2000, "\U0001f642", "\U0001f469\u200d\U0001f467", "e\u0301",
       "\u200b", "\ufeff日升水秀", "\u202e日升水秀", "\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627", "\u3053\u3093",
       "\u0e44\u0e17\u0e22", "繁體中文", "㐀㐁㐂㐃", "𠀀𠀁𠀂𠀃", "$x^2$", "\\frac", "{x!r}", "%s", "<b>日</b>", "&amp;", "<sep>",
       "<eos>", "<pad>", "1e309", "\ud7ff", "\U0010ffff", "\r\n", "日\0升水秀"]
NEEDED = ("import torch", "# Draws a couplet", "couplets = load_couplets()", "order =", "def new_model(", "def as_text(",
          "def named(", "MAY_FACE =", "familiar =", "def keep_length(", "RULES =", "def draw_writing(")      # what the cells hold


def typed():
    """200 texts: odd ones, lines of the lexicon's characters, and mixtures."""
    rng, known = random.Random(0), "".join(PINYIN)
    lines = ["".join(rng.choices(known, k=rng.randint(1, 12))) for _ in range(60)]
    return ODD + lines + ["".join(rng.choices([*ODD[6:], *known], k=rng.randint(1, 8))) for _ in range(140 - len(ODD))]


def can_be_read(text):
    line = "".join(text.split())
    return 4 <= len(line) <= 9 and set(line) <= set(PINYIN)


@pytest.fixture(scope="module")
def page():
    """The namespace of the page, with a small model that was not trained; its labs are made here."""
    namespace = {}
    for cell in code_cells(read(ROOT / "notebooks" / "12_couplets.ipynb")):
        if any(needed in cell.source for needed in NEEDED):
            exec(re.split(r"\n(?:explorer|menu|inputs, wanted|written) = ", cell.source)[0], namespace)
    torch.manual_seed(0)
    namespace["model"] = GPT(len(namespace["vocab"]), 8, 4, 8, num_layers=2, dropout=0.0).eval()
    return namespace


def test_there_are_two_hundred_texts_and_many_of_them_can_be_read():
    assert len(typed()) == 200 and 30 < sum(map(can_be_read, typed())) < 100


def test_the_lab_answers_or_says_what_is_needed(page, recwarn):
    lab = explore(page["draw_writing"], line=["日升水秀   rì shēng shuǐ xiù"], own_line="", rule=list(page["RULES"]),
                  temperature=(0.2, 3.0, 0.2, 1.0), t=(1, 10, 1, 5), seed=(0, 20))
    for i, text in enumerate(some(typed())):
        lab.move(own_line=text, rule=list(page["RULES"])[i % 3])
        shown = lab.message.layout.display == "none"
        assert shown == (can_be_read(text) or not text.strip()), (text, lab.message.value)
        assert shown or "character" in lab.message.value, (text, lab.message.value)
    assert not {str(warning.message) for warning in recwarn}


def test_the_explorer_answers_or_says_what_is_needed(page):
    explorer = AttentionExplorer.of_texts(page["reading"], line="日升水秀")
    for text in some(typed()):
        explorer.texts = {"line": text}
        assert (explorer.message == "") == can_be_read(text), (text, explorer.message)
        if can_be_read(text):
            assert [token[0] for token in explorer.key_tokens[:4]] == list("".join(text.split()))[:4]
            explorer.make_changes([{"kind": "cut", "index": [1, 0], "query": 1, "key": 1}])
            assert not explorer.error, (text, explorer.error)


def test_a_cut_changes_the_row_that_was_chosen(page):
    explorer = AttentionExplorer.of_texts(page["reading"], line="日升水秀")
    explorer.make_changes([{"kind": "cut", "index": [0, 2], "query": 1, "key": 3}])
    rows = explorer.values_after[0, 2, :, 3]
    assert rows[1] == 0 and rows[0] > 0 and (rows[2:] > 0).all()
