"""The tools that measure lesson 15: counting by hand, frozen features, rates chosen on validation rows, questions for a judge."""
import csv
import itertools
import json
import platform
import random
import re

import pytest
import torch

from helpers.bert import Bert, BertClassifier
from helpers.data.documentation import load_paragraphs
from helpers.pretrained.weights import SHIPPED
from tests.notebooks import ROOT, read, text_cells
from tools import benchmark_table
from tools.make_weights import counting, fine_tuning, judge, logistic


def test_what_two_texts_do_not_share():
    assert counting.unshared("The server opens the file.", "The program opens the file.") == (1, 1)
    assert counting.crossed("The old file.", "The file.") == [(1, 0), (0, "old")]
    assert counting.crossed("Old files.", "New files.") == [(1, 1), (0, "old"), (1, "new"), ("old", "new", "pair")]


def test_naive_bayes_by_hand():
    """a: 3 of 4 things seen are x, with one added (3 + 1) / (4 + 2); b: (1 + 1) / (2 + 2). Classes 2 to 1."""
    classify = counting.counted([(["x", "x"], "a"), (["x", "y"], "a"), (["x", "y"], "b")])
    assert classify(["x"]) == "a" and classify([]) == "a"
    assert classify(["y", "y", "y"]) == "b"                   # 1/3 * (1/2)^3 against 2/3 * (1/3)^3


def test_a_word_is_a_name_where_it_was_one_most_often():
    train = [(["the", "axis"], [0, 1]), (["axis", "is"], [1, 0]), (["axis"], [0])]
    assert counting.by_word(train, [(["the", "axis", "new"], [0, 1, 1])]) == 2 * 1 / (1 + 2)
    beside = [(["if", "size", "is"], [0, 1, 0]), (["the", "size", "of"], [0, 0, 0])] * 20
    assert counting.by_word(beside, beside) < 0.7 < counting.by_neighbours(beside, beside) == 1


def test_answers_that_were_answers_before_are_found_whole():
    assert counting.answers_in("A size of 50. Or 5.", ["5", "50"]) == [(10, 12)]        # the first "5" begins "50"
    rows = [("What?", "It is red.", 6, 9), ("Which?", "Red is it. Blue is it.", 11, 15)]
    assert counting.by_earlier_answers(rows, rows) == 0.5                                # red stands in both


def test_words_around_an_answer_tell_which_is_asked_for():
    def row(least, most, ask):
        passage = f"It is at least {least}. It is at most {most}."
        answer = str(least if ask == "smallest" else most)
        start = passage.index(answer)
        return f"Which is the {ask}?", passage, start, start + len(answer)

    rows = [row(a, b, ask) for ask in ("smallest", "largest") for a, b in ((10, 20), (20, 30), (30, 10), (20, 10))]
    assert counting.by_clues(rows, rows) == 1 > counting.by_earlier_answers(rows, rows)


def test_logistic_regression_by_hand():
    """A feature of 3 in 4 things of class 1 and of 1 in 4 of class 0: the odds of 1 are 3 with it and 1/3 without."""
    things, labels = [["x"], [], [], [], ["x"], ["x"], ["x"], []], [0] * 4 + [1] * 4
    classify = logistic.logistic_regression(things, labels, 0)
    expected = torch.tensor([[1 / 4, 3 / 4], [3 / 4, 1 / 4]])
    torch.testing.assert_close(classify([["x", "new"], []]).softmax(1), expected, atol=1e-3, rtol=0)
    assert logistic.logistic_regression(things, labels, 10.0)([["x"]]).diff().abs() < 0.1


def test_the_penalty_that_the_second_rows_prefer_is_scored_on_the_last():
    fits = {0.1: {"choose": 0.5, "test": 0.9}, 0.2: {"choose": 0.7, "test": 0.6}}
    found = logistic.best(None, "choose", "test", fits=lambda known: ((penalty, fits[penalty].get) for penalty in fits))
    assert found == (0.2, 0.7, 0.6)


def test_how_a_word_is_spelled_tells_names():
    assert [logistic.shape(word) for word in ("max_iter", "RuntimeError", "FFT", "2d", ".")] == ["x_x", "XxXx", "X", "0x", "."]
    rows = [(["Returns", "max_iter", "now"], [0, 1, 0]), (["The", "n_jobs", "of", "it"], [0, 1, 0, 0])] * 10
    fresh = [(["That", "is", "tol_abs", "here"], [0, 0, 1, 0])]
    rule, = logistic.RULES["each word"].values()
    assert rule(rows, fresh, fresh)[1:] == (1, 1)


