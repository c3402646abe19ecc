"""The one training loop, and seeds."""
import copy

import pytest
import torch
from torch import nn

from helpers.text import BOS, EOS, PAD
from helpers.training import one_cycle, sequence_loss, train


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


def test_an_interrupt_leaves_the_model_of_the_steps_before_ready_to_use():
    x = torch.linspace(-1, 1, 16).unsqueeze(1)
    model = nn.Linear(1, 1)
    twin, batches = copy.deepcopy(model), [(x, 3 * x - 1)] * 3

    def interrupted():
        yield from batches
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(model, interrupted(), squared_error)
    train(twin, batches, squared_error)
    assert not model.training and torch.equal(model(x), twin(x))
    losses = train(model, 20 * batches, squared_error)
    assert losses[-1] < losses[0]


def noisy_lines(number, B=4):
    generator = torch.Generator().manual_seed(0)
    return [(x := torch.randn(B, 1, generator=generator), 3 * x - 1) for _ in range(number)]


@pytest.mark.parametrize("clip", [None, 0.5])
def test_accumulated_batches_are_one_large_batch(clip):
    small = noisy_lines(12)
    large = [tuple(torch.cat(some) for some in zip(*small[i:i + 3])) for i in range(0, 12, 3)]
    model, twin = nn.Linear(1, 1), nn.Linear(1, 1)
    twin.load_state_dict(model.state_dict())
    losses = train(model, small, squared_error, 0.1, clip=clip, accumulate=3)
    assert losses == pytest.approx(train(twin, large, squared_error, 0.1, clip=clip), rel=1e-5)
    torch.testing.assert_close(list(model.parameters()), list(twin.parameters()))


def test_the_last_batches_make_a_step_even_if_they_are_fewer():
    model, small = nn.Linear(1, 1), noisy_lines(5)
    with torch.no_grad():
        expected = [torch.stack([squared_error(model, *batch) for batch in part]).mean().item() for part in (small[:3], small[3:])]
    assert train(model, small, squared_error, lr=0.0, accumulate=3) == pytest.approx(expected)


@pytest.mark.parametrize("wrong", [{"accumulate": 0}, {"every": 0}, {"accumulate": -1}])
def test_numbers_of_batches_and_steps_begin_at_one(wrong):
    with pytest.raises(ValueError, match=f"{list(wrong)[0]}={list(wrong.values())[0]}.*at least 1"):
        train(nn.Linear(1, 1), noisy_lines(1), squared_error, **wrong)


def test_validation_is_without_dropout_and_gradients_and_does_not_disturb_training():
    seen, told, modes = [], [], []

    def validate(model):
        seen.append((model.training, torch.is_grad_enabled()))
        return squared_error(model, *noisy_lines(1)[0])

    def loss_fn(model, x, y):
        modes.append(model.training)
        return squared_error(model, x, y)

    model = nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.5))
    twin = copy.deepcopy(model)
    torch.manual_seed(0)
    losses = train(model, noisy_lines(7), loss_fn, 0.1, validate=validate, every=3, watch=lambda *given: told.append(given))
    torch.manual_seed(0)
    assert losses == train(twin, noisy_lines(7), squared_error, 0.1)
    assert seen == [(False, False)] * 2 and modes == [True] * 7
    assert [(step, loss) for step, loss, _ in told] == list(enumerate(losses, 1))
    assert [type(found) for _, _, found in told] == [type(None), type(None), float] * 2 + [type(None)]


def test_training_stopped_by_hand_keeps_what_was_learned():
    model, told, small = nn.Linear(1, 1), [], noisy_lines(20)
    twin = copy.deepcopy(model)

    def stop_after_nine(step, loss, validation):
        told.append(loss)
        if step == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(model, small, squared_error, watch=stop_after_nine)
    assert told == train(twin, small[:9], squared_error) and not model.training
    torch.testing.assert_close(list(model.parameters()), list(twin.parameters()), atol=0, rtol=0)


def test_training_goes_on_with_an_optimizer():
    model, small = nn.Linear(1, 1), noisy_lines(20)
    twin = copy.deepcopy(model)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    losses = [loss for part in (small[:8], small[8:]) for loss in train(model, part, squared_error, 0.1, optimizer=optimizer)]
    assert losses == train(twin, small, squared_error, 0.1)


def test_batches_follow_the_model_to_its_device():
    model, found = nn.Linear(1, 1, device="meta"), []

    def loss_fn(model, x, word):
        found.append((x.device.type, word))
        raise InterruptedError

    with pytest.raises(InterruptedError):
        train(model, [(torch.ones(2, 1), "as it is")], loss_fn, optimizer=torch.optim.SGD(model.parameters()))
    assert found == [("meta", "as it is")]


def test_one_cycle_rises_in_a_line_and_falls_along_a_cosine():
    factor = one_cycle(100, warm=0.3)
    values = [factor(step) for step in range(100)]
    assert values[29] == pytest.approx(1) and values[14] == pytest.approx(0.5) and values[99] == pytest.approx(0, abs=1e-12)
    assert values[:30] == sorted(values[:30]) and values[29:] == sorted(values[29:], reverse=True)
    assert values[64] == pytest.approx(0.5)                              # halfway down


def test_the_schedule_decides_how_far_a_step_goes():
    """A step of Adam on one number is the learning rate, whatever the gradient."""
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.constant_(model.weight, 5.0)
    seen = []

    def loss_fn(model, _):
        seen.append(model.weight.item())
        return model.weight.sum()

    train(model, [(0,)] * 4, loss_fn, lr=0.1, schedule=lambda step: [1, 0, 2, 0][step])
    seen.append(model.weight.item())
    assert [round(a - b, 4) for a, b in zip(seen, seen[1:])] == pytest.approx([0.1, 0, 0.2, 0], abs=1e-3)


def test_clipping_shortens_the_gradient():
    model = torch.nn.Linear(3, 1)

    def loss_fn(model, x):
        return (1000 * model(x) ** 2).sum()
    train(model, [(torch.ones(2, 3),)], loss_fn, lr=0.0, clip=1.0)
    total = sum(float(p.grad.square().sum()) for p in model.parameters()) ** 0.5
    assert total == pytest.approx(1, rel=1e-4)


def test_the_loss_of_a_sequence_is_the_mean_over_its_real_words():
    class Fixed(torch.nn.Module):
        def forward(self, src, lengths, tgt):
            self.read = tgt
            return scores[:, :tgt.shape[1]]

    torch.manual_seed(0)
    scores, model = torch.randn(2, 4, 9), Fixed()
    tgt = torch.tensor([[BOS, 5, 6, 7, EOS], [BOS, 8, EOS, PAD, PAD]])
    loss = sequence_loss(model, None, None, tgt)
    logs = scores.log_softmax(-1)
    parts = [logs[0, 0, 5], logs[0, 1, 6], logs[0, 2, 7], logs[0, 3, EOS], logs[1, 0, 8], logs[1, 1, EOS]]
    assert loss.item() == pytest.approx(-sum(parts).item() / 6, rel=1e-5)
    assert model.read.tolist() == tgt[:, :-1].tolist()                   # each word is predicted from those before it
    smooth = sequence_loss(model, None, None, tgt, label_smoothing=0.1)
    even = [logs[0, t].mean() for t in range(4)] + [logs[1, t].mean() for t in range(2)]
    assert smooth.item() == pytest.approx((0.9 * -sum(parts) / 6 + 0.1 * -sum(even) / 6).item(), rel=1e-5)
