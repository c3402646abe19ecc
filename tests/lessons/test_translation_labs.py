"""Whatever is typed into the labs of lesson 9, they answer, or say in words what is needed: the page's functions, a small model.

And its training on published pairs is tested on sentences that it has not read.
"""
import pytest
import torch

from helpers.pretrained.translator import load_translator
from helpers.text import EOS
from helpers.transformer import Transformer
from helpers.widgets import AttentionExplorer, explore
from tests.lessons.typed import some, typed
from tests.notebooks import ROOT, code_cells, read

NEEDED = ("import torch", "def finished(", "def transformer(", "def source_of(", "def searched(", "def draw_search(",
          "def reading(")


@pytest.fixture(scope="module")
def page():
    """The namespace of the page, with a model that was not trained and soon writes <eos>."""
    torch.manual_seed(0)
    _, tokenizer = load_translator()
    size = tokenizer.get_vocab_size()
    small = Transformer(size, size, d_model=16, num_heads=8, d_ff=16, num_layers=3, shared=True).eval()
    with torch.no_grad():
        small.decoder.norm.bias.fill_(1.0)
        small.output.weight[EOS] = 0.4
    namespace = {"translator": small, "tokenizer": tokenizer, "pieces": [tokenizer.id_to_token(i) for i in range(size)],
                 "explore": explore, "SENTENCES": []}
    for cell in code_cells(read(ROOT / "notebooks" / "09_translation.ipynb")):
        if any(needed in cell.source for needed in NEEDED):
            exec(cell.source.split("\nSENTENCES")[0].split("\nexplore(")[0].split("\nlab = ")[0], namespace)
    return namespace


def fits(page, text):
    """Whether the model can read a text; otherwise the message says what is needed."""
    return 1 <= len(page["tokenizer"].encode(text.strip()).ids) <= 60


def test_the_search_is_drawn_for_whatever_is_typed(page, recwarn):
    lab = explore(page["draw_search"], sentence="I sing", width=(1, 6, 1, 2), penalty=(0.0, 1.5, 0.1, 0.6),
                  step=page["last_step"])
    answered = 0
    for text in some(typed()):
        lab.move(sentence=text)
        shown = lab.message.layout.display == "none"
        assert shown == fits(page, text) and (shown or "type a sentence of 1 to 60" in lab.message.value), (text, lab.message.value)
        answered += shown
    assert 0.75 * len(some(typed())) < answered < len(some(typed()))
    assert not list(recwarn)


def test_the_explorer_answers_whatever_is_typed(page):
    explorer = AttentionExplorer.of_texts(page["reading"], text="I sing")
    for text in some(typed()):
        explorer.texts = {"text": text}
        if fits(page, text):
            assert explorer.message == "", (text, explorer.message)
            explorer.make_changes([{"kind": "off", "index": [0, 0]}])
            assert explorer.answer_after and not explorer.error, text
        else:
            assert "type a sentence of 1 to 60" in explorer.message, text


def test_no_english_sentence_is_both_trained_on_and_tested(tmp_path):
    """The page's training on fra-eng, with two translations of each sentence; the training itself is left out."""
    lines = [f"{'very ' * (i // 500)}old {i}\t{french} {i}" for i in range(1500) for french in ("vieux", "ancien")]
    (tmp_path / "fra.txt").write_text("\n".join(lines), encoding="utf-8")
    cells = [cell.source for cell in code_cells(read(ROOT / "notebooks" / "09_translation.ipynb"))]
    namespace, seen = {}, {}
    for needed in ("import torch", "def on_real_sentences("):
        exec(next(source for source in cells if needed in source), namespace)
    namespace |= {"device": "cpu", "smooth_loss": None, "train": lambda *_, **__: None,
                  "batches": lambda data, *_: seen.update(known=data),
                  "bleu": lambda model, pairs, en, fr: seen.update(test=list(pairs), en=en)}
    namespace["on_real_sentences"](tmp_path / "fra.txt", steps=1)
    asked, known = [english for english, _ in seen["test"]], {tuple(seen["en"].decode(src)) for src, _ in seen["known"]}
    assert len(seen["known"]) == 1000 and len(known) == 500 and len(set(asked)) == 1000
    assert not known & set(asked) and {french[0] for _, french in seen["test"]} == {"vieux"}
    assert len({len(english) for english in asked}) == 3                  # not only the longest, which come last
