"""Depthwise convolutions with channels last, by the kernel that reads pixels as they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.kernels import threads
from rushlight.ops.layers import convolution, plain_convolution
from tests.ops.test_products import before_a_wall

nn = torch.nn
F = torch.nn.functional

pytestmark = pytest.mark.skipif(
    kernels.family("convolutions.last_depthwise") is None, reason="no native code here"
)


def whole_numbers(shape: Any, seed: int) -> Any:
    """Small ones, whose sums of products are exact in whatever order."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def pair(least: int, most: int) -> Any:
    return st.tuples(st.integers(least, most), st.integers(least, most))


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from((2, 15, 16, 17, 40)),
    pair(1, 25),
    pair(1, 9),
    pair(1, 3),
    pair(0, 4),
    pair(1, 3),
    st.booleans(),
)
def test_all_settings(
    channels: int, space: Any, size: Any, stride: Any, pads: Any, dilation: Any, has_bias: bool
) -> None:
    pixels = before_a_wall(whole_numbers((2, *space, channels), 0))
    x = pixels.transpose(0, 3, 1, 2)
    weight = whole_numbers((channels, 1, *size), 1)
    bias = whole_numbers(channels, 2) if has_bias else None
    pairs = [(p, p) for p in pads]
    if min(plain_convolution.sizes_of(x, size, stride, pairs, dilation)) < 1:
        return
    made = convolution._later(2, x, weight, bias, stride, pads, dilation, channels)
    is_usual = x.flags.c_contiguous  # planes of one pixel
    assert is_usual or type(made).__name__ in ("Depthwise", "Pixels")
    made.fill()
    wanted = plain_convolution.forward(x.astype(float), weight, stride, pairs, dilation, channels)
    if bias is not None:
        wanted += bias.reshape(-1, 1, 1)
    assert np.array_equal(made.out, wanted)


@pytest.mark.usefixtures("any_threads")
def test_bits_do_not_depend_on_threads_or_on_what_is_taken_along() -> None:
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(24).eval()
    norm.running_mean.uniform_(-1, 1)
    model = nn.Sequential(nn.Conv2d(24, 24, 5, 2, 2, groups=24), norm, nn.SiLU())
    model = model.eval().to(memory_format=torch.channels_last)
    x = torch.randn(2, 24, 37, 41).contiguous(memory_format=torch.channels_last)
    found = set()
    with torch.no_grad():
        for count in (1, 2, 3):
            threads.set_threads(count)
            scripted = torch.jit.script(model)
            for made in (model(x), *(scripted(x) for _ in range(30))):
                assert made.is_contiguous(memory_format=torch.channels_last)
                found.add(made.numpy().tobytes())
    assert len(found) == 1


def test_sums_along_that_lie_as_the_result_does() -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(24, 24, 3, 1, 1, groups=24)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return F.relu(self.conv(x) + x)

    model = Block().eval().to(memory_format=torch.channels_last)
    x = torch.randn(2, 24, 30, 31).contiguous(memory_format=torch.channels_last)
    scripted = torch.jit.script(model)
    with torch.no_grad():
        wanted = model(x)
        assert all(torch.equal(scripted(x), wanted) for _ in range(30))
