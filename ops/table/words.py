"""Complex numbers that are only moved, or change signs, as the words that they are stored in, and
sums and quotients of them by their parts: formulas know no others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..kernels import LARGE
from ..memory.complex_parts import parts
from ..memory.dtype import Array
from .formula import Part

__all__ = ["in_words", "parts_of_pair", "parts_of_quotient"]

_MOVING: Final = frozenset({"same", "choose", "negate"})
"""Formulas that give one of their operands, or one with another sign."""
_BOOL: Final = np.dtype(np.bool_)
_COMPLEX64: Final = np.dtype(np.complex64)


def in_words(part: Part) -> Part:
    """The same part of a result, of words where it is of complex numbers that steps only move."""
    target = part.target
    dtype, names = target.dtype, {name for name, _, _ in part.steps}
    if dtype.kind != "c" or not names <= _MOVING or any(own for _, own, _ in part.steps):
        return part
    is_whole = dtype == _COMPLEX64 and "negate" not in names
    taken = list[object]()
    for each in part.operands:
        if type(each) is not np.ndarray:
            number = np.asarray(each, dtype)
            number.setflags(write=False)
            taken.append(_words(number, is_whole))
        elif each.dtype == dtype:
            taken.append(_words(each, is_whole))
        elif each.dtype == _BOOL:
            taken.append(each if is_whole else each[..., None])
        else:
            return part
    return Part(part.steps, taken, _words(target, is_whole))


_SUMS: Final = {"add": 1.0, "subtract": -1.0}
"""The formulas of sums, and what the second operand is multiplied by first, as torch does: where
one of its parts is infinite the other one becomes NaN."""


def parts_of_pair(name: str, operands: Sequence[object], result: Array) -> list[Part]:
    """The parts of a sum, a difference, a quotient or a reciprocal of complex numbers, the real one
    and the imaginary one; none of what is no such thing, and of large sums, which are NumPy's."""
    dtype = result.dtype
    arrays = [each for each in operands if type(each) is np.ndarray and each.dtype == dtype]
    if dtype.kind != "c" or len(arrays) != len(operands):
        return []
    if name == "reciprocal":
        return parts_of_quotient(None, arrays[0], result)
    factor = _SUMS.get(name)
    if len(arrays) != 2:
        return []
    a, b = arrays
    if name == "divide":
        return parts_of_quotient(a, b, result)
    return [] if factor is None or result.size >= LARGE else _parts_of_sum(a, b, factor, result)


def _parts_of_sum(a: Array, b: Array, factor: float, result: Array) -> list[Part]:
    scaled = [("multiply", "", (1, 3)), ("multiply", "", (2, 4))]
    real = [*scaled, ("subtract", "", (5, 6)), ("add", "", (0, 7))]
    imag = [*scaled, ("add", "", (5, 6)), ("add", "", (0, 7))]
    return [
        Part(real, [a.real, b.real, b.imag, factor, 0.0], result.real),
        Part(imag, [a.imag, b.real, b.imag, 0.0, factor], result.imag),
    ]


_SIZE, _OTHER, _IS_REAL, _BELOW, _ABOVE, _SHARE, _REST, _SUM, _FACTOR = range(4, 13)
_OF_DIVISOR: Final = [
    *(("absolute", "", (2,)), ("absolute", "", (3,)), ("greater_equal", "", (_SIZE, _OTHER))),
    *(("choose", "", (_IS_REAL, 2, 3)), ("choose", "", (_IS_REAL, 3, 2))),
    *(("divide", "", (_ABOVE, _BELOW)), ("multiply", "", (_ABOVE, _SHARE))),
    *(("add", "", (_BELOW, _REST)), ("reciprocal", "", (_SUM,))),
]
"""The steps by which the parts of a divisor, behind those of a dividend, become which of them is
larger, that one, the other one over it, and the factor that the rest is multiplied by."""


def parts_of_quotient(a: Array | None, b: Array, result: Array) -> list[Part]:
    """The parts of a quotient of complex numbers (of 1 if there is no dividend), as NumPy has them:
    the smaller part of the divisor is divided by the larger one first (Smith, 1962).  Where both
    are 0 the parts are divided by 0 each."""
    given = [1.0, 0.0] if a is None else [a.real, a.imag]
    real = [
        *(("choose", "", (_IS_REAL, 0, 1)), ("choose", "", (_IS_REAL, 1, 0))),
        *(("multiply", "", (14, _SHARE)), ("add", "", (13, 15))),
    ]
    imag = [
        *(("multiply", "", (1, _SHARE)), ("multiply", "", (0, _SHARE))),
        *(("choose", "", (_IS_REAL, 1, 13)), ("choose", "", (_IS_REAL, 14, 0))),
        ("subtract", "", (15, 16)),
    ]
    made = []
    for place, steps, target in ((0, real, result.real), (1, imag, result.imag)):
        end = _FACTOR + len(steps)
        last = [
            *(("multiply", "", (end, _FACTOR)), ("is_zero", "", (_BELOW,))),
            *(("divide", "", (place, _SIZE)), ("choose", "", (end + 2, end + 3, end + 1))),
        ]
        whole = [*_OF_DIVISOR, *steps, *last]
        made.append(Part(whole, [*given, b.real, b.imag], target))
    return made


def _words(array: Array, is_whole: bool) -> Array:
    """A view of complex numbers as whole numbers of their size, or as pairs of parts."""
    return array.view(np.int64) if is_whole else parts(array)
