"""What a BERT sees of a sentence with a gap when one side is in view, and what the tool of lesson 13 measures of it."""
import pytest
import torch

from helpers.pretrained.weights import SHIPPED
from tools.make_weights import one_sided, tables


@pytest.mark.parametrize(("view", "seen"), [("left", [1, 5, 6, 9, 9, 9, 2]), ("right", [1, 9, 9, 9, 8, 4, 2]),
                                            ("nothing", [1, 9, 9, 9, 9, 9, 2]), ("both", [1, 5, 6, 9, 8, 4, 2])])
def test_one_side_is_hidden_but_for_the_ends(view, seen):
    ids = [1, 5, 6, 7, 8, 4, 2]
    assert one_sided.hidden(ids, 3, *one_sided.VIEWS[view], mask=9) == seen
    read, lengths, positions, tokens = one_sided.batch([ids], [3], [view], mask=9)
    assert (read.tolist(), lengths.tolist(), positions.tolist(), tokens.tolist()) == ([seen], [7], [[3]], [7])


def test_training_hides_tokens_between_the_ends(monkeypatch):
    monkeypatch.setattr(one_sided, "BATCH", 4)
    texts = [[1, *range(10, 10 + n), 2] for n in range(3, 9)]
    batches = list(one_sided.training(texts, 0, 5, mask=9))
    again = list(one_sided.training(texts, 0, 5, mask=9))
    assert len(batches) == 5 and all(torch.equal(a, b) for pair in zip(batches, again) for a, b in zip(*pair))
    for ids, _, positions, tokens in batches:
        assert (ids.gather(1, positions) == 9).all() and (tokens >= 10).all()


def test_a_model_that_knows_the_tokens_is_always_right_at_once_and_one_that_sees_one_side_is_not():
    class Oracle(torch.nn.Module):
        """Says the token that is one more than its left neighbour, if that is in view, or else 0."""

        def forward(self, ids, lengths, segments, positions):
            left = ids.gather(1, positions - 1)
            said = torch.where(left == 9, 0, left + 1)                                     # [B, 1]
            return 50 * torch.nn.functional.one_hot(said, 40).float(), None

    row = one_sided.measure(Oracle(), [[1, *range(10, 10 + n), 2] for n in range(4, 9)], mask=9, draws=2)
    assert list(row) == one_sided.COLUMNS[2:]
    assert (row["left"], row["both"], row["right"], row["nothing"]) == ("1.0000", "1.0000", "0.0000", "0.0000")


def test_powers_are_those_of_the_smallest_loss(monkeypatch):
    """Two tokens, the first of which is hidden in each gap: the left side finds it, the right side is as sure of the other."""
    sides = {"left": [[0.9, 0.1]], "right": [[0.1, 0.9]], "nothing": [[0.5, 0.5]]}
    found = {name: torch.tensor(probs).log() for name, probs in sides.items()}
    monkeypatch.setattr(one_sided, "read", lambda *given: [(found, torch.tensor([0]))] * 2)
    left, right, _ = one_sided.choose_powers(None, [], mask=9)
    assert (left, right) == (1, 0.7)
    torch.testing.assert_close(one_sided.product(found).exp(), torch.tensor([[0.5, 0.5]]))


def test_the_table_has_the_shipped_model_and_four_trainings():
    rows = tables.read(SHIPPED / "one_sided.csv")
    assert [(row["seed"], row["steps"]) for row in rows] == [tuple(map(str, training)) for training in one_sided.TRAININGS]
    assert list(rows[0]) == one_sided.COLUMNS
    assert all(float(row["weighted_lead"]) > 4 * float(row["weighted_error"]) for row in rows)
