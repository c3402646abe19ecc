"""The first line of a couplet as somebody types it: read, or refused with a sentence; and readings."""
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.data.couplets import PINYIN, load_couplets, read_line, readings
from helpers.generation import SEP
from helpers.text import UNK, Vocab


def test_a_line_that_can_be_read():
    assert read_line(" 日升 水秀\n", PINYIN, 4, 9) == "日升水秀"
    vocab = Vocab([*first, SEP, *second] for first, second in load_couplets("made"))
    assert UNK not in vocab.encode(PINYIN)


@pytest.mark.parametrize("text, sentence", [
    ("", "^0 characters: it learned lines of 4 to 9.$"),
    ("   ", "^0 characters"),
    ("日", "^1 character: it learned"),
    ("日升水", "^3 characters"),
    ("日升水秀" * 3, "^12 characters"),
    ("日升水秀" * 3000, "^12000 characters"),
    ("日升水龘", "does not know '龘'. It knows 201 characters, as 春 chūn,"),
    ("rì shēng", "^Copy Chinese characters from the table above; readings cannot be typed. It does not know 'r', 'ì', 's'"),
    ("hello world", "does not know 'h', 'e', 'l', 'o', 'w' and more"),
    ("Привет", "does not know 'П'"),
    ("日升，水秀", "does not know '，'"),
    ("😀🏳️‍🌈\x00\ud800", "does not know '😀'"),
    ("<sep><eos>", "does not know '<'"),
])
def test_other_lines_get_a_sentence(text, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        read_line(text, PINYIN, 4, 9)
    assert len(str(caught.value)) < 300


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(max_size=30))
def test_whatever_is_typed_is_a_line_or_a_sentence(text):
    try:
        line = read_line(text, PINYIN, 4, 9)
    except ValueError as error:
        assert str(error).endswith(".")
    else:
        assert 4 <= len(line) <= 9 and set(line) <= set(PINYIN)


def test_readings_with_and_without_a_gloss():
    assert readings("天地") == ["tiān", "dì"] and readings("") == []
    assert readings(["天", "<sep>", "龘"], gloss=True) == ["tiān sky", "<sep>", "U+9F98"]
