"""Words that put the numbers of rows in order: of float32 a rank among all numbers, then the place.

NaN is the largest number, whatever its sign, and zeros of both signs are one.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run, unforeseen
from ..language.target import Target
from ..language.text import FLOAT, FLOATS, INT32, INT64, LANES, POINTER, Code, Value
from ..loading.objects import kernel

__all__ = ["order_words", "order_words_text"]

_PER_THREAD: Final = 1 << 15
"""Elements that are worth another thread."""
_BESIDE: Final = 2
_NAN: Final = 0x7FC00000
_SIGN: Final = -(1 << 31)


def order_words(x: Array, *, descending: bool) -> Array:
    """The words of a contiguous array of float32, uint64 of its shape; places are those along its
    last dimension, in the low halves.  Descending words put the largest number first."""
    x = x[...]  # which no other thread can change
    unforeseen()  # they are sorted by others
    size = x.shape[-1]
    made = np.empty(x.shape, np.uint64)
    rows = x.size // max(1, size)
    run(_kernel(), rows, _PER_THREAD // max(1, size) + 1, size, -int(descending), x, made)
    return made


@cache
def _kernel() -> int:
    return kernel("order_words", (), order_words_text)


def order_words_text(target: Target) -> str:
    """For rows from `start` to `stop`; `turns` has all bits set where the order is descending."""
    code = Code(target)
    size, turns = code.argument(INT64, "size"), code.argument(INT64, "turns")
    ranks, words = INT32.of_lanes(LANES), INT64.of_lanes(LANES)
    turned = code.spread(turns.converted("trunc", INT32))
    with code.units() as row:
        line = code.at(code.argument(POINTER, "x"), row * size, FLOAT)
        goal = code.at(code.argument(POINTER, "out"), row * size, INT64)

        def visit(
            places: list[Value], mask: Value | None, line: Value = line, goal: Value = goal
        ) -> None:
            for at in places:
                seen = code.load_if(FLOATS, code.at(line, at, FLOAT), mask) + 0.0  # no -0.0
                bits = code.choose(seen.is_nan(), _NAN, seen.bits(ranks))
                rank = bits ^ ((bits >> 31) | _SIGN) ^ turned
                place = code.order(words) + code.spread(at)
                word = (rank.converted("zext", words) << 32) | place
                code.store_if(word, code.at(goal, at, INT64), mask)

        code.vectors(code.constant(INT64, 0), size, _BESIDE, visit)
    arguments = [(INT64, "size"), (INT64, "turns"), (POINTER, "x"), (POINTER, "out")]
    return code.kernel("order_words", arguments)
