"""What kernels along one dimension share.

They see a contiguous array as [outer, size, inner].  Where `inner` is 1 their range is one of rows;
else of strips, which are `STRIP` neighbouring columns of one of the outer matrices, or `NARROW`
where there are not many, so that threads can share them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Final

from ..language.text import Code, Value

__all__ = ["ELEMENTS", "STRIP", "Parts", "parts_of", "strip_count", "strips"]

STRIP: Final = 512
NARROW: Final = 128
_MANY: Final = 4096
"""Columns that are not few."""

ELEMENTS: Final = {"f4": "float", "f8": "double", "i8": "i64"}
"""LLVM's words for the dtypes that most of them are written for."""

Parts = tuple[int, int, int]


def parts_of(shape: tuple[int, ...], axis: int) -> Parts:
    """Outer, size and inner of an array along one of its dimensions."""
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])


def strip_count(outer: int, inner: int) -> int:
    """How many strips there are."""
    return outer * -(-inner // (STRIP if inner >= _MANY else NARROW))


@contextmanager
def strips(code: Code, inner: Value) -> Iterator[tuple[Value, Value, Value]]:
    """Each strip of the kernel's range: the matrix it is in, its first column and the end."""
    width = code.choose(inner >= _MANY, inner.taken(STRIP), NARROW)
    each = (inner + (width - 1)) / width
    with code.units() as strip:
        outer = strip / each
        first = (strip - outer * each) * width
        end = first + width
        yield outer, first, code.choose(end < inner, end, inner)
