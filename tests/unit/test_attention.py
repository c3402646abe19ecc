"""Dot-product, bilinear and additive attention: against torch, against slow loops, against known answers."""
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from helpers.attention import AdditiveAttention, BilinearAttention, DotProductAttention
from helpers.hooks import record
from helpers.masks import causal_mask, padding_mask

quick = settings(max_examples=20, deadline=None, derandomize=True)
SIZE = 6                                                        # of queries and keys, so that a dot product can be taken
TOLERANCE = {torch.float64: 1e-11, torch.float32: 1e-5, torch.float16: 2e-2, torch.bfloat16: 5e-2}
MAKE = {"dot": lambda: DotProductAttention(), "bilinear": lambda: BilinearAttention(SIZE, SIZE),
        "additive": lambda: AdditiveAttention(SIZE, SIZE, 8)}
kinds = pytest.mark.parametrize("kind", MAKE)


@st.composite
def batches(draw, dtypes=(torch.float32,), masks=("none", "padding", "padding of each query", "causal", "both")):
    """Query, key, value and a mask under which some queries may see nothing; and how many keys each example has."""
    torch.manual_seed(draw(st.integers(0, 10_000)))
    B, T_q, T_k, d_value = (draw(st.integers(1, most)) for most in (4, 7, 7, 5))
    dtype, kind = draw(st.sampled_from(dtypes)), draw(st.sampled_from(masks))
    lengths = torch.randint(0, T_k + 1, (B, T_q) if kind == "padding of each query" else (B,))
    mask = {"none": None, "causal": causal_mask(T_q, T_k), "both": padding_mask(lengths, T_k) & causal_mask(T_q, T_k)}
    tensors = [torch.randn(B, *size).to(dtype) for size in ((T_q, SIZE), (T_k, SIZE), (T_k, d_value))]
    return *tensors, mask.get(kind, padding_mask(lengths, T_k)), lengths


@quick
@given(batches())
def test_dot_product_agrees_with_torch(case):
    *tensors, mask, _ = case
    # For a query that may see nothing, torch (2.13, CPU; all dtypes) gives zeros as well, so that nothing has to be left out.
    expected = F.scaled_dot_product_attention(*tensors, attn_mask=mask)
    assert_close(DotProductAttention()(*tensors, mask), expected, atol=1e-5, rtol=0)


def test_dot_product_agrees_with_torch_over_heads():
    query, key, value = torch.randn(3, 2, 4, 5, 8)              # [B=2, H=4, T=5, d_head=8] each
    mask = padding_mask(torch.tensor([5, 3]), 5).unsqueeze(1) & causal_mask(5)
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    assert_close(DotProductAttention()(query, key, value, mask), expected, atol=1e-5, rtol=0)
    assert_close(DotProductAttention()(query[0, 0], key[0, 0], value[0, 0], mask[0, 0]), expected[0, 0], atol=1e-5, rtol=0)


@kinds
@quick
@given(batches(dtypes=tuple(TOLERANCE)))
def test_rows_of_weights_sum_to_one_or_are_zero(kind, case):
    query, key, value, mask, _ = case
    model = MAKE[kind]().to(query.dtype)
    with record(model) as seen:
        output = model(query, key, value, mask)
    weights = seen["attention_weights"][0]
    may_look = torch.ones_like(weights, dtype=torch.bool) if mask is None else mask.expand_as(weights)
    assert output.dtype == weights.dtype == query.dtype and output.shape == (*query.shape[:2], value.shape[-1])
    assert (weights[~may_look] == 0).all() and (output[~may_look.any(-1)] == 0).all()
    assert_close(weights.double().sum(-1), may_look.any(-1).double(), atol=TOLERANCE[query.dtype], rtol=0)


@kinds
@quick
@given(batches(dtypes=(torch.float32, torch.float64, torch.bfloat16), masks=["padding"]))
def test_gradients_are_finite_and_zero_at_hidden_keys(kind, case):
    *tensors, mask, lengths = case
    model = MAKE[kind]().to(tensors[0].dtype)
    query, key, value = (tensor.requires_grad_() for tensor in tensors)
    with torch.autograd.set_detect_anomaly(True):
        model(query, key, value, mask).square().sum().backward()
    gradients = [tensor.grad for tensor in (query, key, value, *model.parameters())]
    assert all(grad.isfinite().all() for grad in gradients)
    hidden = ~mask[:, 0]                                        # [B, T_k]
    assert (key.grad[hidden] == 0).all() and (value.grad[hidden] == 0).all() and (query.grad[lengths == 0] == 0).all()


@kinds
@quick
@given(batches())
def test_inputs_are_never_changed(kind, case):
    before = [tensor if tensor is None else tensor.clone() for tensor in case]
    MAKE[kind]()(*case[:4])
    assert all(old is None or torch.equal(tensor, old) for tensor, old in zip(case, before))


@kinds
@quick
@given(batches(masks=["padding"]))
def test_padded_batch_equals_its_members_alone(kind, case):
    query, key, value, mask, lengths = case
    model = MAKE[kind]()
    together = model(query, key, value, mask)
    for b, length in enumerate(lengths.tolist()):
        alone = model(query[b:b + 1], key[b:b + 1, :length], value[b:b + 1, :length])
        assert_close(together[b:b + 1], alone, atol=1e-5, rtol=0)


@kinds
@quick
@given(T=st.integers(2, 9), B=st.integers(1, 3), seed=st.integers(0, 99), dtype=st.sampled_from([torch.float32, torch.float64]))
def test_the_future_does_not_change_the_past(kind, T, B, seed, dtype):
    torch.manual_seed(seed)
    now, model, x = seed % T, MAKE[kind]().to(dtype), torch.randn(B, T, SIZE, dtype=dtype)
    later = x.clone()
    later[:, now:] = 100 * torch.randn(B, T - now, SIZE, dtype=dtype)
    before, after = (model(each, each, each, causal_mask(T)) for each in (x, later))
    assert_close(before[:, :now], after[:, :now], atol=1e-5, rtol=0)
    assert (before[:, now:] - after[:, now:]).abs().amax(-1).min() > 1e-3


