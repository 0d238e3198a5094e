"""Products of matrices of whole numbers, which wrap around as these do.

Rows of b lie in one piece.  A block of the result, some rows of some vectors of columns, is added
up in registers while the depth is gone through; so its order does not matter, nor who does it.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ... import in_order
from ..calls.run import run
from ..language.target import Target
from ..language.text import INT32, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel
from ..quantized.integers import beside

__all__ = ["multiplied"]

_LEAST: Final = 1 << 15
"""Multiplications that are worth another thread."""
_ROWS: Final = 60
"""Rows of a unit."""
_STORED: Final = {"i1": "i8", "u1": "i8", "i2": "i16", "i4": "i32", "i8": "i64"}


def multiplied(a: Array, b: Array) -> Array | None:
    """`a @ b` of batches of matrices of one dtype, or of two matrices; None of other dtypes.

    Raises:
        ValueError: the sizes do not fit.
    """
    element = _STORED.get(a.dtype.str[1:])
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    rows, depth, columns = a.shape[-2], a.shape[-1], b.shape[-1]
    if b.shape[-2] != depth:
        raise ValueError(f"{depth} columns times {b.shape[-2]} rows")
    if element is None or not (rows and depth and columns and prod(batch)):
        return None
    left, right = (in_order(np.broadcast_to(each, batch + each.shape[-2:])[...]) for each in (a, b))
    out = np.empty((*batch, rows, columns), a.dtype)
    strips = -(-columns // (LANES * _vectors(element)))
    units = prod(batch) * -(-rows // _ROWS) * strips
    work = min(rows, _ROWS) * depth * LANES * _vectors(element)
    counts = (units, _LEAST // work + 1, rows, columns, depth)
    run(kernel("whole_products", (element,), _Text(element)), *counts, left, right, out)
    return out


def _vectors(element: str) -> int:
    """Vectors of columns that are worked on at once: what four registers of 64 bytes hold."""
    return 2 if element == "i64" else 4


class _Text:
    """The module of the kernel of a dtype."""

    def __init__(self, element: str) -> None:
        self._stored = Kind(element)
        self._wide = INT64 if element == "i64" else INT32
        self._vectors = _vectors(element)

    def __call__(self, target: Target) -> str:
        code = Code(target)
        counts = [(INT64, name) for name in ("rows", "columns", "depth")]
        places = [(POINTER, name) for name in ("a", "b", "out")]
        rows, columns, depth = (code.argument(*each) for each in counts)
        width = LANES * self._vectors
        blocks, strips = (
            (all_of + (size - 1)) / code.constant(INT64, size)
            for all_of, size in ((rows, _ROWS), (columns, width))
        )
        with code.units() as unit:
            line, strip = code.split(unit, strips)
            batch, block = code.split(line, blocks)
            a, b, out = (
                code.at(code.argument(*place), batch * size, self._stored)
                for place, size in zip(
                    places, (rows * depth, depth * columns, rows * columns), strict=True
                )
            )
            first, column = block * _ROWS, strip * width
            left = code.lesser(rows - first, code.constant(INT64, _ROWS))
            for row, count in beside(code, left):
                self._block(code, (a, b, out), (first + row, count), column)
        return code.kernel("whole_products", [*counts, *places])

    def _block(
        self,
        code: Code,
        places: tuple[Value, Value, Value],
        rows: tuple[Value, int],
        column: Value,
    ) -> None:
        """A block of the result: so many rows from one on, and the vectors from a column on."""
        (a, b, out), (row, count) = places, rows
        columns, depth = code.argument(INT64, "columns"), code.argument(INT64, "depth")
        wide, stored = (kind.of_lanes(LANES) for kind in (self._wide, self._stored))
        masks = [code.first(columns - column - at * LANES) for at in range(self._vectors)]
        sums = {
            place: code.variable(code.constant(wide, 0))
            for place in product(range(count), range(self._vectors))
        }
        with code.counted(code.constant(INT64, 0), depth) as k:
            line = k * columns + column
            seen = [
                self._widened(
                    code.load_if(stored, code.at(b, line + at * LANES, self._stored), mask)
                )
                for at, mask in enumerate(masks)
            ]
            for i in range(count):
                place = code.at(a, (row + i) * depth + k, self._stored)
                one = code.spread(self._widened(code.load(self._stored, place)))
                for at, other in enumerate(seen):
                    sums[i, at].set(sums[i, at].now + one * other)
        for (i, at), total in sums.items():
            goal = code.at(out, (row + i) * columns + column + at * LANES, self._stored)
            made = total.now if self._wide == self._stored else total.now.converted("trunc", stored)
            code.store_if(made, goal, masks[at])

    def _widened(self, value: Value) -> Value:
        """Numbers as they are multiplied; what is above those that are kept does not matter."""
        if self._wide == self._stored:
            return value
        return value.converted("sext", self._wide.of_lanes(value.kind.lanes))
