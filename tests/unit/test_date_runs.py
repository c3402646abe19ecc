"""The tool that records the trainings of lesson 8 with three seeds and other sizes of tokens and positions."""
import random

import pytest
import torch

from helpers.pretrained.dates import SOURCE, TARGET, date_model
from tools.make_weights import tables
from tools.make_weights.date_runs import MEASURED, SETTING, Task, auroc, calibration_error, measured, misspell, rows


@pytest.fixture(scope="module")
def task():
    return Task(2_000)


def test_sizes_and_base_reach_the_model(task):
    plain, large, short = (task.trained(*setting, steps=1, seed=0)[0].src_embed
                           for setting in ((1, 1, 10_000), (8, 0.5, 10_000), (1, 1, 20)))
    assert 6 < large.tokens.weight.std() / plain.tokens.weight.std() < 10
    assert torch.equal(large.positions.table, 0.5 * plain.positions.table)
    assert not torch.allclose(short.positions.table, plain.positions.table)


def test_rows_of_each_setting_and_seed_are_written(task, tmp_path):
    tables.write(tmp_path / "dates.csv", [*SETTING, *MEASURED], rows([(1, 1, 20, 2), (8, 1, 20, 2)], (0, 1), task))
    found = tables.read(tmp_path / "dates.csv")
    assert [*found[0]] == [*SETTING, *MEASURED]
    assert [(row["tokens"], row["seed"]) for row in found] == [("1", "0"), ("1", "1"), ("8", "0"), ("8", "1")]
    assert len({row["loss"] for row in found}) == 4 and not any(row["exact_match"] for row in found)


def test_what_is_measured_of_a_good_model(task):
    task.source, task.target, task.test_pairs = SOURCE, TARGET, task.test_pairs[:60]
    found = measured(task, date_model())
    assert {*found} == {*MEASURED} - {"loss"}
    assert found["exact_match"] > 0.95 and found["cuts_on_own_part"] > 0.9 and 0.02 < found["cuts_that_matter"] < 0.5
    assert found["misspelt"] < found["exact_match"] and found["auroc_sentences"] > 0.95
    assert found["wrong_small_cut"] < 4 and found["wrong_harmless_cut"] > 10 and found["swapped"] > 0.9


def test_figures_by_hand():
    assert auroc(torch.tensor([0.9, 0.5]), torch.tensor([0.5, 0.1])) == 0.875
    assert calibration_error(torch.tensor([0.9, 0.9]), torch.tensor([True, False])) == pytest.approx(0.4)


def test_each_mistake_changes_one_letter_of_a_word():
    rng = random.Random(0)
    assert {misspell("2 May", "left out", rng) for _ in range(40)} == {"2 ay", "2 My", "2 Ma"}
    assert {misspell("2 May", "doubled", rng) for _ in range(40)} == {"2 MMay", "2 Maay", "2 Mayy"}
    assert {misspell("2 Moon X", "swapped", rng) for _ in range(40)} == {"2 oMon X", "2 Mono X"}
    replaced = {misspell("2 May", "replaced", rng) for _ in range(200)}
    assert len(replaced) > 30 and all(sum(a != b for a, b in zip(text.lower(), "2 may")) == 1 == len(text) - 4 for text in replaced)