def test_logistic_regression_weighs_the_clues_of_an_answer():
    def row(least, most, ask):
        passage = f"It is at least {least}. It is at most {most}."
        start = passage.index(answer := str(least if ask == "smallest" else most))
        return f"Which is the {ask}?", passage, start, start + len(answer)

    rows = [row(a, b, ask) for ask in ("smallest", "largest") for a, b in ((10, 20), (20, 30), (30, 10), (20, 10))]
    rule, = logistic.RULES["a span"].values()
    assert rule(rows, rows, [*rows, ("What?", "No answer of before.", 0, 2)])[1:] == (1, 8 / 9)


def test_frozen_features_are_those_of_the_bert_and_do_not_learn():
    torch.manual_seed(0)
    bert = Bert(40, 16, 2, 16, 1, 20, dropout=0.5).eval()
    frozen, ids, lengths = fine_tuning.Frozen(bert), torch.tensor([[2, 7, 8, 3], [2, 9, 3, 0]]), torch.tensor([4, 3])
    x = bert(ids, lengths, torch.zeros_like(ids)).detach()
    model = BertClassifier(frozen, 3).train()
    for _ in range(2):                                       # computed, then looked up
        found = model.bert(ids, lengths, torch.zeros_like(ids))
        torch.testing.assert_close(found[0], x[0])
        torch.testing.assert_close(found[1, :3], x[1, :3])
        torch.testing.assert_close(frozen.pool(found)[1], x[1, :3].mean(0))
    assert [name for name, p in model.named_parameters() if p.requires_grad] == ["output.weight", "output.bias"]


def test_of_several_rates_the_one_that_validation_prefers_counts(tmp_path):
    file = tmp_path / "runs.csv"
    rows = [("a", "x", 10, 0, 0.1, 1, 0.5, 0.9, ""), ("a", "x", 10, 0, 0.2, 1, 0.6, 0.7, ""),
            ("a", "x", 10, 1, 0.2, 1, 0.1, 0.8, ""),
            ("a", "counting: one", 10, 0, "", "", 0.4, 0.1, ""), ("a", "counting: other", 10, 0, "", "", 0.3, 0.2, "")]
    with file.open("w", newline="") as opened:
        csv.writer(opened).writerows([fine_tuning.COLUMNS, *rows])
    assert fine_tuning.chosen("a", "x", 10, file) == [0.7, 0.8]
    assert fine_tuning.chosen("a", "counting", 10, file) == [0.1]


def test_a_network_keeps_the_setting_that_was_chosen_with_the_first_seed(tmp_path):
    file = tmp_path / "runs.csv"
    rows = [("a", "pretrained", 1000, 0, 0.1, 1, 0.5, 0.7, ""), ("a", "pretrained", 1000, 0, 0.2, 1, 0.4, 0.9, ""),
            ("a", "pretrained", 1000, 1, 0.1, 1, 0.3, 0.6, ""), ("a", "pretrained", 1000, 1, 0.2, 1, 0.8, 0.8, ""),
            ("a", "pretrained", 50, 0, 0.1, 1, 0.1, 0.2, ""), ("a", "pretrained", 50, 0, 0.2, 1, 0.3, 0.4, "")]
    with file.open("w", newline="") as opened:
        csv.writer(opened).writerows([fine_tuning.COLUMNS, *rows])
    assert fine_tuning.chosen("a", "pretrained", 1000, file) == [0.7, 0.6]
    assert fine_tuning.chosen("a", "pretrained", 50, file) == [0.2]


def test_what_the_lesson_says_of_three_seeds_has_three():
    for task, start, examples in itertools.product(fine_tuning.TASKS, [*fine_tuning.SIMPLE, "pretrained", "frozen", "from scratch"],
                                                   fine_tuning.EXAMPLES):
        assert len(fine_tuning.chosen(task, start, examples)) == 3, (task, start, examples)
    for task, start in itertools.product(fine_tuning.TASKS, ["published, frozen", "embeddings alone", "all but token vectors"]):
        assert len(fine_tuning.chosen(task, start, 1000)) == 3, (task, start)


