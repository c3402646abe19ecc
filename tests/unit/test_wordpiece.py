"""WordPiece: the pieces of the reference for any text, and the same vocabulary whenever it is learned."""
import json
import os
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import BertWordPieceTokenizer

from helpers.text import BERT_SPECIAL, read_wordpiece, save_wordpiece, train_wordpiece
from reference import transformers
from tests.notebooks import ROOT

TEXTS = [
    "The tensor's shape is kept; a reshaped tensor is a view.", "Returns a new array, reshaped and returned as a list.",
    "Été, naïve façade: Ça déjà vu. ÀÉÎÕÜ", "春天的水和山 is spring water and mountains", "don't re-use 3.14e-10, x_1[2:3] or §5!",
    "İstanbul, Straße, Ελλάς, Привет и ёлка", "unaffable unaffordable unaffected affection affected effects effect",
]
MIXED = [*TEXTS, "", "   \t\n ", "[MASK] and [CLS] and [mask]", "a\u0301 e\u0301te\u0301",
         "zero\u200bwidth \ufffd \x00 \x07bell", "😀 ¿qué? «là»", "x" * 150, "##able [SEP]",
         "line\u2028separator\u00a0space", "unaffableness", "한국어 日本語テスト", "ǅ ﬁn ①"]
BLOCKS = st.characters(min_codepoint=1, max_codepoint=0x33FF, exclude_categories=["Cs"])
texts = st.text(st.one_of(st.sampled_from(sorted(set("".join(TEXTS)))), st.sampled_from("aeinst .,'[]#"), BLOCKS), max_size=40)


@pytest.fixture(scope="module")
def trained():
    return train_wordpiece(TEXTS, 200)


@pytest.fixture(scope="module")
def pair(tmp_path_factory, trained):
    """Of upper case or not: our tokenizer and theirs, of one vocabulary with letters of both cases."""
    folder = tmp_path_factory.mktemp("vocabulary")
    vocabulary = list(trained.get_vocab())
    more = [piece.title() for piece in vocabulary if piece.isalpha()] + list("éÉàÇİßΕё") + ["##é", "##ß"]
    tokens = BERT_SPECIAL + sorted({*vocabulary, *more} - {*BERT_SPECIAL})
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token in tokens), encoding="utf-8", newline="\n")
    theirs = transformers.BertTokenizerFast.from_pretrained
    return {lower: (read_wordpiece(folder / "vocab.txt", lower), theirs(folder, do_lower_case=lower)) for lower in (True, False)}


@pytest.mark.parametrize("lower", [True, False])
@settings(max_examples=300, deadline=None, derandomize=True)
@given(a=texts, b=texts)
@example(a="[MASK]", b="İ[SEP]ß")
def test_the_pieces_are_theirs(pair, lower, a, b):
    ours, theirs = pair[lower]
    assert ours.encode(a).ids == theirs(a)["input_ids"]
    both, said = ours.encode(a, b or "."), theirs(a, b or ".")            # they take an empty second text for none
    assert both.ids == said["input_ids"] and both.type_ids == said["token_type_ids"]


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("text", MIXED)
def test_the_pieces_of_mixed_text_are_theirs(pair, lower, text):
    ours, theirs = pair[lower]
    assert ours.encode(text).ids == theirs(text)["input_ids"]
    assert ours.encode(text).tokens == theirs.convert_ids_to_tokens(theirs(text)["input_ids"])
    back = theirs.decode(theirs(text)["input_ids"], skip_special_tokens=True, clean_up_tokenization_spaces=False)
    assert ours.decode(ours.encode(text).ids) == back


def pieces(tokenizer, text):
    return tokenizer.encode(text).tokens[1:-1]


def test_the_longest_piece_first():
    """The example of the paper's code: "unaffable" is un ##aff ##able."""
    tokens = [*BERT_SPECIAL, "un", "##aff", "##able", "##a", "runn", "##ing", "want"]
    tokenizer = BertWordPieceTokenizer({token: i for i, token in enumerate(tokens)})
    assert pieces(tokenizer, "UNaffable running wants") == ["un", "##aff", "##able", "runn", "##ing", "[UNK]"]
    encoded = tokenizer.encode("want", "unaffable want")
    assert encoded.tokens == ["[CLS]", "want", "[SEP]", "un", "##aff", "##able", "want", "[SEP]"]
    assert encoded.type_ids == [0, 0, 0, 1, 1, 1, 1, 1]
    assert tokenizer.decode(encoded.ids) == "want unaffable want"


