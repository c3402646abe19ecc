"""`check`: what it says of wrong answers, and the wrong answers that once passed."""
import inspect
import math
import re
from collections import Counter

import pytest
import torch
import torch.nn.functional as F

from helpers.exercises import EXERCISES, check
from helpers.exercises.exercise import Exercise, numbers, verdict
from helpers.exercises.lesson_03 import slow_window_mask
from tests.notebooks import LOAD, PATHS, read

RIGHT = {
    "weighted_average": lambda weights, values: weights @ values,
    "window_mask": lambda T, reach: (torch.arange(T).unsqueeze(1) - torch.arange(T)).abs() <= reach,
    "shift_right": lambda target, bos: F.pad(target[:, :-1], (1, 0), value=bos),
    "answer_targets": lambda rows, sep: rows[:, 1:] * ((rows == sep).cumsum(-1) > 0)[:, :-1],
}


@pytest.fixture
def said(capsys):
    def said_of(answer, name):
        answer.__name__ = name
        check(answer)
        return capsys.readouterr().out.removesuffix("\n")
    return said_of


def slow_doubled(x):
    return 2 * x


def doubling(*x):
    return Exercise(slow_doubled, [(torch.tensor(x),)], {})


def size(case):
    tensors = sum(value.numel() for value in case if isinstance(value, torch.Tensor))
    return tensors + sum(len(value) for value in case if isinstance(value, list))


# What an unforeseen answer is told.

def test_the_smallest_failing_case_is_shown_with_its_values(said):
    assert said(lambda weights, values: weights.square() @ values, "weighted_average") == """\
weighted_average: not yet: your result is 8.94 at [0], where the plain version returns 10.2.
  weights       = [0.9, 0.1]
  values        = [[11.0, 1.0, 0.0],
                   [3.0, 1.0, 5.0]]
  your result   = [8.94, 0.82, 0.05]
  plain version = [10.2, 1.0, 0.5]"""


def test_cases_that_are_right_are_not_shown(said):
    text = said(lambda weights, values: weights[0] * values[0] + weights[1] * values[1], "weighted_average")
    assert "weights       = [0.2, 0.3, 0.5]" in text and "0.9" not in text


@pytest.mark.parametrize("name", EXERCISES)
def test_cases_grow_and_the_first_can_be_worked_by_hand(name):
    exercise = EXERCISES[name]
    sizes = [size(case) + exercise.spec(*case).numel() for case in exercise.cases]
    assert sizes == sorted(sizes)
    assert sizes[0] <= 24
    for value in exercise.cases[0]:
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            numbers = value.flatten().tolist()
            assert [float(f"{number:.4g}") for number in numbers] == pytest.approx(numbers, rel=1e-6)


def test_an_error_is_shown_with_the_case_that_raises_it(said):
    text = said(lambda target, bos: target[:, 9], "shift_right")
    assert "your function raised IndexError: " in text
    assert "\n  target        = [[5, 6]]\n  bos           = 2\n" in text


def test_what_torch_has_not_implemented_is_an_error_and_no_empty_answer(said):
    text = said(lambda weights, values: weights.long().softmax(-1) @ values, "weighted_average")
    assert "softmax" in text and "not attempted" not in text


@pytest.mark.parametrize(("wrong", "named"), [(math.nan, "NaN"), (math.inf, "inf")])
def test_a_number_that_is_not_finite_is_named_before_others(wrong, named):
    text = verdict(lambda x: torch.tensor([7.0, wrong]), doubling(1.0, 2.0))
    assert f"your result is {named} at [1], where the plain version returns 4.0." in text


@pytest.mark.parametrize(("name", "convert", "came", "needed"), [
    ("weighted_average", torch.Tensor.long, "int64", "float32"),
    ("weighted_average", torch.Tensor.bool, "bool", "float32"),
    ("window_mask", torch.Tensor.float, "float32", "bool"),
    ("shift_right", torch.Tensor.float, "float32", "int64"),
    ("answer_targets", torch.Tensor.float, "float32", "int64"),
    ("answer_targets", torch.Tensor.bool, "bool", "int64")])
def test_a_wrong_dtype_is_refused(said, name, convert, came, needed):
    text = said(lambda *case: convert(RIGHT[name](*case)), name)
    assert f"your result has dtype torch.{came} and needs torch.{needed}." in text


def test_another_dtype_of_the_same_kind_is_right(said):
    assert "correct" in said(lambda weights, values: weights.double() @ values.double(), "weighted_average")
    assert "correct" in said(lambda target, bos: RIGHT["shift_right"](target, bos).int(), "shift_right")


def loss_by_counting(text, left, answers, V, k, followed=lambda text: text[:-1]):
    """neighbour_loss as a reader writes it; followed: the tokens of the text that n(l) counts."""
    text = text.tolist()
    words, pairs, before = Counter(text), Counter(zip(text, text[1:])), Counter(followed(text))
    return sum(-math.log((pairs[x, w] + k * (words[w] + 1) / (len(text) + V)) / (before[x] + k))
               for x, w in zip(left.tolist(), answers.tolist())) / len(left)


