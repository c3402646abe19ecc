"""Kernels, and Nadaraya-Watson regression: fixed, and with a width that is learned."""
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from helpers.hooks import record
from helpers.kernel_regression import KERNELS, NadarayaWatson, boxcar, epanechnikov, gaussian, nadaraya_watson

quick = settings(max_examples=20, deadline=None, derandomize=True)
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
KEYS, VALUES = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([10.0, 20.0, 60.0])


@st.composite
def samples(draw):
    """Queries near their keys, values from 0 to 1, a width; every query with its own keys, or all with the same."""
    torch.manual_seed(draw(st.integers(0, 10_000)))
    T_q, T_k = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    key = 5 * torch.rand(draw(st.sampled_from([(T_k,), (T_q, T_k)])))
    query = key.expand(T_q, T_k)[:, 0] + 0.3 * torch.randn(T_q)
    return query, key, torch.rand(key.shape), draw(st.floats(0.3, 3.0))


@kernels
def test_kernels_are_symmetric_and_not_negative(kernel):
    u = torch.linspace(0, 4, 401)
    K = kernel(u).exp()
    assert torch.equal(kernel(u), kernel(-u)) and (K >= 0).all()
    assert (K.diff() <= 0).all() and K[0] == 1                  # nearer never counts for less


@pytest.mark.parametrize("kernel, area", [(epanechnikov, 4 / 3), (boxcar, 2), (gaussian, math.sqrt(2 * math.pi))])
def test_area_under_each_kernel(kernel, area):
    u = torch.linspace(-10, 10, 200_001, dtype=torch.float64)
    assert float(torch.trapezoid(kernel(u).exp(), u)) == pytest.approx(area, abs=2e-4)


@kernels
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_dtype_is_kept(kernel, dtype):
    output, weights = nadaraya_watson(KEYS.to(dtype), KEYS.to(dtype), VALUES.to(dtype), kernel)
    assert output.dtype == weights.dtype == dtype
    assert_close(weights.double().sum(-1), torch.ones(3, dtype=torch.float64), atol=torch.finfo(dtype).eps * 20, rtol=0)


@quick
@given(samples())
def test_kernel_form_equals_softmax_form(case):
    query, key, value, width = case
    output, weights = nadaraya_watson(query, key, value, gaussian, width)
    scores = -((query[:, None] - key) ** 2) / (2 * width**2)
    assert_close(weights, scores.softmax(-1), atol=1e-5, rtol=0)
    assert_close(output, (scores.softmax(-1) * value).sum(-1), atol=1e-5, rtol=0)


@quick
@given(samples())
def test_module_equals_function(case):
    *tensors, width = case
    model = NadarayaWatson(width)
    with record(model) as seen:
        output = model(*tensors)
    expected, weights = nadaraya_watson(*tensors, gaussian, width)
    assert_close(output, expected, atol=1e-5, rtol=0)
    assert_close(seen["attention_weights"][0], weights, atol=1e-5, rtol=0)


@kernels
@quick
@given(samples())
def test_rows_sum_to_one_or_are_zero_and_inputs_stay(kernel, case):
    *tensors, width = case
    before = [tensor.clone() for tensor in tensors]
    output, weights = nadaraya_watson(*tensors, kernel, width / 2)
    assert (((weights.sum(-1) - 1).abs() < 1e-6) | (weights == 0).all(-1)).all()
    assert output.shape == tensors[0].shape and output.isfinite().all()
    assert all(torch.equal(tensor, old) for tensor, old in zip(tensors, before))


