"""Gradients of the weights of convolutions whose planes each have a filter of their own.

A weight's gradient is the sum of products of the result's gradient with the input, moved by the
weight's place.  Nothing is padded: rows and columns that a weight has not seen are left out.  A
plane's sum has 32 lanes; those of samples are added up as float64, in order.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..language.lanes import begun, folded
from ..language.named_counts import counts_of, named_counts
from ..language.target import Target
from ..language.text import DOUBLE, FLOAT, FLOATS, INT64, POINTER, Code, Value, Variable
from ..loading.objects import kernel

__all__ = ["of_filters"]

_BESIDE: Final = 2
_PER_THREAD: Final = 1 << 15
"""Products that are worth another thread."""
_SIZES: Final = ("batch", "channels", "high", "wide", "rows", "columns")
_SETTINGS: Final = ("tall", "broad", "above", "before", "down", "across")
_ARRAYS: Final = ("x", "grad", "out")

Pair = tuple[int, int]


def of_filters(x: Array, grad: Array, size: Pair, pads: Pair, dilation: Pair) -> Array:
    """The gradient [channels, 1, *size] of filters that made [batch, channels, rows, columns] of
    [batch, channels, high, wide] in steps of 1, float32 that is contiguous."""
    batch, channels, *space = x.shape
    rows, columns = grad.shape[2:]
    if grad.shape[:2] != (batch, channels):
        raise ValueError("each plane has a filter of its own")
    out = np.empty((channels, 1, *size), np.float32)
    numbers = counts_of(batch, channels, *space, rows, columns, *size, *pads, *dilation)
    least = _PER_THREAD // (batch * rows * columns * size[0] * size[1]) + 1
    run(_kernel(), channels, least, numbers, x, grad, out)
    return out


@cache
def _kernel() -> int:
    return kernel("plane_gradients", (), _text)


def _text(target: Target) -> str:
    code = Code(target)
    made = _Filters(code)
    with code.units() as channel:
        made.filter(channel)
    return code.kernel("plane_gradients", [(POINTER, name) for name in ("numbers", *_ARRAYS)])


class _Filters:
    """The parts of the kernel."""

    def __init__(self, code: Code) -> None:
        self.code, self.zero = code, code.constant(INT64, 0)
        self.count = named_counts(code, code.argument(POINTER, "numbers"), (*_SIZES, *_SETTINGS))
        self.x, self.grad, self.out = (code.argument(POINTER, name) for name in _ARRAYS)

    def filter(self, channel: Value) -> None:
        """All weights of one plane."""
        code, count = self.code, self.count
        with (
            code.counted(self.zero, count["tall"]) as i,
            code.counted(self.zero, count["broad"]) as j,
        ):
            up, left = i * count["down"] - count["above"], j * count["across"] - count["before"]
            total = code.variable(code.constant(DOUBLE, 0.0))
            with code.counted(self.zero, count["batch"]) as sample:
                self._sample(sample * count["channels"] + channel, up, left, total)
            place = (channel * count["tall"] + i) * count["broad"] + j
            code.store(total.now.converted("fptrunc", FLOAT), code.at(self.out, place, FLOAT))

    def _within(self, away: Value, made: Value, given: Value) -> tuple[Value, Value]:
        """The rows, or columns, of a result whose numbers so far away are there."""
        code = self.code
        first = code.choose(away < 0, -away, 0)
        last = code.choose(given - away < made, given - away, made)
        return first, code.choose(last < first, first, last)

    def _sample(self, plane: Value, up: Value, left: Value, total: Variable) -> None:
        """What one plane adds to a weight's sum."""
        code, count = self.code, self.count
        top, bottom = self._within(up, count["rows"], count["high"])
        first, last = self._within(left, count["columns"], count["wide"])
        lanes = begun(code, FLOATS, 0.0, _BESIDE)
        with code.counted(top, bottom) as row:
            slopes = code.at(self.grad, (plane * count["rows"] + row) * count["columns"], FLOAT)
            line = (plane * count["high"] + row + up) * count["wide"] + left
            numbers = code.at(self.x, line, FLOAT)

            def visit(places: list[Value], mask: Value | None) -> None:
                for at, sums in zip(places, lanes, strict=False):
                    slope, number = (
                        code.load_if(FLOATS, code.at(each, at, FLOAT), mask)
                        for each in (slopes, numbers)
                    )
                    sums.set(code.multiply_add(slope, number, sums.now))

            code.vectors(first, last, _BESIDE, visit)
        total.set(total.now + folded(lanes, _sum).converted("fpext", DOUBLE))


def _sum(one: Value, other: Value) -> Value:
    return one + other
