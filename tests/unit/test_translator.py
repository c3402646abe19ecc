"""The translator that ships: any English text in, French out, and the tools that measure it."""
import csv
import itertools

import pytest
import torch
from tokenizers import Tokenizer

from helpers.generation import translate
from helpers.pretrained.translator import load_translator
from helpers.pretrained.weights import SHIPPED, read_record
from helpers.text import SPECIAL, pad
from tools.make_weights import decoding, translation, translator


@pytest.fixture(scope="module")
def shipped():
    return load_translator()


def french(shipped, *texts):
    model, tokenizer = shipped
    src, lengths = pad([tokenizer.encode(text).ids for text in texts])
    return tokenizer.decode_batch([row.tolist() for row in translate(model, src, lengths, 60)])


def test_it_translates(shipped):
    assert french(shipped, "The cat sleeps.", "Where is the station?") == ["Le chat dort.", "Où est la gare ?"]


def test_capitals_the_apostrophe_and_the_writing_of_accents_change_nothing(shipped):
    tokenizer = shipped[1]
    assert tokenizer.encode("I’m at the CAFE\u0301.").ids == tokenizer.encode("i'm at the café.").ids


def test_a_final_mark_may_be_missing(shipped):
    first, second = french(shipped, "I want to go home.", "i want to go home")
    assert first.rstrip(".") == second.rstrip(".")


def test_its_special_tokens_are_those_of_a_vocab(shipped):
    assert [shipped[1].id_to_token(i) for i in range(4)] == SPECIAL
    assert shipped[1].encode("\u732b").ids[-1] == SPECIAL.index("<unk>") or len(shipped[1].encode("\u732b").ids) == 1


def test_its_files_are_small_and_say_where_they_come_from():
    files = [SHIPPED / "translator.safetensors", SHIPPED / "translator.json"]
    assert sum(file.stat().st_size for file in files) < 16e6
    record = read_record("translator")
    assert "CC BY 2.0" in record["data"] and record["signature"].startswith("nrefs:1|") and record["bleu"] > 40


def table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_table_of_the_models_of_lesson_4_is_that_of_their_records(tmp_path):
    for file in SHIPPED.glob("translation_*.safetensors"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    translation.write_table(tmp_path)
    assert table(tmp_path / "translation.csv") == table(SHIPPED / "translation.csv")


def test_rows_that_are_there_are_kept_and_the_others_measured(tmp_path, monkeypatch):
    words = [(["a", "b"], ["x"]), (["b"], ["y", "z"])] * 4
    vocab = decoding.corpus()[2:]
    monkeypatch.setattr(decoding, "corpus", lambda: (words, words, *vocab))
    monkeypatch.setattr(decoding, "TRAININGS", ((0.0, 2), (0.1, 2)))
    monkeypatch.setattr(decoding, "WIDTHS", (1, 3))
    kept = dict.fromkeys(decoding.COLUMNS["smoothing"], "0") | {"smoothing": "0.0", "steps": "2", "loss": "9.99"}
    decoding.write(tmp_path / "smoothing.csv", [kept])
    decoding.make(tmp_path, [0])
    first, second = table(tmp_path / "smoothing.csv")
    assert first == kept and second["smoothing"] == "0.1" and float(second["loss"]) > 0
    rows = table(tmp_path / "search.csv")
    assert {row["smoothing"] for row in rows} == {"0.1"}
    assert [(float(row["factor"]), row["width"], row["penalty"]) for row in rows] == list(
        itertools.product(decoding.FACTORS, ("1", "3"), ("0.0", "0.6")))
    assert float(rows[0]["log_prob"]) <= float(rows[2]["log_prob"])
    greedy = [row for row in rows if row["width"] == "1"]
    assert len({row["tokens"] for row in greedy}) == 1                     # the likeliest word stays the likeliest
    log_probs = [float(row["log_prob"]) for row in greedy[::2]]
    assert log_probs == sorted(log_probs, reverse=True) and log_probs[0] > log_probs[-1]


PAIRS = [(f"the {a} {b}.", f"le {c} {d}.") for a, c in (("cat", "chat"), ("dog", "chien"), ("wolf", "loup"))
         for b, d in (("sleeps", "dort"), ("sings", "chante"), ("falls", "tombe"), ("works", "travaille"))] * 6


def test_no_sentence_is_on_both_sides_of_the_split(monkeypatch):
    monkeypatch.setattr(translator, "TEST", 3)
    monkeypatch.setattr(translator, "VALIDATION", 2)
    known, validation, test = translator.split([*PAIRS, ("The Cat sleeps.", "Le chat, il dort.")])
    assert (len(validation), len(test)) == (2, 3)
    for side in (0, 1):
        assert not {pair[side].lower() for pair in known} & {pair[side].lower() for pair in validation + test}


def test_the_translator_is_measured_by_length_beside_phrases(tmp_path, monkeypatch, shipped):
    monkeypatch.setattr(translator, "TEST", 4)
    monkeypatch.setattr(translator, "VALIDATION", 1)
    monkeypatch.setattr(translator, "load_translation", lambda name, path: PAIRS)
    monkeypatch.setattr(translator, "load_translator", lambda: shipped)
    monkeypatch.setattr(decoding, "WIDTHS", (1, 4))
    translator.measure(None, tmp_path)
    rows = table(tmp_path / "translator.csv")
    narrow, _, _, penalised, *_ = table(tmp_path / "translator_search.csv")
    assert narrow["bleu"] == rows[-1]["greedy"] and penalised["bleu"] == rows[-1]["beam"]
    assert [row["sentences"] for row in rows] == ["4", "4"] and rows[-1]["to"] == "100" and float(rows[0]["greedy"]) > 20


def test_subwords_are_learned_alike_every_time(tmp_path, monkeypatch):
    monkeypatch.setattr(translator, "VOCABULARY", 60)
    first, second = (translator.learn_subwords(PAIRS) for _ in range(2))
    assert first.to_str() == second.to_str() and first.decode(first.encode("le chat dort.").ids) == "le chat dort."
    assert isinstance(first, Tokenizer) and torch.tensor(first.encode("le chat").ids).max() < 60
