"""Copies of contiguous arrays, and arrays joined along a dimension: rows go where they belong."""

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
_BYTES: Final = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}
_COUNTS: Final = ("width", "stride", "first")


def copied(x: Any) -> Any | None:
    """A copy of a contiguous array; None if an element's size is unusual."""
    x = x[...]  # which no other thread can change
    if x.itemsize not in _BYTES:
        return None
    out = np.empty(x.shape, x.dtype)
    _place(x, out, 1, x.size, x.size, 0)
    return out


def joined(arrays: Sequence[Any], axis: int, *, is_new: bool = False) -> Any | None:
    """Contiguous arrays of one dtype, one after the other along a dimension, whose other sizes are
    equal; or side by side along a new one.

    None if an element's size is unusual, or if rows are too short to be worth it.
    """
    arrays = [each[...] for each in arrays]
    shape = arrays[0].shape
    rows, inner = prod(shape[:axis]), prod(shape[axis + 1 - is_new :])
    counts = [1 if is_new else each.shape[axis] for each in arrays]
    whole = (*shape[:axis], sum(counts), *shape[axis + 1 - is_new :])
    out = np.empty(whole, arrays[0].dtype)
    if out.itemsize not in _BYTES or (rows > _FEW and inner * min(counts) < LANES):
        return None
    stride, first = sum(counts) * inner, 0
    for each, count in zip(arrays, counts, strict=True):
        if each.size:
            _place(each, out, rows, count * inner, stride, first)
        first += count * inner
    return out


_FEW: Final = 64


def _place(x: Any, out: Any, rows: int, *counts: int) -> None:
    units = strip_count(rows, counts[0])
    least = _PER_THREAD * units // max(1, x.size) + 1
    run(_kernel(_BYTES[x.itemsize]), units, least, *counts, x, out)


@cache
def _kernel(element: str) -> int:
    return kernel("pieces", (element,), lambda target: pieces_text(target, element))


def pieces_text(target: Target, element: str) -> str:
    """The module of a kernel that writes rows of a width, a stride apart."""
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
    return code.kernel("pieces", arguments)