def added(*shape, at):
    """Counts as a reader writes them, where `+=` takes a repeated index once."""
    n = torch.zeros(*shape)
    n[at] += 1
    return n


def loss_of_table(text, left, answers, k, n, before, words):
    """neighbour_loss of n(l, w), n(l) and n(w) for all ids."""
    p = (words + 1) / (len(text) + len(words))
    return -((n[left, answers] + k * p[answers]) / (before[left] + k)).log().mean()


def test_a_number_of_python_is_right_where_one_number_is_needed(said):
    assert "correct" in said(loss_by_counting, "neighbour_loss")
    assert "correct" in said(lambda logits, labels: -logits.log_softmax(-1).gather(
        -1, labels.unsqueeze(-1))[labels > 0].mean().item(), "hidden_loss")
    wrong = said(lambda *case: -loss_by_counting(*case), "neighbour_loss")
    assert wrong == "neighbour_loss: not yet: the result is negative; the loss is minus the logarithm."
    assert "your result is 7.0, where the plain version returns" in said(lambda *case: 7, "neighbour_loss")


@pytest.mark.parametrize(("answer", "said_of_it"), [
    (lambda x: 3.0, "needs to return a tensor, and returns a value of type float"),
    (lambda x: [2.0, 4.0], "needs to return a tensor, and returns a value of type list")])
def test_a_number_of_python_is_no_row(answer, said_of_it):
    assert said_of_it in verdict(answer, doubling(1.0, 2.0))


def test_a_truth_of_python_is_no_number(said):
    assert "your result has dtype torch.bool and needs torch.float32." in said(lambda *case: True, "neighbour_loss")


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_tolerance_is_relative_to_the_size_of_the_numbers(scale):
    exercise = doubling(1 * scale, 3 * scale)
    assert "correct" in verdict(lambda x: 2.000001 * x, exercise)
    assert f"your result is {2.02 * scale:.6g}".rstrip("0") in verdict(lambda x: 2.02 * x, exercise)


# Manners: arguments stay as they are, and the slow version is not called.

def shift_in_place(target, bos):
    target[:, 1:] = target[:, :-1].clone()
    target[:, 0] = bos
    return target


def mask_in_place(ids, chosen, fill, other, mask_id):
    replaced = chosen & (fill >= 0.8) & (fill < 0.9)
    ids[chosen & (fill < 0.8)] = mask_id
    ids[replaced] = other[replaced]
    return ids


@pytest.mark.parametrize(("name", "answer", "argument"), [
    ("shift_right", shift_in_place, "target"), ("shown_instead", mask_in_place, "ids"),
    ("weighted_average", lambda weights, values: values.mul_(weights.unsqueeze(-1)).sum(0), "values")])
def test_an_answer_that_changes_its_argument_is_refused(said, name, answer, argument):
    assert said(answer, name) == (f"{name}: not yet: your result is right, but your function changes "
                                  f"`{argument}` in place; leave its arguments as they are.")


def test_a_list_that_is_changed_is_told_and_spoils_no_later_answer(said):
    def removes(answers, rights, n):
        rights[0].clear()
        return torch.tensor(0.125)

    before = said(lambda answers, rights, n: torch.tensor(0.25), "corpus_precision")
    assert said(removes, "corpus_precision").endswith(
        "\nAlso, your function changes `rights` in place; leave its arguments as they are.")
    assert said(lambda answers, rights, n: torch.tensor(0.25), "corpus_precision") == before


def by_another_name(T, reach):
    return slow_window_mask(T, reach)


def imports(T, reach):
    from helpers.exercises import lesson_03
    return lesson_03.slow_window_mask(T, reach)


@pytest.mark.parametrize("answer", [lambda T, reach: slow_window_mask(T, reach), imports,
                                    lambda T, reach: by_another_name(T, reach)])
def test_an_answer_that_calls_the_slow_version_is_refused(said, answer):
    assert "not yet: your function calls slow_window_mask; write it without." in said(answer, "window_mask")


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_answer_is_correct(said, name):
    assert said(RIGHT[name], name) == f"{name}: correct, on all {len(EXERCISES[name].cases)} cases."


def test_a_right_answer_is_correct_though_a_mistake_agrees_with_it():
    exercise = Exercise(slow_doubled, [(torch.tensor([2.0]),)], {"you square": torch.square})
    assert verdict(lambda x: x + x, exercise).startswith("correct")


# What an exercise forbids: tensors that are too large, functions that do it all, loops.

def slow_distances(query, key):
    return torch.tensor([[sum((q - k) ** 2 for q, k in zip(row, other)) for other in key] for row in query])


def squares(x):
    return x.square().sum(-1)


DISTANCES = Exercise(slow_distances,
                     [(numbers(3, 2, seed=0), numbers(2, 2, seed=1)), (numbers(8, 6, seed=2), numbers(7, 6, seed=3))],
                     {}, most=112, without="cdist", at_once=True)


@pytest.mark.parametrize("answer", [
    lambda query, key: (query.unsqueeze(1) - key).square().sum(-1),
    lambda query, key: torch.sub(query.unsqueeze(1).expand(-1, len(key), -1), key).pow(2).sum(-1),
    lambda query, key: squares(query).unsqueeze(-1) + squares(key) - 2 * (query.unsqueeze(1) * key).sum(-1)])
