"""Gradients of 16-bit floats are computed in float32 and rounded once, as by torch's kernels."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight.nn import functional as F

HALVES = [torch.bfloat16, torch.float16]
OF_INPUT: dict[str, Callable[..., torch.Tensor]] = {
    "gelu": F.gelu,
    "gelu of tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "mish": F.mish,
    "elu": F.elu,
    "celu": lambda x: F.celu(x, 0.7),
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "softplus": lambda x: F.softplus(x, 2.0),
    "log_sigmoid": F.logsigmoid,
}


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", OF_INPUT)
def test_of_the_input(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    x, g = torch.randn(64, dtype=dtype), torch.randn(64, dtype=dtype)
    for _ in range(3):
        narrow = _slope(OF_INPUT[name], x, g)
    assert torch.equal(narrow, _slope(OF_INPUT[name], x.float(), g.float()).to(dtype))
    scripted = torch.jit.script(_scripted)
    for _ in range(4):
        y = x.clone().requires_grad_()
        scripted(y).backward(g)
    assert torch.equal(y.grad, _slope(_scripted, x, g))


def _scripted(x: torch.Tensor) -> torch.Tensor:
    return F.softplus(F.gelu(x)) * 2


def _slope(function: Callable[..., torch.Tensor], x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    x = x.detach().requires_grad_()
    (found,) = torch.autograd.grad(function(x), x, g)
    assert found.dtype is x.dtype
    return found


@pytest.mark.parametrize("dtype", HALVES)
def test_of_the_result(dtype: torch.dtype) -> None:
    torch.manual_seed(2)
    x, g = torch.randn(6, 16, dtype=dtype), torch.randn(6, 16, dtype=dtype)
    wide = g.float()
    y = torch.tanh(x).float()
    assert torch.equal(_slope(torch.tanh, x, g), (wide * (1 - y * y)).to(dtype))
    y = torch.sigmoid(x).float()
    assert torch.equal(_slope(torch.sigmoid, x, g), (wide * ((1 - y) * y)).to(dtype))
    y = x.softmax(0).float()
    rest = (wide * y).sum(0, True)
    assert torch.equal(_slope(lambda x: x.softmax(0), x, g), (wide * y - y * rest).to(dtype))


def test_of_norms() -> None:
    torch.manual_seed(3)
    x, g = torch.randn(8, 16, dtype=torch.bfloat16), torch.randn(8, 16, dtype=torch.bfloat16)
    weight, bias = torch.randn(16), torch.randn(16)

    def normed(x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, (16,), weight, bias)

    expected = _slope(normed, x.float(), g.float())
    assert torch.equal(_slope(normed, x, g), expected.to(torch.bfloat16))

    def in_batches(x: torch.Tensor) -> torch.Tensor:
        return F.batch_norm(x, None, None, weight, bias, True)

    expected = _slope(in_batches, x.float(), g.float())
    assert torch.equal(_slope(in_batches, x, g), expected.to(torch.bfloat16))


def test_torch_s_numbers_of_layer_norm_whose_weights_have_16_bits() -> None:
    x = torch.tensor([[0.5, -1.25, 2.0, 0.75]], dtype=torch.bfloat16, requires_grad=True)
    weight = torch.tensor([1.5, 0.25, -0.5, 2.0], dtype=torch.bfloat16)
    g = torch.tensor([[0.01, -0.02, 0.03, 0.005]], dtype=torch.bfloat16)
    F.layer_norm(x, (4,), weight).backward(g)
    assert x.grad.tolist() == EXPECTED


EXPECTED = [[0.01190185546875, -0.008544921875, -0.0113525390625, 0.00799560546875]]
