"""MultiHeadAttention: torch's own module, the fused function, masks, and what it refuses."""
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from helpers.attention import MultiHeadAttention
from helpers.hooks import record
from helpers.masks import causal_mask, padding_mask

quick = settings(max_examples=20, deadline=None, derandomize=True)


@st.composite
def batches(draw):
    """(ours, query, key, value, mask): a model and a batch for it; no row of the mask is empty."""
    torch.manual_seed(draw(st.integers(0, 10_000)))
    heads, d_head, B = draw(st.integers(1, 4)), draw(st.integers(1, 6)), draw(st.integers(1, 3))
    T_q = draw(st.integers(1, 6))
    T_k = T_q + draw(st.integers(0, 3))
    d_model = heads * d_head
    mask = {"none": None, "causal": causal_mask(T_q, T_k), "padding": padding_mask(torch.randint(1, T_k + 1, (B,)), T_k),
            "both": padding_mask(torch.randint(1, T_k + 1, (B,)), T_k) & causal_mask(T_q, T_k)}[
                draw(st.sampled_from(["none", "causal", "padding", "both"]))]
    d_key, d_value = (draw(st.sampled_from([d_model, d_model, 5])) for _ in range(2))
    ours = MultiHeadAttention(d_model, heads, bias=draw(st.booleans()), d_key=d_key, d_value=d_value)
    return ours, torch.randn(B, T_q, d_model), torch.randn(B, T_k, d_key), torch.randn(B, T_k, d_value), mask


def torchs(ours):
    """nn.MultiheadAttention with our weights."""
    projections = (ours.q_proj, ours.k_proj, ours.v_proj)
    d_model, d_key, d_value = (projection.in_features for projection in projections)
    bias = ours.out_proj.bias is not None
    module = nn.MultiheadAttention(d_model, ours.num_heads, bias=bias, kdim=d_key, vdim=d_value, batch_first=True)
    with torch.no_grad():
        if d_model == d_key == d_value:
            module.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
        else:
            for name, projection in zip("qkv", projections):
                getattr(module, f"{name}_proj_weight").copy_(projection.weight)
        if bias:
            module.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
    module.out_proj.load_state_dict(ours.out_proj.state_dict())
    return module


def recorded(model, *case):
    with record(model) as seen:
        output = model(*case)
    return output, seen["attention_weights"][0]


@quick
@given(batches())
def test_it_is_torchs_module(case):
    ours, query, key, value, mask = case
    output, weights = recorded(*case)
    hidden = None if mask is None else ~mask.expand(len(query), query.shape[1], key.shape[1])
    theirs, their_weights = torchs(ours)(query, key, value, average_attn_weights=False,
                                         attn_mask=hidden if hidden is None else hidden.repeat_interleave(ours.num_heads, 0))
    assert_close(output, theirs, atol=1e-5, rtol=0)
    assert_close(weights, their_weights, atol=1e-5, rtol=0)