def test_special_tokens_in_a_text_are_themselves(trained):
    ids = trained.encode("the [MASK] is [UNK]", add_special_tokens=False).ids
    assert ids[1] == 4 and ids[-1] == 1 and len(ids) == 4


def test_the_ids_of_a_trained_one(trained):
    vocabulary = trained.get_vocab()
    assert [vocabulary[token] for token in BERT_SPECIAL] == [0, 1, 2, 3, 4]
    assert sorted(vocabulary.values()) == list(range(200))
    for text in TEXTS:
        assert "[UNK]" not in pieces(trained, text)


def test_the_same_texts_give_the_same_vocabulary(trained):
    """The trainer numbers letters inside of words by chance, unless they are given to it: each run came out another."""
    for _ in range(5):
        assert train_wordpiece(iter(TEXTS), 200).get_vocab() == trained.get_vocab()
    program = ("import json, sys; from helpers.text import train_wordpiece; "
               "print(json.dumps(train_wordpiece(json.loads(sys.argv[1]), 200).get_vocab()))")
    run = subprocess.run([sys.executable, "-c", program, json.dumps(TEXTS)], capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(run.stdout) == trained.get_vocab()


def test_too_small_a_vocabulary_is_refused():
    with pytest.raises(ValueError, match=r"vocab_size=20: the special tokens and the letters of these texts are \d+"):
        train_wordpiece(TEXTS, 20)


def test_what_is_saved_is_read(tmp_path, trained):
    save_wordpiece(trained, tmp_path / "vocab.txt")
    assert (tmp_path / "vocab.txt").read_bytes().startswith(b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n")
    again = read_wordpiece(tmp_path / "vocab.txt")
    assert again.get_vocab() == trained.get_vocab()
    for text in MIXED:
        assert again.encode(text).ids == trained.encode(text).ids


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_a_line_is_a_token_whatever_is_in_it(tmp_path, end, last):
    tokens = [*BERT_SPECIAL, "a", "\u2028", "\x85", "b\x0bc", "z"]
    (tmp_path / "vocab.txt").write_bytes((end.join(tokens) + end * last).encode())
    assert read_wordpiece(tmp_path / "vocab.txt").get_vocab() == {token: i for i, token in enumerate(tokens)}


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_vocabulary_that_is_not_utf_8_is_refused_by_its_path(tmp_path, encoding):
    (tmp_path / "vocab.txt").write_text("\n".join([*BERT_SPECIAL, "é", ""]), encoding=encoding)
    with pytest.raises(ValueError, match="vocab.txt is not UTF-8: .* can't decode"):
        read_wordpiece(tmp_path / "vocab.txt")


def test_a_mark_of_utf_8_at_the_beginning_is_no_part_of_a_token(tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join(BERT_SPECIAL), encoding="utf-8-sig")
    assert read_wordpiece(tmp_path / "vocab.txt").token_to_id("[PAD]") == 0


@pytest.mark.parametrize(("tokens", "words"), [
    (["a", "b"], r"no \[PAD\], \[UNK\], \[CLS\], \[SEP\], \[MASK\]; a vocabulary of BERT has"),
    ([*BERT_SPECIAL[:4], "a"], r"vocab.txt: no \[MASK\];"), ([*BERT_SPECIAL, "a", "a"], "a token that is there twice"), ([], "no "),
])
def test_what_is_no_vocabulary_is_refused(tmp_path, tokens, words):
    (tmp_path / "vocab.txt").write_text("\n".join(tokens), encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        read_wordpiece(tmp_path / "vocab.txt")
    with pytest.raises(FileNotFoundError):
        read_wordpiece(tmp_path / "none.txt")


def test_a_pipe_which_might_never_end_is_no_vocabulary_nor_is_a_folder(tmp_path):
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
    for path in tmp_path, *tmp_path.iterdir():
        with pytest.raises(ValueError, match=f"{path.name} is a folder or a pipe, where a file is needed"):
            read_wordpiece(path)
