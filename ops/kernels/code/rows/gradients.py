"""Gradients of softmax, of normalised rows and of scores by class, along rows of floats.

Of 16-bit floats all is computed in float32, sums in float64, and rounded once; the means and
factors of rows are added up as the kernels that normalise them do it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..elementwise.arrays import LETTERS
from ..functions.formulas import as_kind, rounded
from ..functions.scalars import exp
from ..language.lanes import DOUBLES
from ..language.named_counts import counts_of
from ..language.text import DOUBLE, FLOAT, INT64, POINTER, Value
from .programs import Rows, kernel_of_rows, level_of, powers_of
from .rows import along

__all__ = ["class_slopes", "group_norm", "layer_norm", "log_softmax", "softmax"]

F: Final = np.float32


def softmax(g: Array, result: Array) -> Array:
    """The gradient of the rows that softmax made `result` of."""
    return _of_result("softmax", g, result)


def log_softmax(g: Array, result: Array) -> Array:
    """The gradient of the rows of whose softmax `result` is the logarithm."""
    return _of_result("log_softmax", g, result)


def _of_result(name: str, g: Array, result: Array) -> Array:
    if g.shape != result.shape or g.dtype is not result.dtype:
        raise ValueError("a gradient has the sizes and the dtype of its result")
    out = np.empty_like(result)
    along(_kernel(name, LETTERS[result.dtype]), g, result, out)
    return out


def layer_norm(
    g: Array, x: Array, weight: Array, eps: float, *, held: bool = False
) -> tuple[Array, Array]:
    """The gradient of rows that were normalised and multiplied by a vector, and `g` times the
    normalised rows, which are the parts of the vector's gradient.

    Of 16-bit floats the weight and those parts are float32, and means and factors may be `held` in
    16 bits.
    """
    if g.shape != x.shape or g.dtype is not x.dtype or weight.shape != x.shape[1:]:
        raise ValueError("gradient, rows and weight do not fit")
    out, parts = np.empty_like(x), np.empty(x.shape, weight.dtype)
    form = "layer_norm_held" if held else "layer_norm"
    along(_kernel(form, LETTERS[x.dtype]), x, g, weight, out, parts, number=eps)
    return out, parts


def group_norm(
    g: Array, x: Array, weight: Array, eps: float, groups: int, *, held: bool = False
) -> tuple[Array, Array, Array]:
    """The gradient of samples [N, C, space] whose groups of channels were normalised, each channel
    multiplied by a number, and for each sample and channel the sums of `g` times what is
    normalised, and of `g`, which are the parts of the gradients of weight and bias [N, C]."""
    batch, channels, space = x.shape
    if g.shape != x.shape or g.dtype is not x.dtype or weight.shape != (channels,):
        raise ValueError("gradient, samples and weight do not fit")
    out = np.empty_like(x)
    parts, sums = (np.empty((batch, channels), weight.dtype) for _ in range(2))
    form = "group_norm_held" if held else "group_norm"
    rows = x.reshape(batch * groups, -1)
    kernel = _kernel(form, LETTERS[x.dtype])
    along(kernel, rows, g, weight, out, parts, sums, space, groups, number=eps)
    return out, parts, sums


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
        result, out = (rows.line(name, index) for name in ("result", "out"))

        def product(at: Value, mask: Value | None) -> Value:
            one, other = (as_kind(rows.seen(each, at, mask), DOUBLES) for each in (row, result))
            return one * other

        total = rows.code.spread(rows.narrow(rows.total(product, wide=True)))
        rows.mapped(
            out, lambda at, mask: (rows.seen(row, at, mask) - total) * rows.seen(result, at, mask)
        )


def _log_softmax(rows: Rows) -> None:
    with rows.rows() as (index, row):
        result, out = (rows.line(name, index) for name in ("result", "out"))
        found = rows.total(lambda at, mask: rows.seen(row, at, mask), wide=True)
        total = rows.code.spread(rows.narrow(found))

        def slope(at: Value, mask: Value | None) -> Value:
            return rows.seen(row, at, mask) - exp(rows.seen(result, at, mask)) * total

        rows.mapped(out, slope)


def _level(rows: Rows, row: Value, *, held: bool) -> tuple[Value, Value]:
    """The mean and the factor of a row, in all lanes."""
    found = level_of(rows, row)
    if held and rows.is_short:
        found = rounded(rows.letter, found[0]), rounded(rows.letter, found[1])
    return rows.code.spread(found[0]), rows.code.spread(found[1])


def _layer_norm(rows: Rows, *, held: bool) -> None:
    code = rows.code
    with rows.rows() as (index, row):
        grad, out = (rows.line(name, index) for name in ("grad", "out"))
        parts, weight = rows.place("parts", index * rows.size), rows.place("weight", rows.zero)
        count = rows.size.converted("sitofp", DOUBLE)
        middle, factors = _level(rows, row, held=held)

        def normal(at: Value, mask: Value | None) -> Value:
            return (rows.seen(row, at, mask) - middle) * factors

        def slope(at: Value, mask: Value | None) -> Value:
            factor = code.load_if(rows.vector, code.at(weight, at, rows.element), mask)
            return rows.seen(grad, at, mask) * factor

        def moment(at: Value, mask: Value | None) -> Value:
            return as_kind(slope(at, mask), DOUBLES) * as_kind(normal(at, mask), DOUBLES)

        along_row = rows.total(moment, wide=True) / count
        level = rows.total(slope, wide=True) / count
        turned, low = (code.spread(rows.narrow(each)) for each in (along_row, level))

        def visit(place: int, at: Value, mask: Value | None) -> None:
            near = normal(at, mask)
            part = rows.seen(grad, at, mask) * near
            code.store_if(part, code.at(parts, at, rows.element), mask)
            rows.keep((slope(at, mask) - low - near * turned) * factors, out, at, mask)

        rows.each(visit)


def _group_norm(rows: Rows, *, held: bool) -> None:
    """A row is some channels of so much `space`; there are so many `groups` of them."""
    code = rows.code
    space, groups = (code.argument(INT64, name) for name in ("space", "groups"))
    with rows.rows() as (index, row):
        grad, out = (rows.line(name, index) for name in ("grad", "out"))
        middle, factors = _level(rows, row, held=held)
        _, group = code.split(index, groups)
        channels, size = rows.size / space, rows.size.converted("sitofp", DOUBLE)
        moment, slope = (code.variable(code.constant(DOUBLE, 0.0)) for _ in range(2))

        def normal(at: Value, mask: Value | None) -> Value:
            return (rows.seen(row, at, mask) - middle) * factors

        def weight_of(channel: Value) -> Value:
            return code.load(rows.element, rows.place("weight", group * channels + channel))

        with code.counted(rows.zero, channels) as channel:
            first, number = channel * space, index * channels + channel

            def product(at: Value, mask: Value | None, first: Value = first) -> Value:
                one = as_kind(rows.seen(grad, first + at, mask), DOUBLES)
                return one * as_kind(normal(first + at, mask), DOUBLES)

            def given(at: Value, mask: Value | None, first: Value = first) -> Value:
                return rows.seen(grad, first + at, mask)

            weight = as_kind(weight_of(channel), DOUBLE)
            for name, compute, sums in (("parts", product, moment), ("sums", given, slope)):
                made = rows.total(compute, wide=True, size=space)
                code.store(rows.narrow(made), rows.place(name, number))
                sums.set(sums.now + made * weight)
        turned, low = (code.spread(rows.narrow(each.now / size)) for each in (moment, slope))
        with code.counted(rows.zero, channels) as channel:
            factor, first = code.spread(weight_of(channel)), channel * space

            def visit(
                place: int,
                at: Value,
                mask: Value | None,
                first: Value = first,
                factor: Value = factor,
            ) -> None:
                near, slope = normal(first + at, mask), rows.seen(grad, first + at, mask) * factor
                rows.keep((slope - low - near * turned) * factors, out, first + at, mask)

            rows.each(visit, size=space)


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
    **{
        f"layer_norm{'_held' * held}": (
            partial(_layer_norm, held=held),
            ("x", "grad", "weight", "out", "parts"),
        )
        for held in (False, True)
    },
    **{
        f"group_norm{'_held' * held}": (
            partial(_group_norm, held=held),
            ("x", "grad", "weight", "out", "parts", "sums"),
        )
        for held in (False, True)
    },
    **{
        f"classes_{form}": (partial(_classes, form=form), ("x", "grad", "target", "numbers", "out"))
        for form in ("each", "sum", "mean")
    },
}
"""What each kernel does, and the arrays it takes."""


_COUNTS: Final = {"group_norm": ("space", "groups"), "group_norm_held": ("space", "groups")}
"""The sizes that some take as well."""


@cache
def _kernel(name: str, letter: str = "f") -> int:
    counts = _COUNTS.get(name, ())
    return kernel_of_rows(f"{name} gradient", *_PROGRAMS[name], letter, counts)