# Worked by hand, for the query 2: the distances to the keys are 1, 0 and 2.
@pytest.mark.parametrize("kernel, width, output", [
    (gaussian, 1, (10 * math.exp(-0.5) + 20 + 60 * math.exp(-2)) / (math.exp(-0.5) + 1 + math.exp(-2))),      # 19.63
    (gaussian, 2, (10 * math.exp(-0.125) + 20 + 60 * math.exp(-0.5)) / (math.exp(-0.125) + 1 + math.exp(-0.5))),
    (boxcar, 1, 15), (boxcar, 2, 30), (boxcar, 0.5, 20),
    (epanechnikov, 1, 20), (epanechnikov, 2, (10 * 0.75 + 20) / 1.75),
])
def test_example_by_hand(kernel, width, output):
    assert float(nadaraya_watson(torch.tensor([2.0]), KEYS, VALUES, kernel, width)[0]) == pytest.approx(output, rel=1e-6)


def test_the_gaussian_reaches_the_nearest_key_from_any_distance():
    output, weights = nadaraya_watson(torch.tensor([-1e4, 1e4]), KEYS, VALUES, width=1e-3)
    assert output.tolist() == [10, 60] and weights.tolist() == [[1, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize("kernel", [boxcar, epanechnikov])
def test_zero_where_no_key_is_in_reach(kernel):
    query, value = torch.tensor([1000.0, 2.0], requires_grad=True), VALUES.clone().requires_grad_()
    with torch.autograd.set_detect_anomaly(True):
        output, weights = nadaraya_watson(query, KEYS, value, kernel)
        gradients = torch.autograd.grad(output.sum(), (query, value), allow_unused=True)    # the boxcar is flat
    assert output[0] == 0 and (weights[0] == 0).all() and output[1] > 0
    assert all(gradient is None or gradient.isfinite().all() for gradient in gradients)


@kernels
def test_leave_one_out(kernel):
    n, x = 6, torch.linspace(0, 2, 6) ** 2
    others = torch.tensor([[j for j in range(n) if j != i] for i in range(n)])      # [n, n-1]
    output, weights = nadaraya_watson(x, x[others], x[others].sin(), kernel, 2.5)
    assert weights.shape == (n, n - 1)
    for i in range(n):
        alone, row = nadaraya_watson(x[i:i + 1], x[others[i]], x[others[i]].sin(), kernel, 2.5)
        assert_close((output[i], weights[i]), (alone[0], row[0]))


@pytest.mark.parametrize("width", [0.3, 1.0, 7.5])
def test_width_is_learned_and_stays_positive(width):
    model = NadarayaWatson(width)
    assert float(model.width.detach()) == pytest.approx(width)
    model(KEYS, KEYS, VALUES).sum().backward()
    assert model.log_width.grad.isfinite() and model.log_width.grad != 0
    with torch.no_grad():
        model.log_width.sub_(50)
    assert model.width > 0


@pytest.mark.parametrize("width", [0, -1.0, 1e-30, torch.tensor(-0.5), float("nan")])
def test_function_refuses_a_width_that_is_not_positive(width):
    with pytest.raises(ValueError, match="width=.*above 0"):
        nadaraya_watson(KEYS, KEYS, VALUES, width=width)


@pytest.mark.parametrize("width", [0, -1.0, 1e-30])
def test_module_refuses_a_width_that_is_not_positive(width):
    with pytest.raises(ValueError, match="width=.*above 0"):
        NadarayaWatson(width)


@pytest.mark.parametrize("run", [nadaraya_watson, NadarayaWatson()], ids=["function", "module"])
@pytest.mark.parametrize("query, key, value, message", [
    ([2], [3], [4], "every key needs its value"),
    ([2], [2, 3], [3], "every key needs its value"),
    ([2, 1], [3], [3], r"query \[2, 1\], key \[3\], value \[3\]: they need to be"),
    ([], [3], [3], "they need to be"),
    ([2], [3, 4], [3, 4], "they need to be"),
    ([2], [2, 3, 4], [2, 3, 4], "they need to be"),
])
def test_sizes_that_do_not_match_are_refused(run, query, key, value, message):
    with pytest.raises(ValueError, match=message):
        run(torch.ones(query), torch.ones(key), torch.ones(value))
