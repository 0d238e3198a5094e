"""Transforms of real numbers, of which the first half tells the other one: its conjugates,
backwards."""

from __future__ import annotations

from functools import cache, partial
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = ["whole_of_half"]

_PER_THREAD: Final = 1 << 14
"""Points that are worth another thread."""
_ELEMENTS: Final = {"F": "float", "D": "double"}
_PAIRS: Final = LANES // 2


def whole_of_half(half: Array, points: int, *, inverse: bool) -> Array:
    """All of rows of so many points, by their first half; the conjugates of an `inverse` one."""
    out = np.empty((*half.shape[:-1], points), half.dtype)
    rows, form = out.size // points, "conjugate" if inverse else "plain"
    mirroring = _kernel(_ELEMENTS[half.dtype.char], form)
    run(mirroring, rows, _PER_THREAD // points + 1, half.shape[-1], points, half, out)
    return out


@cache
def _kernel(element: str, form: str) -> int:
    return kernel("mirrors", (element, form), partial(mirrors_text, element=element, form=form))


def mirrors_text(target: Target, element: str, form: str) -> str:
    """The module of the kernel for a range of rows; the first half is "plain", or "conjugate"."""
    code = Code(target)
    made = _Mirrors(code, Kind(element))
    with code.units() as row:
        made.copy(row, turns=form == "conjugate")
        made.mirror(row, turns=form == "plain")
    words = [(INT64, "known"), (INT64, "points"), (POINTER, "half"), (POINTER, "out")]
    return code.kernel("mirrors", words)


class _Mirrors:
    """The parts of the kernel."""

    def __init__(self, code: Code, element: Kind) -> None:
        self.code, self.element, self.vector = code, element, element.of_lanes(LANES)
        self.known, self.points = (code.argument(INT64, name) for name in ("known", "points"))
        self.zero = code.constant(INT64, 0)

    def _at(self, name: str, row: Value, size: Value, point: Value) -> Value:
        """Where a point of a row is."""
        code = self.code
        return code.at(code.argument(POINTER, name), (row * size + point) * 2, self.element)

    def _turned(self, pairs: Value) -> Value:
        """Conjugates of numbers."""
        lanes = range(pairs.kind.lanes)
        return self.code.choose(self.code.chosen([lane % 2 == 1 for lane in lanes]), -pairs, pairs)

    def copy(self, row: Value, *, turns: bool) -> None:
        """Write the first half."""
        code = self.code
        source, goal = (
            self._at(name, row, size, self.zero)
            for name, size in (("half", self.known), ("out", self.points))
        )

        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                seen = code.load_if(self.vector, code.at(source, at, self.element), mask)
                made = self._turned(seen) if turns else seen
                code.store_if(made, code.at(goal, at, self.element), mask)

        code.vectors(self.zero, self.known * 2, 2, visit)

    def mirror(self, row: Value, *, turns: bool) -> None:
        """Write the other half, several points at a time, then one after the other."""
        count = (self.points - 1) / self.code.constant(INT64, 2)
        many = count & -_PAIRS
        for first, stop, lanes in ((self.zero, many, LANES), (many, count, 2)):
            order = [lane ^ 1 for lane in range(lanes)][::-1]
            with self.code.counted(first, stop, lanes // 2) as point:
                place = self._at("half", row, self.known, point + 1)
                seen = self.code.load(self.element.of_lanes(lanes), place)
                backwards = self.code.shuffled(seen, seen, order)
                goal = self._at("out", row, self.points, self.points - point - lanes // 2)
                self.code.store(self._turned(backwards) if turns else backwards, goal)
