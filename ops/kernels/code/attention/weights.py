"""The weights of attention: the softmax of scaled and masked scores, where they lie."""

from __future__ import annotations

from functools import partial
from itertools import cycle
from math import inf
from operator import add as add_up
from typing import Final

from ....memory.dtype import Array
from ..calls.run import run
from ..functions.scalars import falling_exp
from ..language.lanes import begun, folded
from ..language.named_counts import counts_of, named_counts
from ..language.target import Target
from ..language.text import (
    BYTE,
    DOUBLE,
    FLOAT,
    FLOATS,
    INT64,
    LANES,
    POINTER,
    Code,
    Value,
    Variable,
)
from ..loading.objects import kernel
from ..products.matrices import multiply_batches
from .frame import larger

__all__ = ["weighed"]

_BYTES: Final = BYTE.of_lanes(LANES)
_LEAST: Final = 1 << 14
"""Scores that are worth another thread."""
_BESIDE: Final = 4
"""Vectors that are worked on side by side."""
_NO_STEPS: Final[tuple[int, ...]] = (0, 0, 0)
_COUNTS: Final = ("columns", "rows", "inner", "outer_step", "inner_step", "row_step")
"""Sizes and the mask's steps; a batch has `inner` matrices."""


def weighed(query: Array, key: Array, mask: Array | None, scale: float) -> Array:
    """The weights of attention over float32 [batch, heads, length, width]: [batch, heads, length,
    places].

    The mask is None, or bools of that shape with columns side by side: where it is False a score
    does not count.  Where none does all weights are NaN.
    """
    scores: Array = multiply_batches(query, key.swapaxes(2, 3))
    _make_weights(scores, mask, scale)
    return scores


def _make_weights(scores: Array, mask: Array | None, scale: float) -> None:
    """The same of scores, in their place."""
    is_masked, steps = mask is not None, _NO_STEPS
    if mask is not None:
        mask = mask[...]  # which no other thread can change
        if mask.shape != scores.shape or (mask.shape[-1] > 1 and mask.strides[-1] != 1):
            raise ValueError("the mask does not lie as the scores do")
        steps = mask.strides[:-1]
    outer, inner, rows, columns = scores.shape
    counts = counts_of(columns, rows, inner, *steps)
    run(
        kernel("attention_weights", (is_masked,), partial(_text, is_masked=is_masked)),
        outer * inner * rows,
        _LEAST // max(1, columns) + 1,
        *(scores, mask if is_masked else scores, scale, counts),
    )


def _text(target: Target, is_masked: bool) -> str:
    made = _Weights(target, is_masked)
    made.write()
    places = [(POINTER, "scores"), (POINTER, "mask"), (DOUBLE, "scale"), (POINTER, "counts")]
    return made.code.kernel("attention_weights", places)


class _Weights:
    """The steps for a row."""

    def __init__(self, target: Target, is_masked: bool) -> None:
        self.code = code = Code(target)
        self.is_masked = is_masked
        counts = code.argument(POINTER, "counts")
        self.count = named_counts(code, counts, _COUNTS)
        scale = code.argument(DOUBLE, "scale").converted("fptrunc", FLOAT)
        self.scale = code.spread(scale)
        self.zero = code.constant(INT64, 0)

    def write(self) -> None:
        """All rows of the range."""
        code, count = self.code, self.count
        with code.units() as at:
            batch, row = code.split(at, count["rows"])
            outer, inner = code.split(batch, count["inner"])
            place = outer * count["outer_step"] + row * count["row_step"]
            place = place + inner * count["inner_step"]
            mask = code.at(code.argument(POINTER, "mask"), place, BYTE)
            line = code.at(code.argument(POINTER, "scores"), at * count["columns"], FLOAT)
            self._row(line, mask)

    def _row(self, line: Value, mask: Value) -> None:
        """The weights of a row."""
        code, columns = self.code, self.count["columns"]
        largest = folded(self._scaled(line, mask), larger)
        base = code.choose(largest.equals(-inf), 0.0, largest)
        factor = code.spread(self._grown(line, code.spread(base)))

        def divide(places: list[Value], ending: Value | None) -> None:
            for at in places:
                goal = code.at(line, at, FLOAT)
                code.store_if(code.load_if(FLOATS, goal, ending) / factor, goal, ending)

        code.vectors(self.zero, columns, 2, divide)

    def _scaled(self, line: Value, mask: Value) -> list[Variable]:
        """Scale and mask scores; lanes of the largest ones but for NaN."""
        code, order = self.code, cycle(range(_BESIDE))
        tops = begun(code, FLOATS, -inf, _BESIDE)

        def scale(places: list[Value], ending: Value | None) -> None:
            for at in places:
                goal = code.at(line, at, FLOAT)
                made = code.load_if(FLOATS, goal, ending) * self.scale
                if self.is_masked:
                    known = code.load_if(_BYTES, code.at(mask, at, BYTE), ending)
                    made = code.choose(known.differs(0), made, -inf)
                code.store_if(made, goal, ending)
                top = tops[next(order)]
                counted = made if ending is None else code.choose(ending, made, -inf)
                top.set(larger(counted, top.now))

        code.vectors(self.zero, self.count["columns"], _BESIDE, scale)
        return tops

    def _grown(self, line: Value, base: Value) -> Value:
        """Exponentials in place of scores; their sum."""
        code, order = self.code, cycle(range(_BESIDE))
        sums = begun(code, FLOATS, 0.0, _BESIDE)

        def grow(places: list[Value], ending: Value | None) -> None:
            for at in places:
                goal = code.at(line, at, FLOAT)
                made = falling_exp(code.load_if(FLOATS, goal, ending) - base)
                code.store_if(made, goal, ending)
                total = sums[next(order)]
                total.set(total.now + (made if ending is None else code.choose(ending, made, 0.0)))

        code.vectors(self.zero, self.count["columns"], _BESIDE, grow)
        return folded(sums, add_up)
