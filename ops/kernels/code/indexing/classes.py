"""Class numbers: the scores that they pick, and rows with a one at the place of each.

Each number is looked at once, where it is used, so that no other thread can change it in between.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run
from ..elementwise.arrays import LETTERS
from ..functions.formulas import (
    HALVES,
    rounded,
    stored_as,
    stored_kind,
    taken_from,
    to_double,
    to_float,
)
from ..language.target import Target
from ..language.text import DOUBLE, FLOAT, INT64, POINTER, Code, Kind, Value, Variable
from ..loading.objects import kernel
from ..ordering.counting import clear

__all__ = ["one_hot", "picked"]

_LEAST: Final = 1 << 15
"""Elements that are worth another thread."""
_LEVELS: Final = 8
_BESIDE: Final = 4
"""Vectors of a row that are written side by side."""


def picked(
    scores: Array, target: Array, ignored: int, form: str, weight: Array | None = None
) -> tuple[object, object] | None:
    """Minus the scores [N, C, *] of the classes int64 [N, *] names, both contiguous, and how many
    of them count: "each" has 0 for those that are ignored, the others give the "sum" or the "mean"
    of those that count.  None if one that counts is no class.

    Weights [C] of classes are factors of the scores, and what they add up to stands for how many
    count; 16-bit floats have none.  Sums of float32 are float64 until the end, in the order of
    memory; those of 16-bit floats are rounded after each addition, in eight partial sums (see
    `_Cascade`).
    """
    scores, target = scores[...], target[...]
    outer, classes = scores.shape[:2]
    inner = target.size // outer
    out = np.empty(target.shape if form == "each" else (), scores.dtype)
    total, outside = np.empty((), scores.dtype), new_flag()
    sizes = (outer, classes, inner, ignored)
    more = () if weight is None else (weight[...],)
    picking = _picking(form, LETTERS[scores.dtype], bool(more))
    run(picking, 1, 2, *sizes, scores, target, out, total, outside, *more)
    return None if outside[0] else (out, total)


def one_hot(index: Array, classes: int) -> object | None:
    """Rows [*, classes] of zeros with a 1 at the place that contiguous int64 [*] names; None if a
    place is not there."""
    index = index[...]
    out, outside = np.empty((*index.shape, classes), np.int64), new_flag()
    run(_marking(), index.size, _LEAST // max(1, classes) + 1, classes, index, out, outside)
    return None if outside[0] else out


@cache
def _picking(form: str, letter: str, is_weighted: bool) -> int:
    key = (form, letter, is_weighted)
    return kernel("pick_scores", key, lambda target: picking_text(target, *key))


@cache
def _marking() -> int:
    return kernel("mark_classes", (), marking_text)


def picking_text(target: Target, form: str, letter: str, is_weighted: bool) -> str:
    """The module of `picked`; its range is one unit."""
    code = Code(target)
    sizes = [(INT64, name) for name in ("outer", "classes", "inner", "ignored")]
    names = ["scores", "target", "out", "total", "outside", *(["weight"] if is_weighted else [])]
    places = [(POINTER, name) for name in names]
    outer, classes, inner, ignored = (code.argument(*each) for each in sizes)
    scores, classes_at, out, total, outside = (code.argument(*each) for each in places[:5])
    zero, element = code.constant(INT64, 0), stored_kind(letter)
    is_half = letter in HALVES
    sums = _Cascade(code, letter, outer * inner) if is_half else _Wide(code)
    count, mass = code.variable(zero), code.variable(code.constant(DOUBLE, 0.0))
    with code.counted(zero, outer) as row, code.counted(zero, inner) as column:
        at = row * inner + column
        named = code.load(INT64, code.at(classes_at, at, INT64))
        counts = named.differs(ignored)
        is_there = named.below(classes)
        with code.when(counts & is_there.equals(0), rarely=True):
            code.store(code.constant(INT64, 1), outside)
        score = code.variable(code.constant(FLOAT if is_half else DOUBLE, 0.0))
        with code.when(counts & is_there):
            place = (row * classes + named) * inner + column
            seen = -taken_from(letter, code.load(element, code.at(scores, place, element)))
            if is_weighted:
                share = code.load(element, code.at(code.argument(*places[5]), named, element))
                mass.set(mass.now + to_double(share))
                seen = to_double(seen) * to_double(share)
            score.set(seen if is_half else to_double(seen))
            count.set(count.now + 1)
        if form == "each":
            code.store(_narrow(letter, score.now), code.at(out, at, element))
        else:
            sums.add(score.now, at)
    number = mass.now if is_weighted else count.now.converted("sitofp", DOUBLE)
    if is_half:
        number = rounded(letter, to_float(number))
    if form != "each":
        code.store(_narrow(letter, sums.made(number if form == "mean" else None)), out)
    code.store(_narrow(letter, number), total)
    return code.kernel("pick_scores", [*sizes, *places])


def _narrow(letter: str, value: Value) -> Value:
    """A number as it is stored."""
    return value if letter == "d" else stored_as(letter, to_float(value))


class _Wide:
    """A sum in float64."""

    def __init__(self, code: Code) -> None:
        self._sum = code.variable(code.constant(DOUBLE, 0.0))

    def add(self, value: Value, _: Value) -> None:
        """One number more."""
        self._sum.set(self._sum.now + value)

    def made(self, count: Value | None) -> Value:
        """The sum, or the mean of so many."""
        total = self._sum.now
        return total if count is None else total / count


class _Cascade:
    """A sum of 16-bit floats as torch's loop adds it up, rounded every time: eight partial sums,
    each taking those of the one below it whenever the number of a value is a multiple of its
    share."""

    def __init__(self, code: Code, letter: str, count: Value) -> None:
        self._code, self._letter = code, letter
        self._sums = [code.variable(code.constant(FLOAT, 0.0)) for _ in range(_LEVELS)]
        # bits of a share: an eighth of those of the last number, at least four
        of_zero = Value(code, Kind("i1"), "false")
        zeros = code.call("llvm.ctlz.i64", INT64, [count - 1, of_zero])
        bits = (64 - zeros).unsigned_shift(3)
        self._bits = code.choose(bits > 4, bits, 4)

    def add(self, value: Value, at: Value) -> None:
        """One number more, at a place."""
        self._into(self._sums[0], value)
        share = self._code.constant(INT64, 1) << self._bits
        self._cascade(0, at, share - 1)

    def _cascade(self, level: int, at: Value, mask: Value) -> None:
        if level + 1 == _LEVELS:
            return
        with self._code.when((at & mask).equals(0)):
            self._into(self._sums[level + 1], self._sums[level].now)
            self._sums[level].set(self._code.constant(FLOAT, 0.0))
            self._cascade(level + 1, at, mask << self._bits)

    def _into(self, total: Variable, value: Value) -> None:
        total.set(rounded(self._letter, total.now + value))

    def made(self, count: Value | None) -> Value:
        """The sum, or the mean of so many."""
        total = self._sums[0].now
        for each in self._sums[1:]:
            total = rounded(self._letter, total + each.now)
        return total if count is None else rounded(self._letter, total / count)


def marking_text(target: Target) -> str:
    """The module of `one_hot`; its range is one of rows."""
    code = Code(target)
    words = [(INT64, "classes"), *((POINTER, name) for name in ("index", "out", "outside"))]
    classes, index, out, outside = (code.argument(*each) for each in words)
    one = code.constant(INT64, 1)
    with code.units() as row:
        start = code.at(out, row * classes, INT64)
        clear(code, start, classes, _BESIDE)
        named = code.load(INT64, code.at(index, row, INT64))
        is_there = named.below(classes)
        with code.when(is_there):
            code.store(one, code.at(start, named, INT64))
        with code.when(is_there.equals(0), rarely=True):
            code.store(one, outside)
    return code.kernel("mark_classes", words)
