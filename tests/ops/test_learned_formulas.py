"""Operators of small tensors that kernels do once calls come often, with the bits of the first."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.kernels import TRIALS, family
from rushlight.ops.table.direct import is_compiling, knows_calls
from rushlight.ops.table.table import TABLE

pytestmark = pytest.mark.skipif(not knows_calls(), reason="there is no native code here")
ODD = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, 2.5, -1.0]
X = torch.tensor([*ODD, *range(-3, 5)], dtype=torch.float32)
Y = torch.tensor([*reversed(ODD), *range(8)], dtype=torch.float32)
M = X.reshape(4, 4)
WHOLE = torch.tensor([0, 12, -18, 2**63 - 1, -(2**63), 35, 7, 1])
OTHERS = torch.tensor([0, 18, 12, 21, -(2**63), -14, 0, -1])
MASK = torch.arange(16) % 3 == 0
NUMBER = torch.tensor(0.5)

CALLS: list[Callable[[], Any]] = [
    lambda: torch.fmax(X, Y),
    lambda: torch.fmin(X.double(), Y.double()),
    lambda: torch.fmax(X.half(), Y.half()),
    lambda: torch.gcd(WHOLE, OTHERS),
    lambda: torch.lcm(WHOLE.int(), OTHERS.int()),
    lambda: torch.signbit(X),
    lambda: torch.signbit(WHOLE),
    lambda: torch.special.round(X),
    lambda: torch.ldexp(X, WHOLE.repeat(2)),
    lambda: torch.masked_fill(X, MASK, NUMBER),
    lambda: torch.pow(X.bfloat16(), Y.bfloat16()),
    lambda: torch.exp(X.double()),
    lambda: torch.where(MASK, 1.0, 0.0),
    lambda: torch.div(WHOLE, 3),
    lambda: WHOLE * 2.5,
    lambda: torch.count_nonzero(M),
    lambda: torch.count_nonzero(M, dim=1),
    lambda: torch.nanmean(M),
    lambda: torch.all(M.bfloat16(), dim=0),
    lambda: torch.argmax(M.t(), dim=1),
    lambda: torch.max(M.t(), dim=1),
    lambda: torch.median(X),
    lambda: torch.nanmedian(Y),
    lambda: M.sum(1, dtype=torch.float64),
    lambda: torch.softmax(M, 1, dtype=torch.float64),
    lambda: torch.logcumsumexp(M, dim=0),
    lambda: torch.scalar_tensor(0.1),
    lambda: torch.scalar_tensor(7, dtype=torch.float16),
]


def bits(found: Any) -> Any:
    if isinstance(found, tuple):
        return [bits(each) for each in found]
    if found.dtype is torch.bfloat16:
        found = found.view(torch.int16)
    return found.dtype, found.shape, found.stride(), found.numpy().tobytes()


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_late_calls_give_the_bits_of_the_first(number: int) -> None:
    call = CALLS[number]
    first = bits(call())
    for _ in range(3 * TRIALS):
        call()
    while is_compiling():
        pass
    for _ in range(3 * TRIALS):
        found = call()
    assert bits(found) == first


def test_divisors_and_multiples_are_those_of_whole_numbers() -> None:
    found = torch.gcd(WHOLE, OTHERS).tolist()
    for x, y, divisor in zip(WHOLE.tolist(), OTHERS.tolist(), found, strict=True):
        if -(2**63) not in (x, y):
            assert divisor == math.gcd(x, y)
    small = torch.arange(-6, 7, dtype=torch.int8)
    found = torch.lcm(small[:, None], small).tolist()
    assert found == [[math.lcm(x, y) for y in range(-6, 7)] for x in range(-6, 7)]


def test_of_two_extremes_the_one_that_is_a_number_counts() -> None:
    zeros, minus = torch.zeros(40), -torch.zeros(40)
    nothing = torch.full((40,), math.nan)
    for extreme in (torch.fmax, torch.fmin):
        assert not torch.signbit(extreme(zeros, minus)).any()
        assert torch.signbit(extreme(minus, zeros)).all()
        assert torch.equal(extreme(nothing, zeros), zeros)
        assert torch.equal(extreme(zeros, nothing), zeros)
        assert extreme(nothing, nothing).isnan().all()


def test_running_sums_of_exponentials_begin_with_nothing() -> None:
    x = torch.tensor([-math.inf, 0.0, 1.0, math.inf, 0.0, math.nan])
    found = torch.logcumsumexp(x, 0)
    assert found[:4].tolist() == [-math.inf, 0.0, pytest.approx(1.3132617), math.inf]
    assert found[4] == math.inf
    assert found[5].isnan()


def test_single_whole_numbers_are_no_flags() -> None:
    """A call that has one on its way is learned."""
    entry = TABLE.operator("aten::count_nonzero")
    assert entry is not None
    known = family("calls.prepared").Known(entry.forward, None)
    for size in (3, 3, 3):
        assert known.learn(torch.ones(size)._array, None) == size
    assert known.count
    assert known.call(torch.tensor([0.0, 2.0, 0.0])._array, None) == 1
