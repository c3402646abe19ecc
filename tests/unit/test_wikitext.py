"""WikiText-2: paragraphs of sentences as people write them, from the published files or from the archive that holds them."""
import hashlib
import os
import pathlib
import shutil
import zipfile

import pytest

from helpers.data import wikitext
from helpers.data.wikitext import load_wikitext, read_paragraphs, read_sentences
from helpers.text import train_wordpiece
from tests.notebooks import ROOT

TEXT = """ 
 = Who is it ? It is I = 
 
 A lobster is a <unk> . It is well @-@ known , and 1 @.@ 5 – 2 @.@ 5 kg of it cost 40 @,@ 000 pounds ( once ) . 
 = = Life = = 
 It is one sentence . 
 It is 60 = 60 . That is so = 
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The part of an empty cache folder for WikiText-2."""
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(tmp_path))
    (tmp_path / "wikitext-2").mkdir()
    return tmp_path / "wikitext-2"


def archive(folder, text=TEXT):
    """An archive with the names of the published one, and its checksum."""
    with zipfile.ZipFile(folder / "wikitext-2-v1.zip", "w") as files:
        for part in ("train", "valid", "test"):
            files.writestr(f"wikitext-2/wiki.{part}.tokens", text.replace("lobster", f"{part} lobster"))
    return "sha256:" + hashlib.sha256((folder / "wikitext-2-v1.zip").read_bytes()).hexdigest()


@pytest.mark.parametrize("line, sentences", [
    ("It is . It was .", ["It is.", "It was."]),
    ("A well @-@ known lobster weighs 1 @.@ 5 kg , or 2 @,@ 500 g .", ["A well-known lobster weighs 1.5 kg, or 2,500 g."]),
    ("Mr. H. Smith saw the U.S. coast . He left .", ["Mr. H. Smith saw the U.S. coast.", "He left."]),
    ("Why ? It rained ! So be it .", ["Why?", "It rained!", "So be it."]),
    ('" Go . " He went .', ['"Go."', "He went."]),
    ('It was " red . " " Blue " came later .', ['It was "red."', '"Blue" came later.']),
    ("He left ( at once . ) Then he came .", ["He left (at once.)", "Then he came."]),
    ("See Vol . 4 of the set . 12 were sold .", ["See Vol. 4 of the set. 12 were sold."]),        # no capital: no new sentence
    ("The <unk> 's claw isn 't red . <unk> is .", ["The [UNK]'s claw isn't red.", "[UNK] is."]),
    ("He said : ( it [ the lobster ] is red ; it was blue ) .", ["He said: (it [the lobster] is red; it was blue)."]),
])
def test_sentences_are_told_apart_and_spelled(line, sentences):
    assert read_sentences(line) == sentences


def test_headings_and_single_sentences_are_left_out():
    assert read_paragraphs(TEXT) == [
        ["A lobster is a [UNK].", "It is well-known, and 1.5 – 2.5 kg of it cost 40,000 pounds (once)."],
        ["It is 60 = 60.", "That is so ="],
    ]


def test_unk_is_the_unknown_token_of_wordpiece():
    tokenizer = train_wordpiece(["a lobster is a lobster"], vocab_size=40)
    [[sentence, _], *_] = read_paragraphs(TEXT)
    assert tokenizer.encode(sentence, add_special_tokens=False).tokens.count("[UNK]") == 2                # and the full stop


def test_published_numbers(cache):
    data = pathlib.Path(os.environ.get("WIKITEXT") or ROOT.parent / "shared" / "data")
    files = data / "wikitext-103" / "wiki.train.tokens", data / "wikitext-2" / "wiki.valid.tokens"
    if not all(file.exists() for file in files):
        pytest.skip("WikiText is not here: WIKITEXT names the folder of wikitext-2/wiki.valid.tokens and of wikitext-103")
    for file in files:
        shutil.copyfile(file, cache / file.name)
    train, held_out = load_wikitext()
    assert [len(train), len(held_out)] == [3697, 1542]
    assert held_out[0][1] == "It is closely related to the American lobster, H. americanus."
    sentences = [sentence for paragraph in train + held_out for sentence in paragraph]
    assert all(len(paragraph) > 1 for paragraph in train + held_out) and all(sentences)
    text = " ".join(sentences)
    assert not [mark for mark in ("<unk>", "@-@", "@,@", "@.@", " ,", " . ", "= =", "\n", "( ", " )") if mark in text]
    assert sum(sentence.endswith((".", '."', "?", "!")) for sentence in sentences) > 0.98 * len(sentences)
    (cache / "wiki.train.tokens").write_bytes(files[0].read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"wiki.train.tokens has 2,867,094 bytes of 2,867,095: .*put the whole archive beside it"):
        load_wikitext()


def test_the_archive_is_read_without_unpacking(cache, monkeypatch):
    monkeypatch.setattr(wikitext, "CHECKSUM", archive(cache))
    train, held_out = load_wikitext("wikitext-2")
    assert [train[0][0], held_out[0][0]] == ["A train lobster is a [UNK].", "A valid lobster is a [UNK]."]
    assert [path.name for path in cache.iterdir()] == ["wikitext-2-v1.zip"]


def test_a_file_is_read_before_the_archive_and_never_unchecked(cache, monkeypatch):
    monkeypatch.setattr(wikitext, "CHECKSUM", archive(cache))
    (cache / "wiki.valid.tokens").write_text(TEXT, encoding="utf-8")
    with pytest.raises(ValueError, match=r"wiki.valid.tokens has .* it is cut short, or another file. Move it away"):
        load_wikitext()


def test_without_file_and_network_the_error_says_what_to_do(cache):
    with pytest.raises(FileNotFoundError, match=r"wikitext-2-v1.zip is not there.*A good copy can be put there by hand"):
        load_wikitext()


def test_another_set_is_refused():
    with pytest.raises(ValueError, match="'wikitext-103' is not known here: it needs to be \"wikitext-2\""):
        load_wikitext("wikitext-103")
