"""New tensors of which gradients are wanted: native code makes them as Python does."""

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.eager.dispatch import EagerFunction
from rushlight.ops.kernels import TRIALS
from rushlight.overrides import TorchFunctionMode

OFTEN = 3 * TRIALS

CALLS: list[Callable[..., Any]] = [
    lambda **w: torch.zeros(3, **w),
    lambda **w: torch.zeros(3, 4, **w),
    lambda **w: torch.zeros((3, 4), **w),
    lambda **w: torch.ones([2], dtype=torch.float64, **w),
    lambda **w: torch.ones(2, dtype=torch.bfloat16, **w),
    lambda **w: torch.ones(2, **w, dtype=torch.complex64),
    lambda **w: torch.full((3,), 2.5, **w),
    lambda **w: torch.full(size=(3,), fill_value=2, dtype=torch.float32, **w),
    lambda **w: torch.linspace(0, 1, 5, **w),
    lambda **w: torch.arange(4.0, **w),
    lambda **w: torch.eye(3, **w),
    lambda **w: torch.zeros(0, **w),
    lambda **w: torch.zeros((), device="cpu", **w),
]


@pytest.mark.parametrize("call", CALLS)
def test_leaves_are_what_is_made_without_and_wanted(call: Callable[..., Any]) -> None:
    expected = call()
    for number in range(OFTEN):
        made = call(requires_grad=True)
        assert torch.equal(made, expected)
        assert made.dtype is expected.dtype
        assert made.requires_grad
        assert made.is_leaf
        assert made.grad_fn is None
        if number > OFTEN - 3:
            (made * made.conj()).sum().abs().backward()
            assert made.grad.shape == made.shape
        assert not call(requires_grad=False).requires_grad
        assert not call(requires_grad=None).requires_grad


def test_draws_go_on_where_they_were() -> None:
    torch.manual_seed(1)
    expected = [torch.randn(3) for _ in range(OFTEN)]
    torch.manual_seed(1)
    for each in expected:
        made = torch.randn(3, requires_grad=True)
        assert torch.equal(made.detach(), each)


def test_what_cannot_be_a_leaf_is_refused() -> None:
    for _ in range(OFTEN):
        torch.zeros(3, requires_grad=True)
        torch.zeros(3, dtype=torch.float32, requires_grad=True)
        for dtype in (torch.int64, torch.bool):
            with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex"):
                torch.zeros(3, dtype=dtype, requires_grad=True)
        with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex"):
            torch.arange(3, requires_grad=True)
        with pytest.raises(TypeError, match="argument 'requires_grad' must be bool, not int"):
            torch.zeros(3, requires_grad=1)
        with pytest.raises(TypeError):
            torch.zeros("three", requires_grad=True)


def test_modes_and_default_dtypes_are_asked() -> None:
    for _ in range(OFTEN):
        torch.ones(3, requires_grad=True)
    with torch.no_grad():
        assert torch.ones(3, requires_grad=True).requires_grad
    with torch.inference_mode():
        made = torch.ones(3, requires_grad=True)
        assert made.requires_grad
        assert made.is_inference()
    torch.set_default_dtype(torch.float64)
    try:
        made = torch.ones(3, requires_grad=True)
        assert made.dtype is torch.float64
        assert made.requires_grad
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.ones(3, device="meta", requires_grad=True).requires_grad
    assert torch.ones(3, requires_grad=True).dtype is torch.float32


def test_modes_hear_all_that_was_given() -> None:
    heard = []

    class Mode(TorchFunctionMode):
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> object:
            if isinstance(function, EagerFunction):
                heard.append((function.__name__, args, dict(kwargs or {})))
            return function(*args, **(kwargs or {}))

    for _ in range(OFTEN):
        torch.ones(3, requires_grad=True)
    with Mode():
        torch.ones(3, requires_grad=True)
    assert heard == [("ones", (3,), {"requires_grad": True})]


def test_traces_hold_what_was_made() -> None:
    def made(x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(3, requires_grad=True)

    for _ in range(OFTEN):
        made(torch.zeros(3))
    assert "aten::ones" in str(torch.jit.trace(made, torch.zeros(3)).graph)
