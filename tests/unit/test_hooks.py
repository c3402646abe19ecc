"""`record`: read and change the weights of any model, and leave no trace."""
import math
import unittest.mock

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from helpers.attention import DotProductAttention, MultiHeadAttention
from helpers.hooks import head_names, head_scores, record
from helpers.masks import causal_mask


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn = DotProductAttention(dropout=0.5)

    def forward(self, x):
        return x + self.self_attn(x, x, x, causal_mask(x.shape[-2]))


PATHS = ["0.self_attn.attention_weights", "1.self_attn.attention_weights"]


@pytest.fixture
def model():
    return nn.Sequential(Layer(), Layer()).eval()


def hooks(model):
    return [hook for module in model.modules() for hook in module._forward_hooks]


def test_one_tensor_a_call_by_the_path_of_each_hook_point(model):
    with record(model) as seen:
        for T in (3, 5):
            model(torch.randn(2, T, 4, requires_grad=True))
    assert list(seen) == PATHS
    for path in PATHS:
        assert [list(weights.shape) for weights in seen[path]] == [[2, 3, 3], [2, 5, 5]]
        assert not any(weights.requires_grad for weights in seen[path])


def test_recorded_weights_are_the_weights(model):
    x = torch.randn(2, 4, 4)
    with record(model) as seen:
        output = model[0](x)
    assert torch.equal(output, x + seen[PATHS[0]][0] @ x)
    assert torch.equal(output, model[0](x))                     # recording changes nothing


def test_weights_are_those_before_dropout(model):
    x = torch.randn(2, 4, 4)
    with record(model.train()) as seen:
        model[0](x)
    weights = seen[PATHS[0]][0]
    assert torch.equal(weights > 0, causal_mask(4).expand(2, 4, 4))
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4))


def test_a_model_may_be_the_attention_itself():
    attention, x = DotProductAttention(), torch.randn(1, 3, 4)
    with record(attention) as seen:
        attention(x, x, x)
    assert list(seen) == ["attention_weights"]


def test_nothing_is_kept_after_the_block(model):
    with record(model) as seen:
        assert len(hooks(model)) == 2
        model(torch.randn(1, 3, 4))
    model(torch.randn(1, 3, 4))
    assert hooks(model) == [] and [len(calls) for calls in seen.values()] == [1, 1]


def test_no_hook_is_left_when_the_block_raises(model):
    with pytest.raises(RuntimeError, match="in the middle"), record(model) as seen:
        model(torch.randn(1, 3, 4))
        raise RuntimeError("in the middle")
    assert hooks(model) == [] and list(seen) == PATHS


def test_recordings_can_be_nested(model):
    with record(model) as outer:
        with record(model[1]) as inner:
            model(torch.randn(1, 3, 4))
        model(torch.randn(1, 3, 4))
    assert [len(outer[path]) for path in PATHS] == [2, 2] and len(inner["self_attn.attention_weights"]) == 1


def test_change_alters_the_output_and_is_what_is_kept(model):
    x = torch.randn(1, 3, 4)
    with record(model, change=lambda path, weights: torch.zeros_like(weights) if path == PATHS[0] else None) as seen:
        output = model(x)
    assert torch.equal(output, model[1](x)) and not torch.equal(output, model(x))     # the first layer did nothing
    assert (seen[PATHS[0]][0] == 0).all() and (seen[PATHS[1]][0] > 0).any()


def test_gradients_pass_the_hook_point(model):
    x = torch.randn(1, 3, 4, requires_grad=True)
    with record(model, change=lambda path, weights: 2 * weights):
        changed, = torch.autograd.grad(model(x).sum(), x)
    assert not torch.equal(changed, *torch.autograd.grad(model(x).sum(), x))


@pytest.mark.filterwarnings("ignore:Using a non-full backward hook:FutureWarning")
@pytest.mark.parametrize("register", ["register_forward_hook", "register_forward_pre_hook", "register_backward_hook",
                                      "register_full_backward_hook", "register_full_backward_pre_hook"])
