"""Windows of many kinds, symmetric unless told otherwise.

Every function takes the window's length `M` and the options `sym` (False makes it periodic, for a
transform), `dtype` (float32 or float64), `layout`, `device` and `requires_grad`.  `ValueError` is
raised for a negative length, another dtype and parameters that make no window, `AssertionError` or
`RuntimeError` for a device where no tensors can be.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..module_names import names_of
from ..ops.kernels import blas
from ..ops.memory.dtype import DTYPES, LAYOUTS, DType, get_default_dtype, place_of
from ..ops.tensors.tensor import Tensor

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _dtype(name: str, length: int, options: dict[str, Any]) -> DType:
    """The dtype wanted; the options are checked."""
    unknown = options.keys() - {"dtype", "layout", "device", "requires_grad"}
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument '{min(unknown)}'")
    dtype: DType = options.get("dtype") or get_default_dtype()
    layout = options.get("layout", LAYOUTS["strided"])
    if length < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={length}")
    if layout is not LAYOUTS["strided"]:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (DTYPES["float32"], DTYPES["float64"]):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return dtype


def _made(values: object, dtype: DType, options: dict[str, Any]) -> Tensor:
    array = np.asarray(values, np.float64).astype(dtype.numpy)
    made, place = Tensor._of(array), place_of(options.get("device"))
    if place.type != "cpu":
        made = made.to(place)
    return made.requires_grad_() if options.get("requires_grad") else made


def _span(length: int, sym: bool) -> int:
    """The distance from the first to the last place of the whole wave."""
    return length - 1 if sym or length <= 1 else length


def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: object
) -> Tensor:
    """exp(-|n - center| / tau)."""
    dtype = _dtype("exponential", M, options)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = _span(M, sym) / 2 if center is None else center
    return _made(np.exp(-np.abs(np.arange(M) - middle) / tau), dtype, options)


def cosine(M: int, *, sym: bool = True, **options: object) -> Tensor:
    """sin(pi (n + 1/2) / M), half a wave."""
    dtype = _dtype("cosine", M, options)
    whole = max(_span(M, sym) + 1, 1)
    return _made(np.sin(np.pi * (np.arange(M) + 0.5) / whole), dtype, options)


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: object) -> Tensor:
    """exp(-(n - middle)^2 / (2 std^2))."""
    dtype = _dtype("gaussian", M, options)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    places = (np.arange(M) - _span(M, sym) / 2) / std
    return _made(np.exp(-places * places / 2), dtype, options)


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: object) -> Tensor:
    """I0(beta sqrt(1 - (2n / (M - 1) - 1)^2)) / I0(beta)."""
    dtype = _dtype("kaiser", M, options)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M <= 1:
        return _made(np.ones(M), dtype, options)
    places = 2 * np.arange(M) / _span(M, sym) - 1
    inner = np.sqrt(np.maximum(0, 1 - places * places))
    return _made(np.i0(beta * inner) / np.i0(beta), dtype, options)


def bartlett(M: int, *, sym: bool = True, **options: object) -> Tensor:
    """A triangle: 1 - |2n / (M - 1) - 1|."""
    dtype = _dtype("bartlett", M, options)
    if M <= 1:
        return _made(np.ones(M), dtype, options)
    return _made(1 - np.abs(2 * np.arange(M) / _span(M, sym) - 1), dtype, options)


def _cosines(
    name: str, length: int, factors: Iterable[float], sym: bool, options: dict[str, object]
) -> Tensor:
    dtype = _dtype(name, length, options)
    if length <= 1:
        return _made(np.ones(length), dtype, options)
    if not isinstance(factors, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if not factors:
        raise ValueError("Coefficients cannot be empty")
    weights = np.asarray(list(factors), np.float64)
    order = np.arange(len(weights))
    angles = 2 * np.pi * np.arange(length) / _span(length, sym)
    signs = 1.0 - 2.0 * (order % 2)
    return _made(blas.matmul(weights * signs, np.cos(order[:, None] * angles)), dtype, options)


def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, **options: object) -> Tensor:
    """The alternating sum of cosines with the factors `a`."""
    return _cosines("general_cosine", M, a, sym, options)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: object) -> Tensor:
    """alpha - (1 - alpha) cos(2 pi n / (M - 1))."""
    return _cosines("general_cosine", M, [alpha, 1.0 - alpha], sym, options)


def hamming(M: int, *, sym: bool = True, **options: object) -> Tensor:
    """The general Hamming window with alpha 0.54."""
    return general_hamming(M, alpha=0.54, sym=sym, **options)


def hann(M: int, *, sym: bool = True, **options: object) -> Tensor:
    """The general Hamming window with alpha 0.5."""
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def blackman(M: int, *, sym: bool = True, **options: object) -> Tensor:
    """A sum of three cosines."""
    return _cosines("blackman", M, [0.42, 0.5, 0.08], sym, options)


def nuttall(M: int, *, sym: bool = True, **options: object) -> Tensor:
    """A sum of four cosines."""
    return _cosines("general_cosine", M, [0.3635819, 0.4891775, 0.1365995, 0.0106411], sym, options)


__getattr__ = names_of(__name__)
