"""Chinese couplets: those that the project makes, and those that were published."""
import hashlib
import unicodedata
from collections import Counter

import pytest

from helpers.data import couplets
from helpers.data.couplets import GLOSS, GROUPS, LEXICON, OPPOSITES, PATTERNS, PINYIN, load_couplets, make_couplets, transcribe

TONES = "\u0304\u0301\u030c\u0300"                      # the marks of ā á ǎ à
WORD_GROUPS = [group for groups in GROUPS.values() for group in groups]


@pytest.fixture(scope="module")
def made():
    return load_couplets("made")


def parses(first, second, places):
    """Whether these places, one after another, read the lines: each word answered by another of its group."""
    if not places:
        return first == ""
    return any(word != answer and first.startswith(word) and second.startswith(answer)
               and parses(first[len(word):], second[len(word):], places[1:])
               for group in GROUPS[places[0]] for word in group for answer in group)


def tone(character):
    """1 to 4, read from the mark over the vowel; 0 where there is not one mark."""
    marks = [mark for mark in unicodedata.normalize("NFD", PINYIN[character]) if mark in TONES]
    return TONES.index(marks[0]) + 1 if len(marks) == 1 else 0


def test_made_couplets_are_many_and_distinct(made):
    assert len(made) == len({first for first, _ in made}) == 12_000
    assert not {(second, first) for first, second in made} & set(made)
    assert {len(first) for first, _ in made} == {4, 5, 6, 7, 8, 9}
    assert min(Counter(len(first) for first, _ in made).values()) >= 500


def test_both_lines_follow_one_pattern(made):
    assert all(len(first) == len(second) for first, second in made)
    assert all(any(parses(first, second, pattern.split()) for pattern in PATTERNS) for first, second in made[:2000])


def test_every_character_is_answered_by_an_opposite(made):
    assert all(b in OPPOSITES[a] and a != b for first, second in made for a, b in zip(first, second))


def test_no_character_comes_twice_in_a_couplet(made):
    assert all(len(set(first + second)) == 2 * len(first) for first, second in made)


def test_the_first_line_ends_oblique_and_the_second_level(made):
    assert {tone(first[-1]) for first, _ in made} == {3, 4}
    assert {tone(second[-1]) for _, second in made} == {1, 2}


def test_every_character_of_the_lexicon_is_used(made):
    assert set("".join(first + second for first, second in made)) == set(OPPOSITES)


def test_the_nearest_answer_is_the_most_frequent(made):
    answers = Counter(second[0] for first, second in made if first.startswith("村"))            # of 村外 城中 山间
    assert answers["城"] > 1.5 * answers["山"] > 0 and set(answers) == {"城", "山"}


def test_what_the_answer_is_depends_on_more_than_the_character(made):
    """Or a table from character to character would write couplets, and there would be nothing to attend to."""
    pairs = Counter((a, b) for first, second in made for a, b in zip(first, second))
    best = Counter()
    for (a, _), count in pairs.items():
        best[a] = max(best[a], count)
    assert 0.6 < sum(best.values()) / sum(pairs.values()) < 0.9


def test_the_same_couplets_everywhere(made):
    assert make_couplets(50) == make_couplets(50) == made[:50] != make_couplets(50, seed=12)
    digest = hashlib.sha256("\n".join(first + second for first, second in made).encode("utf-8")).hexdigest()
    assert digest == "82489da819965ba8e22b16265c1a0af3843f960b92c2601cddc09edf83fcb1cb"


def test_known_opposites():
    for pair in "天地 山水 春秋 风雨 日月 红绿 来去 新旧 南北 一两 千万".split():
        assert pair[1] in OPPOSITES[pair[0]] and pair[0] in OPPOSITES[pair[1]]
    assert set(OPPOSITES["月"]) == set("风星日") and set(OPPOSITES["天"]) == set("海地")


def test_the_lexicon_is_a_relation_of_one_to_three_answers():
    assert set(OPPOSITES) == set(PINYIN) == set(GLOSS) == set("".join(word for group in WORD_GROUPS for word in group))
    for character, answers in OPPOSITES.items():
        assert 1 <= len(set(answers)) == len(answers) <= 3 and character not in answers
        assert all(character in OPPOSITES[answer] for answer in answers)


