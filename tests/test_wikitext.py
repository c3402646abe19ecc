"""WikiText-2 in its published layout: paragraphs of sentences, spelled as people write them."""
import os
import pathlib

import pytest

from helpers.corpora import wikitext
from helpers.corpora.published import CACHE
from notebooks import ROOT

TEXT = """ \n = A Title = \n \n First things come first . Then come second things , as a well @-@ known <unk> said .
 \n = = Part = = \n \n Only one sentence stands here . \n
 He paid 1 @,@ 000 marks ( or more ) . " So much ? " she asked . It 's true .\n"""


def test_paragraphs_of_two_sentences_or_more_are_kept():
    assert wikitext.read_paragraphs(TEXT) == [
        ["First things come first.", "Then come second things, as a well-known [UNK] said."],
        ["He paid 1,000 marks (or more).", '"So much?" she asked.', "It's true."]]


def test_another_name_is_refused():
    with pytest.raises(ValueError, match="wikitext-3.*wikitext-2"):
        wikitext.load_wikitext("wikitext-3")


def test_a_damaged_file_is_refused_and_left_alone(monkeypatch, tmp_path):
    monkeypatch.setenv(CACHE, str(tmp_path))
    path = tmp_path / "wikitext-2" / "wiki.train.tokens"
    path.parent.mkdir()
    path.write_text(TEXT)
    with pytest.raises(ValueError, match="cut short.*archive"):
        wikitext.load_wikitext()
    assert path.read_text() == TEXT


def test_the_published_validation_text():
    folder = pathlib.Path(os.environ.get(CACHE) or ROOT.parent / "shared" / "data")
    if not (folder / "wikitext-2" / "wiki.valid.tokens").exists():
        pytest.skip(f"WikiText-2 is not here: {CACHE} names the folder that holds wikitext-2/wiki.valid.tokens")
    paragraphs = wikitext.read_paragraphs((folder / "wikitext-2" / "wiki.valid.tokens").read_text(encoding="utf-8"))
    sentences = [sentence for paragraph in paragraphs for sentence in paragraph]
    assert len(paragraphs) > 1500 and len(sentences) > 6000
    assert not any(mark in sentence for sentence in sentences for mark in ("@-@", "<unk>", " ,", " = = "))
