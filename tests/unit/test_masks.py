"""Masks, and the softmax that obeys them."""
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from helpers.masks import causal_mask, check_mask, masked_softmax, padding_mask

quick = settings(max_examples=20, deadline=None, derandomize=True)
TOLERANCE = {torch.float64: 1e-11, torch.float32: 1e-5, torch.float16: 2e-2, torch.bfloat16: 5e-2}


@st.composite
def scores_and_mask(draw, dtypes=tuple(TOLERANCE)):
    """Scores of two to four axes, and a mask that broadcasts to them and may hide whole rows."""
    torch.manual_seed(draw(st.integers(0, 10_000)))
    shape = draw(st.lists(st.integers(1, 5), min_size=2, max_size=4))
    narrow = [draw(st.sampled_from([1, size])) for size in shape][draw(st.sampled_from([0, -2, -1])):]
    scores = torch.randn(shape) * draw(st.sampled_from([1, 30, 1000]))
    return scores.to(draw(st.sampled_from(dtypes))), torch.rand(narrow) < draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))


def gradient(scores, mask, upstream):
    """What flows back into the scores, with torch looking for the first NaN on the way."""
    scores = scores.clone().requires_grad_()
    with torch.autograd.set_detect_anomaly(True):
        masked_softmax(scores, mask).backward(upstream)
    return scores.grad


@quick
@given(scores_and_mask())
def test_rows_sum_to_one_or_are_all_zero(case):
    scores, mask = case
    weights, mask = masked_softmax(scores, mask), mask.expand_as(scores)
    assert weights.dtype == scores.dtype and (weights >= 0).all() and (weights[~mask] == 0).all()
    assert_close(weights.double().sum(-1), mask.any(-1).double(), atol=TOLERANCE[scores.dtype], rtol=0)


@quick
@given(scores_and_mask(dtypes=[torch.float64]))
def test_each_row_is_the_softmax_of_what_it_may_see(case):
    scores, mask = case
    weights = masked_softmax(scores, mask)
    for row, seen, got in zip(scores.flatten(0, -2), mask.expand_as(scores).flatten(0, -2), weights.flatten(0, -2)):
        assert_close(got[seen], row[seen].softmax(0))


@quick
@given(scores_and_mask())
def test_gradients_are_finite_and_zero_where_hidden(case):
    scores, mask = case
    grad = gradient(scores, mask, torch.randn_like(scores))
    assert grad.isfinite().all() and (grad[~mask.expand_as(scores)] == 0).all()


@quick
@given(scores_and_mask())
def test_inputs_are_never_changed(case):
    before = [tensor.clone() for tensor in case]
    masked_softmax(*case)
    assert all(torch.equal(tensor, old) for tensor, old in zip(case, before))


@settings(quick, max_examples=40)
@given(st.sampled_from([3e38, -3e38, math.inf, -math.inf, math.nan]), scores_and_mask(dtypes=[torch.float32, torch.bfloat16]))
def test_garbage_in_hidden_cells_does_not_leak(garbage, case):
    scores, mask = case
    spoilt, upstream = scores.masked_fill(~mask, garbage), torch.randn_like(scores)
    assert torch.equal(masked_softmax(spoilt, mask), masked_softmax(scores, mask))
    mask = mask | ~mask.any(-1, keepdim=True)                   # rows that see nothing have the next test
    spoilt = scores.masked_fill(~mask, garbage)
    assert torch.equal(gradient(spoilt, mask, upstream), gradient(scores, mask, upstream))


@pytest.mark.parametrize("garbage", [3e38, math.inf, -math.inf, math.nan])
def test_garbage_in_a_row_that_sees_nothing_does_not_leak(garbage):
    scores, mask = torch.full((2, 3), garbage), torch.zeros(2, 3, dtype=torch.bool)
    assert torch.equal(masked_softmax(scores, mask), torch.zeros(2, 3))
    assert torch.equal(gradient(scores, mask, torch.randn(2, 3)), torch.zeros(2, 3))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_low_scores_are_still_above_hidden_ones(dtype):
    weights = masked_softmax(torch.tensor([[-1e30, -1e30, 5.0]], dtype=dtype), torch.tensor([[True, True, False]]))
    assert weights.tolist() == [[0.5, 0.5, 0.0]]