@kinds
@pytest.mark.parametrize("garbage", [1e30, float("inf"), float("nan")])
def test_garbage_in_hidden_keys_does_not_leak(kind, garbage):
    torch.manual_seed(0)
    model, query, key, value = MAKE[kind](), *torch.randn(3, 2, 4, SIZE)
    mask = padding_mask(torch.tensor([2, 4]), 4)
    spoilt = key.masked_fill(~mask.mT, garbage)
    assert torch.equal(model(query, spoilt, value, mask), model(query, key, value, mask))


@pytest.mark.parametrize("model, query_size", [(DotProductAttention(), 2), (DotProductAttention(dropout=0.5).eval(), 2),
                                               (AdditiveAttention(20, 2, 8), 20), (BilinearAttention(20, 2), 20)])
def test_equal_keys_average_the_values(model, query_size):
    values = torch.arange(40.0).reshape(1, 10, 4).repeat(2, 1, 1)
    output = model(torch.randn(2, 1, query_size), torch.ones(2, 10, 2), values, padding_mask(torch.tensor([2, 6]), 10))
    assert_close(output, torch.tensor([[[2.0, 3, 4, 5]], [[10.0, 11, 12, 13]]]), atol=1e-5, rtol=0)


def slow_scores(pair_score, query, key):
    return torch.stack([torch.stack([pair_score(q, k) for k in key]) for q in query])


@pytest.mark.parametrize("d_query, d_key", [(3, 5), (5, 3), (4, 4)])
def test_scores_equal_a_slow_double_loop(d_query, d_key):
    torch.manual_seed(0)
    query, key = torch.randn(2, d_query), torch.randn(6, d_key)
    bilinear, additive = BilinearAttention(d_query, d_key), AdditiveAttention(d_query, d_key, 7)
    by_hand = slow_scores(lambda q, k: q @ bilinear.W.weight @ k, query, key)
    assert_close(bilinear.score(query, key), by_hand, atol=1e-5, rtol=0)
    by_hand = slow_scores(
        lambda q, k: additive.w_v.weight[0] @ torch.tanh(additive.W_q.weight @ q + additive.W_k.weight @ k), query, key)
    assert_close(additive.score(query, key), by_hand, atol=1e-5, rtol=0)


def test_dot_product_scores_equal_a_slow_double_loop():
    query, key = torch.randn(3, SIZE), torch.randn(5, SIZE)
    by_hand = slow_scores(lambda q, k: (q * k).sum() / math.sqrt(SIZE), query, key)
    assert_close(DotProductAttention().score(query, key), by_hand, atol=1e-5, rtol=0)


def test_large_half_precision_vectors_do_not_overflow():
    x = torch.full((1, 2, 256), 16.0, dtype=torch.float16)      # q . k is 65536, more than float16 holds; scaled it is 4096
    assert torch.equal(DotProductAttention()(x, x, x), x)


def test_dropout_acts_in_training_only():
    torch.manual_seed(0)
    model, x = DotProductAttention(dropout=0.5), torch.randn(2, 8, SIZE)
    assert not torch.equal(model(x, x, x), model(x, x, x))
    model.eval()
    assert torch.equal(model(x, x, x), DotProductAttention()(x, x, x))


@kinds
@pytest.mark.parametrize("query, key, value, message", [
    ([2, 3, 6], [2, 4, 6], [2, 5, 6], "4 keys, 5 values, but every key needs its value"),
    ([2, 3, 6], [1, 4, 6], [1, 4, 6], "all axes before the last two must be the same"),
    ([2, 3, 6], [2, 4, 6], [4, 6], "all axes before the last two must be the same"),
    ([3, 6], [2, 4, 6], [2, 4, 6], "all axes before the last two must be the same"),
    ([6], [4, 6], [4, 6], r"query \[6\].*at least two axes, \[T, d\]"),
])
def test_sizes_that_do_not_match_are_refused(kind, query, key, value, message):
    with pytest.raises(ValueError, match=message):
        MAKE[kind]()(torch.ones(query), torch.ones(key), torch.ones(value))


@pytest.mark.parametrize("kind", ["dot", "bilinear", "additive"])
@pytest.mark.parametrize("d_query, d_key", [(5, 6), (6, 5)])
def test_vectors_of_the_wrong_size_are_refused(kind, d_query, d_key):
    with pytest.raises(ValueError, match="size.* 5"):
        MAKE[kind]()(torch.ones(2, 3, d_query), torch.ones(2, 4, d_key), torch.ones(2, 4, 1))


@kinds
@pytest.mark.parametrize("mask, error, message", [
    (torch.ones(2, 3, 5, dtype=torch.bool), ValueError, r"the mask has shape \[2, 3, 5\].*\[2, 3, 4\]"),
    (torch.ones(2, 4, dtype=torch.bool), ValueError, r"the mask has shape \[2, 4\]"),
    (torch.ones(5, 2, 3, 4, dtype=torch.bool), ValueError, r"broadcast to the scores, \[2, 3, 4\]"),
    (torch.ones(2, 3, 4), TypeError, "the mask is torch.float32: it needs to be torch.bool"),
])
def test_masks_that_do_not_fit_are_refused(kind, mask, error, message):
    with pytest.raises(error, match=message):
        MAKE[kind]()(torch.ones(2, 3, SIZE), torch.ones(2, 4, SIZE), torch.ones(2, 4, 1), mask)
