"""Softmax of a few short rows of float32, or of columns, as PyTorch has it: exponentials are the
nearest numbers, added one by one, and multiplied by the reciprocal of their sum."""

from __future__ import annotations

from math import inf
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..functions import doubles
from ..functions.formulas import to_double, to_float
from ..language.target import Target
from ..language.text import FLOAT, INT64, POINTER, Code, Value
from ..loading.objects import kernel
from .along import parts_of

__all__ = ["softmax"]

_PER_THREAD: Final = 1 << 10
"""Rows that are worth another thread."""


def softmax(x: Array, axis: int) -> Array:
    """Softmax of a contiguous array of float32 along one of its dimensions."""
    x = x[...]  # which no other thread can change
    out = np.empty_like(x)
    outer, size, inner = parts_of(x.shape, axis)
    made = kernel("short_softmax", (), short_softmax_text)
    run(made, outer * inner, _PER_THREAD, size, inner, x, out)
    return out


def short_softmax_text(target: Target) -> str:
    """The module of the kernel."""
    code = Code(target)
    size, inner = (code.argument(INT64, name) for name in ("size", "inner"))
    zero = code.constant(INT64, 0)

    def place(name: str, index: Value) -> Value:
        return code.at(code.argument(POINTER, name), index, FLOAT)

    with code.units() as row:
        outer, column = code.split(row, inner)
        begin, length = outer * size * inner + column, size * inner
        top = code.variable(code.constant(FLOAT, -inf))
        with code.counted(zero, length, inner) as at:
            seen = code.load(FLOAT, place("x", begin + at))
            top.set(code.choose((seen > top.now) | seen.is_nan(), seen, top.now))
        total = code.variable(code.constant(FLOAT, 0.0))
        with code.counted(zero, length, inner) as at:
            below = code.load(FLOAT, place("x", begin + at)) - top.now
            power = to_float(doubles.exp(to_double(below)))
            code.store(power, place("out", begin + at))
            total.set(total.now + power)
        factor = code.constant(FLOAT, 1.0) / total.now
        with code.counted(zero, length, inner) as at:
            power = code.load(FLOAT, place("out", begin + at))
            code.store(power * factor, place("out", begin + at))
    words = [(INT64, "size"), (INT64, "inner"), (POINTER, "x"), (POINTER, "out")]
    return code.kernel("short_softmax", words)