def test_the_words_of_a_group_are_as_long_as_one_another():
    assert all(len({len(word) for word in group}) == 1 and len(set(group)) == len(group) > 1 for group in WORD_GROUPS)
    assert {place for pattern in PATTERNS for place in pattern.split()} == set(GROUPS)


def test_every_character_has_one_reading_and_a_gloss():
    assert LEXICON.count(", ") + LEXICON.count(",\n") == len(PINYIN) - 1                           # none is given twice
    assert all(len(character) == 1 and "\u4e00" <= character <= "\u9fff" for character in PINYIN)
    assert all(tone(character) and unicodedata.is_normalized("NFC", PINYIN[character]) for character in PINYIN)
    letters = set("".join(unicodedata.normalize("NFD", reading) for reading in PINYIN.values()))
    assert letters <= set("abcdefghijklmnopqrstuwxyz\u0308" + TONES)
    assert all(gloss.isascii() and gloss.strip() == gloss != "" for gloss in GLOSS.values())


@pytest.mark.parametrize("character, reading", [
    ("天", "tiān"), ("绿", "lǜ"), ("长", "cháng"), ("朝", "zhāo"), ("更", "gēng"), ("重", "chóng"), ("只", "zhī"), ("少", "shào"),
])
def test_known_readings(character, reading):
    assert PINYIN[character] == reading


@pytest.mark.parametrize("text, letters", [
    ("明月", "míng yuè"), ("天<sep>地", "tiān <sep> dì"), ("<sep>", "<sep>"), ("山 水\n", "shān shuǐ"), ("龘", "U+9F98"),
    ("，", "U+FF0C"), ("天𠀀", "tiān U+20000"), ("", ""),
])
def test_transcribe(text, letters):
    assert transcribe(text) == letters


def test_published_couplets(published):
    published("couplet/in.txt")
    pairs = load_couplets("published")
    assert len(pairs) == 60_000 and pairs[2] == ("万花深处松千尺", "群鸟喧时鹤一声")
    assert all(len(first) == len(second) > 0 and not set(first + second) & set(" \n") for first, second in pairs)


def put(monkeypatch, folder, first, second, trusted=True):
    """Make a cache folder that holds these two files, with their checksums known or not."""
    (folder / "couplet").mkdir()
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(folder))
    for name, text in {"couplet/in.txt": first, "couplet/out.txt": second}.items():
        content = text.encode("utf-8")
        (folder / name).write_bytes(content)
        if trusted:
            monkeypatch.setitem(couplets.PUBLISHED, name, {hashlib.sha256(content).hexdigest(): len(content)})


def test_a_release_with_known_checksums_is_read(monkeypatch, tmp_path):
    put(monkeypatch, tmp_path, "天 高 ， 月 明 \n山 青\n", "地 阔 ， 风 清 \n水 秀\n")
    assert load_couplets("published") == [("天高，月明", "地阔，风清"), ("山青", "水秀")]


@pytest.mark.parametrize("first, second, message", [
    ("天 高\n山 青\n", "地 阔\n", "in.txt has 2 lines, out.txt 1: the two need to be of one release"),
    ("天 高\n山 青\n", "地 阔\n水\n", "line 2: '山青' has 2 characters, '水' 1: in.txt and out.txt need to be of one release"),
])
def test_files_that_do_not_belong_together_are_refused(monkeypatch, tmp_path, first, second, message):
    put(monkeypatch, tmp_path, first, second)
    with pytest.raises(ValueError, match=message):
        load_couplets("published")


def test_unknown_files_are_refused(monkeypatch, tmp_path):
    put(monkeypatch, tmp_path, "天\n", "地\n", trusted=False)
    with pytest.raises(ValueError, match=r"in.txt has 4 bytes.*sha256 and sizes go into helpers/data/couplets.py"):
        load_couplets("published")


def test_missing_files_are_asked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"in.txt is not there.*wb14123/couplet-dataset/releases.*couplet/out.txt"):
        load_couplets("published")


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="couplets 'real': they need to be 'made' or 'published'"):
        load_couplets("real")
