"""Copies of contiguous arrays, alone or one after the other, which calls that are learned make."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any, Final

import numpy as np

from .along import strip_count, strips
from .objects import kernel
from .run import run
from .target import Target
from .text import INT64, LANES, POINTER, Code, Kind, Value

__all__ = ["copied", "joined"]

_PER_THREAD: Final = 1 << 15
_FEW: Final = 64
_COUNTS: Final = ("width", "stride", "place")
_BYTES: Final = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}


def copied(x: Any) -> Any | None:
    """A copy of a contiguous array; None if an element's size is unusual."""
    x = x[...]  # which no other thread can change
    if x.itemsize not in _BYTES:
        return None
    out = np.empty(x.shape, x.dtype)
    _place(x, out, 1, x.size, x.size, 0)
    return out


def joined(arrays: Sequence[Any], axis: int, *, is_new: bool) -> Any | None:
    """Contiguous arrays of one dtype, one after the other along a dimension, whose other sizes are
    equal; or side by side along a new one.

    None if an element's size is unusual, or if there are many short rows.
    """
    arrays = [each[...] for each in arrays]
    first = arrays[0]
    before, behind = first.shape[:axis], first.shape[axis + 1 - is_new :]
    rows, inner = prod(before), prod(behind)
    counts = [1 if is_new else each.shape[axis] for each in arrays]
    if first.itemsize not in _BYTES or (rows > _FEW and inner * min(counts) < LANES):
        return None
    out = np.empty((*before, sum(counts), *behind), first.dtype)
    stride, at = sum(counts) * inner, 0
    for each, count in zip(arrays, counts, strict=True):
        if each.size:
            _place(each, out, rows, count * inner, stride, at)
        at += count * inner
    return out


def _place(x: Any, out: Any, rows: int, *counts: int) -> None:
    """Copy rows of a width to where rows of another one have a place."""
    units = strip_count(rows, counts[0])
    least = _PER_THREAD * units // x.size + 1
    run(_kernel(_BYTES[x.itemsize]), units, least, *counts, x, out)


@cache
def _kernel(element: str) -> int:
    return kernel("copies", (element,), lambda target: copies_text(target, element))


def copies_text(target: Target, element: str) -> str:
    """The module of a kernel, whose range is one of strips of rows."""
    code, kind = Code(target), Kind(element)
    width, stride, place = (code.argument(INT64, name) for name in _COUNTS)
    with strips(code, width) as (row, first, end):
        source = code.at(code.argument(POINTER, "x"), row * width, kind)
        goal = code.at(code.argument(POINTER, "out"), row * stride + place, kind)

        def visit(columns: list[Value], mask: Value | None) -> None:
            wide = kind.of_lanes(LANES)
            seen = [code.load_if(wide, code.at(source, at, kind), mask) for at in columns]
            for at, value in zip(columns, seen, strict=True):
                code.store_if(value, code.at(goal, at, kind), mask)

        code.vectors(first, end, 4, visit)
    arguments = [*((INT64, name) for name in _COUNTS), (POINTER, "x"), (POINTER, "out")]
    return code.kernel("copies", arguments)
