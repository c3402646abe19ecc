"""What the tool that measures lesson 7's copying and reversing gives to the models, and puts in the place of their weights."""
import itertools

import torch

from helpers.hooks import record
from helpers.pretrained.weights import SHIPPED
from helpers.transformer import Transformer
from tools.make_weights import depth, reversing, tables


def test_the_words_are_those_of_the_lesson():
    """The page prints how many of the new words are none of those to train on."""
    known, fresh = reversing.known_and_fresh()
    assert len(fresh) == 788 and all(pair not in known for pair in fresh[:20])


def test_the_average_gives_each_token_so_far_the_same_weight_at_once_and_from_a_cache():
    model = Transformer(len(reversing.VOCAB), len(reversing.VOCAB), 16, 2, 16, num_layers=1, dropout=0.0)
    src, lengths, tgt = torch.tensor([[4, 5, 6]]), torch.tensor([3]), torch.tensor([[2, 6, 5]])
    with torch.no_grad(), reversing.changed(model, reversing.average), record(model) as seen:
        at_once, cache = model(src, lengths, tgt), model.start(src, lengths)
        step_by_step = torch.cat([model.step(tgt[:, t:t + 1], cache) for t in range(3)], 1)
    weights = seen["decoder.layers.0.self_attn.attention_weights"][0]
    torch.testing.assert_close(weights[0, 0], torch.tensor([[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]))
    torch.testing.assert_close(step_by_step, at_once)


def test_a_row_has_every_column():
    model = Transformer(len(reversing.VOCAB), len(reversing.VOCAB), 16, 2, 16, num_layers=1, dropout=0.0)
    assert list(reversing.measured(model, reversing.known_and_fresh()[1][:5])) == reversing.COLUMNS[2:]


def test_the_table_has_each_model_with_and_without_words_of_few_letters():
    found = {(row["model"], int(row["seed"])) for row in tables.read(SHIPPED / "reversing.csv")}
    models = "Transformer", "GRU with attention"
    assert {(name + more, seed) for name in models for more in ("", reversing.WITH_FEW) for seed in reversing.SEEDS} <= found


def test_the_table_of_depths_has_every_setting_that_is_wanted():
    settings = (dict(zip(depth.GRID, values)) for values in itertools.product(*depth.GRID.values()))
    wanted = [{name: str(value) for name, value in setting.items()} for setting in settings if depth.wanted(**setting)]
    assert [{name: row[name] for name in depth.GRID} for row in tables.read(SHIPPED / "depth.csv")] == wanted
