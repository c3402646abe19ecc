"""What the tool that measures lesson 7's copying and reversing gives to the models, and that both tables are whole."""
import itertools
import math

import torch

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
    assert list(reversing.measured(model, reversing.known_and_fresh()[1][:5])) == reversing.COLUMNS[6:]


def test_the_tables_have_each_model_after_each_training():
    found = [(row["model"], (float(row["others"]), *(int(row[name]) for name in ("steps", "moved", "apart"))), int(row["seed"]))
             for row in tables.read(SHIPPED / "reversing.csv")]
    wanted = itertools.product(("Transformer", "GRU with attention"), reversing.TRAININGS, reversing.SEEDS)
    assert sorted(found) == sorted(row for row in wanted if row[0] == "Transformer" or not row[1][2])
    off = [(float(row["rate"]), int(row["seed"])) for row in tables.read(SHIPPED / "turned_off.csv")]
    assert off == [*itertools.product(reversing.RATES, reversing.SEEDS)]


def test_moved_positions_are_those_of_training_alone(monkeypatch):
    """Source and target get random first positions, the same or their own, while the model trains, and none afterwards."""
    seen, ids = [], torch.tensor([[4]])

    def train(model, *_, **__):
        for embed in (model.src_embed, model.tgt_embed):
            with torch.no_grad():
                seen.append([(embed(ids) - embed.tokens(ids) * 8)[0, 0, 0].item() for _ in range(20)])
    monkeypatch.setattr(reversing, "train", train)
    positions = {round(math.sin(position), 4): position for position in range(8)}
    for apart in (0, 1):
        model = reversing.trained(reversing.transformer, reversing.known_and_fresh()[0][:64], 0, 1, moved=7, apart=apart)
        source, target = ([positions[round(sine, 4)] for sine in sines] for sines in seen[-2:])
        assert len(set(source)) > 4 and (len(set(target)) > 4 if apart else target == 20 * source[-1:])
        assert not model.src_embed._forward_pre_hooks and not model.tgt_embed._forward_pre_hooks


def test_the_table_of_depths_has_every_setting_that_is_wanted():
    settings = (dict(zip(depth.GRID, values)) for values in itertools.product(*depth.GRID.values()))
    wanted = [{name: "" if value is None else str(value) for name, value in setting.items()}
              for setting in settings if depth.wanted(**setting)]
    assert [{name: row[name] for name in depth.GRID} for row in tables.read(SHIPPED / "depth.csv")] == wanted