def test_an_answer_that_makes_a_larger_tensor_on_the_way_than_the_exercise_allows_is_refused(answer):
    assert "makes a tensor [8, 7, 6] for a result [8, 7]" in verdict(answer, DISTANCES)


@pytest.mark.parametrize("answer", [
    lambda query, key: torch.cdist(query, key) ** 2,
    lambda query, key: torch.cdist(query.unsqueeze(0), key.unsqueeze(0))[0].square()])
def test_an_answer_that_leaves_the_work_to_a_function_that_does_it_all_is_refused(answer):
    assert "not yet: your function calls cdist; write it without." in verdict(answer, DISTANCES)


@pytest.mark.parametrize("answer", [
    lambda query, key: torch.stack([squares(q - key) for q in query]),
    lambda query, key: torch.stack([squares(query - k) for k in key], 1)])
def test_an_answer_that_loops_over_rows_is_refused_where_one_product_is_asked_for(answer):
    assert "takes rows or numbers one by one" in verdict(answer, DISTANCES)


@pytest.mark.parametrize("answer", [
    lambda query, key: squares(query).unsqueeze(-1) + squares(key) - 2 * torch.einsum("qd,kd->qk", query, key),
    lambda query, key: torch.cat([-2 * query, squares(query).unsqueeze(-1), torch.ones(len(query), 1)], 1) @ torch.cat(
        [key, torch.ones(len(key), 1), squares(key).unsqueeze(-1)], 1).mT])
def test_views_and_small_tensors_on_the_way_are_allowed(answer):
    assert "correct" in verdict(answer, DISTANCES)


def test_a_tensor_answer_of_many_lines_is_no_loop(said):
    def nearest_weights(query, key, k):
        distance = query.unsqueeze(1) - key
        distance = distance.abs()
        order = distance.argsort(dim=1, stable=True)
        nearest = order[:, :k]
        weights = torch.zeros_like(distance)
        for _ in range(2):                                    # a few times are no loop over queries or keys
            weights = weights.scatter(1, nearest, 1 / k)
        return weights

    assert "correct, on all 5 cases" in said(nearest_weights, "nearest_weights")


def test_an_exercise_that_asks_for_no_loop_refuses_one():
    asked = set()
    for path in PATHS:
        cells = read(path).cells
        for text, code in zip(cells, cells[1:]):
            load = LOAD.match(code.source) if code.cell_type == "code" else None
            if load and load[1].startswith("slow_") and re.search("without a loop", text.source, flags=re.I):
                asked.add(load[1].removeprefix("slow_"))
    assert len(asked) > 9
    assert asked <= {name for name, exercise in EXERCISES.items() if exercise.at_once}


# Names.

@pytest.mark.parametrize("name", [name for name, exercise in EXERCISES.items() if exercise.at_once])
def test_the_plain_version_under_the_asked_name_is_refused(said, name):
    spec = EXERCISES[name].spec
    names = dict(spec.__globals__)
    exec(inspect.getsource(spec).replace(spec.__name__, name), names)
    assert "takes rows or numbers one by one" in said(names[name], name)


def test_a_solution_is_checked_as_its_exercise(said):
    assert said(RIGHT["window_mask"], "window_mask_solution").startswith("window_mask_solution: correct")


def test_another_name_is_answered_by_the_nearest_and_its_lesson(said):
    with pytest.raises(ValueError) as error:
        said(lambda: None, "windw_mask")
    assert str(error.value) == ("no exercise asks for windw_mask: did you mean window_mask? "
                                "Lesson 03 asks for window_mask and harmed and leaks.")


def test_a_result_in_place_of_a_function_is_refused():
    with pytest.raises(TypeError, match=r"check\(my_function\), not a Tensor"):
        check(torch.zeros(2))


# Wrong answers that once passed.

def gaussian(x, width):
    return -((x.unsqueeze(1) - x) / width).square() / 2


def normalised(numbers):
    return numbers / numbers.sum(-1, keepdim=True)


def nearest_of_lists(query, key, k):
    """The plain version under another name, without a tensor in its loops."""
    rows = []
    for q in query.tolist():
        nearest = sorted(range(len(key)), key=lambda j: abs(q - key.tolist()[j]))[:k]
        rows.append([1 / k if j in nearest else 0.0 for j in range(len(key))])
    return torch.tensor(rows)


def segments_of_lists(ids, sep, pad):
    rows = []
    for text in ids.tolist():
        end = text.index(sep)
        rows.append([int(t > end and token != pad) for t, token in enumerate(text)])
    return torch.tensor(rows)


def cross_heads(query, memory, W_q, W_k, W_v, num_heads, cut=lambda x, H: x.unflatten(-1, (H, -1)).transpose(0, 1), exchanged=False,
                weigh=lambda scores: scores.softmax(-1), merge=lambda heads: heads.transpose(0, 1).flatten(1)):
    q, k, v = (cut(x @ W, num_heads) for x, W in ((query, W_q), (memory, W_k), (memory, W_v)))
    k, v = (v, k) if exchanged else (k, v)
    return merge(weigh(q @ k.mT / math.sqrt(q.shape[-1])) @ v)


