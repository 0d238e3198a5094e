"""Functions of complex numbers at zeros, infinities and NaN: what torch 2.13 gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch

INF, NAN = math.inf, math.nan

ONE: list[tuple[Callable[[Any], Any], complex, complex]] = [
    (torch.reciprocal, complex(0, 0), complex(INF, NAN)),
    (torch.reciprocal, complex(0, -2.5), complex(-0.0, 0.4)),
    (torch.reciprocal, complex(INF, 1), complex(0, 0)),
    (torch.reciprocal, complex(8, 0), complex(0.125, 0)),
    (torch.rsqrt, complex(0, 0), complex(INF, NAN)),
    (torch.rsqrt, complex(1, 0), complex(1, 0)),
    (torch.sigmoid, complex(0, 0), complex(0.5, 0)),
    (torch.sigmoid, complex(INF, -2.5), complex(1, 0)),
    (torch.exp2, complex(INF, 0), complex(INF, 0)),
    (torch.exp2, complex(-INF, INF), complex(0, 0)),
    (torch.exp2, complex(NAN, 0), complex(NAN, 0)),
    (lambda x: x.reshape(1).cumsum(0)[0], complex(-0.0, 0), complex(0, 0)),
    (lambda x: x.reshape(1).cumprod(0)[0], complex(INF, 0), complex(INF, NAN)),
    (lambda x: x.reshape(1).logcumsumexp(0)[0], complex(NAN, 0), complex(NAN, NAN)),
]
TWO: list[tuple[Callable[[Any, Any], Any], complex, complex, complex]] = [
    (torch.pow, complex(0, 0), complex(1, NAN), complex(0, -0.0)),
    (torch.pow, complex(0, 0), complex(1, INF), complex(NAN, NAN)),
    (torch.pow, complex(0, 0), complex(-INF, INF), complex(INF, NAN)),
    (torch.pow, complex(0, INF), complex(0, 0), complex(NAN, NAN)),
    (torch.pow, complex(INF, 0), complex(1, 0), complex(INF, NAN)),
    (torch.pow, complex(1, 1), complex(2, 0), complex(0, 2)),
    (torch.logaddexp, complex(0, 0), complex(INF, NAN), complex(NAN, NAN)),
    (torch.logaddexp, complex(INF, 0), complex(INF, 1), complex(INF, math.pi / 4)),
    (torch.logaddexp, complex(INF, INF), complex(INF, 1), complex(INF, NAN)),
    (torch.logaddexp, complex(-INF, 0), complex(-INF, 1), complex(-INF, 1)),
    (torch.logaddexp, complex(-INF, 0), complex(2, 1), complex(2, 1)),
]


def _check(found: Any, wanted: complex) -> None:
    parts = found.resolve_conj().numpy()
    for part, expected in ((parts.real, wanted.real), (parts.imag, wanted.imag)):
        np.testing.assert_allclose(part, expected, rtol=1e-6, atol=1e-6)
        if expected == 0 and part == 0:
            assert math.copysign(1, part) == math.copysign(1, expected)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_functions_of_one_complex_number(dtype: Any) -> None:
    for function, x, wanted in ONE:
        _check(function(torch.tensor(x, dtype=dtype)), wanted)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_functions_of_two_complex_numbers(dtype: Any) -> None:
    for function, x, y, wanted in TWO:
        _check(function(torch.tensor(x, dtype=dtype), torch.tensor(y, dtype=dtype)), wanted)
