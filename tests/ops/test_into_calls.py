"""Calls with `out=` that come often: native code writes the given memory as Python does."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.kernels import TRIALS, family
from rushlight.ops.memory.storage import address

OFTEN = 4 * TRIALS
X = torch.linspace(-0.9, 0.9, 16)
Y = torch.linspace(2, 3, 16)
M = X.view(4, 4).clone()
N = Y.view(4, 4).clone()
PLACES = torch.tensor([0, 3, 2])

CALLS: list[Callable[..., Any]] = [
    lambda **o: torch.add(X, Y, **o),
    lambda **o: torch.add(X, 2, alpha=3, **o),
    lambda **o: torch.mul(M, X[:4], **o),
    lambda **o: torch.exp(X, **o),
    lambda **o: torch.exp(input=X, **o),
    lambda **o: torch.clamp(X, 0, 1, **o),
    lambda **o: torch.where(X > 0, X, Y, **o),
    lambda **o: torch.eq(X, Y, **o),
    lambda **o: torch.sum(M, 1, **o),
    lambda **o: torch.sum(M, **o),
    lambda **o: torch.mean(M, (0, 1), **o),
    lambda **o: torch.prod(M, 1, True, **o),
    lambda **o: torch.cumsum(M, 1, **o),
    lambda **o: torch.argmax(M, 1, **o),
    lambda **o: torch.matmul(M, N, **o),
    lambda **o: torch.addmm(M, M, N, beta=2, **o),
    lambda **o: torch.cat([X, Y], **o),
    lambda **o: torch.stack((X, Y), 1, **o),
    lambda **o: torch.index_select(M, 0, PLACES, **o),
    lambda **o: torch.zeros(3, 4, **o),
    lambda **o: torch.zeros((3, 4), **o),
    lambda **o: torch.full((3,), 2.5, **o),
    lambda **o: torch.arange(2, 11, 3, **o),
    lambda **o: torch.linspace(0, 1, 5, **o),
    lambda **o: torch.eye(3, **o),
    lambda **o: torch.nonzero(X > 0, **o),
    lambda **o: torch.masked_select(X, X > 0, **o),
    lambda **o: torch.norm(X, **o),
    lambda **o: torch.complex(X, Y, **o),
    lambda **o: torch.div(X, Y, rounding_mode="floor", **o),
]


@pytest.mark.parametrize("call", CALLS)
def test_the_given_memory_holds_what_a_call_gives(call: Callable[..., Any]) -> None:
    expected = call()
    out = torch.empty_like(expected)
    before = address(out._array)
    for number in range(OFTEN):
        out.fill_(number % 7)
        version = out._version
        assert call(out=out) is out
        assert torch.equal(out, expected)
        assert out._version > version
    assert address(out._array) == before


@pytest.mark.parametrize("call", CALLS)
def test_another_shape_and_an_empty_one_are_taken(call: Callable[..., Any]) -> None:
    expected = call()
    like = torch.empty_like(expected)
    for _ in range(OFTEN):
        call(out=like)
    for _ in range(2 * TRIALS):
        out = torch.empty(0, dtype=expected.dtype)
        assert call(out=out) is out
        assert torch.equal(out, expected)
    out = torch.empty(7, 5, 3, dtype=expected.dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(out=out)
    assert torch.equal(out, expected)


@pytest.mark.parametrize("call", CALLS[:19])
def test_strides_of_the_given_memory_stay(call: Callable[..., Any]) -> None:
    expected = call()
    wide = torch.zeros(2, *expected.shape, 2, dtype=expected.dtype)
    out = wide[1, ..., 1]
    for _ in range(OFTEN):
        wide.fill_(1)
        assert call(out=out) is out
        assert torch.equal(out, expected)
        assert (wide[0] == 1).all()
        assert (wide[..., 0] == 1).all()


def test_another_dtype_is_cast_into() -> None:
    plain, wide = torch.empty(16), torch.empty(16, dtype=torch.float64)
    for _ in range(OFTEN):
        torch.div(X, Y, out=plain)
        torch.div(X, Y, out=wide)
        assert torch.equal(wide, (X / Y).double())


def test_sums_are_computed_in_the_dtype_of_out() -> None:
    large = torch.full((4, 300), 16777216.0) + torch.arange(4.0)[:, None]
    plain, wide = torch.empty(4), torch.empty(4, dtype=torch.float64)
    for _ in range(OFTEN):
        torch.sum(large, 1, out=plain)
        torch.sum(large, 1, out=wide)
        assert torch.equal(plain, large.sum(1))
        assert torch.equal(wide, large.sum(1, dtype=torch.float64))


def test_an_operand_is_written() -> None:
    for number in range(OFTEN):
        x, y = X.clone(), Y.clone()
        assert torch.add(x, y, out=x) is x
        assert torch.equal(x, X + Y)
        torch.sub(X, y, out=y)
        assert torch.equal(y, X - Y)
        m = M.clone()
        torch.matmul(m, N, out=m)
        assert torch.equal(m, M @ N)
        m = M.clone()
        torch.cumsum(m, 0, out=m)
        assert torch.equal(m, M.cumsum(0))
        apart = torch.empty(16)
        torch.add(X, Y, out=apart)
        assert torch.equal(apart, X + Y), number


def test_a_part_of_an_operand_is_refused_then_as_well() -> None:
    memory = torch.arange(20.0)
    out = torch.empty(16)
    for _ in range(OFTEN):
        torch.add(memory[:16], Y, out=out)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        torch.add(memory[:16], Y, out=memory[2:18])
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.add(X, Y, out=torch.zeros(1).expand(16))


def test_what_wants_gradients_is_refused_then_as_well() -> None:
    out = torch.empty(16)
    for _ in range(OFTEN):
        torch.mul(X, Y, out=out)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.mul(X.clone().requires_grad_(), Y, out=out)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.mul(X, Y, out=torch.empty(16, requires_grad=True))
    with torch.no_grad():
        assert torch.equal(torch.mul(X.clone().requires_grad_(), Y, out=out), X * Y)


def test_a_dtype_that_out_may_not_have_is_refused_then_as_well() -> None:
    out = torch.empty(16)
    for _ in range(OFTEN):
        torch.exp(X, out=out)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        torch.exp(X, out=torch.empty(16, dtype=torch.int64))


def test_writes_are_seen_by_gradients() -> None:
    out = torch.empty(16)
    for _ in range(OFTEN):
        torch.add(X, Y, out=out)
    leaf = X.clone().requires_grad_()
    made = leaf * out
    torch.add(X, Y, out=out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        made.sum().backward()


def test_draws_go_on_where_they_were() -> None:
    torch.manual_seed(1)
    expected = [torch.rand(16) for _ in range(OFTEN)]
    torch.manual_seed(1)
    out = torch.empty(16)
    for each in expected:
        assert torch.equal(torch.rand(16, out=out), each)


def test_tracers_hear_of_calls_that_are_learned() -> None:
    def function(x: Any) -> Any:
        out = torch.empty(16)
        torch.add(x, Y, out=out)
        return out * 2

    for _ in range(OFTEN):
        function(X)
    traced = torch.jit.trace(function, (X,))
    assert torch.equal(traced(Y), (Y + Y) * 2)


@pytest.mark.skipif(
    family("calls.prepared") is None or family("calls.prepared").CREW is None,
    reason="there is no native code here",
)
def test_no_line_of_python_runs_for_what_is_known() -> None:
    out = torch.empty(16)
    for _ in range(OFTEN):
        torch.tanh(X, out=out)
    heard = list[object]()
    gc.collect()
    sys.setprofile(lambda frame, event, _: heard.append(frame) if event == "call" else None)
    try:
        torch.tanh(X, out=out)
    finally:
        sys.setprofile(None)
    assert not heard
