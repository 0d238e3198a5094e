"""Sums of products of rows and columns that both are in one piece: vectors go along the depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ..functions.formulas import stored_kind, taken_from
from ..language.text import INT64, Code, Kind, Value
from ..language.tiles import Tile

__all__ = ["DOTS", "Dots"]

DOTS: Final = 8
"""Columns that are summed side by side."""


class Dots:
    """Some rows times `DOTS` columns, which may be of another dtype, that of a `letter`."""

    def __init__(
        self,
        code: Code,
        kind: Kind,
        lanes: int,
        multiply_add: Callable[[Value, Value, Value], Value] | None = None,
        letter: str = "",
    ) -> None:
        self._code = code
        self._letter, self._stored = letter, stored_kind(letter) if letter else kind
        self._multiply_add = multiply_add or code.multiply_add
        self._kind = kind
        self._vector = kind.of_lanes(lanes)
        self._zero = code.constant(INT64, 0)

    def columns(
        self, address: Value, step: Value, first: Value, count: Value, beside: int
    ) -> list[Value]:
        """Where columns from the first on begin, `step` apart; the last is taken again."""
        code, most = self._code, count - 1
        made = []
        for j in range(beside):
            here = first + j
            near = code.choose(here > most, most, here)
            made.append(code.at(address, near * step, self._stored))
        return made

    def rows(self, start: Value, stop: Value) -> Iterator[tuple[Value, int]]:
        """The code for rows of a range, two at a time where registers last."""
        most = 2 if Tile.of(self._code.target).vectors > 1 else 1
        while most:
            until = start + ((stop - start) & -most)
            with self._code.counted(start, until, most) as at:
                yield at, most
            start, most = until, most // 2

    def sums(
        self, rows: list[Value], columns: list[Value], depth: Value, ahead: Value | None = None
    ) -> list[Value]:
        """For each row, by its address, a vector of sums; what lies so many elements behind columns
        is brought near meanwhile."""
        code, vector, lanes = self._code, self._vector, self._vector.lanes
        empty = code.constant(vector, 0.0)
        sums = [[code.variable(empty) for _ in columns] for _ in rows]

        def add(at: Value, ending: Value | None) -> None:
            seen = [code.load_if(vector, code.at(row, at, self._kind), ending) for row in rows]
            for j, column in enumerate(columns):
                lying = code.at(column, at, self._stored)
                if ahead is not None:
                    code.prefetch(code.at(lying, ahead, self._stored))
                weights = code.load_if(self._stored.of_lanes(lanes), lying, ending)
                weights = taken_from(self._letter, weights)
                for x, line in zip(seen, sums, strict=True):
                    line[j].set(self._multiply_add(x, weights, line[j].now))

        whole = depth & -lanes
        with code.counted(self._zero, whole, lanes) as at:
            add(at, None)
        with code.when(whole < depth):
            add(whole, code.first(depth - whole, lanes))
        return [_totals(code, [each.now for each in line]) for line in sums]


def _totals(code: Code, vectors: list[Value]) -> Value:
    """The sums of vectors' elements, as `Code.folded` adds them; a vector of so many."""
    count = len(vectors)
    half = vectors[0].kind.lanes
    while half > 1:
        half //= 2
        pairs = [vectors[i : i + 2] for i in range(0, len(vectors), 2)]
        vectors = [_halved(code, pair, half) for pair in pairs]
    assert vectors[0].kind.lanes == count
    return vectors[0]


def _halved(code: Code, pair: list[Value], half: int) -> Value:
    """Groups of twice as many lanes, their upper halves added to their lower ones."""
    lanes = range(pair[0].kind.lanes * len(pair))
    low, high = (
        code.shuffled(pair[0], pair[-1], [lane for lane in lanes if bool(lane & half) is upper])
        for upper in (False, True)
    )
    return low + high