def test_training_pairs_are_replaced_by_what_was_asked_for(monkeypatch):
    monkeypatch.setattr(judge, "NUMBER", 1)
    pairs = [("It opens the old file.", "It opens the new file.", 2), ("The new file.", "The files.", 0),
             ("It does not open the old file.", "It.", 2), ("It opens the black file.", "It saves it.", 2), ("A file.", "It.", 0)]
    others = [("It hides the old box.", "It hides a box.", 2), ("It adds the old box.", "It adds the new box.", 2),
              ("It adds the old box.", "He adds the new box.", 2)]
    black = "It opens the black file."
    instead = [(black, "It opens the white file.", 2), (black, "It closes the black file.", 2), others[2]]
    for training, new in zip(judge.TRAININGS, instead, strict=True):
        wanted = [pairs[0], ("The new file.", "The new file.", 0), pairs[2], new, pairs[4]]
        assert judge.replaced(pairs, others, training) == wanted
    assert judge.replaced(pairs, others, judge.NO_REPEATS) == [*pairs[:3], instead[0], pairs[4]]


def test_every_second_contradiction_is_exchanged():
    pairs = [("a", "b", 2), ("c", "d", 0), ("e", "f", 2), ("g", "h", 1), ("i", "j", 2), ("k", "l", 2), ("m", "n", 0)]
    contradictions = [("a", "b", 2), ("c", "d", 0), ("f", "e", 2), ("g", "h", 1), ("i", "j", 2), ("l", "k", 2), ("m", "n", 0)]
    assert judge.exchanged(pairs, [2]) == contradictions
    assert judge.exchanged(pairs, [2, 0]) == [*contradictions[:-1], ("n", "m", 1)]


def test_questions_for_a_judge():
    pairs = [("The user opens the old files.", "The person opens the files.", 0),
             ("The user hides the new list.", "The user shows the list.", 2)]
    denied = "The user does not open the old file."
    asked = judge.changed_pairs([*pairs, (denied, "The user hides it.", 2)])
    user, other = "The user opens the old files.", "The user hides the new list."
    assert asked["entailment exchanged"] == ([("The person opens the files.", user)], 1)
    exchanged = {question: found for question, found in asked.items() if question.startswith("contradiction")}
    assert len(exchanged) == 4 and {len(found) for found, wanted in exchanged.values() if wanted == 2} == {0, 2}
    assert exchanged["contradiction exchanged, tells more, longer"][0] == [
        ("The user shows the list.", other), ("The user hides it.", denied)]
    same = judge.changed_pairs([("It adds it.", "It removes it.", 2)])["contradiction exchanged, not more, not longer"]
    assert same == ([("It removes it.", "It adds it.")], 2)
    left_out, wanted = asked["adjective left out of the hypothesis"]
    assert left_out == [(user, "The user opens the files."), (other, "The user hides the list.")] and wanted == 0
    assert asked["adjective left out of the premise"] == ([(b, a) for a, b in left_out], 1)
    new, old = "The user opens the new files.", "The user hides the old list."       # opposite to user and other
    opposed = {question: found for question, found in asked.items() if question.startswith("opposite adjective")}
    assert opposed == {"opposite adjective, old to new": ([(user, new), (old, other)], 2),
                       "opposite adjective, new to old": ([(new, user), (other, old)], 2)}
    assert [pair[1] for pair in asked["opposite verb"][0]] == ["The user closes the old files.", "The user shows the new list."]
    assert len(asked["the same sentence twice"][0]) == 3
    container, person = "The user hides the new container.", "The person hides the new list."          # files are general already
    assert asked["object made general"] == ([(other, container)], 0) and asked["object made specific"] == ([(container, other)], 1)
    assert asked["actor made general"] == ([(other, person)], 0) and asked["actor made specific"] == ([(person, other)], 1)


def test_a_place_is_added_where_neither_text_has_one_nor_denies_anything():
    plain = ("It opens the file.", "It closes the file.")
    asked = judge.places_added([(*plain, 2), (*plain, 0), ("It opens it in the cache.", "It closes it.", 2),
                                ("It opens it.", "It closes it after the test.", 2), ("It opens it.", "It does not open it.", 2)])
    opened, closed = "It opens the file in the cache.", "It closes the file in the cache."
    assert asked == {"place added to neither": ([plain], 2), "place added to the premise": ([(opened, plain[1])], 2),
                     "place added to the hypothesis": ([(plain[0], closed)], 2), "place added to both": ([(opened, closed)], 2),
                     "time added to the premise and place to the hypothesis": ([("It opens the file before the test.", closed)], 2),
                     "as it is added to the hypothesis": ([(plain[0], "It closes the file as it is.")], 2)}


def test_another_verb_is_no_opposite_and_is_done_to_the_same_thing():
    opposite = judge.opposites(judge.VERBS)
    for (thing, verb), other in judge.others_of(2).items():
        assert other not in (verb, opposite[verb]) and (thing, other) in judge.others_of(2)
    told = [(text, "", 2) for text in (
        "The user saves the old list.", "The user does not save the list.", "The user leads the owner.")]
    asked = judge.words_replaced(told)
    assert asked["another verb"] == ([("The user saves the old list.", "The user reads the old list."),
                                      ("The user leads the owner.", "The user ignores the owner.")], 1)
    assert asked["synonym of the verb"] == ([("The user saves the old list.", "The user stores the old list.")], 0)
    assert asked["another adjective"] == ([("The user saves the old list.", "The user saves the large list.")], 1)


