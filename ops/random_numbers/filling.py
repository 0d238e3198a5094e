"""Tensors that are filled with random numbers."""

from __future__ import annotations

import math
import sys
from types import ModuleType
from typing import Final

import numpy as np

from ..kernels import move
from ..memory.complex_parts import is_complex, parts
from ..memory.dtype import Array, Dtype, of_numpy
from ..memory.errors import OperatorError
from ..memory.order import memory_order
from ..table.refusals import cpp_name, not_implemented
from .random import Generator, default_generator, natively, normal, single_normals, uniform

__all__ = ["fill_normal", "fill_uniform", "largest_float"]

F: Final = np.float32
D: Final = np.float64
_FLOAT32: Final = np.dtype(F)
_ALONE: Final = (_FLOAT32, np.dtype(D))


_LARGEST: Final = {
    "float16": 65504.0,
    "bfloat16": float.fromhex("0x1.fep127"),
    "float32": float.fromhex("0x1.fffffep127"),
    "float64": sys.float_info.max,
}


def largest_float(name: str) -> float:
    """The largest number of a dtype of floats; infinity for those that draw no numbers."""
    return _LARGEST.get(name, math.inf)


def _float_kind(array: Array, kernel: str) -> None:
    if array.dtype.kind in "iub":
        raise not_implemented(
            kernel,
            array.dtype,
            headline="only tensors of floats can be filled with these numbers",
            roles={"self": "must be of floats"},
        )


def _takes_kernels(array: Array) -> bool:
    """Whether kernels may fill an array in order; what is only to be read is NumPy's to refuse."""
    return array.flags.c_contiguous and array.flags.writeable


def fill_uniform(array: Array, low: float, high: float, g: Generator | None) -> Array:
    """Fill a tensor of floats with numbers in [low, high), in the order of its memory.

    Raises:
        OperatorError: `low` is above `high`, or it is not a tensor of floats.
    """
    given, array = array, array[...]  # which no other thread can change
    is_single = array.dtype is _FLOAT32
    if not is_single:
        _float_kind(array, "check_uniform_bounds")
    if not is_single and is_complex(array.dtype):  # real and imaginary parts in turn
        part = np.dtype(D if array.itemsize == 16 else F)
        target = parts(memory_order(array))
        target[...] = uniform(g or default_generator, target.size, part, low, high).reshape(
            target.shape
        )
        return given
    if not (is_single and 0.0 <= low <= high <= 1.0):
        _check_uniform_range(array.dtype, low, high)
    if is_single and array.size and _takes_kernels(array):
        native = natively()
        if native is not None:
            native.uniforms((g or default_generator).words(array.size), low, high, array)
            return given
    native = natively("drawing.draws") if array.size and array.dtype == D else None
    if native is not None and _takes_kernels(array):
        native.doubles((g or default_generator).words(2 * array.size), low, high - low, array)
        return given
    target = memory_order(array)
    values = uniform(g or default_generator, array.size, array.dtype, low, high)
    target[...] = values.reshape(target.shape)
    return given


def _check_uniform_range(dtype: Dtype, low: float, high: float) -> None:
    """Refuse bounds between which a dtype has no floats, or more than it can span.

    Raises:
        OperatorError: they are such.
    """
    own = of_numpy(dtype)
    largest = largest_float(own.name)
    for name, value in (("from", low), ("to", high)):
        if not abs(value) <= largest:
            raise OperatorError(f"{name} is out of bounds for {cpp_name(own)}")
    if low > high:
        raise OperatorError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    if high - low > largest:
        raise OperatorError(
            f"uniform_ expects to-from <= std::numeric_limits<{own.scalar_name}>::max(), but found "
            f"to={high:g} and from={low:g} which result in to-from to exceed the limit"
        )


def fill_normal(array: Array, mean: float, std: float, g: Generator | None) -> Array:
    """Fill a tensor of floats or complex numbers with normal numbers.

    Raises:
        OperatorError: `std` is negative, or it is a tensor of whole numbers.
    """
    given, array = array, array[...]  # which no other thread can change
    is_single = array.dtype is _FLOAT32
    if not is_single:
        _float_kind(array, "normal_kernel_cpu")
    if not std >= 0:
        raise OperatorError(f"normal expects std >= 0.0, but found std {std:g}")
    generator = g or default_generator
    if not is_single and is_complex(array.dtype):
        # both parts have the mean, and half of the variance
        fill_normal(parts(array), mean, std / math.sqrt(2), g)
        return given
    if array.flags.c_contiguous:
        native = natively() if is_single and array.size >= 16 and array.flags.writeable else None
        if native is not None:
            _fill_by_sixteens(native, generator, array.reshape(-1), mean, std)
            return given
        if 0 < array.size < 16 and array.flags.writeable and array.dtype in _ALONE:
            native = natively("drawing.single_normals")
            is_possible = native is not None and native.is_possible()
            if is_possible and generator.are_normals_learned(native, mean, std, array):
                return given
        drawn = normal(generator, array.size, array.dtype, mean, std)
        move(drawn.reshape(array.shape), array)
    else:
        single = single_normals(generator, array.size, mean, std)
        target = memory_order(array)
        target[...] = single.reshape(target.shape).astype(array.dtype)
    return given


def _fill_by_sixteens(
    native: ModuleType, g: Generator, array: Array, mean: float, std: float
) -> None:
    """Fill a row of at least 16 float32; a last group that is not whole is drawn anew, and ends
    with the row."""
    whole = array.size // 16 * 16
    if whole == array.size:
        native.normals(g.words(whole), mean, std, array)
        return
    draws = g.words(array.size + 16)
    native.normals(draws[:whole], mean, std, array[:whole])
    native.normals(draws[-16:], mean, std, array[-16:])
