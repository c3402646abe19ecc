"""Questions about passages: one right answer each, found by reading both, and nothing asked in the test that was trained on."""
import collections
import json
import random
import re

import pytest

from helpers.data.questions import load_questions
from helpers.text import split_words
from tools.make_data.questions import TOPICS, make_questions

VALUE = {topic.kind: "|".join(sorted(map(re.escape, topic.values), key=len, reverse=True)) for topic in TOPICS}
# The words of a question, and of a sentence, by which a reader knows what is told: an independent list, fact by fact.
CUES = {
    "argument": ["small|least", "default", "long lists", "large|most"],
    "file": ["writ", "read", "check|errors in", "remov|rid of"],
    "function": ["take|input", "return|result", "print|show", "keep|store"],
}


@pytest.fixture(scope="module")
def questions():
    return load_questions()


def kind_and_name(text):
    return re.search(r"[Tt]he (argument|file|function) (\w+)", text).groups()


def fact(kind, text):
    """Which of the facts of its kind a question or a sentence is about."""
    text = re.sub(rf"the {kind} \w+", "", text.lower())
    [found] = [i for i, cue in enumerate(CUES[kind]) if re.search(rf"\b(?:{cue})", text)]
    return found


def candidates(kind, passage):
    """Where the values that a passage has are."""
    return [found.span() for found in re.finditer(rf"\b({VALUE[kind]})\b(?! of)", passage, re.IGNORECASE)]


def sentence_of(passage, place):
    return re.findall(r"[^.]+\.", passage)[passage[:place].count(".")]


def answer(question, passage):
    """The answer of a reader that shares no code with the writer."""
    kind, name = kind_and_name(question)
    about = None
    for sentence in re.findall(r"[^ ][^.]+\.", passage):
        about = kind_and_name(sentence)[1] if re.search(rf"[Tt]he {kind} \w", sentence) else about
        if about == name and fact(kind, sentence) == fact(kind, question):
            return re.search(rf"\b({VALUE[kind]})\b", re.sub(rf"[Tt]he {kind} \w+", "", sentence), re.IGNORECASE)[0]


def test_a_careful_reader_finds_every_answer(questions):
    for question, passage, start, end in questions[0] + questions[1]:
        assert answer(question, passage) == passage[start:end], (question, passage)


def test_an_answer_is_there_once(questions):
    for _, passage, start, end in questions[0]:
        assert len(re.findall(rf"\b{re.escape(passage[start:end])}\b", passage, re.IGNORECASE)) == 1
        assert passage[start:end] == passage[start:end].strip() and passage[start:end][0].isalnum()


def test_the_passage_alone_does_not_tell(questions):
    """Nor do the first and the last value that could be it, nor the one whose sentence has most words of the question."""
    rng, right = random.Random(0), collections.Counter()
    for question, passage, start, end in questions[0]:
        spans = candidates(kind_and_name(question)[0], passage)
        words = set(split_words(question))
        shared = [len(words & set(split_words(sentence_of(passage, place)))) for place, _ in spans]
        guesses = {"first": spans[0], "last": spans[-1], "any": rng.choice(spans), "shared": spans[shared.index(max(shared))]}
        right.update(rule for rule, span in guesses.items() if span == (start, end))
    assert max(right["first"], right["last"], right["any"]) < 0.35 * len(questions[0])
    assert right["shared"] < 0.5 * len(questions[0])


def test_nothing_asked_in_the_test_is_asked_in_train(questions):
    asked = [set(), set()]
    for part, found in zip(questions, asked):
        for question, *_ in part:
            kind, name = kind_and_name(question)
            found.add((kind, name, fact(kind, question)))
    assert not asked[0] & asked[1]
    assert len(asked[0] | asked[1]) == sum(len(topic.names) * 4 for topic in TOPICS)
    for topic in TOPICS:                                        # each thing, and each question, is known from others
        assert {name for kind, name, _ in asked[0] if kind == topic.kind} == set(topic.names)
        assert {which for kind, _, which in asked[1] if kind == topic.kind} == set(range(4))
    assert not {passage for _, passage, *_ in questions[0]} & {passage for _, passage, *_ in questions[1]}


def test_half_of_the_passages_tell_of_another_thing_before_or_after(questions):
    where = collections.Counter()
    for question, passage, *_ in questions[0]:
        kind, name = kind_and_name(question)
        names = re.findall(rf"[Tt]he {kind} (\w+)", passage)
        where["alone" if set(names) == {name} else "first" if names[0] == name else "last" if names[-1] == name else "?"] += 1
    assert set(where) == {"alone", "first", "last"}
    assert 0.45 < where["alone"] / len(questions[0]) < 0.55 and 0.8 < where["first"] / where["last"] < 1.25


