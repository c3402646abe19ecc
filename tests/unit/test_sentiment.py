"""Sentences with labels: SST-2 as it was published, and tables of one's own."""
import collections
import zipfile

import pytest

from helpers.data.sentiment import load_labelled, load_sentiment

READ = [("it is good, really", 1), ('"bad"', 0), ("it is good", 1)]
SST2 = "sentence\tlabel\nit is good, really \t1\n\"bad\"\t0\nit is good\t1\n"


def test_sst2_has_its_published_numbers(published, capsys):
    published("sst2/train.tsv")
    train, dev = load_sentiment()
    assert [len(train), len(dev)] == [60_614, 6_735]
    assert collections.Counter(label for _, label in train) == {1: 33_828, 0: 26_786}
    assert dev[0] == ("the expressive power of the camera", 1)
    assert all(sentence and sentence == sentence.strip() for sentence, _ in train + dev)
    assert capsys.readouterr().out == ""                      # a known edition


def test_glue_s_archive_is_read_by_path_and_from_the_cache(tmp_path, monkeypatch):
    (tmp_path / "sst2").mkdir()
    with zipfile.ZipFile(tmp_path / "sst2" / "SST-2.zip", "w") as archive:
        for name, text in {"train": SST2, "dev": SST2, "test": "index\tsentence\n0\tuneasy\n"}.items():
            archive.writestr(f"SST-2/{name}.tsv", text)
        archive.writestr("SST-2/original/README.txt", "not this")
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(tmp_path))
    assert load_sentiment(path=tmp_path / "sst2" / "SST-2.zip") == load_sentiment() == (READ, READ)


@pytest.mark.parametrize("text", [
    SST2, SST2.removeprefix("sentence\tlabel\n"),
    'text,label\n"it is good, really",1\n"""bad""",0\nit is good,1\n',
    'Sentiment,ID,Review\n1,a,"it is good, really"\n0,b,"""bad"""\n1,c,it is good\n',
    '"it is good, really",1\r\n"""bad""",0\r\nit is good,1\r\n',
])
def test_tables_with_a_header_or_none_and_columns_in_any_order(tmp_path, text):
    (tmp_path / "mine.csv").write_bytes(text.encode())
    assert load_labelled(tmp_path / "mine.csv") == (READ, ["0", "1"])
    train, validation = load_sentiment(path=tmp_path / "mine.csv")
    assert sorted(train + validation) == sorted(READ) and len(validation) == 1
    assert load_sentiment(path=(tmp_path / "mine.csv", tmp_path / "mine.csv")) == (READ, READ)


@pytest.mark.parametrize("labels, names, found", [
    ("praise blame praise", ["blame", "praise"], [1, 0, 1]), ("10 9 -1", ["-1", "9", "10"], [2, 1, 0]),
    ("1 2 x", ["1", "2", "x"], [0, 1, 2]),
])
def test_labels_are_words_or_whole_numbers(tmp_path, labels, names, found):
    (tmp_path / "mine.tsv").write_text("".join(f"Text {n}.\t{label}\n" for n, label in enumerate(labels.split())))
    examples, ordered = load_labelled(tmp_path / "mine.tsv")
    assert ordered == names and [label for _, label in examples] == found


@pytest.mark.parametrize("text, message", [
    ("", "mine.csv, line 1: '', where a table with sentence, label is needed"),
    ("text,label\n", "mine.csv, line 1: 'text,label', where"),
    ("text,text,label\na,b,1\n", "mine.csv, line 1: 'text,text,label', where a table with sentence, label, once each, is needed"),
    ("label\ttext\tLabel\n1\ta\t0\n", "line 1: 'label.*Label', where a table with sentence, label, once each, is needed"),
    ("index,sentence\n0,uneasy\n", "mine.csv, line 1: 'index,sentence', where a table with sentence, label is needed"),
    ("text,label\ngood,1\ngood, really,1\n", "mine.csv, line 3: .*really.*, where"),
    ("text,label\ngood,1\n\"never closed,1\nbad,0\n", "mine.csv, line 4: 'unexpected end of data', where"),
    ('"3","Wall St. falls","Stocks fell."\n', "mine.csv, line 1: .*Wall St.*, where a first line that names the columns, or a "
                                              "table with sentence, label alone, is needed"),
    ("good\t1\nbad\n", "mine.csv, line 2: .*bad.*, where a table with sentence, label is needed"),
])
def test_a_table_that_is_none_is_refused_with_the_line(tmp_path, text, message):
    (tmp_path / "mine.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        load_labelled(tmp_path / "mine.csv")


def test_a_file_that_is_not_there_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"sst2 is not there.*SST-2.zip"):
        load_sentiment()
    (tmp_path / "train.tsv").write_text(SST2)
    with pytest.raises(FileNotFoundError, match=r"holds train.tsv, where \*train.* and \*dev.*, or .* is needed"):
        load_sentiment(path=tmp_path)


@pytest.mark.parametrize("text", ["text,label\na,1\n", "text,label\na,1\na,0\n"])
def test_one_text_cannot_be_held_out_and_trained_on(tmp_path, text):
    (tmp_path / "mine.csv").write_text(text)
    with pytest.raises(ValueError, match="rows, of which 1 differ: at least two are needed, one of them to hold out"):
        load_sentiment(path=tmp_path / "mine.csv")