def test_no_mask_is_the_plain_softmax():
    scores = torch.randn(2, 3, 4)
    assert torch.equal(masked_softmax(scores), scores.softmax(-1))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8])
@pytest.mark.parametrize("lengths", [[0], [5], [2, 0, 5], [[0, 5], [3, 1], [5, 5]], []])
def test_padding_mask_shows_the_first_keys(lengths, dtype):
    mask = padding_mask(torch.tensor(lengths, dtype=dtype), 5)
    rows = [row if isinstance(row, list) else [row] for row in lengths]
    assert mask.dtype == torch.bool and mask.dim() == 3 and mask.shape[-1] == 5
    assert mask.tolist() == [[[k < length for k in range(5)] for length in row] for row in rows]


def test_padding_mask_counts_far_in_a_small_dtype():
    assert padding_mask(torch.tensor([100], dtype=torch.int8), 200).sum() == 100


@pytest.mark.parametrize("size", [1, 2, 5])
def test_square_causal_mask_is_the_lower_triangle(size):
    assert torch.equal(causal_mask(size), torch.ones(size, size).tril().bool())
    assert torch.equal(causal_mask(size), causal_mask(size, size))


@pytest.mark.parametrize("T_q, T_k", [(1, 5), (3, 5), (5, 5), (5, 3), (1, 1)])
def test_causal_mask_is_aligned_to_the_last_key(T_q, T_k):
    mask = causal_mask(T_q, T_k)
    assert mask.dtype == torch.bool and mask[-1].all()
    assert mask.sum(-1).tolist() == [max(0, T_k - T_q + i + 1) for i in range(T_q)]
    assert torch.equal(mask[-T_k:], causal_mask(T_k)[-T_q:])    # new queries see what they saw in the whole sequence


def test_masks_live_where_they_are_asked_to():
    assert causal_mask(2, device="meta").device.type == "meta"
    assert padding_mask(torch.tensor([2, 3]), 3).device.type == "cpu"


@pytest.mark.parametrize("lengths, T_k, error, message", [
    (torch.tensor([2, 6]), 5, ValueError, r"lengths \[2, 6\]: each needs to be from 0 to T_k=5"),
    (torch.tensor([-1, 3]), 5, ValueError, "from 0 to T_k=5"),
    (torch.tensor([[1, 2], [3, 9]]), 5, ValueError, "from 0 to T_k=5"),
    (torch.tensor([2.0, 3.0]), 5, TypeError, "lengths is torch.float32: .*integers"),
    (torch.tensor([True, False]), 5, TypeError, "lengths is torch.bool"),
    ([2, 3], 5, TypeError, "lengths is list"),
    (3, 5, TypeError, "lengths is int"),
    (torch.tensor(3), 5, ValueError, r"shape \[\]: it needs to be \[B\] or \[B, T_q\]"),
    (torch.ones(2, 2, 2, dtype=torch.long), 5, ValueError, r"shape \[2, 2, 2\]"),
])
def test_padding_mask_refuses(lengths, T_k, error, message):
    with pytest.raises(error, match=message):
        padding_mask(lengths, T_k)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_softmax_refuses_a_mask_that_is_not_boolean(dtype):
    with pytest.raises(TypeError, match=f"the mask is {dtype}: it needs to be torch.bool"):
        masked_softmax(torch.randn(2, 3), torch.ones(2, 3, dtype=dtype))


@pytest.mark.parametrize("shape", [[3, 2], [2, 4], [4], [5, 2, 3], [1, 2, 3], [0, 3], [2, 0]])
def test_softmax_refuses_a_mask_of_the_wrong_shape(shape):
    with pytest.raises(ValueError, match=r"the mask has shape \[.*\]: it needs to broadcast to the scores, \[2, 3\]"):
        masked_softmax(torch.randn(2, 3), torch.ones(shape, dtype=torch.bool))


@pytest.mark.parametrize("shape", [[], [3], [1], [2, 1], [1, 3], [2, 3]])
def test_masks_that_broadcast_are_welcome(shape):
    check_mask(torch.ones(shape, dtype=torch.bool), (2, 3))
