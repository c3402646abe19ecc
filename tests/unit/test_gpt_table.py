"""The tools that measure lesson 11's GPT for more steps than the page has time for, and train a larger one."""
import string

import pytest
import torch
from safetensors.torch import load_file

from helpers.pretrained.weights import load_weights, read_record
from helpers.text import Vocab
from helpers.transformer import GPT
from tools.make_weights import copying, gpt, large_gpt, parsing, tables

IDS = torch.arange(3000) % 6 + 4                             # 4 5 6 7 8 9 4 5 ...


@pytest.fixture(autouse=True)
def letters(monkeypatch, request):
    """Six letters in a circle in place of programs, but where the test is of what ships."""
    if "ships" not in request.node.name:
        monkeypatch.setattr(gpt, "load", lambda: (Vocab([["a", "b", "c", "d", "e", "f"]]), IDS, IDS[:900], IDS[:900]))


def test_rows_that_are_there_are_kept_and_the_others_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(gpt, "STEPS", 60)
    monkeypatch.setattr(parsing, "PIECES", 4)
    path = tmp_path / "gpt.csv"
    path.write_text("model,seed,seconds,bits\nGPT,0,7,9.99\n", encoding="utf-8")
    gpt.write(path, [("GPT", 0), ("GPT", 1), ("Kneser-Ney", 0), ("Witten-Bell", 0), (gpt.COPIES, 0)])
    kept, *others = tables.read(path)
    assert (kept["model"], kept["seed"], kept["seconds"], kept["bits"]) == ("GPT", "0", "7", "9.99")
    assert [row["model"] for row in others] == ["GPT", "Kneser-Ney", "Witten-Bell", gpt.COPIES]
    for row in others:                                                     # contexts and targets belong together
        assert float(row["bits"]) < 0.2 and bool(row["first 0.5"]) == (row["model"] in ("GPT", "Kneser-Ney"))
    assert float(others[0]["seconds"]) >= 0 and others[1]["seconds"] == ""


def test_words_that_stood_before_are_told_from_new_ones():
    text = "first = new_name(first)"
    vocab = Vocab([string.printable])
    kinds = copying.words_in(torch.tensor([vocab.encode(text)]), vocab.tokens, 15)[0].tolist()
    assert "".join(map(str, kinds)) == "001111110002220"                   # "new_name(first)", from the third character on


def test_a_copy_is_what_followed_the_longest_match_and_its_part_is_fitted():
    vocab = Vocab([string.printable])
    rows = torch.tensor([vocab.encode("xabc1 yabc2 yabc2")])
    copies, lengths = copying.copies_in(rows, vocab.tokens, 3)
    assert [vocab.tokens[i] for i in copies[0]] == ["b", "c", "2"] and lengths.tolist() == [[3, 4, 5]]      # after " ya", ...
    probs = torch.full((1, 3), 0.01)
    assert (copying.with_copies(rows, probs, rows, probs, vocab.tokens) < 0.1).all()


def test_first_lines_and_comments_are_not_counted_among_the_lines():
    texts = {1.0: ["def f(:\n    # a comment\n    return 1\n    x =\n", "def g():\n    return 2\n"], 0.5: ["def h("]}
    found = gpt.parsed(texts)
    assert found == {"first 1.0": "0.500", "lines 1.0": "0.667", "number 1.0": 3, "first 0.5": "0.000", "number 0.5": 0,
                     "functions": "0.333"}


def test_a_function_ends_where_the_indentation_does_and_each_line_is_parsed_alone():
    text = "def f(x):\n    if x:\n        return (1\n\nmore = 2\nrest"
    assert parsing.function_in(text) == "def f(x):\n    if x:\n        return (1\n"
    assert parsing.lines_in(text) == ["def f(x):", "if x:", "return (1"]
    assert parsing.share(list(map(parsing.completed, parsing.lines_in(text)))) == 2 / 3
    assert not parsing.parses(parsing.function_in(text))


@pytest.mark.parametrize("docstring", ['"""One."""', '"""Two\n\n    lines.\n    """', '"""Not finished\n    yet'])
def test_a_docstring_is_no_line_of_code(docstring):
    after = "" if docstring.endswith("yet") else "    return 1\n"
    assert parsing.lines_in(f"def f(x):\n    {docstring}\n{after}") == ["def f(x):", "return 1"][:1 + bool(after)]


@pytest.mark.parametrize("line", ["if x:", "else:", "elif x:", "try:", "except OSError as error:", "finally:", "while True:",
                                  "for x in y:", "with open(x) as file:", "class A(B):", "@property", "x = 1", "return x"])
def test_a_line_that_needs_others_to_be_whole_gets_them(line):
    assert parsing.parses(parsing.completed(line))


@pytest.mark.parametrize("line", ["else x:", "try x:", "except:)", "if:", "x = (1,", "b=None):"])
def test_nothing_else_is_mended(line):
    assert not parsing.parses(parsing.completed(line))


def test_of_long_lines_those_known_are_told_from_new_ones():
    text = "def f(x):\n    return x + 1\n    x = y +++ (\n    x += 2 + x\n    x (\n    try:\n"
    found = gpt.parsed({1.0: [text]}, {"return x + 1", "try:"})
    assert (found["lines 1.0"], found["number 1.0"], found["copied 1.0"], found["fresh 1.0"]) == ("0.600", 5, "0.333", "0.500")


def test_the_same_characters_are_measured_whatever_the_context():
    ids = torch.arange(2000)
    measured = [gpt.windows_of(ids, context)[:, -gpt.MEASURED:] for context in (128, 256)]
    assert torch.equal(*measured) and gpt.windows_of(ids, 256)[0, 0] == 0


def test_an_interrupted_training_goes_on_to_the_same_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(large_gpt, "SIZES", {"d_model": 8, "num_heads": 2, "d_ff": 8, "num_layers": 1, "dropout": 0.0})
    monkeypatch.setattr(large_gpt, "STEPS", 6)
    monkeypatch.setattr(large_gpt, "BATCH", 8)
    monkeypatch.setattr(large_gpt, "SAVE_EVERY", 1)
    for name in ("whole", "broken"):
        (tmp_path / name).mkdir()
    large_gpt.make(tmp_path / "whole", tmp_path / "whole")
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(gpt, "bits", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))      # at step 4
        large_gpt.make(tmp_path / "broken", tmp_path / "broken")
    assert torch.load(tmp_path / "broken" / "large_gpt.pt")["step"] == 4
    large_gpt.make(tmp_path / "broken", tmp_path / "broken")
    whole, broken = (load_file(tmp_path / name / "gpt.safetensors") for name in ("whole", "broken"))
    assert whole and all(torch.equal(whole[name], broken[name]) for name in whole)
    assert read_record(tmp_path / "whole" / "gpt.safetensors")["characters"] == 6 * 8 * 256


def test_the_gpt_that_ships_is_as_good_as_its_record_says():
    vocab, *_, test_ids = gpt.load()
    record = read_record("gpt")
    model = load_weights(GPT(len(vocab), **record["sizes"]), "gpt").eval()
    assert gpt.bits(model, gpt.windows_of(test_ids, record["context"])[::20]) == pytest.approx(record["bits"], abs=0.2)
