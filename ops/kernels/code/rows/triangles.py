"""What lies below a diagonal of matrices, or above it, with zeros in the place of the rest.

Only what is kept is read, however it lies; elements are moved as bits.
"""

from __future__ import annotations

from functools import cache, partial
from math import prod
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ... import in_order
from ..calls.run import run
from ..language.target import Target
from ..language.text import BYTE, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = ["triangle"]

_MOVED: Final = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}
_PER_THREAD: Final = 1 << 15
"""Elements that are worth another thread."""
_WORDS: Final = ("rows", "columns", "diagonal", "per_matrix", "per_row", "per_column")


def triangle(x: Array, diagonal: int, *, lower: bool) -> Array | None:
    """The elements of matrices up to a diagonal (`lower`), or from it on, in a new array; None of
    elements of an unusual size.  The diagonal is within the matrices, or next to them."""
    x = x[...]  # which no other thread can change
    element = _MOVED.get(x.itemsize)
    if element is None:
        return None
    if x.ndim > 3:
        x = in_order(x)
    *outer, rows, columns = x.shape
    *steps, per_row, per_column = x.strides
    out = np.empty(x.shape, x.dtype)
    form = "flat" if per_column == x.itemsize else "strided"
    run(
        *(_kernel(element, form, lower), prod(outer) * rows, _PER_THREAD // columns + 1),
        *(rows, columns, diagonal + lower),
        *(steps[-1] if steps else 0, per_row, per_column, x, out),
    )
    return out


@cache
def _kernel(element: str, form: str, lower: bool) -> int:
    text = partial(triangle_text, element=Kind(element), form=form, lower=lower)
    return kernel("triangle", (element, form, str(lower)), text)


def triangle_text(target: Target, element: Kind, form: str, lower: bool) -> str:
    """The module of the kernel, whose range is one of the rows of all matrices."""
    code = Code(target)
    given = {name: code.argument(INT64, name) for name in _WORDS}
    x, out = code.argument(POINTER, "x"), code.argument(POINTER, "out")
    zero, columns = code.constant(INT64, 0), given["columns"]
    with code.units() as unit:
        matrix, row = code.split(unit, given["rows"])
        source = code.at(x, matrix * given["per_matrix"] + row * given["per_row"], BYTE)
        goal = code.at(out, unit * columns, element)
        edge = code.lesser(row + given["diagonal"], columns)
        edge = code.choose(edge < 0, zero, edge)
        kept, rest = ((zero, edge), (edge, columns)) if lower else ((edge, columns), (zero, edge))
        if form == "flat":
            _move(code, element, source, goal, kept)
        else:
            with code.counted(*kept) as at:
                one = code.load(element, code.at(source, at * given["per_column"], BYTE))
                code.store(one, code.at(goal, at, element))
        _move(code, element, None, goal, rest)
    words = [*((INT64, name) for name in _WORDS), (POINTER, "x"), (POINTER, "out")]
    return code.kernel("triangle", words)


def _move(
    code: Code, element: Kind, source: Value | None, goal: Value, ends: tuple[Value, Value]
) -> None:
    """Write a part of a row, zeros if there is no source."""
    kind = element.of_lanes(LANES)

    def visit(columns: list[Value], mask: Value | None) -> None:
        for at in columns:
            seen = code.constant(kind, 0)
            if source is not None:
                seen = code.load_if(kind, code.at(source, at, element), mask)
            code.store_if(seen, code.at(goal, at, element), mask)

    code.vectors(*ends, 2, visit)
