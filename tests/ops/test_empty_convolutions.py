"""Convolutions without samples or channels, with torch 2.13's sizes and gradients."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.nn import functional as F


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_without_channels_results_have_none_and_gradients_are_zero(dims: int, dtype: Any) -> None:
    layers = torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d
    layer = layers[dims - 1](0, 8, 2, stride=2, dtype=dtype)
    x = torch.randn(2, 0, *[15] * dims, dtype=dtype, requires_grad=True)
    for function in (layer, torch.jit.script(layer)):
        made = function(x)
        assert made.shape == (2, 0, *[7] * dims)
        made.sum().backward()
    assert x.grad is not None
    assert x.grad.shape == x.shape
    assert layer.weight.grad.shape == layer.weight.shape
    assert layer.bias.grad.tolist() == [0.0] * 8
    with pytest.raises(RuntimeError, match="Given groups=1, weight of size"):
        layer(torch.randn(2, 1, *[15] * dims, dtype=dtype))


@pytest.mark.parametrize("transposed", [False, True])
def test_gradients_of_no_samples_are_zero(transposed: bool) -> None:
    kind = torch.nn.ConvTranspose2d if transposed else torch.nn.Conv2d
    layer = kind(4, 6, 3, groups=2)
    x = torch.randn(0, 4, 5, 5, requires_grad=True)
    made = layer(x)
    assert made.shape == ((0, 6, 7, 7) if transposed else (0, 6, 3, 3))
    made.sum().backward()
    assert not layer.weight.grad.any()
    assert layer.bias.grad.tolist() == [0.0] * 6


@pytest.mark.parametrize("padding", ["valid", "same"])
def test_a_bias_of_another_dtype_is_added_as_the_inputs(padding: str) -> None:
    """Where torch's own loops convolve; layers with padding in numbers look at it first."""
    x, weight, bias = torch.ones(1, 1, 5, 5), torch.ones(2, 1, 3, 3), torch.tensor([0.25, 1.0])
    made = F.conv2d(x, weight, bias.double(), padding=padding)
    assert made.dtype is torch.float32
    assert torch.equal(made, F.conv2d(x, weight, bias, padding=padding))
    turned = F.conv_transpose2d(x, weight.transpose(0, 1), bias.double())
    assert torch.equal(turned, F.conv_transpose2d(x, weight.transpose(0, 1), bias))
    with pytest.raises(RuntimeError, match="Input type \\(float\\) and bias type \\(double\\)"):
        F.conv2d(x, weight, bias.double())
