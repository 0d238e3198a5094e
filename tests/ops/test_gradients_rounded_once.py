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


ALONG_ROWS: dict[str, Callable[..., torch.Tensor]] = {
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "group_norm": lambda x: F.group_norm(x.reshape(4, 6, 70), 3, *OF_SIX),
    "instance_norm": lambda x: F.instance_norm(x.reshape(4, 6, 70), weight=OF_SIX[0]),
}
OF_SIX = torch.tensor([1.5, 0.25, -0.5, 2.0, 1.0, 0.75]), torch.arange(6.0)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", ALONG_ROWS)
def test_along_rows(name: str, dtype: torch.dtype) -> None:
    """Results of 16 bits are those of float32, rounded once: kept ones are rounded before."""
    torch.manual_seed(5)
    x, g = torch.randn(24, 70).to(dtype), torch.randn(24, 70).to(dtype)
    share = g.reshape(ALONG_ROWS[name](x).shape)
    for _ in range(3):
        found = _slope(ALONG_ROWS[name], x, share)
    if "softmax" in name:
        kept = ALONG_ROWS[name](x).float()
        wide = g.float()
        rest = (wide * kept).sum(-1, True) if name == "softmax" else wide.sum(-1, True)
        expected = (wide - rest) * kept if name == "softmax" else wide - kept.exp() * rest
    else:
        expected = _slope(ALONG_ROWS[name], x.float(), share.float())
    near = 2 * torch.finfo(dtype).eps
    torch.testing.assert_close(found.float(), expected.to(dtype).float(), rtol=near, atol=near / 64)
    assert (found == expected.to(dtype)).float().mean() > 0.99


def test_torch_s_numbers_of_layer_norm_whose_weights_have_16_bits() -> None:
    x = torch.tensor([[0.5, -1.25, 2.0, 0.75]], dtype=torch.bfloat16, requires_grad=True)
    weight = torch.tensor([1.5, 0.25, -0.5, 2.0], dtype=torch.bfloat16)
    g = torch.tensor([[0.01, -0.02, 0.03, 0.005]], dtype=torch.bfloat16)
    F.layer_norm(x, (4,), weight).backward(g)
    assert x.grad.tolist() == EXPECTED


EXPECTED = [[0.01190185546875, -0.008544921875, -0.0113525390625, 0.00799560546875]]


def test_torch_s_numbers_where_sums_are_rounded_on_the_way() -> None:
    half = torch.bfloat16
    x = (torch.arange(24.0).reshape(6, 4) * 0.37).sin().to(half).requires_grad_()
    g = (torch.arange(24.0).reshape(6, 4) * 0.71).cos().to(half)
    for dtype, expected in zip((half, torch.float32), OF_WEIGHTS, strict=True):
        for norm in (F.layer_norm, lambda *given: torch.native_layer_norm(*given, 1e-5)[0]):
            weight = torch.tensor([1.0, 0.5, 2.0, -1.0], dtype=dtype, requires_grad=True)
            bias = torch.zeros(4, dtype=dtype, requires_grad=True)
            with torch.autocast("cpu", dtype=half):
                norm(x, (4,), weight, bias).backward(g)
            assert weight.grad.dtype is bias.grad.dtype is dtype
            assert weight.grad.tolist() == expected
            assert bias.grad.tolist() == [0.546875, 0.03515625, -0.49609375, -0.78125]
    table = torch.zeros(2, 4, dtype=half, requires_grad=True)
    F.embedding(torch.tensor([1, 0, 1, 1, 0, 1]), table).backward(g)
    assert table.grad.tolist() == OF_TABLE
    x.grad = None
    F.logsigmoid(x * 3).backward(g)
    assert x.grad[0].tolist() == [1.5, 0.57421875, 0.05224609375, -0.10107421875]
    x.grad = None
    weight = torch.tensor([1.0, 0.5, 2.0, -1.0], dtype=half, requires_grad=True)
    F.rms_norm(x, (4,), weight).backward(g)
    assert x.grad[1].tolist() == [-0.2021484375, 0.353515625, -0.294921875, 0.1875]
    assert weight.grad.tolist() == [-0.51953125, -0.609375, -0.298828125, -0.2080078125]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("sizes", [(1, 3), (40, 7), (9, 64), (5, 150)])
def test_weights_of_layer_norm_are_added_row_by_row(
    sizes: tuple[int, int], dtype: torch.dtype
) -> None:
    torch.manual_seed(4)
    g = torch.randn(sizes).to(dtype)
    bias = torch.zeros(sizes[1], requires_grad=True)
    F.layer_norm(torch.randn(sizes).to(dtype), sizes[1:], torch.ones(sizes[1]), bias).backward(g)
    expected = torch.zeros(sizes[1], dtype=dtype)
    for row in g:
        expected = expected + row
    assert torch.equal(bias.grad, expected.float())


OF_WEIGHTS = [
    [-1.25, -0.8203125, -0.265625, 0.3828125],
    [-1.25, -0.83203125, -0.27734375, 0.3671875],
]
OF_TABLE = [
    [-0.59765625, -0.0390625, 0.5390625, 0.85546875],
    [1.1484375, 0.0703125, -1.03125, -1.640625],
]