def test_every_form_is_used(questions):
    """Each way to ask, and each way to tell, by name and as "it" or "its", is there often."""
    asked = collections.Counter(re.sub(r"the (argument|file|function) \w+", r"the \1 N", question) for question, *_ in questions[0])
    assert set(asked) == {form.format(e=f"the {topic.kind} N") for topic in TOPICS for _, forms in topic.facts for form in forms}
    assert min(asked.values()) > 100
    told = " ".join(passage for _, passage, *_ in questions[0])
    for words in ["It is at least", "Its smallest value is", "Its default is", "By default, it is", "It should be", "it should be",
                  "writes it", "It is written by", "Its result is", "It returns", "It stores", "Its input is"]:
        assert told.count(words) > 40, words


def test_the_values_of_an_argument_make_sense(questions):
    """From the smallest value over the default and the one for long lists to the largest, they rise."""
    for question, passage, *_ in questions[0]:
        kind, name = kind_and_name(question)
        if kind == "argument":
            told, about = [], None
            for sentence in re.findall(r"[^ ][^.]+\.", passage):
                about = kind_and_name(sentence)[1] if "the argument" in sentence.lower() else about
                if about == name:
                    told.append((fact(kind, sentence), int(re.search(r"\d+", sentence)[0])))
            values = [value for _, value in sorted(told)]
            assert values == sorted(values) and len(values) == 3


def test_passages_are_short_plain_and_different(questions):
    train, test = questions
    assert len({passage for _, passage, *_ in train + test}) == 5500
    for question, passage, *_ in train + test:
        assert passage.count(".") in (3, 4) and len(split_words(passage)) < 55 and question.endswith("?")
        assert all(sentence[0].isupper() for sentence in re.findall(r"[^ .][^.]+", passage))
        assert not re.search(r"\{|\}|  | \.|\b(\w+) \1\b|\bof it\b|\ba [aeiou]|\ban [^aeiou]", passage)


def test_the_seed_decides_what_is_asked():
    made = [make_questions(50, random.Random(seed), held_out=False) for seed in (0, 0, 1)]
    assert made[0] == made[1] != made[2]


@pytest.mark.parametrize("n_train, n_test", [(0, 0), (1, 2), (30, 0)])
def test_the_first_ones_are_given_as_many_as_were_asked_for(questions, n_train, n_test):
    assert load_questions(n_train, n_test) == (questions[0][:n_train], questions[1][:n_test])


@pytest.mark.parametrize("sizes", [(-1, 5), (5, -1), (5001, 5), (5, 501)])
def test_more_than_are_there_are_refused(sizes):
    with pytest.raises(ValueError, match=rf"n_train={sizes[0]}, n_test={sizes[1]}: 5,000 and 500 are there"):
        load_questions(*sizes)


def squad(*passages):
    """A file in the layout of SQuAD, of (passage, question, answers)."""
    paragraphs = []
    for passage, question, *answers in passages:
        answers = [{"text": answer, "answer_start": passage.index(answer)} for answer in answers]
        paragraphs.append({"context": passage, "qas": [{"question": question, "id": "1", "answers": answers}]})
    return json.dumps({"version": "v2.0", "data": [{"title": "", "paragraphs": paragraphs}]})


def test_the_files_of_squad_are_read(tmp_path):
    (tmp_path / "train-v2.0.json").write_text(squad(("It was in 1066.", "When was it?", "1066", "in 1066"), ("So it is.", "Why?")))
    (tmp_path / "dev-v2.0.json").write_text(squad(("He left.", "Who left?", "He")))
    (train,), (test,) = load_questions(path=tmp_path)
    assert train == ("When was it?", "It was in 1066.", 10, 14) and test == ("Who left?", "He left.", 0, 2)
    for wrong in ("{", "[]", '{"data": [{}]}'):
        (tmp_path / "dev-v2.0.json").write_text(wrong)
        with pytest.raises(ValueError, match=r"dev-v2.0.json, line 1: .*where JSON in SQuAD's layout is needed"):
            load_questions(path=tmp_path)


def test_no_passage_of_one_file_is_divided(tmp_path):
    text = squad(*((f"It was in {n // 2}.", f"When was it, {n % 2}?", str(n // 2)) for n in range(200)))
    (tmp_path / "mine.json").write_text(text)
    train, test = load_questions(path=tmp_path / "mine.json")
    assert len(train) == 180 and len(test) == 20 and not {row[1] for row in train} & {row[1] for row in test}
