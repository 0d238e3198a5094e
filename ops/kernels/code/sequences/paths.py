"""Probabilities of the paths through a text that connectionist temporal classification sums; a
range is one of samples.

Places are the labels of a text with blanks around each.  Rows of places begin with two zeros on the
way ahead, and end with two on the way back, so that no place lacks neighbours.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import DOUBLE, INT64, POINTER, Code, Value
from ..loading.objects import kernel

__all__ = ["ahead", "shares"]

_PER_THREAD: Final = 1 << 12
"""Places at a time that are worth another thread."""
_SMALLEST: Final = 1e-300


def ahead(chances: Array, labels: object, jumps: Array, lengths: object, before: object) -> None:
    """The probability of reaching each place in time, relative to that of all places.

    Args:
        chances: those of classes (time, batch, class), of float64, as all that are no numbers.
        labels: the class of each place (batch, place), of int64.
        jumps: 1 where the place before may be skipped (batch, place).
        lengths: how much time each sample has (batch,), of int64.
        before: is written (batch, 1 + time, 2 + place); zeros, but for a 1 at `[:, 0, 2]`.
    """
    _run("ahead", chances, labels, jumps, lengths, before)


def shares(
    chances: Array, labels: object, jumps: Array, lengths: object, before: object, after: object,
    found: object,
) -> None:  # fmt: skip
    """Of all paths the share that has a class at a time.

    Args:
        chances, labels, jumps, lengths, before: as `ahead` takes and leaves them.
        after: the places where paths may end (batch, 2, 2 + place), the first rows; overwritten.
        found: zeros like `chances`, to which shares are added; a time where no path leads from the
            begin to the end adds NaN.
    """
    _run("shares", chances, labels, jumps, lengths, before, after, found)


def _run(way: str, chances: Array, labels: object, jumps: Array, *rest: object) -> None:
    steps, batch, classes = chances.shape
    places = jumps.shape[1]
    least = _PER_THREAD // max(1, steps * places) + 1
    run(_kernel(way), batch, least, steps, batch, classes, places, chances, labels, jumps, *rest)


@cache
def _kernel(way: str) -> int:
    return kernel("path", (way,), lambda target: path_text(target, way))


_SIZES: Final = ("steps", "batch", "classes", "places")
_ARRAYS: Final = ("chances", "labels", "jumps", "lengths", "before")


def path_text(target: Target, way: str) -> str:
    """The module of one way."""
    code = Code(target)
    with code.units() as sample:
        view = _Sample(code, sample)
        _ahead(view) if way == "ahead" else _back(view)
    more = () if way == "ahead" else ("after", "found")
    words = [(INT64, name) for name in _SIZES]
    return code.kernel("path", [*words, *((POINTER, name) for name in (*_ARRAYS, *more))])


class _Sample:
    """Where the numbers of one sample are."""

    def __init__(self, code: Code, sample: Value) -> None:
        self.code, self.sample, self.zero = code, sample, code.constant(INT64, 0)
        sizes = (code.argument(INT64, name) for name in _SIZES)
        self.steps, self.batch, self.classes, self.places = sizes
        own = sample * self.places
        self.labels = code.at(self.array("labels"), own, INT64)
        self.jumps = code.at(self.array("jumps"), own, DOUBLE)
        self.before = self.part("before", (self.steps + 1) * (self.places + 2))
        self.length = code.load(INT64, code.at(self.array("lengths"), sample, INT64))

    def array(self, name: str) -> Value:
        return self.code.argument(POINTER, name)

    def part(self, name: str, size: Value) -> Value:
        """The begin of this sample in an array of numbers."""
        return self.code.at(self.array(name), self.sample * size, DOUBLE)

    def row(self, time: Value) -> Value:
        """The probabilities of places after so much time."""
        return self.code.at(self.before, time * (self.places + 2), DOUBLE)

    def of_class(self, name: str, time: Value, place: Value) -> Value:
        """The address of what an array of classes has for the class of a place."""
        label = self.code.load(INT64, self.code.at(self.labels, place, INT64))
        index = (time * self.batch + self.sample) * self.classes + label
        return self.code.at(self.array(name), index, DOUBLE)

    def number(self, address: Value, place: Value) -> Value:
        return self.code.load(DOUBLE, self.code.at(address, place, DOUBLE))

    def chance(self, time: Value, place: Value) -> Value:
        return self.code.load(DOUBLE, self.of_class("chances", time, place))

    def scaled(self, row: Value, total: Value, first: int) -> None:
        """Divide a row, from a number on, by the sum of its places."""
        code = self.code
        divisor = code.choose(total < _SMALLEST, _SMALLEST, total)
        with code.counted(self.zero, self.places) as place:
            at = code.at(row, place + first, DOUBLE)
            code.store(code.load(DOUBLE, at) / divisor, at)


def _ahead(view: _Sample) -> None:
    code = view.code
    with code.counted(view.zero, view.length) as time:
        old, new = view.row(time), view.row(time + 1)
        total = code.variable(code.constant(DOUBLE, 0.0))
        with code.counted(view.zero, view.places) as place:
            stayed, moved = view.number(old, place + 2), view.number(old, place + 1)
            jumped = view.number(old, place) * view.number(view.jumps, place)
            chance = (stayed + moved + jumped) * view.chance(time, place)
            code.store(chance, code.at(new, place + 2, DOUBLE))
            total.set(total.now + chance)
        view.scaled(new, total.now, 2)


def _back(view: _Sample) -> None:
    code = view.code
    width = view.places + 2
    after = view.part("after", width * 2)
    there = code.at(after, width, DOUBLE)
    with code.counted(view.zero, view.length) as step:
        time = view.length - 1 - step
        with code.when(view.zero < step):
            _one_back(view, time, after, there)
        reached = view.row(time + 1)
        total = code.variable(code.constant(DOUBLE, 0.0))
        with code.counted(view.zero, view.places) as place:
            both = view.number(reached, place + 2) * view.number(after, place)
            total.set(total.now + both)
        with code.counted(view.zero, view.places) as place:
            both = view.number(reached, place + 2) * view.number(after, place)
            at = view.of_class("found", time, place)
            code.store(code.load(DOUBLE, at) + both / total.now, at)


def _one_back(view: _Sample, time: Value, after: Value, there: Value) -> None:
    """The probability of reaching the end from each place, a step earlier."""
    code = view.code
    with code.counted(view.zero, view.places) as place:
        leaving = view.number(after, place) * view.chance(time + 1, place)
        code.store(leaving, code.at(there, place, DOUBLE))
    total = code.variable(code.constant(DOUBLE, 0.0))
    with code.counted(view.zero, view.places) as place:
        jump = code.variable(code.constant(DOUBLE, 0.0))
        with code.when(place + 2 < view.places):
            jump.set(view.number(there, place + 2) * view.number(view.jumps, place + 2))
        chance = view.number(there, place) + view.number(there, place + 1) + jump.now
        code.store(chance, code.at(after, place, DOUBLE))
        total.set(total.now + chance)
    view.scaled(after, total.now, 0)
