"""Attention, some queries at a time, so that their scores stay near: products and, between them,
the softmax of scaled and masked scores where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from math import inf, nan, prod
from operator import add as add_up
from typing import Any, Final

import numpy as np

from ...memory.dtype import Array
from .lanes import begun, folded
from .matrices import multiply_batches
from .objects import kernel
from .run import run
from .scalars import exp
from .target import Target
from .text import BYTE, DOUBLE, FLOAT, FLOATS, INT64, LANES, POINTER, Code, Kind, Value, Variable

__all__ = ["attend", "weighed", "weights_in_place"]

_NEAR: Final = 1 << 19
"""Scores that are held at a time."""

_LEAST: Final = 1 << 14
"""Scores that are worth another thread."""
_BESIDE: Final = 4
"""Vectors that are worked on side by side."""
_COUNTS: Final = ("columns", "rows", "first", "inner", "outer_step", "inner_step", "row_step")
"""Sizes and the mask's steps: `first` is the number of the first row of each matrix, from which
on keys are hidden that come later; -1 where none is.  A batch has `inner` matrices."""


def attend(
    query: Array,
    key: Array,
    value: Array,
    mask: Any,
    scale: float,
    *,
    is_causal: bool = False,
    or_nan: bool = False,
) -> Array:
    """`softmax(query @ key.T * scale + mask) @ value`, float32 [batch, heads, length, width].

    Batches and heads are as many everywhere, and nothing is empty; mask and `or_nan` are as
    `weights_in_place` takes them.
    """
    (batch, heads, rows, _), columns = query.shape, key.shape[2]
    out = np.empty((batch, heads, rows, value.shape[3]), np.float32)
    room: Any = None
    turned = key.swapaxes(2, 3)
    for part in _parts(batch, heads, rows, columns):
        queries, several = query[part], part[:2]
        shape = (*queries.shape[:3], columns)
        if room is None:  # as large as any later one
            room = np.empty(shape, np.float32)
        is_last = room.shape != shape
        scores = room.reshape(-1)[: prod(shape)].reshape(shape) if is_last else room
        multiply_batches(queries, turned[several], scores)
        shown, first = None if mask is None else mask[part], part[2].start
        weights_in_place(scores, shown, scale, first if is_causal else -1, or_nan=or_nan)
        multiply_batches(scores, value[several], out[part])
    return out


def weighed(query: Array, key: Array, mask: Any, scale: float, *, or_nan: bool = False) -> Array:
    """The weights of `attend` alone, [batch, heads, length, places]."""
    scores: Array = multiply_batches(query, key.swapaxes(2, 3))
    weights_in_place(scores, mask, scale, -1, or_nan=or_nan)
    return scores


def _parts(batch: int, heads: int, rows: int, columns: int) -> Iterator[tuple[slice, slice, slice]]:
    """Batches, heads and rows whose scores are held at a time: many of the first that fit."""
    several = max(1, _NEAR // (heads * rows * columns))
    some = heads if several * heads * rows * columns <= _NEAR else _NEAR // (rows * columns)
    few = rows if some else max(1, _NEAR // columns)
    for b in range(0, batch, several):
        for h in range(0, heads, max(1, some)):
            for r in range(0, rows, few):
                yield slice(b, b + several), slice(h, h + max(1, some)), slice(r, r + few)


def weights_in_place(scores: Array, mask: Any, scale: float, first: int, *, or_nan: bool) -> None:
    """Make weights of float32 scores [outer, inner, rows, columns], which lie in one piece.

    They are multiplied with `scale`; then the mask is added, or where it is False they do not
    count.  It is float32 or bool, of the scores' shape, its columns side by side.  Rows follow a
    row number `first` of queries that see no later keys; all keys are seen if that is negative.
    Where no score counts all weights are 0, or NaN.
    """
    scores, form = scores[...], "none"  # which no other thread can change
    steps: tuple[int, ...] = (0, 0, 0)
    if mask is not None:
        mask = mask[...]
        if mask.shape != scores.shape or (mask.shape[-1] > 1 and mask.strides[-1] != mask.itemsize):
            raise ValueError("the mask does not lie as the scores do")
        form, steps = mask.dtype.name, tuple(step // mask.itemsize for step in mask.strides[:-1])
    outer, inner, rows, columns = scores.shape
    counts = np.array([columns, rows, first, inner, *steps])
    counts.setflags(write=False)
    run(
        kernel("attention", (form, or_nan), lambda target: weights_text(target, form, or_nan)),
        outer * inner * rows,
        _LEAST // max(1, columns) + 1,
        *(scores, scores if mask is None else mask, scale, counts),
    )


def weights_text(target: Target, form: str, or_nan: bool) -> str:
    """What `weights_in_place` runs; `form` is the mask's dtype, or "none"."""
    made = _Weights(target, form, or_nan)
    made.write()
    places = [(POINTER, "scores"), (POINTER, "mask"), (DOUBLE, "scale"), (POINTER, "counts")]
    return made.code.kernel("attention", places)