def test_every_hook_on_a_hook_point_is_called(register):
    """Though attention is fused, and never forms its weights, as long as nobody asks for them."""
    attention, x, called = MultiHeadAttention(8, 2), torch.randn(1, 3, 8, requires_grad=True), []
    handle = getattr(attention.attention_weights, register)(lambda module, *tensors: called.append(tensors[-1][0].shape[-2:]))
    attention(x, x, x).sum().backward()
    assert called == [(3, 3)]
    handle.remove()


@pytest.mark.parametrize("hooked", [False, True])
def test_after_recording_attention_is_as_it_was_before(hooked):
    """Fused where nothing was registered, else not: the weights pass a hook that was there before."""
    attention, x, called = MultiHeadAttention(8, 2), torch.randn(1, 3, 8), []
    if hooked:
        attention.attention_weights.register_forward_hook(lambda *call: called.append(call))
    with pytest.raises(RuntimeError, match="in the middle"), record(attention):
        attention(x, x, x)
        raise RuntimeError("in the middle")
    with unittest.mock.patch.object(F, "scaled_dot_product_attention", wraps=F.scaled_dot_product_attention) as fused:
        attention(x, x, x)
    assert fused.call_count == (not hooked) and len(called) == 2 * hooked


@pytest.mark.parametrize("path", ["attention_weights", "0.self_attn", "2.self_attn.attention_weights"])
def test_a_wrong_path_is_a_key_error_afterwards(model, path):
    with record(model) as seen:
        model(torch.randn(1, 3, 4))
    with pytest.raises(KeyError, match=path):
        seen[path]
    assert list(seen) == PATHS


@pytest.mark.parametrize("blind", [nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2), nn.ReLU())])
def test_a_model_without_hook_points_is_refused(blind):
    message = f"nothing to record: {type(blind).__name__} has no submodule named attention_weights"
    with pytest.raises(ValueError, match=message), record(blind):
        pass


TOKENS = ["[CLS]", "a", "b", "a", "[SEP]"]
LOOKS = {                                                    # maps of which every score is known
    "previous": torch.eye(5).roll(-1, 1), "next": torch.eye(5).roll(1, 1), "same": torch.eye(5)[[0, 3, 0, 1, 0]],
    "[SEP]": torch.eye(5)[[4] * 5], "[CLS]": torch.eye(5)[[0] * 5], "broad": torch.full((5, 5), 0.2),
}


@pytest.mark.parametrize("kind", LOOKS)
def test_a_head_of_one_kind_has_its_score_and_its_name(kind):
    scores = head_scores(LOOKS[kind], TOKENS)
    assert scores[kind].item() == pytest.approx(1)
    many = {name: score.expand(2, 3) for name, score in head_scores(LOOKS[kind] * 0.999 + 0.001 / 5, TOKENS).items()}
    assert head_names(many) == [[kind] * 3] * 2


def test_a_name_is_for_what_a_head_does_with_the_weight_that_is_not_on_cls():
    scores = {kind: torch.zeros(1, 5) for kind in LOOKS}
    scores["[CLS]"] = torch.tensor([[0.75, 0.75, 0.35, 0.1, 0.1]])
    scores["next"] = torch.tensor([[0.15, 0.05, 0.1, 0.1, 0.1]])           # 0.6, 0.2, ... of the rest
    scores["broad"] = torch.tensor([[0.9, 0.9, 0.9, 0.9, 0.5]])
    assert head_names(scores) == [["next", "[CLS]", "broad", "broad", ""]]
    assert head_names(scores, least=0.8) == [["broad", "broad", "broad", "broad", ""]]


def test_scores_by_hand():
    weights = torch.tensor([[9, 9, 9, 9], [5, 0, 2, 3], [4, 6, 0, 0], [9, 9, 9, 9.0]]) / 10
    scores = head_scores(weights.expand(2, 4, 4), ["[CLS]", "a", "b", "[SEP]"])
    entropy = -sum(p * math.log(p) for p in (0.5, 0.2, 0.3, 0.4, 0.6)) / 2 / math.log(4)
    for kind, wanted in (("previous", 0.6), ("next", 0.2), ("[SEP]", 0.15), ("[CLS]", 0.45), ("broad", entropy)):
        assert torch.allclose(scores[kind], torch.tensor([wanted, wanted])), kind
    assert scores["same"].isnan().all()