def test_neutral_pairs_are_replaced_by_another_verb(monkeypatch):
    monkeypatch.setattr(judge, "NUMBER", 1)
    pairs = [("The user saves it.", "It.", 1), ("The user saves the list.", "It.", 2), ("The user saves the list.", "It.", 1),
             ("The user opens the file.", "It.", 1)]
    assert judge.other_verbs(pairs) == [*pairs[:2], ("The user saves the list.", "The user reads the list.", 1), pairs[3]]


def test_exchanged_contradictions_are_sorted_by_what_the_hypothesis_tells():
    assert judge.by_what_is_told([
        ("The user opens the old file.", "The user closes the file.", 2), ("The user opens it.", "The user closes it.", 2),
        ("The user opens the two files in the cache.", "The user closes the files.", 2), ("A", "B", 0)]) == {
        "exchanged and telling adjective": ([("The user closes the file.", "The user opens the old file.")], 2),
        "exchanged and telling nothing": ([("The user closes it.", "The user opens it.")], 2),
        "exchanged and telling several": ([("The user closes the files.", "The user opens the two files in the cache.")], 2)}


def test_the_lesson_says_how_many_opposite_words_a_judge_learns_from():
    known = random.Random(0).sample(fine_tuning.load_rows()["two texts"][0], 1000)
    adjectives, verbs = ([(one, other) for one, other, _ in known if any(
        a in one.split() and b in other.split() for a, b in judge.opposites(couples).items())]
        for couples in (judge.ADJECTIVES, judge.VERBS))
    more = sum(counting.unshared(*texts) != (1, 1) for texts in adjectives)
    text = "\n".join(cell.source for cell in text_cells(read(ROOT / "notebooks" / "15_fine_tuning.ipynb")))
    assert f"{len(adjectives)} have an adjective and its opposite, and {len(verbs)} have a verb and its opposite" in text
    assert f"In {more} of the {len(adjectives)}, other words differ" in text


def test_what_judges_answered_was_counted_right():
    with (SHIPPED / "judge.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    of_bert = {row["seed"] for row in rows if (row["judge"], row["training"]) == ("BERT", judge.AS_IT_IS)}
    assert of_bert == set("01234567") and {row["seed"] for row in rows if row["training"] != judge.AS_IT_IS} == set("012")
    for row in rows:
        given = [int(row[label]) for label in ("entailment", "neutral", "contradiction")]
        assert sum(given) == int(row["pairs"])
        assert not row["wanted"] or given[int(row["wanted"])] == int(row["right"])


def test_pretraining_has_read_more_than_half_of_the_test_sentences_with_names():
    """Counted in the standard library that it read, which is another with each version of Python."""
    trained_with = json.loads((SHIPPED / "bert" / "training.json").read_text(encoding="utf-8"))["python"]
    if platform.python_version_tuple()[:2] != tuple(trained_with.split(".")[:2]):
        pytest.skip(f"BERT read the documentation of Python {trained_with}")

    def plain(text):
        return f" {' '.join(re.findall(r'[a-z0-9_]+', text.lower()))} "

    read_before = plain(" ".join(sentence for paragraph in load_paragraphs() for sentence in paragraph))
    tests = fine_tuning.load_rows()["each word"][2]
    assert sum(plain(" ".join(words)) in read_before for words, _ in tests) > len(tests) / 2


@pytest.mark.parametrize("task", fine_tuning.TASKS)
def test_test_rows_are_none_of_those_that_are_learned_from(task):
    train, *others = fine_tuning.load_rows()[task]
    learned = {str(row[:-1]) for row in train}
    assert not learned & {str(row[:-1]) for rows in others for row in rows}


def test_the_lesson_quotes_what_was_measured_on_snli():
    rows = {row["test"].partition("::")[2]: row for row in benchmark_table.read() if row["test"].startswith("test_snli.py")}
    measured = [re.search(r"\d\d\.\d", rows[test][field])[0]
                for test in ("test_dev_accuracy", "test_linear_models") for field in ("here", "against")]
    text = "\n".join(cell.source for cell in text_cells(read(ROOT / "notebooks" / "15_fine_tuning.ipynb")))
    assert [number for number in measured if f"| {number} |" in text] == measured
