"""Weighted sums of slices along one dimension of contiguous float32 arrays."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import FLOAT, FLOATS, INT64, LANES, POINTER, Code, Value, Variable
from ..loading.objects import kernel
from ..rows.along import strip_count, strips

__all__ = ["resample", "resample_text"]

_PER_THREAD: Final = 1 << 14
"""Products that are worth another thread."""
_COUNTS: Final = ("size", "count", "inner", "taps")
_PLACES: Final = ("x", "out", "places", "weights")
_TILE: Final = 1 << 11
"""Sums of a row before those of the next one."""
_BESIDE: Final = 2
"""Vectors that are worked on side by side."""


def resample(x: Array, places: Array, weights: Array) -> Array:
    """Slices of [outer, count, inner]: the sums of those of [outer, size, inner] at int64 places
    [taps, count], times weights [taps, count], the first tap first.

    Raises:
        ValueError: a place is not there.
    """
    x, places, weights = x[...], places[...], weights[...]  # which no other thread can change
    outer, size, inner = x.shape
    taps, count = places.shape
    if places.shape != weights.shape or not 0 <= places.min() <= places.max() < size:
        raise ValueError("a sum of rows that are not there")
    out = np.empty((outer, count, inner), np.float32)
    units = outer if inner == 1 else strip_count(outer, inner)
    resampling = _kernel("last" if inner == 1 else "strips")
    least = _PER_THREAD * units // max(1, out.size * taps) + 1
    run(resampling, units, least, size, count, inner, taps, x, out, places, weights)
    return out


@cache
def _kernel(form: str) -> int:
    return kernel("resample", (form,), lambda target: resample_text(target, form))


def resample_text(target: Target, form: str) -> str:
    """The module of a kernel along the last dimension ("last"), or another one ("strips")."""
    made = _Resample(target)
    if form == "last":
        made.last()
    else:
        made.strips()
    words = [*((INT64, name) for name in _COUNTS), *((POINTER, name) for name in _PLACES)]
    return made.code.kernel("resample", words)


class _Resample:
    """The code of a kernel."""

    def __init__(self, target: Target) -> None:
        self.code = code = Code(target)
        self.size, self.count, self.inner, self.taps = (
            code.argument(INT64, name) for name in _COUNTS
        )
        self.x, self.out, self.places, self.weights = (
            code.argument(POINTER, name) for name in _PLACES
        )
        self.zero = code.constant(INT64, 0)

    def last(self) -> None:
        """Sixteen sums of a row at a time; what all rows read of the tables stays near."""
        code = self.code
        with code.counted(self.zero, self.count, _TILE) as low, code.units() as row:
            source = code.at(self.x, row * self.size, FLOAT)
            goal = code.at(self.out, row * self.count, FLOAT)

            def visit(columns: list[Value], mask: Value | None) -> None:
                for at in columns:
                    total = code.variable(code.constant(FLOATS, 0.0))
                    with code.counted(self.zero, self.taps) as tap:
                        index = tap * self.count + at
                        place = code.at(self.places, index, INT64)
                        places = code.load_if(INT64.of_lanes(LANES), place, mask)
                        seen = code.gathered(FLOATS, source, places * 4, mask)
                        weight = code.load_if(FLOATS, code.at(self.weights, index, FLOAT), mask)
                        self.add(total, seen, weight)
                    code.store_if(total.now, code.at(goal, at, FLOAT), mask)

            code.vectors(low, code.lesser(low + _TILE, self.count), 1, visit)

    def strips(self) -> None:
        """Sums of whole vectors."""
        code = self.code
        sums = code.counted(self.zero, self.count)
        with strips(code, self.inner) as (outer, first, end), sums as i:

            def visit(columns: list[Value], mask: Value | None) -> None:
                totals = [code.variable(code.constant(FLOATS, 0.0)) for _ in columns]
                with code.counted(self.zero, self.taps) as tap:
                    index = tap * self.count + i
                    place = code.load(INT64, code.at(self.places, index, INT64))
                    weight = code.spread(code.load(FLOAT, code.at(self.weights, index, FLOAT)))
                    line = (outer * self.size + place) * self.inner
                    for at, total in zip(columns, totals, strict=True):
                        seen = code.load_if(FLOATS, code.at(self.x, line + at, FLOAT), mask)
                        self.add(total, seen, weight)
                line = (outer * self.count + i) * self.inner
                for at, total in zip(columns, totals, strict=True):
                    code.store_if(total.now, code.at(self.out, line + at, FLOAT), mask)

            code.vectors(first, end, _BESIDE, visit)

    def add(self, total: Variable, seen: Value, weight: Value) -> None:
        """One product more."""
        total.set(self.code.multiply_add(seen, weight, total.now))
