"""Angles in float64 as quarter turns and what is left.

Pi / 2 is taken away in three parts; of large angles as many bits of 2 / pi are multiplied as their
exponent asks for (M. Payne, R. Hanek, "Radian Reduction for Trigonometric Functions", 1983).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import inf, nan, pi
from typing import Final

from ..language.text import DOUBLE, INT64, Kind, Value
from .series import TO_WHOLE, words_of

__all__ = ["INVERSE", "Reduced", "reduced", "reduced_by"]

_QUARTER: Final = (pi / 2, 6.123233995736766e-17, -1.4973849048591833e-33)
_FAR: Final = 2.0**30
"""From there on those parts do not do; without fused operations from the least that is reduced."""
_SMALL: Final = 0.78

_UNSIGNED: Final = Kind("i64", unsigned=True)
_LONG: Final = Kind("i128", unsigned=True)
INVERSE: Final = (
    0,
    *(0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561),
    *(0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484),
    *(0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F),
    *(0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B),
    *(0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB, 0xF0CFBC209AF4361D),
)
"""The bits of 2 / pi behind the point, after 64 that are zero."""


Reduced = tuple[Value, Value, Value]
"""n, of which the last two bits are right, and r of at most about pi / 4, as a number and what that
is rounded by, where x = n pi / 2 + r."""


def reduced(x: Value) -> Reduced:
    """An angle of float64."""
    if x.code.target.has_fma:
        return reduced_by(x, _of_near, _FAR, _of_far)
    return reduced_by(x, _of_small, _SMALL, _of_far)


def reduced_by(
    x: Value, near: Callable[[Value], Reduced], end: float, far: Callable[[Value], Reduced]
) -> Reduced:
    """An angle by two functions, of which `far` is called only for vectors with angles that are
    not below `end`."""
    code = x.code
    found = [code.variable(each) for each in near(x)]
    is_far = code.absolute(x) >= end
    with code.when(code.any_of(is_far), rarely=code.target.has_fma):
        for known, made in zip(found, far(x), strict=True):
            known.set(code.choose(is_far, made, known.now))
    return found[0].now, found[1].now, found[2].now


def _of_near(x: Value) -> Reduced:
    """By fused operations, of which the first is exact."""
    code, (high, middle, low) = x.code, _QUARTER
    shifted = code.multiply_add(x, 2 / pi, TO_WHOLE)
    n = shifted - TO_WHOLE
    first = code.multiply_add(n, -high, x)
    part = n * middle
    angle = first - part
    taken = first - angle
    lost = (first - (angle + taken)) + (taken - part)
    lost = code.multiply_add(n, -low, lost - code.multiply_add(n, middle, -part))
    return shifted.bits(words_of(x)), angle, lost


def _of_small(x: Value) -> Reduced:
    """Of what needs no reduction."""
    return x.code.constant(words_of(x), 0), x, x.taken(0.0)


def _of_far(x: Value) -> Reduced:
    """Numbers from 0.5 on, one by one."""
    code, lanes = x.code, x.kind.lanes
    table = code.room(INT64, len(INVERSE))
    for at, word in enumerate(INVERSE):
        signed = word - (1 << 64) if word >> 63 else word
        code.store(code.constant(INT64, signed), code.at(table, at, INT64))
    kinds = (INT64, DOUBLE, DOUBLE)
    given, rooms = code.room(DOUBLE, lanes), [code.room(kind, lanes) for kind in kinds]
    code.store(x, given)
    with code.counted(code.constant(INT64, 0), code.constant(INT64, lanes)) as lane:
        parts = _of_one(code.load(DOUBLE, code.at(given, lane, DOUBLE)), table)
        for part, room, kind in zip(parts, rooms, kinds, strict=True):
            code.store(part, code.at(room, lane, kind))
    turns, angle, lost = (
        code.load(known, room)
        for known, room in zip((words_of(x), x.kind, x.kind), rooms, strict=True)
    )
    return turns, code.choose(code.absolute(x).equals(inf), nan, angle), lost


def _of_one(x: Value, table: Value) -> Reduced:
    """One number from 0.5 on: its 53 bits times those 192 bits of 2 / pi that count."""
    code = x.code
    bits = x.bits(_UNSIGNED)
    exponent = (bits >> 52) & 0x7FF
    exponent = code.choose(exponent < 1022, 1022, exponent)  # of what is not asked for
    digits = ((bits & (2**52 - 1)) | 2**52).converted("zext", _LONG)
    first = exponent - (1077 - 64)  # the first bit that is no multiple of four quarter turns
    place, shift = first >> 6, first & 63
    seen = [code.load(_UNSIGNED, code.at(table, place + at, INT64)) for at in range(4)]
    factors = [
        ((high << shift) | ((low >> 1) >> (63 - shift))).converted("zext", _LONG)
        for high, low in pairwise(seen)
    ]
    product = ((digits * factors[0]) << 64) + digits * factors[1]
    product = product + ((digits * factors[2]) >> 64)
    turns = (product + 2**125) >> 126
    left = product - (turns << 126)
    return _in_radians(x, turns.converted("trunc", INT64), left)


def _in_radians(x: Value, turns: Value, left: Value) -> Reduced:
    """What is left, in units of 2**-126 quarter turns, as an angle; all with the sign of x."""
    code = x.code
    upper = Value(code, INT64, (left >> 64).converted("trunc", INT64).name)
    lower = left.converted("trunc", _UNSIGNED)
    words = [upper >> 32, upper & 0xFFFFFFFF, lower >> 32, lower & 0xFFFFFFFF]
    sizes = [2.0**-30, 2.0**-62, 2.0**-94, 2.0**-126]
    a, b, c, d = (
        Value(code, INT64, word.name).converted("sitofp", DOUBLE) * size
        for word, size in zip(words, sizes, strict=True)
    )
    high = a + b
    low = ((a - high) + b) + (c + d)
    whole = high + low
    low = (high - whole) + low
    angle = whole * _QUARTER[0]
    lost = code.multiply_add(whole, _QUARTER[0], -angle) + (low * _QUARTER[0] + whole * _QUARTER[1])
    is_negative = x < 0.0
    turns = code.choose(is_negative, -turns, turns)
    return turns, code.choose(is_negative, -angle, angle), code.choose(is_negative, -lost, lost)
