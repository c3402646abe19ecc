"""WikiText-2: paragraphs of sentences as people write them, from the published files or from the archive that holds them."""
import shutil
import zipfile

import pytest

from helpers.data.wikitext import load_wikitext, read_sentences, read_text
from helpers.text import train_wordpiece

TEXT = """ 
 = Who is it ? It is I = 
 
 A lobster is a <unk> . It is well @-@ known , and 1 @.@ 5 – 2 @.@ 5 kg of it cost 40 @,@ 000 pounds ( once ) . 
 = = Life = = 
 It is one sentence . 
 It is 60 = 60 . That is so = 
"""


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


PARAGRAPHS = [
    ["A lobster is a [UNK].", "It is well-known, and 1.5 – 2.5 kg of it cost 40,000 pounds (once)."],
    ["It is 60 = 60.", "That is so ="],
]


def write(folder, name, text=TEXT):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_headings_and_single_sentences_are_left_out(tmp_path):
    assert read_text(write(tmp_path, "wiki.test.tokens")) == PARAGRAPHS


@pytest.mark.parametrize("text", [
    "\nIt is one.\nSo is it = that\n\n \nIt is alone.\n\n=====\nIt is three\n",
    "It is one.\r\nSo is it = that\r\n\r\n=====\r\nIt is three",
])
def test_plain_text_has_a_sentence_on_each_line(tmp_path, text):
    (tmp_path / "mine.txt").write_bytes(text.encode())
    assert read_text(tmp_path / "mine.txt") == [["It is one.", "So is it = that"], ["=====", "It is three"]]


def test_or_a_whole_paragraph_on_one(tmp_path):
    text = 'It is 1.5 kg. "Is it?" It is!\n\nAlone, e.g. here.\n'
    assert read_text(write(tmp_path, "mine.txt", text)) == [["It is 1.5 kg.", '"Is it?"', "It is!"]]


@pytest.mark.parametrize("text", ["", "It is alone.\n", " = Title = \n It is alone . \n"])
def test_a_text_without_paragraphs_is_refused(tmp_path, text):
    with pytest.raises(ValueError, match="mine.txt, line 1: .*, where a text with a paragraph of two sentences"):
        read_text(write(tmp_path, "mine.txt", text))


def test_unk_is_the_unknown_token_of_wordpiece(tmp_path):
    tokenizer = train_wordpiece(["a lobster is a lobster"], vocab_size=40)
    [[sentence, _], *_] = read_text(write(tmp_path, "wiki.test.tokens"))
    assert tokenizer.encode(sentence, add_special_tokens=False).tokens.count("[UNK]") == 2                # and the full stop


def test_published_numbers(published, tmp_path, monkeypatch, capsys):
    (tmp_path / "wikitext-2").mkdir()
    for file in ("wikitext-103/wiki.train.tokens", "wikitext-2/wiki.valid.tokens"):
        shutil.copy(published(file), tmp_path / "wikitext-2")
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(tmp_path))
    train, validation = load_wikitext()
    assert [len(train), len(validation)] == [3697, 1542]
    assert validation[0][1] == "It is closely related to the American lobster, H. americanus."
    sentences = [sentence for paragraph in train + validation for sentence in paragraph]
    assert all(len(paragraph) > 1 for paragraph in train + validation) and all(sentences)
    text = " ".join(sentences)
    assert not [mark for mark in ("<unk>", "@-@", "@,@", "@.@", " ,", " . ", "= =", "\n", "( ", " )") if mark in text]
    assert sum(sentence.endswith((".", '."', "?", "!")) for sentence in sentences) > 0.98 * len(sentences)
    assert capsys.readouterr().out == ""                      # a known edition
    with (tmp_path / "wikitext-2" / "wiki.train.tokens").open("ab") as file:
        file.write(b" \n = Other = \n \n It is one . It is two . \n")
    assert load_wikitext()[0][-1] == ["It is one.", "It is two."]
    assert "wiki.train.tokens is an edition that is not known here" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["wikitext-2/wiki.{}.tokens", "wikitext-103-raw/wiki.{}.raw", "mine/{}.txt"])
def test_folders_and_archives_of_every_edition(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "any.zip", "w") as files:
        for part in ("train", "valid", "test"):
            files.writestr(name.format(part), TEXT.replace("lobster", f"{part} lobster"))
    with zipfile.ZipFile(tmp_path / "any.zip") as files:
        files.extractall(tmp_path)
    for path in (tmp_path / "any.zip", (tmp_path / name).parent):
        train, validation = load_wikitext(path=path)
        assert [train[0][0], validation[0][0]] == ["A train lobster is a [UNK].", "A valid lobster is a [UNK]."]
        assert train[1:] == validation[1:] == PARAGRAPHS[1:]


def test_of_one_file_a_tenth_is_held_out(tmp_path):
    text = "\n\n".join(f"This is number {n}.\nIt is over." for n in range(100))
    train, validation = load_wikitext(path=write(tmp_path, "mine.txt", text))
    assert len(train) == 90 and len(validation) == 10 and not {a for a, _ in train} & {a for a, _ in validation}
    assert sorted(validation) != sorted(train + validation)[:10]               # but of all parts of the file


def test_without_file_and_network_the_error_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"wikitext-2-v1.zip is not there.*A copy can be put there"):
        load_wikitext()
