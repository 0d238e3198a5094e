"""Complex numbers that are only moved, or change signs, as the words that they are stored in, and
sums of them by their parts: formulas know no others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..memory.complex_parts import parts
from ..memory.dtype import Array
from .formula import Part

__all__ = ["in_words", "parts_of_sum"]

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


def parts_of_sum(name: str, operands: Sequence[object], result: Array) -> list[Part]:
    """The parts of a sum or a difference of complex numbers, the real one and the imaginary one;
    none of what is no such sum."""
    factor, dtype = _SUMS.get(name), result.dtype
    arrays = [each for each in operands if type(each) is np.ndarray and each.dtype == dtype]
    if factor is None or len(arrays) != 2 or dtype.kind != "c":
        return []
    a, b = arrays
    scaled = [("multiply", "", (1, 3)), ("multiply", "", (2, 4))]
    real = [*scaled, ("subtract", "", (5, 6)), ("add", "", (0, 7))]
    imag = [*scaled, ("add", "", (5, 6)), ("add", "", (0, 7))]
    return [
        Part(real, [a.real, b.real, b.imag, factor, 0.0], result.real),
        Part(imag, [a.imag, b.real, b.imag, 0.0, factor], result.imag),
    ]


def _words(array: Array, is_whole: bool) -> Array:
    """A view of complex numbers as whole numbers of their size, or as pairs of parts."""
    return array.view(np.int64) if is_whole else parts(array)
