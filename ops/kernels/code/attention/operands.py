"""What kernels of attention are given: operands as they lie, in float32, or words of bfloat16."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ....memory.dtype import Array, Dtype
from ...precision import PRECISION
from ..elementwise.arrays import cast
from ..language.target import host
from ..products import pairs
from .rows import MOST

__all__ = ["Given", "rounded"]

_LETTERS: Final = {"float32": "f", "float64": "d", "bfloat16": "E", "float16": "e"}
_FLOAT32: Final = np.dtype(np.float32)
_SHORT_LEAST: Final = 32
_SHORT_WORK: Final = 1 << 20
"""Sizes, and multiplications of a head, from which it pays to round float32 first where that is
asked for."""


class Given(NamedTuple):
    """Operands for a kernel of a letter, as `Form` has it: the one for a few queries if they are;
    queries have columns side by side."""

    letter: str
    are_few: bool
    q: Array
    k: Array
    v: Array

    @staticmethod
    def of(q: Array, k: Array, v: Array) -> Given:
        """For arrays of one dtype that no other thread can change."""
        group = q.shape[1] // k.shape[1]
        are_side_by_side = k.strides[3] == k.itemsize and v.strides[3] == v.itemsize
        are_few = group * q.shape[2] <= MOST and are_side_by_side
        letter = _LETTERS[q.dtype.name]
        if q.itemsize == 2:
            if are_few and (letter == "E" or host().has_halves):
                return Given(letter, True, _beside(_wide(q)), k, v)
            if are_few or letter == "e" or not host().has_pairs:
                return Given("f", are_few, _beside(_wide(q)), _wide(k), _wide(v))
        is_short = letter == "E" or (letter == "f" and not are_few and _may_be_short(q, k, v))
        if is_short:
            return Given("p", False, _along(q), _along(k), pairs.across(v))
        return Given(letter, are_few, _beside(q), k, v)


def rounded(x: Array, dtype: Dtype) -> Array | None:
    """float32 in one piece as a dtype."""
    if x.dtype == dtype:
        return x
    return pairs.rounded(x, dtype) if dtype.name == "bfloat16" else cast(x, dtype)


def _may_be_short(q: Array, k: Array, v: Array) -> bool:
    """Whether float32 is rounded first: if that is asked for, and quicker."""
    sizes = q.shape[2], k.shape[2], q.shape[3], v.shape[3]
    is_large = min(sizes) >= _SHORT_LEAST and q.shape[2] * k.shape[2] * q.shape[3] >= _SHORT_WORK
    return PRECISION.products_may_be_short and is_large and host().has_pairs


def _along(x: Array) -> Array:
    """Neighbours of rows in words: as they lie, if they are bfloat16."""
    steps = x.strides
    if (
        x.itemsize == 2
        and not x.shape[3] % 2
        and steps[3] == 2
        and not any(s % 4 for s in steps[:3])
    ):
        return x.view(_FLOAT32)
    return pairs.along(x)


def _wide(x: Array) -> Array:
    """In float32; it lies as before."""
    found = cast(x, _FLOAT32)
    return x.astype(_FLOAT32) if found is None else found


def _beside(x: Array) -> Array:
    """With columns side by side."""
    return x if x.strides[3] == x.itemsize else x.copy()