class _Weights:
    """The steps for a row."""

    def __init__(self, target: Target, form: str, or_nan: bool) -> None:
        self.code = code = Code(target)
        self.form = form
        self.nothing = nan if or_nan else 0.0
        counts = code.argument(POINTER, "counts")
        self.count = {
            name: code.load(INT64, code.at(counts, place, INT64))
            for place, name in enumerate(_COUNTS)
        }
        scale = code.argument(DOUBLE, "scale").converted("fptrunc", FLOAT)
        self.scale = code.spread(scale)
        self.zero = code.constant(INT64, 0)

    def write(self) -> None:
        """All rows of the range."""
        code, count = self.code, self.count
        with code.units() as at:
            batch = at / count["rows"]
            row = at - batch * count["rows"]
            outer = batch / count["inner"]
            place = outer * count["outer_step"] + row * count["row_step"]
            place = place + (batch - outer * count["inner"]) * count["inner_step"]
            mask = code.at(code.argument(POINTER, "mask"), place, self._element)
            line = code.at(code.argument(POINTER, "scores"), at * count["columns"], FLOAT)
            seen = count["first"] + row + 1
            is_less = (seen < count["columns"]) & (count["first"] > -1)
            self._row(line, mask, code.choose(is_less, seen, count["columns"]))

    @property
    def _element(self) -> Kind:
        return BYTE if self.form == "bool" else FLOAT

    def _row(self, line: Value, mask: Value, seen: Value) -> None:
        """The weights of a row, the first `seen` of whose scores may count."""
        code, columns = self.code, self.count["columns"]
        largest = folded(self._scaled(line, mask, seen), _larger)
        base = code.choose(largest.equals(-inf), 0.0, largest)
        total = self._grown(line, seen, code.spread(base))
        is_nothing = total.equals(0.0)
        factor = code.spread(code.choose(is_nothing, 1.0, total))
        missing = code.spread(code.choose(is_nothing, code.constant(FLOAT, self.nothing), 0.0))

        def divide(places: list[Value], ending: Value | None) -> None:
            for at in places:
                goal = code.at(line, at, FLOAT)
                made = code.load_if(FLOATS, goal, ending) / factor + missing
                code.store_if(made, goal, ending)

        def hide(places: list[Value], ending: Value | None) -> None:
            for at in places:
                code.store_if(missing, code.at(line, at, FLOAT), ending)

        code.vectors(self.zero, seen, 2, divide)
        code.vectors(seen, columns, 1, hide)

    def _scaled(self, line: Value, mask: Value, seen: Value) -> list[Variable]:
        """Scale and mask scores; lanes of the largest ones but for NaN."""
        code, order = self.code, cycle(range(_BESIDE))
        tops = begun(code, FLOATS, -inf, _BESIDE)

        def scale(places: list[Value], ending: Value | None) -> None:
            for at in places:
                goal = code.at(line, at, FLOAT)
                made = self._masked(
                    code.load_if(FLOATS, goal, ending) * self.scale, mask, at, ending
                )
                code.store_if(made, goal, ending)
                top = tops[next(order)]
                counted = made if ending is None else code.choose(ending, made, -inf)
                top.set(_larger(counted, top.now))

        code.vectors(self.zero, seen, _BESIDE, scale)
        return tops

    def _masked(self, score: Value, mask: Value, at: Value, ending: Value | None) -> Value:
        code = self.code
        if self.form == "none":
            return score
        kind = self._element.of_lanes(LANES)
        known = code.load_if(kind, code.at(mask, at, self._element), ending)
        if self.form == "float32":
            return score + known
        shown = code.let(kind.of("i1"), f"icmp ne {kind} {known.name}, zeroinitializer")
        return code.choose(shown, score, -inf)

    def _grown(self, line: Value, seen: Value, base: Value) -> Value:
        """Exponentials in place of scores; their sum."""
        code, order = self.code, cycle(range(_BESIDE))
        sums = begun(code, FLOATS, 0.0, _BESIDE)

        def grow(places: list[Value], ending: Value | None) -> None:
            for at in places:
                goal = code.at(line, at, FLOAT)
                made = exp(code.load_if(FLOATS, goal, ending) - base)
                code.store_if(made, goal, ending)
                total = sums[next(order)]
                total.set(total.now + (made if ending is None else code.choose(ending, made, 0.0)))

        code.vectors(self.zero, seen, _BESIDE, grow)
        return folded(sums, add_up)


def _larger(one: Value, other: Value) -> Value:
    return one.code.choose(one > other, one, other)
