"""Gradients of softmax, of normalised rows and of scores by class, along rows of float32."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..functions.scalars import exp
from ..language.lanes import DOUBLES
from ..language.named_counts import counts_of
from ..language.text import DOUBLE, FLOAT, INT64, POINTER, Value
from .programs import Rows, kernel_of_rows, mean_of, powers_of, squares_of
from .rows import along

__all__ = ["class_slopes", "layer_norm", "log_softmax", "softmax"]

F: Final = np.float32


def softmax(g: Array, result: Array) -> Array:
    """The gradient of the rows that softmax made `result` of."""
    if g.shape != result.shape:
        raise ValueError("a gradient has the sizes of its result")
    out = np.empty_like(result)
    along(_kernel("softmax"), g, result, out)
    return out


def log_softmax(g: Array, result: Array) -> Array:
    """The gradient of the rows of whose softmax `result` is the logarithm."""
    if g.shape != result.shape:
        raise ValueError("a gradient has the sizes of its result")
    out = np.empty_like(result)
    along(_kernel("log_softmax"), g, result, out)
    return out


def layer_norm(g: Array, x: Array, weight: Array, eps: float) -> tuple[Array, Array]:
    """The gradient of rows that were normalised and multiplied by a vector, and `g` times the
    normalised rows, which are the parts of the vector's gradient."""
    if g.shape != x.shape or weight.shape != x.shape[1:]:
        raise ValueError("gradient, rows and weight do not fit")
    out, parts = np.empty_like(x), np.empty_like(x)
    along(_kernel("layer_norm"), x, g, weight, out, parts, number=eps)
    return out, parts


def class_slopes(
    g: Array, scores: Array, target: Array, ignored: int, is_mean: bool, is_each: bool
) -> Array:
    """The gradient of scores [N, C] whose rows have losses, minus the logarithms of softmax at the
    classes that contiguous int64 `target` [N] names, but for those that name `ignored`.

    `g` is that of each loss, or of their sum or mean, which holds one number.
    """
    count = target.size if is_each else 1
    if target.shape != scores.shape[:1] or g.size != count:
        raise ValueError("scores, classes and gradient do not fit")
    out = np.empty_like(scores)
    form = "each" if is_each else "mean" if is_mean else "sum"
    numbers = counts_of(len(scores), ignored)
    along(_kernel(f"classes_{form}"), scores, g, target, numbers, out)
    return out


def _softmax(rows: Rows) -> None:
    with rows.rows() as (index, row):
        result, out = (rows.place(name, index * rows.size) for name in ("result", "out"))
        found = rows.total(lambda at, mask: _product(rows, row, result, at, mask))
        total = rows.code.spread(found.converted("fptrunc", FLOAT))
        rows.mapped(
            out, lambda at, mask: (rows.seen(row, at, mask) - total) * rows.seen(result, at, mask)
        )


def _product(rows: Rows, one: Value, other: Value, at: Value, mask: Value | None) -> Value:
    """Products of two rows, as float64."""
    wide = (rows.seen(each, at, mask).converted("fpext", DOUBLES) for each in (one, other))
    return next(wide) * next(wide)


def _log_softmax(rows: Rows) -> None:
    with rows.rows() as (index, row):
        result, out = (rows.place(name, index * rows.size) for name in ("result", "out"))
        found = rows.total(lambda at, mask: rows.seen(row, at, mask))
        total = rows.code.spread(found.converted("fptrunc", FLOAT))

        def slope(at: Value, mask: Value | None) -> Value:
            return rows.seen(row, at, mask) - exp(rows.seen(result, at, mask)) * total

        rows.mapped(out, slope)


def _layer_norm(rows: Rows) -> None:
    code = rows.code
    with rows.rows() as (index, row):
        grad, out, parts = (
            rows.place(name, index * rows.size) for name in ("grad", "out", "parts")
        )
        weight = rows.place("weight", rows.zero)
        count = rows.size.converted("sitofp", DOUBLE)
        mean = mean_of(rows, row)
        spread = squares_of(rows, row, mean) / count + rows.number
        factor = 1.0 / code.call("llvm.sqrt.f64", DOUBLE, [spread])
        middle, factors = (code.spread(each.converted("fptrunc", FLOAT)) for each in (mean, factor))

        def normal(at: Value, mask: Value | None) -> Value:
            return (rows.seen(row, at, mask) - middle) * factors

        def slope(at: Value, mask: Value | None) -> Value:
            return rows.seen(grad, at, mask) * rows.seen(weight, at, mask)

        def moment(at: Value, mask: Value | None) -> Value:
            wide = slope(at, mask).converted("fpext", DOUBLES)
            return wide * normal(at, mask).converted("fpext", DOUBLES)

        along_row = rows.total(moment) / count
        level = rows.total(slope) / count
        turned, low = (code.spread(each.converted("fptrunc", FLOAT)) for each in (along_row, level))

        def visit(place: int, at: Value, mask: Value | None) -> None:
            near = normal(at, mask)
            rows.keep(rows.seen(grad, at, mask) * near, parts, at, mask)
            rows.keep((slope(at, mask) - low - near * turned) * factors, out, at, mask)

        rows.each(visit)


def _classes(rows: Rows, form: str) -> None:
    code = rows.code
    classes, numbers = (code.argument(POINTER, name) for name in ("target", "numbers"))
    count = code.load(INT64, numbers)
    ignored = code.load(INT64, code.at(numbers, 1, INT64))
    share = code.variable(code.constant(FLOAT, 0.0))
    if form != "each":
        share.set(code.load(FLOAT, code.argument(POINTER, "grad")))
    if form == "mean":
        counting = code.variable(rows.zero)
        with code.counted(rows.zero, count) as at:
            named = code.load(INT64, code.at(classes, at, INT64))
            counting.set(counting.now + named.differs(ignored).converted("zext", INT64))
        share.set(share.now / counting.now.converted("sitofp", FLOAT))
    with rows.rows() as (index, row):
        named = code.load(INT64, code.at(classes, index, INT64))
        out = rows.place("out", index * rows.size)
        counts = named.differs(ignored) & named.below(rows.size)
        if form == "each":
            share.set(code.load(FLOAT, rows.place("grad", index)))
        with code.when(counts):
            total = powers_of(rows, row, rows.largest(row), out)
            scale = share.now.converted("fpext", DOUBLE) / total
            factors = code.spread(scale.converted("fptrunc", FLOAT))
            rows.mapped(out, lambda at, mask: rows.seen(out, at, mask) * factors)
            place = code.at(out, named, FLOAT)
            code.store(code.load(FLOAT, place) - share.now, place)
        with code.when(counts.equals(0)):
            none = code.spread(code.constant(FLOAT, 0.0))
            rows.mapped(out, lambda at, mask: none)


_PROGRAMS: Final[dict[str, tuple[Callable[[Rows], None], tuple[str, ...]]]] = {
    "softmax": (_softmax, ("x", "result", "out")),
    "log_softmax": (_log_softmax, ("x", "result", "out")),
    "layer_norm": (_layer_norm, ("x", "grad", "weight", "out", "parts")),
    **{
        f"classes_{form}": (partial(_classes, form=form), ("x", "grad", "target", "numbers", "out"))
        for form in ("each", "sum", "mean")
    },
}
"""What each kernel does, and the arrays it takes."""


@cache
def _kernel(name: str) -> int:
    return kernel_of_rows(f"{name} gradient", *_PROGRAMS[name])