def every_other(x, num_heads):
    return torch.stack([x[:, head::num_heads] for head in range(num_heads)])


def number_by_number(heads):
    return torch.stack([*heads], -1).flatten(1)


def one_view(x, num_heads):
    return x.reshape(num_heads, len(x), -1)


def of_the_words(logs, words):
    return -logs.gather(-1, words.unsqueeze(-1)).squeeze(-1)[words != 0].mean()


PASSED = [
    ("cross_heads", "one view or reshape cuts the heads", lambda *case: cross_heads(*case, cut=one_view)),
    ("cross_heads", "one view or reshape each", lambda *case: cross_heads(
        *case, cut=one_view, merge=lambda heads: heads.reshape(heads.shape[1], -1))),
    ("cross_heads", "keys and values are exchanged", lambda *case: cross_heads(*case, exchanged=True)),
    ("cross_heads", "there is no softmax", lambda *case: cross_heads(*case, weigh=lambda scores: scores)),
    ("cross_heads", "put the positions first, then flatten", lambda *case: cross_heads(*case, merge=lambda heads: heads)),
    ("cross_heads", "the positions are first", lambda *case: cross_heads(*case, merge=lambda heads: heads.transpose(0, 1))),
    ("cross_heads", "you average the heads", lambda *case: cross_heads(*case, merge=lambda heads: sum(heads) / len(heads))),
    ("cross_heads", "do not sum to 1", lambda *case: cross_heads(*case, weigh=torch.exp)),
    ("cross_heads", "the first head comes first", lambda *case: cross_heads(
        *case, merge=lambda heads: torch.cat([*heads][::-1], -1))),
    ("cross_heads", "the root of the number of keys", lambda query, memory, W_q, *rest: cross_heads(
        query * (W_q.shape[1] / rest[-1] / len(memory)) ** 0.5, memory, W_q, *rest)),
    ("cross_heads", "every num_heads-th number; it needs", lambda *case: cross_heads(*case, cut=every_other)),
    ("cross_heads", "merged so, too", lambda *case: cross_heads(*case, cut=every_other, merge=number_by_number)),
    ("cross_heads", "merged number by number", lambda *case: cross_heads(*case, merge=number_by_number)),
    ("split_heads", "`split` takes the size", lambda x, num_heads: torch.stack(x.split(num_heads, -1), 1)),
    ("split_heads", "there should be num_heads pieces", lambda x, num_heads: torch.stack(x.split(num_heads, -1), 1)),
    ("split_heads", "before the batch", lambda x, num_heads: torch.stack(x.tensor_split(num_heads, -1))),
    ("may_train", "only the first pair of each held-out day", lambda days, held: torch.stack(
        [(held != day).all() | (days[:i] == day).any() for i, day in enumerate(days)])),
    ("may_train", "your result is", lambda days, held: days > held.max()),
    ("calibration_error", "a confidence of 1 is in no bin", lambda confidence, right, num_bins: sum(
        (confidence - right.float())[(confidence >= b / num_bins) & (confidence < (b + 1) / num_bins)].sum().abs()
        for b in range(num_bins)) / len(confidence)),
    ("calibration_error", "your result is", lambda confidence, right, num_bins: sum(
        (chunk[:, 0] - chunk[:, 1]).sum().abs() for chunk in torch.stack([confidence, right.float()], 1).tensor_split(num_bins)
    ) / len(confidence)),
    ("confidence", "the exponential of 100 overflows", lambda scores, ids: (
        scores.exp() / scores.exp().sum(-1, keepdim=True)).gather(-1, ids.unsqueeze(-1)).prod()),
    ("hidden_loss", "the softmax of a small logit is 0",
     lambda scores, words: of_the_words(scores.softmax(-1).log(), words)),
    ("hidden_loss", "the exponential of a large logit overflows",
     lambda scores, words: of_the_words((scores.exp() / scores.exp().sum(-1, keepdim=True)).log(), words)),
    ("hidden_loss", "torch.logsumexp does not",
     lambda scores, words: of_the_words(scores - scores.exp().sum(-1, keepdim=True).log(), words)),
    ("hidden_loss", "returns 150.0",
     lambda scores, words: of_the_words((scores.softmax(-1) + 1e-9).log(), words)),
    ("neighbour_loss", "which nothing follows", lambda *case: loss_by_counting(*case, followed=list)),
    ("neighbour_loss", "add k * p(w) above, and k below", lambda text, left, answers, V, k: -torch.tensor([
        (sum(pair == [x, w] for pair in text.unfold(0, 2, 1).tolist()) + k) / ((text[:-1] == x).sum() + k * V)
        for x, w in torch.stack([left, answers], 1).tolist()]).log().mean()),
    ("neighbour_loss", "a token that the text does not have gets 0", lambda text, left, answers, V, k: -torch.stack([
        (((text[:-1] == x) & (text[1:] == w)).sum() + k * (text == w).float().mean()) / ((text[:-1] == x).sum() + k)
        for x, w in zip(left, answers)]).log().mean()),
    ("neighbour_loss", "a pair that the text has twice is counted once", lambda text, left, answers, V, k: loss_of_table(
        text, left, answers, k, n := added(V, V, at=(text[:-1], text[1:])), n.sum(1), text.bincount(minlength=V))),
    ("neighbour_loss", "n(l, w) counts a pair", lambda text, left, answers, V, k: loss_of_table(
        text, left, answers, k, added(V, V, at=(text[:-1], text[1:])), text[:-1].bincount(minlength=V),
        text.bincount(minlength=V))),
    ("neighbour_loss", "no count is above 1", lambda text, left, answers, V, k: loss_of_table(
        text, left, answers, k, added(V, V, at=(text[:-1], text[1:])), added(V, at=text[:-1]), added(V, at=text))),
    ("training_memory", "Adam's two averages are missing", lambda layers, d, d_ff, heads, T, texts: torch.tensor([
        8 * layers * (4 * d * d + 2 * d * d_ff), 4 * texts * T * layers * (6 * d + 2 * d_ff + heads * T)]) / 1e3),
    ("training_memory", "no norms", lambda layers, d, d_ff, heads, T, texts: torch.tensor([
        16 * layers * (4 * d * d + 2 * d * d_ff), 4 * texts * T * layers * (8 * d + 2 * d_ff + heads * T)]) / 1e3),
    ("training_memory", "each head has a table", lambda layers, d, d_ff, heads, T, texts: torch.tensor([
        16 * layers * (4 * d * d + 2 * d * d_ff), 4 * texts * T * layers * (6 * d + 2 * d_ff + T)]) / 1e3),
    ("leave_one_out_weights", "two points at the same x do not see each other",
     lambda x, width: gaussian(x, width).masked_fill(gaussian(x, width) == 0, -math.inf).softmax(-1)),
    ("leave_one_out_weights", "scores lower than the diagonal does",
     lambda x, width: gaussian(x, width).fill_diagonal_(-20).softmax(-1)),
    ("leave_one_out_weights", "scores lower than the number that hides the diagonal",
     lambda x, width: gaussian(x, width).masked_fill(torch.eye(len(x), dtype=torch.bool), -1e9).softmax(-1)),
    ("leave_one_out_weights", "x             = [0.0, 1e+05]", lambda x, width: normalised(
        gaussian(x.double(), width).exp().fill_diagonal_(0)).float()),
    ("leave_one_out_weights", "one by one; do without a loop", lambda x, width: torch.stack([
        scores.where(torch.arange(len(x)) != i, -math.inf).softmax(-1) for i, scores in enumerate(gaussian(x, width))])),
    ("nearest_weights", "one by one; do without a loop", lambda query, key, k: torch.stack([torch.zeros(len(key)).scatter(
        0, (q - key).abs().argsort(stable=True)[:k], 1 / k) for q in query])),
    ("nearest_weights", "one by one; do without a loop", nearest_of_lists),
    ("average_batch", "take the softmax of the scores", lambda query, key, value, width: normalised(
        (-((query.unsqueeze(-1) - key.unsqueeze(1)) / width).square() / 2).exp()) @ value),
    ("average_batch", "one by one; do without a loop", lambda query, key, value, width: torch.stack([
        (-((q.unsqueeze(-1) - k) / width).square() / 2).softmax(-1) @ v for q, k, v in zip(query, key, value)])),
    ("cosine_weights", "compares row by row", lambda query, key, t: F.softmax(F.cosine_similarity(query, key, dim=-1) / t, -1)),
    ("harmed", "NaN passes your test", lambda attention, x, lengths: torch.stack([
        (attention(x, lengths)[i, :n] - attention(x[i:i + 1, :n], lengths[i:i + 1])[0]).abs().sum() > 1e-5
        for i, n in enumerate(lengths)])),
    ("harmed", "still has its padding", lambda attention, x, lengths: torch.stack([
        ~torch.isclose(attention(x, lengths)[i, :n], attention(x[i:i + 1], lengths[i:i + 1])[0, :n], atol=1e-5).all()
        for i, n in enumerate(lengths)])),
    ("harmed", "equal only up to rounding", lambda attention, x, lengths: torch.stack([
        torch.tensor(not torch.equal(attention(x, lengths)[i, :n], attention(x[i:i + 1, :n], lengths[i:i + 1])[0]))
        for i, n in enumerate(lengths)])),
    ("harmed", "only the last word", lambda attention, x, lengths: torch.stack([
        ~torch.isclose(attention(x, lengths)[i, n - 1], attention(x[i:i + 1, :n], lengths[i:i + 1])[0, -1]).all()
        for i, n in enumerate(lengths)])),
    ("harmed", "attention     = suspect B", lambda attention, x, lengths: torch.zeros(len(x), dtype=torch.bool)),
    ("leaks", "rows and columns are exchanged", lambda mask, num_layers: torch.linalg.matrix_power(
        (mask.T | torch.eye(len(mask), dtype=torch.bool)).float(), num_layers).diagonal(1) > 0),
    ("interval", "raised RuntimeError: Subtraction", lambda a, b, drawn: (a - b)[drawn].float().mean(1).quantile(
        torch.tensor([0.025, 0.975]))),
    ("interval", "one by one; do without a loop", lambda a, b, drawn: torch.stack([
        a[row].float().mean() - b[row].float().mean() for row in drawn]).quantile(torch.tensor([0.025, 0.975]))),
    ("interval", "one by one; do without a loop", lambda a, b, drawn: torch.tensor([
        sum(int(a[i]) - int(b[i]) for i in row) / len(row) for row in drawn.tolist()]).quantile(torch.tensor([0.025, 0.975]))),
    ("interval", "take each row's mean first", lambda a, b, drawn: (a[drawn].float() - b[drawn].float()).quantile(
        torch.tensor([0.025, 0.975]))),
    ("interval", "one from the other", lambda a, b, drawn: torch.stack([
        a[drawn].float().mean(1).quantile(q) - b[drawn].float().mean(1).quantile(q) for q in (0.025, 0.975)])),
    ("without_each", "one by one; do without a loop", lambda ids: torch.stack([
        torch.cat([ids[:i], ids[i + 1:]]) for i in range(1, len(ids))])),
    ("without_each", "one by one; do without a loop", lambda ids: torch.tensor([
        (tokens := ids.tolist())[:i] + tokens[i + 1:] for i in range(1, len(ids))])),
    ("segments_of", "so its segment is 0", lambda ids, sep, pad: ((ids == sep).cumsum(1).clamp(max=1) * (ids != pad))),
    ("segments_of", "padding after a single text", lambda ids, sep, pad: (
        F.pad((ids == sep).cumsum(1), (1, -1)) == 1).long()),
    ("segments_of", "and needs torch.int64", lambda ids, sep, pad: (F.pad((ids == sep).cumsum(1), (1, -1)) == 1) & (ids != pad)),
    ("segments_of", "one by one; do without a loop", segments_of_lists),
    ("logits_at", "one by one; do without a loop", lambda x, pairs, table, bias: torch.stack([
        x[text, t] @ table.mT + bias for text, t in pairs.tolist()])),
    ("logits_at", "from every text", lambda x, pairs, table, bias: F.linear(x[:, pairs[:, 1]], table, bias)),
    ("logits_at", "from the first text", lambda x, pairs, table, bias: F.linear(x.flatten(0, 1)[pairs[:, 1]], table, bias)),
    ("logits_at", "they count from 0 already", lambda x, pairs, table, bias: F.linear(
        x[pairs[:, 0], pairs[:, 1] + 1], table, bias)),
    ("logits_at", "are `@ table.T`", lambda x, pairs, table, bias: x[pairs[:, 0], pairs[:, 1]] @ table + bias),
    ("logits_at", "makes a tensor [5, 8, 3]", lambda x, pairs, table, bias: F.linear(
        x[pairs[:, 0]][torch.arange(len(pairs)), pairs[:, 1]], table, bias)),
    ("logits_at", "in rising order", lambda x, pairs, table, bias: F.linear(x[torch.zeros(
        x.shape[:2], dtype=torch.bool).index_put(tuple(pairs.T), torch.tensor(True))], table, bias)),
    ("corpus_precision", "your result is", lambda answers, rights, n: torch.tensor(
        sum(len(set(answer) & set(right)) for answer, right in zip(answers, rights)) / len(answers))),
    ("shown_instead", "fill          = [[0.7,", lambda ids, chosen, fill, other, mask_id: torch.where(
        chosen, torch.where(fill < 0.5, mask_id, torch.where(fill < 0.9, other, ids)), ids)),
]


