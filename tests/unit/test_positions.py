"""Four ways to tell attention the position of a token: what each promises."""
import math

import pytest
import torch
from torch.testing import assert_close

from helpers.positions import LearnedPositions, SinusoidalPositions, alibi_bias, rotate, sinusoids

X = torch.randn(2, 7, 6, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(("d", "base"), [(2, 10_000.0), (8, 10_000.0), (6, 50.0)])
def test_sinusoids_are_the_papers(d, base):
    table = sinusoids(5, d, base=base)
    for position in range(5):
        for i in range(d // 2):
            angle = position / base ** (2 * i / d)
            assert_close(table[position, 2 * i:2 * i + 2], torch.tensor([math.sin(angle), math.cos(angle)]))


def test_an_offset_moves_along():
    assert_close(sinusoids(12, 8)[5:], sinusoids(7, 8, offset=5))
    assert_close(rotate(torch.cat([X, X], 1))[:, 7:], rotate(X, offset=7))
    assert_close(SinusoidalPositions(6)(X, offset=3), X + sinusoids(7, 6, offset=3))
    learned = LearnedPositions(10, 6)
    assert_close(learned(X, offset=3), X + learned.table[3:])


@pytest.mark.parametrize("delta", [1, 3, 10])
def test_one_rotation_takes_every_position_to_the_one_delta_further(delta):
    table, angles = sinusoids(30, 8), delta * 10_000.0 ** (-torch.arange(0, 8, 2) / 8)
    turn = torch.block_diag(*[torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angles])
    assert_close(table[:-delta] @ turn.mT, table[delta:], atol=1e-5, rtol=0)


def test_turned_dot_products_depend_on_distance_alone():
    q, k = torch.randn(2, 1, 8, generator=torch.Generator().manual_seed(1)).expand(2, 12, 8)
    scores = rotate(q) @ rotate(k).mT
    for distance in range(-11, 12):
        diagonal = scores.diagonal(distance)
        assert_close(diagonal, diagonal[:1].expand_as(diagonal), atol=1e-5, rtol=1e-5)
    assert_close(rotate(X).norm(dim=-1), X.norm(dim=-1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_dtype_stays(dtype):
    for positions in (SinusoidalPositions(6), LearnedPositions(9, 6).to(dtype), rotate):
        assert positions(X.to(dtype)).dtype == dtype


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.bool])
def test_integers_are_refused_and_not_truncated(dtype):
    x = torch.ones(2, 3, 6, dtype=dtype)
    for positions in (SinusoidalPositions(6), LearnedPositions(9, 6), rotate):
        with pytest.raises(TypeError, match=f"x is {dtype}: floating point is needed"):
            positions(x)


def test_the_table_is_a_buffer_that_is_not_saved():
    positions = SinusoidalPositions(6, max_len=5)
    assert positions.state_dict() == {} and list(positions.parameters()) == []
    assert [tuple(table.shape) for table in positions.to("meta").buffers()] == [(5, 6)]
    assert positions(X.to("meta")).is_meta


@pytest.mark.parametrize("offset", [-3, 0, 2, 4, 9])
def test_positions_beyond_the_table_are_computed(offset):
    assert_close(SinusoidalPositions(6, max_len=5)(X, offset), X + sinusoids(7, 6, offset))


def test_alibi_falls_with_distance_and_is_aligned_to_the_last_key():
    bias = alibi_bias(8, 6)
    assert_close(bias[0, 5], -0.5 * torch.tensor([5.0, 4, 3, 2, 1, 0]))
    assert_close(bias[7, 5, 0], torch.tensor(-5 / 256))
    assert_close(alibi_bias(8, 2, 6), bias[:, 4:])


@pytest.mark.parametrize("T_q, T_k", [(1, 1), (2, 5), (4, 2), (5, 1)])
def test_alibi_equals_a_slow_loop(T_q, T_k):
    expected = [[[-2.0 ** (-8 * (h + 1) / 4) * abs(i + T_k - T_q - j) for j in range(T_k)] for i in range(T_q)] for h in range(4)]
    assert_close(alibi_bias(4, T_q, T_k), torch.tensor(expected))


@pytest.mark.parametrize(("act", "message"), [
    (lambda: sinusoids(4, 5), "d=5, base=10000.0: d needs to be even"),
    (lambda: rotate(torch.ones(3, 7)), "d=7"),
    (lambda: LearnedPositions(6, 6)(X), "positions 0 to 6: this table has rows for 0 to 5"),
    (lambda: LearnedPositions(9, 6)(X, offset=-1), "positions -1 to 5"),
    (lambda: LearnedPositions(9, 6)(X, offset=3), "positions 3 to 9: this table has rows for 0 to 8"),
])
def test_what_does_not_fit_is_refused(act, message):
    with pytest.raises(ValueError, match=message):
        act()
