"""Transposed convolutions whose weights native code cuts into those of plain convolutions."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family

FUNCTIONS = (
    torch.nn.functional.conv_transpose1d,
    torch.nn.functional.conv_transpose2d,
    torch.nn.functional.conv_transpose3d,
)
CASES = [  # channels, groups, kernel, stride, padding, output padding, dilation
    ((64, 32), 1, (4, 4), (2, 2), (1, 1), (0, 0), (1, 1)),
    ((48, 30), 3, (3, 3), (2, 2), (1, 1), (1, 1), (1, 1)),
    ((32, 16), 1, (2, 2), (2, 2), (0, 0), (0, 0), (1, 1)),
    ((32, 16), 1, (3, 4), (1, 2), (2, 0), (0, 1), (2, 1)),
    ((32, 16), 2, (16,), (8,), (4,), (0,), (1,)),
    ((32, 16), 1, (2, 2, 2), (2, 1, 2), (1, 0, 0), (0, 0, 1), (1, 2, 1)),
    ((32, 16), 1, (5, 5), (2, 2), (2, 2), (1, 1), (1, 1)),
]


@pytest.mark.parametrize(
    ("channels", "groups", "kernel", "stride", "padding", "output", "dilation"), CASES
)
def test_results_are_those_of_float64(
    channels: tuple[int, int],
    groups: int,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    output: tuple[int, ...],
    dilation: tuple[int, ...],
) -> None:
    torch.manual_seed(3)
    x = torch.randn(3, channels[0], *(9, 8, 7)[: len(kernel)])
    weight = torch.randn(channels[0], channels[1] // groups, *kernel)
    bias = torch.randn(channels[1])
    settings = stride, padding, output, groups, dilation
    convolve = FUNCTIONS[len(kernel) - 1]
    made = convolve(x, weight, bias, *settings)
    exact = convolve(x.double(), weight.double(), bias.double(), *settings)
    assert torch.allclose(made.double(), exact, rtol=1e-4, atol=1e-4)


@pytest.mark.skipif(family("convolutions.turned_weights") is None, reason="native code is off")
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("sizes", [(4, 3), (4, 6)])
def test_parts_are_cut_as_numpy_cuts_them(groups: int, sizes: tuple[int, int]) -> None:
    weight = np.random.default_rng(0).random((6, 5, *sizes), np.float32)
    numbers = np.arange(sizes[0] * sizes[1]).reshape(sizes)
    parts = [numbers[3::-2, ::-1], numbers[2::-2, 1::-2], numbers[0::-1, 2:0:-1]]
    cut = family("convolutions.turned_weights").cut
    made = cut(weight, groups, tuple(tuple(part.ravel().tolist()) for part in parts))
    by_group = weight.reshape(groups, 6 // groups, 5, -1).swapaxes(1, 2)
    turned = by_group.reshape(5 * groups, 6 // groups, -1)
    for part, found in zip(parts, made, strict=True):
        assert np.array_equal(found, turned[:, :, part.ravel()])
