"""Quotients of complex numbers by kernels have the bits of NumPy's."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from math import inf, nan

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.table import direct

ODD = [
    complex(*each)
    for each in product((0.0, -0.0, 1.0, -2.0, inf, -inf, nan, 1e-30, 3e30), repeat=2)
]
WAYS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "as it lies": lambda x: x,
    "turned": lambda x: x.view(-1, 81).t(),
    "every second": lambda x: x[::2],
}


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
@pytest.mark.parametrize("times", [1, 130])
@pytest.mark.parametrize("way", WAYS)
def test_bits(way: str, times: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    odd = torch.tensor(ODD, dtype=dtype)
    one, other = odd.repeat_interleave(81).repeat(times), odd.repeat(81 * times)
    if times > 1:
        one, other = one[:16200], torch.randn(16200, dtype=dtype)
    a, b = WAYS[way](one), WAYS[way](other)
    with np.errstate(all="ignore"):
        expected = np.true_divide(a.numpy(), b.numpy()), np.true_divide(1, b.numpy())
        scalar = np.true_divide(a.numpy(), b.numpy().flat[5:6])
    for _ in range(8):
        for found, number in ((a / b, 0), (b.reciprocal(), 1)):
            assert found.numpy().strides == expected[number].strides
            _agree(found.numpy(), expected[number])
        _agree((a / b.reshape(-1)[5]).numpy(), scalar)
        while direct.is_compiling():
            time.sleep(0.01)


def _agree(found: np.ndarray, expected: np.ndarray) -> None:
    for one, other in ((found.real, expected.real), (found.imag, expected.imag)):
        is_number = ~np.isnan(other)
        np.testing.assert_array_equal(one, other)
        assert (np.signbit(one) == np.signbit(other))[is_number].all()
