"""Groups of channels brought to mean 0 and variance 1, where channels lie last.

Of each channel the mean and the squares around it come of sums in float64, down its pixels, of what
these are apart from the first one, several vectors of channels side by side; those of a group
follow from them.  Then each pixel is a row.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..elementwise.arrays import LETTERS
from ..functions.formulas import rounded, stored_as, stored_kind, taken_from
from ..language.target import Target
from ..language.text import DOUBLE, FLOAT, FLOATS, INT64, LANES, POINTER, Code, Value
from ..loading.objects import kernel

__all__ = ["group_norm"]

_LEAST: Final = 1 << 14
"""Elements that are worth another thread."""
_BESIDE: Final = 4
_BLOCK: Final = _BESIDE * LANES
"""Channels whose sums are one piece of work."""
_DOUBLES: Final = DOUBLE.of_lanes(LANES)


def group_norm(
    x: Array, weight: Array | None, bias: Array | None, eps: float, groups: int
) -> tuple[Array, Array, Array] | None:
    """Contiguous [samples, pixels, channels] of float32 or 16-bit floats, normalised: the result,
    and float32 [samples, groups] of means and factors.  None of 16-bit floats that are not known.

    Weight and bias are contiguous float32 [channels], or None.
    """
    letter = LETTERS[x.dtype]
    if letter not in ("f", "e", "E"):
        return None
    x = x[...]
    samples, pixels, channels = x.shape
    blocks = -(-channels // _BLOCK)
    sums = np.empty((samples, 2, channels), np.float64)
    means, factors = (np.empty((samples, groups), np.float32) for _ in range(2))
    scales = np.empty((samples, 2, channels), np.float32)
    out = np.empty_like(x)
    least = max(1, _LEAST * blocks // max(1, pixels * channels))
    run(_kernel("sums", letter), samples * blocks, least, pixels, channels, blocks, x, sums)
    sizes = pixels, channels, groups
    given = [each[...] for each in (weight, bias) if each is not None]
    form = f"{'w' if weight is not None else ''}{'b' if bias is not None else ''}"
    factor = given[:1] if weight is not None else []
    term = given[-1:] if bias is not None else []
    run(
        *(_kernel("factors", form), samples * groups, _LEAST, *sizes, float(eps)),
        *(sums, means, factors, scales, *factor),
    )
    least = max(1, _LEAST // max(1, channels))
    run(
        *(_kernel("rows", letter + form), samples * pixels, least, pixels, channels),
        *(x, scales, out, *term),
    )
    return out, means, factors


@cache
def _kernel(part: str, form: str) -> int:
    return kernel("last_groups", (part, form), lambda target: _TEXTS[part](target, form))


def _sums_text(target: Target, letter: str) -> str:
    """For blocks of channels of samples: their means, and the squares around these, summed."""
    code, element = Code(target), stored_kind(letter)
    words = [*((INT64, name) for name in ("pixels", "channels", "blocks"))]
    words += [(POINTER, name) for name in ("x", "sums")]
    pixels, channels, blocks, x, sums = (code.argument(*each) for each in words)
    zero = code.constant(INT64, 0)
    count = code.spread(pixels.converted("sitofp", DOUBLE))
    with code.units() as unit:
        sample, block = code.split(unit, blocks)
        begin = code.at(x, sample * pixels * channels, element)
        goal = code.at(sums, sample * channels * 2, DOUBLE)

        def visit(
            places: list[Value], mask: Value | None, begin: Value = begin, goal: Value = goal
        ) -> None:
            def seen(pixel: Value) -> list[Value]:
                line = pixel * channels
                kind = element.of_lanes(LANES)
                found = (
                    code.load_if(kind, code.at(begin, line + at, element), mask) for at in places
                )
                return [taken_from(letter, each).converted("fpext", _DOUBLES) for each in found]

            zeros = code.constant(_DOUBLES, 0.0)
            shifts = seen(zero)
            totals = [code.variable(zeros) for _ in places]
            squares = [code.variable(zeros) for _ in places]
            with code.counted(zero, pixels) as pixel:
                for shift, total, square, number in zip(
                    shifts, totals, squares, seen(pixel), strict=True
                ):
                    apart = number - shift
                    total.set(total.now + apart)
                    square.set(code.multiply_add(apart, apart, square.now))
            for at, shift, total, square in zip(places, shifts, totals, squares, strict=True):
                apart = total.now / count
                left = code.multiply_add(-apart, total.now, square.now)
                code.store_if(shift + apart, code.at(goal, at, DOUBLE), mask)
                code.store_if(left, code.at(goal, channels + at, DOUBLE), mask)

        first = block * _BLOCK
        code.vectors(first, code.lesser(first + _BLOCK, channels), _BESIDE, visit)
    return code.kernel("last_groups", words)


def _factors_text(target: Target, form: str) -> str:
    """For groups of samples: mean and factor, and of each channel what it is shifted by, and the
    factor times its weight."""
    code = Code(target)
    words = [*((INT64, name) for name in ("pixels", "channels", "groups")), (DOUBLE, "eps")]
    words += [(POINTER, name) for name in ("sums", "means", "factors", "scales")]
    words += [(POINTER, "weight")] if "w" in form else []
    pixels, channels, groups, eps, sums, means, factors, scales, *weight = (
        code.argument(*each) for each in words
    )
    of_group = channels / groups
    count = of_group.converted("sitofp", DOUBLE)
    each = pixels.converted("sitofp", DOUBLE)
    with code.units() as unit:
        sample, group = code.split(unit, groups)
        here = code.at(sums, sample * channels * 2, DOUBLE)
        goal = code.at(scales, sample * channels * 2, FLOAT)
        first = group * of_group
        end = first + of_group
        total = code.variable(code.constant(DOUBLE, 0.0))
        with code.counted(first, end) as channel:
            total.set(total.now + code.load(DOUBLE, code.at(here, channel, DOUBLE)))
        mean = total.now / count
        squares = code.variable(code.constant(DOUBLE, 0.0))
        with code.counted(first, end) as channel:
            apart = code.load(DOUBLE, code.at(here, channel, DOUBLE)) - mean
            own = code.load(DOUBLE, code.at(here, channels + channel, DOUBLE))
            squares.set(squares.now + (own + each * (apart * apart)))
        variance = squares.now / (each * count)
        factor = 1.0 / code.call("llvm.sqrt.f64", DOUBLE, [variance + eps])
        code.store(mean.converted("fptrunc", FLOAT), code.at(means, unit, FLOAT))
        code.store(factor.converted("fptrunc", FLOAT), code.at(factors, unit, FLOAT))
        with code.counted(first, end) as channel:
            scale = factor
            if weight:
                own = code.load(FLOAT, code.at(weight[0], channel, FLOAT))
                scale = factor * own.converted("fpext", DOUBLE)
            code.store(mean.converted("fptrunc", FLOAT), code.at(goal, channel, FLOAT))
            place = code.at(goal, channels + channel, FLOAT)
            code.store(scale.converted("fptrunc", FLOAT), place)
    return code.kernel("last_groups", words)


def _rows_text(target: Target, form: str) -> str:
    """For pixels of samples: channels, shifted and multiplied, and what is added to them."""
    code, letter = Code(target), form[0]
    element = stored_kind(letter)
    words = [*((INT64, name) for name in ("pixels", "channels"))]
    words += [(POINTER, name) for name in ("x", "scales", "out")]
    words += [(POINTER, "bias")] if "b" in form else []
    pixels, channels, x, scales, out, *bias = (code.argument(*each) for each in words)
    zero = code.constant(INT64, 0)
    with code.units() as unit:
        sample, _ = code.split(unit, pixels)
        given = code.at(scales, sample * channels * 2, FLOAT)
        source, goal = (code.at(each, unit * channels, element) for each in (x, out))

        def visit(
            places: list[Value], mask: Value | None, given: Value = given,
            source: Value = source, goal: Value = goal,
        ) -> None:  # fmt: skip
            for at in places:
                stored = code.load_if(element.of_lanes(LANES), code.at(source, at, element), mask)
                shift = code.load_if(FLOATS, code.at(given, at, FLOAT), mask)
                scale = code.load_if(FLOATS, code.at(given, channels + at, FLOAT), mask)
                made = taken_from(letter, stored) - shift
                if bias:
                    term = code.load_if(FLOATS, code.at(bias[0], at, FLOAT), mask)
                    made = code.multiply_add(made, scale, term)
                else:
                    made = made * scale
                made = made if letter == "f" else rounded(letter, made)
                code.store_if(stored_as(letter, made), code.at(goal, at, element), mask)

        code.vectors(zero, channels, 2, visit)
    return code.kernel("last_groups", words)


_TEXTS: Final = {"sums": _sums_text, "factors": _factors_text, "rows": _rows_text}
