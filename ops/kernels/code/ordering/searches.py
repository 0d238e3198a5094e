"""Binary search in sorted rows, by halves: what is found where rows are not sorted, or hold what is
no number, follows from that."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..language.outcomes import opposite
from ..language.target import Target
from ..language.text import INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel
from ..rows.along import ELEMENTS

__all__ = ["searched"]

_LEAST: Final = 1 << 10
"""Searches that are worth another thread."""


def searched(rows: Array, values: Array, *, behind: bool) -> Array | None:
    """For each value the first place of its row before which it can be put, or `behind` those that
    are equal.

    There is one row, or one for every row of values.  None if they are not of one dtype that there
    is a kernel for, or are not contiguous.
    """
    rows, values = rows[...], values[...]  # which no other thread can change
    element = ELEMENTS.get(rows.dtype.str[1:])
    if element is None or values.dtype != rows.dtype:
        return None
    if not (rows.flags.c_contiguous and values.flags.c_contiguous):
        return None
    if rows.ndim > 1 and rows.shape[:-1] != values.shape[:-1]:
        raise ValueError("there is one row, or one for every row of values")
    size, beside = rows.shape[-1], values.shape[-1] if values.ndim else 1
    step = size if rows.ndim > 1 else 0
    out = np.empty(values.shape, np.int64)
    form = "each" if rows.ndim > 1 else "one"
    run(_kernel(element, behind, form), values.size, _LEAST, size, beside, step, rows, values, out)
    return out


@cache
def _kernel(element: str, behind: bool, form: str) -> int:
    key = element, int(behind), form
    return kernel("searches", key, lambda target: _text(target, *key))


def _text(target: Target, element: str, behind: int, form: str) -> str:
    """The module of a kernel, whose range is one of values, for "one" row or for one of "each"."""
    code, kind = Code(target), Kind(element)
    words = [(INT64, name) for name in ("size", "beside", "step")]
    words += [(POINTER, name) for name in ("rows", "values", "out")]
    if form == "one":
        code.vectors(
            code.argument(INT64, "start"),
            code.argument(INT64, "stop"),
            1,
            lambda places, mask: _several(code, kind, behind, places[0], mask),
        )
    else:
        with code.units() as at:
            _alone(code, kind, behind, at)
    return code.kernel("searches", words)


def _several(code: Code, kind: Kind, behind: int, at: Value, mask: Value | None) -> None:
    """A vector of searches in one row."""
    rows, values, out = (code.argument(POINTER, name) for name in ("rows", "values", "out"))
    value = code.load_if(kind.of_lanes(LANES), code.at(values, at, kind), mask)
    places = INT64.of_lanes(LANES)
    low = code.variable(code.constant(places, 0))
    high = code.variable(code.spread(code.argument(INT64, "size")))
    with code.repeated(lambda: code.any_of(low.now < high.now)):
        least, most = low.now, high.now
        middle, is_open = (least + most) >> 1, least < most
        found = code.gathered(value.kind, rows, middle << _shift(kind), is_open)
        is_before = found > value if behind else found >= value
        low.set(code.choose(is_before, least, code.choose(is_open, middle + 1, least)))
        high.set(code.choose(is_before & is_open, middle, most))
    code.store_if(low.now, code.at(out, at, INT64), mask)


def _shift(kind: Kind) -> int:
    """The bytes of an element, as a power of two."""
    return 2 if kind.element == "float" else 3


def _alone(code: Code, kind: Kind, behind: int, at: Value) -> None:
    """One search."""
    size, beside, step = (code.argument(INT64, name) for name in ("size", "beside", "step"))
    rows, values, out = (code.argument(POINTER, name) for name in ("rows", "values", "out"))
    row, _ = code.split(at, beside)
    begin = code.at(rows, row * step, kind)
    value = code.load(kind, code.at(values, at, kind))
    low, high = code.variable(code.constant(INT64, 0)), code.variable(size)
    with code.repeated(lambda: low.now < high.now):
        middle = (low.now + high.now) >> 1
        found = code.load(kind, code.at(begin, middle, kind))
        is_behind = opposite(found > value if behind else found >= value)
        low.set(code.choose(is_behind, middle + 1, low.now))
        high.set(code.choose(is_behind, high.now, middle))
    code.store(low.now, code.at(out, at, INT64))
