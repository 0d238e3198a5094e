"""Gradients with NaN as errors, gradients kept of tensors written in place, and own gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import Tensor

pytestmark = pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:Error detected in")


class Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
        return x + y

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        return g, g * float("nan")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            lambda x: torch.sqrt(x) * 0,
            "Function 'SqrtBackward0' returned nan values in its 0th out",
        ),
        (lambda x: (x**2).sqrt(), "Function 'PowBackward0' returned nan values in its 0th output."),
        (lambda x: Halved.apply(x, x), "Function 'HalvedBackward' returned nan values in its 1th"),
    ],
)
def test_a_gradient_without_numbers_is_told_of(
    function: Callable[[Tensor], Tensor], words: str
) -> None:
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match=words):
        function(x).sum().backward()
    with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match=words):
        torch.autograd.grad(function(x).sum(), x)
    with torch.autograd.detect_anomaly(check_nan=False):
        function(x).sum().backward()
    function(x).sum().backward()
    with torch.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError, match=words):
        function(x).sum().backward()


def test_numbers_pass() -> None:
    x = torch.tensor([4.0], requires_grad=True)
    with torch.autograd.detect_anomaly():
        x.sqrt().sum().backward()
    assert x.grad is not None
    assert x.grad.item() == 0.25


def test_a_kept_gradient_is_that_of_what_was_written_last() -> None:
    a = torch.tensor([1.0], requires_grad=True).clone()
    a.retain_grad()
    a.mul_(2)
    a.retain_grad()
    a.mul_(3)
    a.sum().backward()
    assert a.grad is not None
    assert a.grad.item() == 1.0


def test_a_kept_gradient_of_a_view_and_of_its_base() -> None:
    base = torch.tensor([1.0, 2.0], requires_grad=True).clone()
    base.retain_grad()
    view = base[:1]
    view.retain_grad()
    view.mul_(2)
    (base * torch.tensor([3.0, 4.0])).sum().backward()
    assert base.grad is not None
    assert base.grad.tolist() == [3.0, 4.0]


def test_nothing_is_its_own_gradient() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        x.grad = x