@quick
@given(batches())
def test_recording_changes_nothing(case):
    ours, query, *rest = case
    gradients = []
    for run in (lambda q: ours(q, *rest), lambda q: recorded(ours, q, *rest)[0]):
        q = query.clone().requires_grad_()
        output = run(q)
        output.square().sum().backward()
        gradients.append((output.detach(), q.grad))
    assert_close(gradients[0][0], gradients[1][0], atol=1e-5, rtol=0)
    assert_close(gradients[0][1], gradients[1][1], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("recording", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_query_that_sees_nothing_gets_nothing_but_the_bias(recording, dtype):
    model, x = MultiHeadAttention(8, 2).to(dtype), torch.randn(2, 3, 8, dtype=dtype, requires_grad=True)
    mask = padding_mask(torch.tensor([0, 3]), 3)
    output = recorded(model, x, x, x, mask)[0] if recording else model(x, x, x, mask)
    assert_close(output[0], model.out_proj.bias.expand(3, 8))
    output[1].sum().backward()
    assert x.grad.isfinite().all() and (x.grad[0] == 0).all()


def test_dropout_falls_on_the_weights_alone():
    """With all weights dropped, only the bias of the output is left."""
    model, x = MultiHeadAttention(8, 2, dropout=1.0), torch.randn(2, 3, 8)
    for output in (model(x, x, x), recorded(model, x, x, x)[0]):
        assert_close(output, model.out_proj.bias.expand(2, 3, 8))


def test_a_padded_batch_equals_its_members_alone():
    torch.manual_seed(0)
    model, x, lengths = MultiHeadAttention(12, 3), torch.randn(4, 6, 12), torch.tensor([1, 6, 3, 4])
    together = model(x, x, x, padding_mask(lengths, 6))
    for b, n in enumerate(lengths):
        alone = x[b:b + 1, :n]
        assert_close(together[b:b + 1, :n], model(alone, alone, alone), atol=1e-5, rtol=0)


def test_permuted_tokens_give_permuted_outputs():
    torch.manual_seed(0)
    model, x, order = MultiHeadAttention(8, 4), torch.randn(2, 7, 8), torch.randperm(7)
    assert_close(model(x[:, order], x[:, order], x[:, order]), model(x, x, x)[:, order], atol=1e-5, rtol=0)


@pytest.mark.parametrize("recording", [False, True])
def test_dropout_only_in_training_and_after_the_hook_point(recording):
    torch.manual_seed(0)
    model, x = MultiHeadAttention(8, 2, dropout=0.5), torch.randn(2, 5, 8)
    run = (lambda: recorded(model, x, x, x)[0]) if recording else (lambda: model(x, x, x))
    assert not torch.equal(run(), run())
    assert_close(recorded(model, x, x, x)[1].sum(-1), torch.ones(2, 2, 5))
    model.eval()
    assert torch.equal(run(), run())


def test_a_head_can_be_switched_off():
    torch.manual_seed(0)
    model, x = MultiHeadAttention(8, 2), torch.randn(1, 4, 8)
    keep = torch.tensor([1.0, 0.0]).view(2, 1, 1)
    with record(model, change=lambda path, weights: weights * keep) as seen:
        changed = model(x, x, x)
    assert (seen["attention_weights"][0][:, 1] == 0).all()
    assert not torch.allclose(changed, model(x, x, x))


def test_the_sizes_of_the_lesson_in_both_layouts():
    torch.manual_seed(0)
    ours = MultiHeadAttention(300, 6)
    query, key = torch.randn(64, 12, 300), torch.randn(64, 10, 300)
    mask = padding_mask(torch.arange(64) % 10 + 1, 10)
    output, weights = recorded(ours, query, key, key, mask)
    theirs, their_weights = torchs(ours)(query, key, key, key_padding_mask=~mask[:, 0], average_attn_weights=False)
    assert_close(output, theirs, atol=1e-5, rtol=0)
    assert_close(weights, their_weights, atol=1e-5, rtol=0)
    first = torchs(ours)
    first.batch_first = False
    turned = first(query.transpose(0, 1), key.transpose(0, 1), key.transpose(0, 1), key_padding_mask=~mask[:, 0])[0]
    assert turned.shape == (12, 64, 300)
    assert_close(output, turned.transpose(0, 1), atol=1e-5, rtol=0)


X = torch.ones(2, 3, 8)


@pytest.mark.parametrize(("act", "error", "message"), [
    (lambda: MultiHeadAttention(10, 4), ValueError, "d_model=10 does not divide into num_heads=4 equal heads"),
    (lambda: MultiHeadAttention(8, 0), ValueError, "num_heads=0"),
    (lambda: MultiHeadAttention(8, 2)(X[..., :6], X, X), ValueError, r"they need to be \[B, T, 8\], \[B, T, 8\], \[B, T, 8\]"),
    (lambda: MultiHeadAttention(8, 2, d_key=5)(X, X, X), ValueError, r"they need to be \[B, T, 8\], \[B, T, 5\], \[B, T, 8\]"),
    (lambda: MultiHeadAttention(8, 2)(X[0], X[0], X[0]), ValueError, r"they need to be \[B, T, 8\], \[B, T, 8\], \[B, T, 8\]"),
    (lambda: MultiHeadAttention(8, 2)(X, X, X[:, :2]), ValueError, "3 keys, 2 values"),
    (lambda: MultiHeadAttention(8, 2)(X, X[:1], X[:1]), ValueError, "all axes before the last two"),
    (lambda: MultiHeadAttention(8, 2)(X, X, X, torch.ones(2, 3)), TypeError, "it needs to be torch.bool"),
    (lambda: MultiHeadAttention(8, 2)(X, X, X, torch.ones(4, 3, dtype=torch.bool)), ValueError, r"the mask has shape \[4, 3\]"),
    (lambda: MultiHeadAttention(8, 2)(X, X, X, torch.ones(3, dtype=torch.bool)), ValueError, r"the mask has shape \[3\]"),
    (lambda: MultiHeadAttention(8, 2)(X, X, X, torch.tensor(True)), ValueError, r"the mask has shape \[\]"),
    (lambda: MultiHeadAttention(8, 2)(X, X, X, torch.ones(2, 1, 3, 3, dtype=torch.bool)), ValueError, "the mask has shape"),
])
def test_what_does_not_fit_is_refused(act, error, message):
    with pytest.raises(error, match=message):
        act()