@pytest.mark.parametrize(("name", "told", "answer"), PASSED)
def test_a_wrong_answer_is_told(said, name, told, answer):
    text = said(answer, name)
    assert "not yet" in text and told in text


# Lesson 7: mistakes as a reader writes them, with torch's own functions.

def look(query, key, value=None, mask=None):
    return F.scaled_dot_product_attention(query, key, key if value is None else value, mask)


def rms(x, dim=-1):
    return F.rms_norm(x, x.shape[-1:]) if dim == -1 else x / x.square().mean(dim, keepdim=True).sqrt()


def decoder(norm=rms, key=None, value=None, before_cross=None, add=(1, 1, 1), mask=0):
    """An answer to decoder_layer: norms of its own before parts; in add, 0 leaves out a residual; mask: the diagonal it ends at."""
    key, value, before_cross = key or norm, value or key or norm, before_cross or norm

    def answer(x, memory, up, down):
        mask_of_x = torch.ones(len(x), len(x), dtype=torch.bool).tril(mask)
        x = add[0] * x + look(norm(x), key(x), value(x), mask_of_x)
        x = add[1] * x + look(before_cross(x), memory)
        return add[2] * x + (norm(x) @ up).relu() @ down
    return answer


def cached(last):
    """An answer to attend_from_cache, whose mask begins in column S + last."""
    def answer(q, k, v, kept_k, kept_v):
        mask = torch.ones(len(q), len(kept_k) + len(q), dtype=torch.bool).tril(len(kept_k) + last)
        return look(q, torch.cat([kept_k, k]), torch.cat([kept_v, v]), mask)
    return answer


