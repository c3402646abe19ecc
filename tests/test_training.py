"""The one training loop, and seeds."""
import pytest
import torch
from torch import nn

from helpers.training import train


def squared_error(model, x, y):
    return (model(x) - y).square().mean()


def learn(seed=0, steps=100, lr=0.05):
    """Train a straight line on y = 3x - 1; return the model and its losses."""
    torch.manual_seed(seed)
    x = torch.randn(16, 1)
    model = nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.1))
    return model, train(model, [(x, 3 * x - 1)] * steps, squared_error, lr)


def test_training_lowers_the_loss():
    losses = learn()[1]
    assert losses[-1] < losses[0] / 5


def test_losses_are_numbers_one_a_step():
    losses = learn(steps=7)[1]
    assert len(losses) == 7 and all(type(loss) is float for loss in losses)


def test_first_loss_is_that_of_the_untrained_model():
    model, x, y = nn.Linear(1, 1), torch.randn(4, 1), torch.randn(4, 1)
    before = squared_error(model, x, y).item()
    assert train(model, [(x, y)], squared_error) == [before] and squared_error(model, x, y).item() < before


def test_modes_of_training_and_after():
    modes, model = [], nn.Linear(1, 1).eval()

    def loss_fn(model, x):
        modes.append(model.training)
        return model(x).square().mean()

    train(model, ((torch.ones(1, 1),) for _ in range(3)), loss_fn)
    assert modes == [True] * 3 and not model.training


def test_same_seed_same_losses():
    assert learn(seed=1)[1] == learn(seed=1)[1] != learn(seed=2)[1]


def test_gradients_do_not_pile_up():
    model, x = nn.Linear(1, 1), torch.ones(4, 1)
    train(model, [(x, 2 * x)] * 3, squared_error, lr=0.0)       # stays where it is
    of_one_step, = torch.autograd.grad(squared_error(model, x, 2 * x), model.weight)
    torch.testing.assert_close(model.weight.grad, of_one_step)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_loss_that_is_not_finite_stops_before_it_spoils_the_model(bad):
    model, after = nn.Linear(1, 1), []

    def loss_fn(model, factor):
        after.append(model.weight.item())
        return model(torch.ones(1, 1)).square().sum() * factor + (0 if factor == 1 else factor)

    with pytest.raises(ValueError, match=f"the loss is {bad} at step 2, lr=0.5"):
        train(model, [(1,), (1,), (bad,), (1,)], loss_fn, lr=0.5)
    assert len(after) == 3 and model.weight.item() == after[-1] and model.bias.isfinite().all()
