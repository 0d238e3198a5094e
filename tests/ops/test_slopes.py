"""Operators named `..._backward`: slopes of activations and losses, and their own gradients."""

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.autograd import forward_ad, gradcheck, gradgradcheck

F = torch.nn.functional

ACTIVATIONS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], tuple[Any, ...], bool]] = {
    "tanh": (torch.tanh, (), True),
    "sigmoid": (torch.sigmoid, (), True),
    "softplus": (lambda x: F.softplus(x, 2, 1), (2, 1), False),
    "threshold": (lambda x: F.threshold(x, 0.3, 0.3), (0.3,), False),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.2), (0.2, False), False),
    "hardtanh": (lambda x: F.hardtanh(x, -0.5, 0.8), (-0.5, 0.8), False),
    "hardshrink": (lambda x: F.hardshrink(x, 0.4), (0.4,), False),
    "softshrink": (lambda x: F.softshrink(x, 0.4), (0.4,), False),
    "hardsigmoid": (F.hardsigmoid, (), False),
    "hardswish": (F.hardswish, (), False),
}
"""What each is the slope of, the numbers it takes, and whether it reads the result."""


def _numbers(dtype: torch.dtype = torch.float64, size: int = 24) -> torch.Tensor:
    return (torch.arange(size, dtype=torch.float64) * 0.37 - size * 0.18).to(dtype)


def _operator(name: str) -> Callable[..., torch.Tensor]:
    found: Callable[..., torch.Tensor] = getattr(torch.ops.aten, f"{name}_backward")
    return found


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("size", [24, 9000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_slopes_are_those_of_activations(name: str, size: int, dtype: torch.dtype) -> None:
    function, numbers, by_result = ACTIVATIONS[name]
    x = _numbers(dtype, size).requires_grad_()
    y = function(x)
    g = torch.ones_like(x) * 1.5
    (expected,) = torch.autograd.grad(y, x, g)
    found = _operator(name)(g, (y if by_result else x).detach(), *numbers)
    assert torch.equal(found, expected)
    assert found.dtype is dtype


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_slopes_have_gradients(name: str) -> None:
    _, numbers, by_result = ACTIVATIONS[name]
    x = torch.tanh(_numbers()) if by_result else _numbers()
    given = (torch.linspace(1, 2, 24, dtype=torch.float64).requires_grad_(), x.requires_grad_())
    run = _operator(name)
    assert gradcheck(lambda g, x: run(g, x, *numbers), given)
    assert gradgradcheck(lambda g, x: run(g, x, *numbers), given)


@pytest.mark.parametrize("function", [F.relu, F.relu6, F.hardtanh, torch.abs, F.leaky_relu])
def test_slopes_of_straight_parts_stand_still(function: Any) -> None:
    x = torch.tensor([-1.5, 0.5, 7.0], dtype=torch.float64)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x.requires_grad_(), torch.ones_like(x))
        (slope,) = torch.autograd.grad(function(dual).sum(), dual, create_graph=True)
        direction = forward_ad.unpack_dual(slope).tangent
    assert direction is None or direction.tolist() == [0, 0, 0]


@pytest.mark.parametrize("function", [torch.tanh, torch.sigmoid, F.silu])
def test_slopes_of_complex_numbers_have_gradients(function: Any) -> None:
    x = torch.tensor([0.3 + 0.8j, -1.2 + 0.1j, 2 - 0.7j], dtype=torch.complex128)
    assert gradgradcheck(function, (x.requires_grad_(),), check_fwd_over_rev=True)


def _nodes(tensor: torch.Tensor) -> list[str]:
    pending, seen = [tensor.grad_fn], []
    while pending:
        node = pending.pop()
        if node is not None and node not in seen:
            seen.append(node)
            pending += [each for each, _ in node.next_functions]
    return [type(node).__name__ for node in seen]


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("tanh", "TanhBackwardBackward0 TanhBackward0 AccumulateGrad"),
        ("sigmoid", "SigmoidBackwardBackward0 SigmoidBackward0 AccumulateGrad"),
        ("softplus", "SoftplusBackwardBackward0 AccumulateGrad"),
        ("hardtanh", "HardtanhBackwardBackward0 AccumulateGrad"),
        ("leaky_relu", "LeakyReluBackwardBackward0 AccumulateGrad"),
    ],
)
def test_graphs_of_gradients_are_short(name: str, first: str) -> None:
    x = _numbers().requires_grad_()
    y = ACTIVATIONS[name][0](x)
    (grad,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert _nodes(grad) == first.split()


def test_second_derivatives_of_straight_lines_are_zeros() -> None:
    for function in (torch.relu, F.relu6, F.leaky_relu, F.hardtanh, F.softshrink):
        x = _numbers().requires_grad_()
        (grad,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(grad.sum(), x)
        assert not second.any()
        assert second.shape == x.shape


@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_the_slope_of_squares(reduction: int) -> None:
    words = ["none", "mean", "sum"]
    x, y = torch.randn(3, 4).double().requires_grad_(), torch.randn(4).double().requires_grad_()
    loss = F.mse_loss(x, y.expand(3, 4), reduction=words[reduction])
    g = torch.full_like(loss, 1.5).requires_grad_()
    (expected,) = torch.autograd.grad(loss, x, g)
    run = torch.ops.aten.mse_loss_backward
    assert torch.allclose(run(g, x, y, reduction), expected)
    assert gradcheck(lambda *given: run(*given, reduction), (g, x, y))


def test_dtypes_that_slopes_refuse() -> None:
    whole = torch.arange(3)
    for name, kernel in (("tanh", "tanh_backward_cpu"), ("hardtanh", "hardshrink_backward_cpu")):
        with pytest.raises(RuntimeError, match=f"\"{kernel}\" not implemented for 'Long'"):
            _operator(name)(whole, whole, *ACTIVATIONS[name][1])
    assert _operator("threshold")(whole, whole, 1).tolist() == [0, 0, 2]
    narrow, wide = torch.ones(3, dtype=torch.float16), torch.ones(3)
    assert _operator("tanh")(narrow, wide).dtype is torch.float32
