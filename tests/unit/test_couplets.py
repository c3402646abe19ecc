"""Chinese couplets: those that the project makes, and those that were published."""
import tarfile
import unicodedata
from collections import Counter

import pytest

from helpers.data.couplets import GLOSS, OPPOSITES, PINYIN, load_couplets, read_line, readings, transcribe
from tools.make_data.couplets import GROUPS, LEXICON, PATTERNS, make_couplets

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


def test_another_seed_gives_other_couplets(made):
    assert make_couplets(50) == make_couplets(50) == made[:50] != make_couplets(50, seed=12)


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


def test_published_couplets(published, capsys):
    published("couplet/in.txt")
    pairs = load_couplets("published")
    assert capsys.readouterr().out == ""                      # a known edition
    assert len(pairs) == 60_000 and pairs[2] == ("万花深处松千尺", "群鸟喧时鹤一声")
    assert all(len(first) == len(second) > 0 and not set(first + second) & set(" \n") for first, second in pairs)


@pytest.fixture
def put(tmp_path):
    """Writes the two files of a corpus into a folder."""
    def write(first, second, folder="couplet"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for name, text in {"in.txt": first, "out.txt": second}.items():
            (tmp_path / folder / name).write_text(text, encoding="utf-8")
        return tmp_path / folder
    return write


@pytest.mark.parametrize("first, second", [
    ("天 高 ， 月 明 \n龘 青\n", "地 阔 ， 风 清 \n水 𠀀\n"), ("天高，月明\n龘青", "地阔，风清\n水𠀀"),
])
def test_a_corpus_of_one_s_own_with_any_characters(put, first, second):
    folder, couplets = put(first, second), [("天高，月明", "地阔，风清"), ("龘青", "水𠀀")]
    assert load_couplets(path=folder) == load_couplets(path=(folder / "in.txt", folder / "out.txt")) == couplets
    (folder / "pairs.csv").write_text("".join(",".join(couplet) + "\n" for couplet in couplets), encoding="utf-8")
    assert load_couplets(path=folder / "pairs.csv") == couplets
    assert readings(couplets[1][1], gloss=True) == ["shuǐ water", "U+20000"]


def test_lines_of_such_a_corpus_can_be_typed(put):
    known = set("".join(first + second for first, second in load_couplets(path=put("天 龘\n", "地 𠀀\n"))))
    assert read_line(" 龘𠀀 ", known, 1, 4) == "龘𠀀"
    with pytest.raises(ValueError, match="It does not know '山'. It knows 4 characters, as .*U.9F98"):
        read_line("山", known, 1, 4)


def test_of_the_official_archive_the_training_part_is_read(put, tmp_path, monkeypatch):
    for part, line in {"test": "山 青", "train": "天 高"}.items():
        put(line + "\n", "地 阔\n", f"official/{part}")
    (tmp_path / "cache" / "couplet").mkdir(parents=True)
    with tarfile.open(tmp_path / "cache" / "couplet" / "couplet.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "official", "./couplet")
    assert load_couplets(path=tmp_path / "cache" / "couplet" / "couplet.tar.gz") == [("天高", "地阔")]
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(tmp_path / "cache"))
    assert load_couplets("published") == [("天高", "地阔")]


@pytest.mark.parametrize("first, second, message", [
    ("天 高\n山 青\n", "地 阔\n", "in.txt has 2 lines, .*out.txt 1: as many are needed"),
    ("天 高\n山 青\n", "地 阔\n水\n", "out.txt, line 2: '水', where a line of 2 characters, to answer '山青', is needed"),
])
def test_files_that_do_not_belong_together_are_refused(put, first, second, message):
    with pytest.raises(ValueError, match=message):
        load_couplets(path=put(first, second))


def test_missing_files_are_asked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"couplet is not there.*wb14123/couplet-dataset/releases.*train/out.txt"):
        load_couplets("published")


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="""no couplets are called 'real': choose "made" or "published", or give a path"""):
        load_couplets("real")
