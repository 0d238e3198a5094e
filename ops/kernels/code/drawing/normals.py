"""Uniform float32 numbers of draws, and normal ones of these, sixteen at a time: eight give radii,
eight give angles.

Logarithm, sine and cosine are Cephes' logf, sinf and cosf, every product and sum that those round
together in one instruction, so that the bits are the same on every CPU that has it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import DOUBLE, FLOAT, FLOATS, INT32, INT64, LANES, POINTER, Code, Value
from ..loading.objects import kernel

__all__ = ["normals", "uniforms"]

_HALF: Final = LANES // 2
_WORDS: Final = INT32.of_lanes(LANES)
_DRAWS: Final = INT64.of_lanes(LANES)
_LEAST: Final = 1 << 10
"""Pairs of groups that are worth another thread."""

_LOG: Final = (
    *(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1),
    *(-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)
_PARTS: Final = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)
_COSINE: Final = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_SINE: Final = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)


def normals(draws: Array, mean: float, std: float, out: Array | None = None) -> Array:
    """Normal numbers of draws in groups of 16, of each of which the low 24 bits count.

    Args:
        draws: contiguous uint64, which no other thread changes.
        out: as many contiguous float32, which are written.
    """
    size = draws.size
    if size % LANES:
        raise ValueError("draws come in groups of 16")
    if out is None:
        out = np.empty(size, np.float32)
    groups = size // LANES
    run(_kernel(), (groups + 1) // 2, _LEAST, groups, mean, std, draws, out)
    return out


def uniforms(draws: Array, low: float, high: float, out: Array) -> Array:
    """The same for uniform numbers from `low` to below `high`, of any count."""
    least, width = _bounds(low, high)
    run(_uniform_kernel(), draws.size, _LEAST * LANES, least, width, draws, out)
    return out


@lru_cache(64)
def _bounds(low: float, high: float) -> tuple[float, float]:
    """A bound and the width as float32."""
    return float(np.float32(low)), float(np.float32(high) - np.float32(low))


@cache
def _kernel() -> int:
    return kernel("normals_of_draws", (), _text)


@cache
def _uniform_kernel() -> int:
    return kernel("uniforms_of_draws", (), _uniform_text)


def _unit(draws: Value) -> Value:
    """Numbers in [0, 1) of the low 24 bits of draws."""
    low = (draws & 0xFFFFFF).converted("trunc", _WORDS)
    return low.converted("sitofp", FLOATS) * 2.0**-24


def _uniform_text(target: Target) -> str:
    code = Code(target)
    words = [(DOUBLE, "low"), (DOUBLE, "width"), (POINTER, "draws"), (POINTER, "out")]
    low, width, draws, out = (code.argument(*each) for each in words)
    least, factor = (code.spread(each.converted("fptrunc", FLOAT)) for each in (low, width))

    def visit(places: list[Value], mask: Value | None) -> None:
        for at in places:
            drawn = code.load_if(_DRAWS, code.at(draws, at, INT64), mask)
            made = code.multiply_add(_unit(drawn), factor, least)
            code.store_if(made, code.at(out, at, FLOAT), mask)

    code.vectors(code.argument(INT64, "start"), code.argument(INT64, "stop"), 1, visit)
    return code.kernel("uniforms_of_draws", words)


def _single(number: float) -> float:
    """The nearest float32."""
    return float(np.float32(number))


def _text(target: Target) -> str:
    """For pairs of groups, the last of which may be one alone."""
    code = Code(target)
    words = [(INT64, "groups"), (DOUBLE, "mean"), (DOUBLE, "std"), (POINTER, "draws")]
    words.append((POINTER, "out"))
    groups, mean, std, draws, out = (code.argument(*each) for each in words)
    level, factor = (code.spread(each.converted("fptrunc", FLOAT)) for each in (mean, std))
    first = [*range(_HALF), *range(LANES, LANES + _HALF)]
    second = [place + _HALF for place in first]
    with code.units() as pair:
        one = pair * 2
        other = code.choose(one + 1 < groups, one + 1, one)
        begins = [code.at(draws, each * LANES, INT64) for each in (one, other)]
        drawn = [_unit(code.load(_DRAWS, each)) for each in begins]
        radius = _radius(code, code.shuffled(drawn[0], drawn[1], first))
        sine, cosine = _sine_and_cosine(code, code.shuffled(drawn[0], drawn[1], second))
        made = [code.multiply_add(radius * each, factor, level) for each in (cosine, sine)]
        for number, places in ((other, second), (one, first)):
            code.store(code.shuffled(made[0], made[1], places), code.at(out, number * LANES, FLOAT))
    return code.kernel("normals_of_draws", words)


def _series(code: Code, x: Value, factors: Sequence[float]) -> Value:
    """A polynomial, the highest factor first."""
    found = code.spread(code.constant(FLOAT, _single(factors[0])))
    for each in factors[1:]:
        found = code.multiply_add(found, x, code.spread(code.constant(FLOAT, _single(each))))
    return found


def _radius(code: Code, unit: Value) -> Value:
    """The root of minus twice the logarithm of what is missing to one."""
    logarithm = _log(code, 1.0 - unit)
    return code.call("llvm.sqrt.v16f32", FLOATS, [logarithm * -2.0])


def _log(code: Code, x: Value) -> Value:
    def spread(number: float) -> Value:
        return code.spread(code.constant(FLOAT, _single(number)))

    least = spread(1.17549435e-38)
    x = code.choose(x > least, x, least)
    bits = x.bits(_WORDS)
    exponent = (bits.unsigned_shift(23) - 127).converted("sitofp", FLOATS) + 1.0
    mantissa = ((bits & 0x007FFFFF) | 0x3F000000).bits(FLOATS)
    low = mantissa < spread(0.707106781186547524)
    x = (mantissa - 1.0) + code.choose(low, mantissa, 0.0)
    exponent = code.choose(low, exponent - 1.0, exponent)
    square = x * x
    y = _series(code, x, _LOG)
    y = code.multiply_add(y * x, square, exponent * spread(-2.12194440e-4))
    y = code.multiply_add(-square, spread(0.5), y)
    return code.multiply_add(exponent, spread(0.693359375), x + y)


def _sine_and_cosine(code: Code, unit: Value) -> tuple[Value, Value]:
    """Of the angle that is a part of the circle."""

    def spread(number: float) -> Value:
        return code.spread(code.constant(FLOAT, _single(number)))

    x = unit * spread(2 * math.pi)
    octant = ((x * spread(1.27323954473516)).converted("fptosi", _WORDS) + 1) & -2
    y = octant.converted("sitofp", FLOATS)
    for each in _PARTS:
        x = code.multiply_add(y, spread(each), x)
    z = x * x
    cosine = _series(code, z, _COSINE)
    cosine = code.multiply_add(cosine * z, z, -(z * 0.5)) + 1.0
    sine = code.multiply_add(_series(code, z, _SINE) * z, x, x)
    straight = (octant & 2).equals(0)
    upper, across = code.choose(straight, sine, cosine), code.choose(straight, cosine, sine)
    under = (octant & 4).differs(0)
    turned = ((octant - 2) & 4).differs(0)
    return code.choose(under, -upper, upper), code.choose(turned, across, -across)
