"""Depthwise convolutions of squares of three, five or seven numbers that step by one or two.

A vector holds 16 neighbours of a row of the output, and goes down the rows.  A row of the input is
loaded once, a vector for each column of a window, and added to the sums of all rows of the output
that see it, which stay in registers; rows above and below the planes are left out.  Sums are chains
as in `convolution_sums`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from ..language.target import Target
from ..language.text import FLOAT, LANES, Value
from ..products.pairs import HALF, number_seen, seen_as_floats
from .frame import After, Convolving
from .padded_planes import are_inside

__all__ = ["NAME", "SIZES", "WINDOWS", "text"]

NAME: Final = "convolution_descents"

SIZES: Final = (
    *("items", "block", "planes", "slot", "channels", "made", "window", "step"),
    *("height", "width", "made_height", "made_width", "top", "left", "rows"),
)
"""What the numbers are that the kernel is given.

The work is cut into `items`, `block` of all `planes` of the output; a sample has so many `channels`
of them, of which `made` see the same plane of the input.  A `window` has as many rows as columns,
and begins so many rows and columns, `top` and `left`, before the first ones; the next one lies a
`step` further.  So many `rows` of the output are made of vectors beside each other.
"""

WINDOWS: Final = (3, 5, 7)
_KEPT: Final = 3
"""The window whose numbers registers hold beside what they see; others are read for each row."""


def text(target: Target, after: After, short: str, window: int, step: int) -> str:
    """A kernel of `turn, sizes, offsets, x, weight, bias, out, slots` for a range of slots.

    - turn: uint64 [1], 0 before the call, the next item that nobody has taken;
    - sizes: int64, as `SIZES` says;
    - offsets: not used;
    - x: float32 [samples * channels / made, height, width];
    - weight, bias: float32 [channels, window, window] and [channels];
    - out: float32 [samples * channels, made_height, made_width];
    - slots: not used.

    The operands of what comes `after` follow.  Input and weight are bfloat16 if they are `short`.
    """
    return _Descents(target, after, short, window, step).text(NAME)


class _Plane(NamedTuple):
    """Where a plane of the input begins, the number of one of the output, the numbers of the
    channel: those of the window, the bias and what comes after."""

    x: Value
    number: Value
    weight: Callable[[int], Value]
    bias: Value
    same: Callable[[int], Value]


class _Vector(NamedTuple):
    """The first of 16 columns of the output, which of them are there, the first column of the
    input that they see, and which columns from each second one on are inside."""

    column: Value
    mask: Value | None
    first: Value
    inside: Sequence[Sequence[Value]]


class _Descents(Convolving):
    """The parts of the kernel."""

    def __init__(self, target: Target, after: After, short: str, window: int, step: int) -> None:
        super().__init__(target, SIZES, after)
        self.kind = HALF if short else FLOAT
        self.window, self.step = window, step
        self.open = -(-window // step)
        """Rows of the output that see a row of the input, at most."""

    def work(self, slot: Value) -> None:
        """Items, as long as there are some."""
        with self.handed_out_parts(self.size["block"], self.size["planes"]) as plane:
            self._plane(plane)

    def _plane(self, number: Value) -> None:
        """All sums of a plane of the output."""
        code, size = self.code, self.size
        _, channel = code.split(number, size["channels"])
        of_channel = partial(self.number_of, channel)
        places = code.at(self.at["weight"], channel * (self.window * self.window), self.kind)

        def weight(place: int) -> Value:
            return code.spread(number_seen(code, self.kind, code.at(places, place, self.kind)))

        kept = list(map(weight, range(self.window**2 if self.window == _KEPT else 0)))
        same = {each: of_channel(each) for each in self.operands("v")}
        area = size["height"] * size["width"]
        x = code.at(self.at["x"], number / size["made"] * area, self.kind)
        weights = kept.__getitem__ if kept else weight
        plane = _Plane(x, number, weights, of_channel("bias"), same.__getitem__)
        with code.counted(self.zero, size["made_height"], size["rows"]) as begin:
            rows = begin, code.lesser(begin + size["rows"], size["made_height"])

            def go_down(places: list[Value], mask: Value | None) -> None:
                for column in places:
                    self._go_down(plane, self._vector(column, mask), rows)

            code.vectors(self.zero, size["made_width"], 1, go_down)

    def _vector(self, column: Value, mask: Value | None) -> _Vector:
        """What is known of a vector of columns."""
        code, first = self.code, column * self.step - self.size["left"]
        inside = [
            [
                are_inside(code, first + at + far * LANES, self.size["width"])
                for far in range(self.step)
            ]
            for at in range(0, self.window, self.step)
        ]
        return _Vector(column, mask, first, inside)

    def _go_down(self, plane: _Plane, vector: _Vector, rows: tuple[Value, Value]) -> None:
        """The rows of a vector: as many rows of the input as a step are added to all sums that are
        begun, then the first of these is done."""
        code, (begin, end) = self.code, rows
        sums = [code.variable(plane.bias) for _ in range(self.open - 1)]
        stop = end + (self.open - 1)
        for start, until, are_there in self._turns(begin, stop):
            with code.counted(start, until) as turn:
                now = [plane.bias, *(total.now for total in sums)]
                if are_there is not None:
                    now = self._added(plane, vector, turn, now, are_there=are_there)
                row = turn - (self.open - 1)
                with code.when(row > begin - 1):
                    self._finish(plane, vector, row, now[-1])
                for total, each in zip(sums, now, strict=False):
                    total.set(each)

    def _turns(self, begin: Value, stop: Value) -> list[tuple[Value, Value, bool | None]]:
        """Ranges of turns from one on, and whether rows of the input are all there then, or some of
        them, or, which is None, are over; turns before the first of these are left out."""
        code, size, step = self.code, self.size, self.step
        below = size["height"] + size["top"]
        places = [(size["top"] + rest) / step for rest in (0, step - 1)]
        places += [below / step, (below + (step - 1)) / step]
        first, low, high, last = (
            code.lesser(code.choose(place < begin, begin, place), stop) for place in places
        )
        if step == 1:
            return [(first, last, True), (last, stop, None)]
        middle = code.choose(high < low, low, high)
        return [(first, low, False), (low, high, True), (middle, last, False), (last, stop, None)]

    def _added(
        self,
        plane: _Plane,
        vector: _Vector,
        turn: Value,
        sums: Sequence[Value],
        *,
        are_there: bool,
    ) -> list[Value]:
        """Sums with what they see of the rows of a turn."""
        code, made = self.code, list(sums)
        for i in range(self.step):
            row = turn * self.step - self.size["top"] + i
            seen = self._row(plane, vector, row, is_inside=are_there)
            for number, total in enumerate(made):
                place = number * self.step + i
                if place < self.window:
                    for column, each in enumerate(seen):
                        weight = plane.weight(place * self.window + column)
                        total = code.multiply_add(each, weight, total)
                    made[number] = total
        return made

    def _row(self, plane: _Plane, vector: _Vector, row: Value, *, is_inside: bool) -> list[Value]:
        """What windows see of a row of the input, column by column; zeros if it is not inside.
        What is needed of the rows that follow later is brought near."""
        code, size, nothing = self.code, self.size, self.code.chosen([False] * LANES)
        line = code.at(plane.x, row * size["width"] + vector.first, self.kind)
        is_there = None if is_inside else row.below(size["height"])
        if is_inside:
            ahead = code.at(line, size["rows"] * self.step * size["width"], self.kind)
            for far in range(self.step):
                code.prefetch(code.at(ahead, far * LANES, self.kind))
        made: list[Value] = []
        for at, masks in zip(range(0, self.window, self.step), vector.inside, strict=True):
            seen = [
                seen_as_floats(
                    code,
                    self.kind,
                    code.at(line, at + far * LANES, self.kind),
                    mask if is_there is None else code.choose(is_there, mask, nothing),
                )
                for far, mask in enumerate(masks)
            ]
            if self.step == 1:
                made += seen
            else:
                one, other = seen
                made += [code.shuffled(one, other, range(i, 2 * LANES, 2)) for i in range(2)]
        return made[: self.window]

    def _finish(self, plane: _Plane, vector: _Vector, row: Value, total: Value) -> None:
        """Write what becomes of the sums of a row."""
        size = self.size
        place = (plane.number * size["made_height"] + row) * size["made_width"] + vector.column
        made = self.finished_at(total, place, vector.mask, plane.same)
        self.written(made, place, vector.mask)