@pytest.mark.parametrize("answer", [decoder(), decoder(lambda x: F.rms_norm(x, x.shape[-1:], eps=1e-6))])
def test_a_right_decoder_layer_is_correct(said, answer):
    assert "correct" in said(answer, "decoder_layer")


@pytest.mark.parametrize(("name", "told", "answer"), [
    ("decoder_layer", "this is layer norm", decoder(lambda x: F.layer_norm(x, x.shape[-1:]))),
    ("decoder_layer", "only the queries of self-attention are normalised", decoder(key=torch.clone)),
    ("decoder_layer", "the values of self-attention are not normalised", decoder(value=torch.clone)),
    ("decoder_layer", "cross-attention reads x as it is", decoder(before_cross=torch.clone)),
    ("decoder_layer", "the residual connection around self-attention is missing", decoder(add=(0, 1, 1))),
    ("decoder_layer", "the residual connection around cross-attention is missing", decoder(add=(1, 0, 1))),
    ("decoder_layer", "the residual connection around feed-forward is missing", decoder(add=(1, 1, 0))),
    ("decoder_layer", "taken over the tokens", decoder(lambda x: rms(x, 0))),
    ("decoder_layer", "one mean of the squares is taken for all tokens", decoder(lambda x: rms(x, (0, 1)))),
    ("decoder_layer", "the root of the sum of its squares", decoder(lambda x: F.normalize(x, dim=-1))),
    ("decoder_layer", "an epsilon of 1e-5", decoder(lambda x: F.rms_norm(x, x.shape[-1:], eps=1e-5))),
    ("decoder_layer", "one column too early", decoder(mask=-1)),
    ("decoder_layer", "one column too late", decoder(mask=1)),
    ("attend_from_cache", "one column too early", cached(-1)),
    ("attend_from_cache", "one column too late", cached(1)),
    ("attend_from_cache", "only what the cache holds is read", lambda q, k, v, *kept: look(q, *kept)),
    ("attend_from_cache", "keys and values are exchanged", lambda q, k, v, kept_k, kept_v: cached(0)(q, v, k, kept_v, kept_k)),
])
def test_a_likely_mistake_of_lesson_7_is_named(said, name, told, answer):
    assert told in said(answer, name)


