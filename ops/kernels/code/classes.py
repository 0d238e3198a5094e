"""Class numbers: the scores that they pick, and rows with a one at the place of each.

Each number is looked at once, where it is used, so that no other thread can change it in between.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np

from ...memory.dtype import Array
from .counting import clear
from .objects import kernel
from .run import run
from .target import Target
from .text import DOUBLE, FLOAT, INT64, POINTER, Code

__all__ = ["one_hot", "picked"]

_LEAST: Final = 1 << 15
"""Elements that are worth another thread."""
_BESIDE: Final = 4
"""Vectors of a row that are written side by side."""


def picked(scores: Array, target: Array, ignored: int, form: str) -> tuple[object, object] | None:
    """Minus the float32 scores [N, C, *] of the classes int64 [N, *] names, both contiguous, and
    how many of them count: "each" has 0 for those that are ignored, the others give the "sum" or
    the "mean" of those that count.  None if one that counts is no class.

    Sums are float64 until the end, in the order of memory.
    """
    scores, target = scores[...], target[...]
    outer, classes = scores.shape[:2]
    inner = target.size // outer
    out = np.empty(target.shape if form == "each" else (), np.float32)
    total, outside = np.empty((), np.float32), np.zeros(1, np.int64)
    sizes = (outer, classes, inner, ignored)
    run(_picking(form), 1, 2, *sizes, scores, target, out, total, outside)
    return None if outside[0] else (out, total)


def one_hot(index: Any, classes: int) -> object | None:
    """Rows [*, classes] of zeros with a 1 at the place that contiguous int64 [*] names; None if a
    place is not there."""
    index = index[...]
    out, outside = np.empty((*index.shape, classes), np.int64), np.zeros(1, np.int64)
    run(_marking(), index.size, _LEAST // max(1, classes) + 1, classes, index, out, outside)
    return None if outside[0] else out


@cache
def _picking(form: str) -> int:
    return kernel("pick_scores", (form,), lambda target: picking_text(target, form))


@cache
def _marking() -> int:
    return kernel("mark_classes", (), marking_text)


def picking_text(target: Target, form: str) -> str:
    """The module of `picked`; its range is one unit."""
    code = Code(target)
    sizes = [(INT64, name) for name in ("outer", "classes", "inner", "ignored")]
    places = [(POINTER, name) for name in ("scores", "target", "out", "total", "outside")]
    outer, classes, inner, ignored = (code.argument(*each) for each in sizes)
    scores, classes_at, out, total, outside = (code.argument(*each) for each in places)
    zero = code.constant(INT64, 0)
    loss, count = code.variable(code.constant(DOUBLE, 0.0)), code.variable(zero)
    with code.counted(zero, outer) as row, code.counted(zero, inner) as column:
        at = row * inner + column
        named = code.load(INT64, code.at(classes_at, at, INT64))
        counts = named.differs(ignored)
        is_there = named.below(classes)
        with code.when(counts & is_there.equals(0), rarely=True):
            code.store(code.constant(INT64, 1), outside)
        if form == "each":
            code.store(code.constant(FLOAT, 0.0), code.at(out, at, FLOAT))
        with code.when(counts & is_there):
            place = (row * classes + named) * inner + column
            score = -code.load(FLOAT, code.at(scores, place, FLOAT))
            if form == "each":
                code.store(score, code.at(out, at, FLOAT))
            else:
                loss.set(loss.now + score.converted("fpext", DOUBLE))
                count.set(count.now + 1)
    number = count.now.converted("sitofp", DOUBLE)
    if form != "each":
        made = loss.now / number if form == "mean" else loss.now
        code.store(made.converted("fptrunc", FLOAT), out)
    code.store(number.converted("fptrunc", FLOAT), total)
    return code.kernel("pick_scores", [*sizes, *places])


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
