"""The windows that signals are multiplied with before a transform."""

from __future__ import annotations

import numpy as np

from ..memory.dtype import Array, Dtype, dtype_of
from ..memory.errors import OperatorError
from ..shapes.creation import OPTIONS, float_dtype
from ..table.promotion import kind
from ..table.refusals import cpp_name, not_implemented
from ..table.table import operator

_LENGTH = "int window_length"


def _dtype(name: str, length: int, dtype: int | None) -> Dtype:
    wanted = float_dtype(dtype)
    if kind(wanted) != 2:
        if wanted.kind == "c":
            raise not_implemented("arange_cpu", wanted)
        spelled = cpp_name(dtype_of(np.empty(0, wanted)))
        raise OperatorError(
            f"{name} expects floating point dtypes, got: TensorOptions(dtype={spelled}, "
            "device=cpu, layout=Strided (default), requires_grad=false (default), "
            "pinned_memory=false, memory_format=(nullopt))",
            code="dtype-mismatch",
            headline=f"`{name}` makes floats",
        )
    if length < 0:
        raise OperatorError(
            f"{name} requires non-negative window_length, got window_length={length}"
        )
    return wanted


def _places(length: int, periodic: bool) -> tuple[Array, int]:
    """The positions in the window, and the distance from its first to its last."""
    span = length if periodic else length - 1
    return np.arange(length, dtype=np.float64), span


def _cosines(name: str, length: int, periodic: bool, dtype: int | None, *factors: float) -> Array:
    """Sums of cosines: a0 - a1 cos(x) + a2 cos(2x)."""
    wanted = _dtype(name, length, dtype)
    if length <= 1:
        return np.ones(length, wanted)
    places, span = _places(length, periodic)
    total = np.zeros(length)
    for i, factor in enumerate(factors):
        total += (-1) ** i * factor * np.cos(2 * np.pi * i * places / span)
    return total.astype(wanted)


@operator(f"aten::hann_window({_LENGTH}, {OPTIONS}) -> Tensor")
def hann_window(window_length: int, dtype: int | None, *_: object) -> Array:
    return _cosines("hann_window", window_length, True, dtype, 0.5, 0.5)


@operator(f"aten::hann_window.periodic({_LENGTH}, bool periodic, {OPTIONS}) -> Tensor")
def hann_window_of(window_length: int, periodic: bool, dtype: int | None, *_: object) -> Array:
    return _cosines("hann_window", window_length, periodic, dtype, 0.5, 0.5)


@operator(f"aten::hamming_window({_LENGTH}, {OPTIONS}) -> Tensor")
def hamming_window(window_length: int, dtype: int | None, *_: object) -> Array:
    return _cosines("hamming_window", window_length, True, dtype, 0.54, 0.46)


@operator(f"aten::hamming_window.periodic({_LENGTH}, bool periodic, {OPTIONS}) -> Tensor")
def hamming_window_of(window_length: int, periodic: bool, dtype: int | None, *_: object) -> Array:
    return _cosines("hamming_window", window_length, periodic, dtype, 0.54, 0.46)


@operator(
    f"aten::hamming_window.periodic_alpha({_LENGTH}, bool periodic, float alpha, {OPTIONS}) "
    "-> Tensor"
)
def hamming_window_alpha(
    window_length: int, periodic: bool, alpha: float, dtype: int | None, *_: object
) -> Array:
    return _cosines("hamming_window", window_length, periodic, dtype, alpha, 0.46)


@operator(
    f"aten::hamming_window.periodic_alpha_beta({_LENGTH}, bool periodic, float alpha, float beta, "
    f"{OPTIONS}) -> Tensor"
)
def hamming_window_alpha_beta(
    window_length: int,
    periodic: bool,
    alpha: float,
    beta: float,
    dtype: int | None,
    *_: object,
) -> Array:
    return _cosines("hamming_window", window_length, periodic, dtype, alpha, beta)


@operator(f"aten::blackman_window({_LENGTH}, {OPTIONS}) -> Tensor")
def blackman_window(window_length: int, dtype: int | None, *_: object) -> Array:
    return _cosines("blackman_window", window_length, True, dtype, 0.42, 0.5, 0.08)


@operator(f"aten::blackman_window.periodic({_LENGTH}, bool periodic, {OPTIONS}) -> Tensor")
def blackman_window_of(window_length: int, periodic: bool, dtype: int | None, *_: object) -> Array:
    return _cosines("blackman_window", window_length, periodic, dtype, 0.42, 0.5, 0.08)


@operator(f"aten::bartlett_window({_LENGTH}, {OPTIONS}) -> Tensor")
def bartlett_window(window_length: int, dtype: int | None, *_: object) -> Array:
    return bartlett_window_of(window_length, True, dtype)


@operator(f"aten::bartlett_window.periodic({_LENGTH}, bool periodic, {OPTIONS}) -> Tensor")
def bartlett_window_of(window_length: int, periodic: bool, dtype: int | None, *_: object) -> Array:
    wanted = _dtype("bartlett_window", window_length, dtype)
    if window_length <= 1:
        return np.ones(window_length, wanted)
    places, span = _places(window_length, periodic)
    return (1 - np.abs(2 * places / span - 1)).astype(wanted)


@operator(f"aten::kaiser_window({_LENGTH}, {OPTIONS}) -> Tensor")
def kaiser_window(window_length: int, dtype: int | None, *_: object) -> Array:
    return kaiser_window_beta(window_length, True, 12.0, dtype)


@operator(f"aten::kaiser_window.periodic({_LENGTH}, bool periodic, {OPTIONS}) -> Tensor")
def kaiser_window_of(window_length: int, periodic: bool, dtype: int | None, *_: object) -> Array:
    return kaiser_window_beta(window_length, periodic, 12.0, dtype)


@operator(f"aten::kaiser_window.beta({_LENGTH}, bool periodic, float beta, {OPTIONS}) -> Tensor")
def kaiser_window_beta(
    window_length: int, periodic: bool, beta: float, dtype: int | None, *_: object
) -> Array:
    wanted = _dtype("kaiser_window", window_length, dtype)
    if window_length <= 1:
        return np.ones(window_length, wanted)
    places, span = _places(window_length, periodic)
    inner = np.sqrt(np.maximum(0.0, 1 - (2 * places / span - 1) ** 2))
    return (np.i0(beta * inner) / np.i0(beta)).astype(wanted)
