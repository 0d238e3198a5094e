"""The frame of kernels whose vectors hold one element of 16 matrices, which go through the same
steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from ..language.named_counts import named_counts
from ..language.target import Target
from ..language.text import INT32, INT64, LANES, POINTER, Code, Kind, Value

__all__ = ["MatrixLanes"]

_SIZES: Final = {"float": 4, "double": 8}


class MatrixLanes:
    """The code of such a kernel; the arrays are "counts", by their names, and others, "flag" among
    them.

    `room` has so many vectors.  Of each 16 matrices, the lanes `inside` have one, and the others
    the last one again; where `bad` is not 0 in the end, the flag is raised.
    """

    def __init__(
        self, target: Target, kind: Kind, arrays: Sequence[str], counts: Sequence[str], room: int
    ) -> None:
        self.code = code = Code(target)
        self.kind, self.vector = kind, kind.of_lanes(LANES)
        self.at = {name: code.argument(POINTER, name) for name in arrays}
        self.count = named_counts(code, self.at["counts"], counts)
        self.zero, self.nothing = code.constant(INT64, 0), code.constant(self.vector, 0.0)
        self.room = code.room(self.vector, room)

    @contextmanager
    def each(self) -> Iterator[Value]:
        """The steps for 16 matrices, given the number of the first."""
        code = self.code
        with code.units() as unit:
            first = unit * LANES
            left = code.lesser(self.count["matrices"] - first, code.constant(INT64, LANES))
            self.inside = code.first(left)
            order, last = code.order(INT32.of_lanes(LANES)), self.whole(left - 1)
            self.lanes = code.choose(order < last, order, last)
            self.bad = code.variable(self.nothing)
            yield first
            wrong = self.inside & self.bad.now.differs(0.0)
            with code.when(code.any_of(wrong), rarely=True):
                code.store(code.constant(INT64, 1), self.at["flag"])

    def whole(self, number: Value) -> Value:
        """A number in all lanes."""
        return self.code.spread(number.converted("trunc", INT32), LANES)

    def offsets(self, step: Value) -> Value:
        """The bytes to each lane's part, which lie so many elements apart."""
        return self.lanes * self.whole(step * _SIZES[self.kind.element])
