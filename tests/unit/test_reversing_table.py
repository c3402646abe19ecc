"""What the tool that measures lesson 7's copying and reversing gives to the models, and that both tables are whole."""
import itertools

from helpers.pretrained.weights import SHIPPED
from helpers.transformer import Transformer
from tools.make_weights import depth, reversing, tables


def test_the_words_are_those_of_the_lesson():
    """The page prints how many of the new words are none of those to train on."""
    known, fresh = reversing.known_and_fresh()
    assert len(fresh) == 788 and all(pair not in known for pair in fresh[:20])


def test_training_has_none_of_the_words_of_one_letter_that_are_asked():
    asked = [reversing.VOCAB.encode(7 * letter) for letter in reversing.ASKED]
    first, second = ([target for _, target in reversing.known_and_fresh(others)[0]] for others in (0.0, 0.2))
    assert not any(target in asked or len(target) > 7 for target in first)
    assert not any(target in asked or len(target) > 8 for target in second)
    assert any(len(set(target)) == 1 and len(target) == 7 for target in second)


def test_a_row_has_every_column():
    model = Transformer(len(reversing.VOCAB), len(reversing.VOCAB), 16, 2, 16, num_layers=1, dropout=0.0)
    assert list(reversing.measured(model, reversing.known_and_fresh()[1][:5])) == reversing.COLUMNS[4:]


def test_the_table_has_each_model_after_each_training():
    found = [(row["model"], (float(row["others"]), int(row["steps"])), int(row["seed"]))
             for row in tables.read(SHIPPED / "reversing.csv")]
    assert sorted(found) == sorted(itertools.product(("Transformer", "GRU with attention"), reversing.TRAININGS, reversing.SEEDS))


def test_the_table_of_depths_has_every_setting_that_is_wanted():
    settings = (dict(zip(depth.GRID, values)) for values in itertools.product(*depth.GRID.values()))
    wanted = [{name: "" if value is None else str(value) for name, value in setting.items()}
              for setting in settings if depth.wanted(**setting)]
    assert [{name: row[name] for name in depth.GRID} for row in tables.read(SHIPPED / "depth.csv")] == wanted