def mean_gaps(confidence, right, num_bins, size=torch.abs):
    """The calibration error by a mean for each bin, as a reader writes it: an empty bin gives NaN."""
    bins = (confidence * num_bins).long().clamp(max=num_bins - 1)
    parts = [bins == b for b in range(num_bins)]
    return torch.stack([size(confidence[part].mean() - right[part].float().mean()) * part.float().mean() for part in parts]).sum()


@pytest.mark.parametrize(("name", "told", "answer"), [
    ("may_train", "these are the days", lambda days, held: days[(days.unsqueeze(1) != held).all(1)]),
    ("may_train", "these are the positions", lambda days, held: torch.where(torch.isin(days, held, invert=True))[0]),
    ("may_train", "exchange the arguments", lambda days, held: torch.isin(held, days, invert=True)),
    ("may_train", "all are True", lambda days, held: torch.tensor([day not in set(held) for day in days])),
    ("confidence", "the smallest", lambda logits, ids: logits.softmax(-1).gather(-1, ids.unsqueeze(-1)).min()),
    ("confidence", "the last step is missing", lambda logits, ids: torch.stack(
        [logits[t].softmax(-1)[ids[t]] for t in range(len(ids) - 1)]).prod()),
    ("confidence", "a sigmoid", lambda logits, ids: torch.sigmoid(logits).gather(-1, ids.unsqueeze(-1)).prod()),
    ("calibration_error", "the mean of an empty bin is NaN", mean_gaps),
    ("calibration_error", "the middle of each bin", lambda confidence, right, num_bins: mean_gaps(
        ((confidence * num_bins).long().clamp(max=num_bins - 1) + 0.5) / num_bins, right, num_bins,
        lambda gap: gap.abs().nan_to_num())),
    ("calibration_error", "only the bins that are too sure", lambda *case: mean_gaps(*case, lambda gap: gap.relu().nan_to_num())),
    ("calibration_error", "the gaps are squared", lambda *case: mean_gaps(*case, lambda gap: gap.square().nan_to_num())),
])
def test_a_likely_mistake_of_lesson_8_is_named(said, name, told, answer):
    assert told in said(answer, name)


def scaled_in_place(weights, key):
    weights[key] = 0
    return weights / (1 - weights[key])


@pytest.mark.parametrize(("name", "told", "answer"), [
    ("weighted_average", "the weights come first", lambda weights, values: values @ weights),
    ("weighted_average", "each belongs to a whole row", lambda weights, values: weights * values),
    ("weighted_average", "each belongs to a whole row", lambda weights, values: (weights * values).sum(0)),
    ("cut", "what are shares already",
     lambda weights, key: weights.index_fill(0, torch.tensor(key), -math.inf).softmax(0)),
    ("cut", "each weight that is not 0 gets an equal part",
     lambda weights, key: torch.where(weights > 0, weights + weights[key] / ((weights > 0).sum() - 1), 0).index_fill(
         0, torch.tensor(key), 0)),
    ("cut", "which is too little", lambda weights, key: (weights * (1 + weights[key])).index_fill(0, torch.tensor(key), 0)),
    ("cut", "the entry at `key` is gone",
     lambda weights, key: F.normalize(weights[torch.arange(len(weights)) != key], p=1, dim=0)),
    ("cut", "before it became 0", scaled_in_place),
])
def test_a_likely_mistake_of_lesson_0_is_named(said, name, told, answer):
    assert told in said(answer, name)


# Lesson 9: mistakes as a reader writes them.

def one_step(total, logs, finished, pad=0.0, running_pad=-torch.inf, stop=-torch.inf):
    """A step as `beams` takes it: the best [width], and the flat places [width] where they stood."""
    logs = logs.clone()
    logs[:, 0] = logs[:, 0] if running_pad is None else running_pad
    logs[finished] = logs[finished] if stop is None else stop
    logs[finished, 0] = pad
    return (total.unsqueeze(-1) + logs).flatten().topk(len(total))


def stepped(values, rows, tokens):
    return torch.stack([values, rows.float(), tokens.float()], -1)


def apart(found, size):
    return stepped(found.values, found.indices // size, found.indices % size)


def by_row(total, logs, finished):
    logs = torch.where(finished.unsqueeze(-1), -torch.inf, logs)
    logs[:, 0] = torch.where(finished, 0.0, -torch.inf)
    values, tokens = (total.unsqueeze(-1) + logs).max(-1)
    return stepped(values, torch.arange(len(total)), tokens)


def without_old(total, logs, finished):
    return apart(one_step(torch.zeros_like(total), logs, finished), logs.shape[1])


def gathered(logits, ids):
    return logits.log_softmax(-1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)


def tails(ids, n):
    return [tuple(ids[i:i + n]) for i in range(len(ids))]


@pytest.mark.parametrize("answer", [
    lambda total, logs, finished: apart(one_step(total, logs, finished), logs.shape[1]),
    lambda total, logs, finished: apart(one_step(total.double(), logs.double(), finished), logs.shape[1])])
def test_a_right_step_of_a_beam_is_correct(said, answer):
    assert "correct, on all" in said(answer, "beam_step")


@pytest.mark.parametrize(("name", "told", "answer"), [
    ("beam_step", "a finished hypothesis is continued", lambda t, x, f: apart(one_step(t, x, f & False), x.shape[1])),
    ("beam_step", "costs nothing after a finished hypothesis; you add",
     lambda t, x, f: apart(one_step(t, x, f, pad=x[f, 0]), x.shape[1])),
    ("beam_step", "a finished hypothesis is dropped", lambda t, x, f: apart(one_step(t, x, f, pad=-torch.inf), x.shape[1])),
    ("beam_step", "stands in the beam several times", lambda t, x, f: apart(one_step(t, x, f, stop=0.0), x.shape[1])),
    ("beam_step", "not finished writes `<pad>`", lambda t, x, f: apart(one_step(t, x, f, running_pad=None), x.shape[1])),
    ("beam_step", "without what the hypothesis had before", without_old),
    ("beam_step", "best token of each hypothesis", by_row),
    ("beam_step", "row and token are exchanged", lambda t, x, f: apart(one_step(t, x, f), x.shape[1])[:, [0, 2, 1]]),
    ("beam_step", "divide the place by the size of the vocabulary", lambda t, x, f: apart(one_step(t, x, f), x.shape[0])),
    ("beam_step", "takes rows or numbers one by one", lambda total, logs, finished: torch.stack(sorted(
        [torch.stack([total[row] + log_p * ~finished[row], torch.tensor(row), torch.tensor(token)])
         for row in range(len(logs)) for token, log_p in enumerate(logs[row]) if (token == 0) == finished[row]],
        key=lambda candidate: -candidate[0])[:len(logs)])),
    ("corpus_precision", "the last n-gram of each text is missing",
     lambda a, r, n: torch.tensor(sum((Counter(tails(x, n)[:len(x) - n]) & Counter(tails(y, n)[:len(y) - n])).total()
                                      for x, y in zip(a, r)) / max(1, sum(len(x) - n for x in a)))),
    ("corpus_precision", "shorter than n",
     lambda a, r, n: torch.tensor(sum((Counter(tails(x, n)) & Counter(tails(y, n))).total() for x, y in zip(a, r))
                                  / sum(map(len, a)))),
    ("answer_score", "a cross-entropy is the negative of it", lambda logits, ids, alpha: F.cross_entropy(
        logits, ids, ignore_index=0, reduction="sum") / ((5 + (ids != 0).sum()) / 6) ** alpha),
    ("answer_score", "padding counts both in the sum and in the length",
     lambda logits, ids, alpha: gathered(logits, ids).sum() / ((5 + len(ids)) / 6) ** alpha),
])
def test_a_likely_mistake_of_lesson_9_is_named(said, name, told, answer):
    assert told in said(answer, name)
