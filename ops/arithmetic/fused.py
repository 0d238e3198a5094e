"""Products and sums with one rounding, as a fused multiply-add computes them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

from ..kernels import by_formula, family
from ..memory.dtype import Array

__all__ = ["fused_double", "fused_float"]

F: Final = np.float32
D: Final = np.float64


def fused_float(a: object, b: object, c: object) -> Array:
    """`a * b + c` in float32 with one rounding.

    The product is exact in double; the sum there is rounded to odd, so that the second rounding
    gives what a single one would.  Where the CPU has an instruction, many numbers take that.
    """
    x, y, z = np.asarray(a, F), np.asarray(b, F), np.asarray(c, F)
    made = _by_instruction(x, y, z)
    if made is not None:
        return made
    product, addend = x.astype(D) * y.astype(D), z.astype(D)
    total = np.asarray(product + addend)
    part = total - product
    error = (product - (total - part)) + (addend - part)
    odd = (total.view(np.int64) & 1).astype(bool)
    toward = np.where(error > 0, np.inf, -np.inf)
    inexact = (error != 0) & ~odd & np.isfinite(total)
    return np.where(inexact, np.nextafter(total, toward), total).astype(F)


def _by_instruction(*operands: Array) -> Array | None:
    """The same of many numbers, where the CPU has an instruction."""
    native = family("language.target")
    if native is None or not native.host().has_fma:
        return None
    return by_formula("multiply_add", *operands)


def fused_double(a: Array, b: float, c: float) -> Array:
    """`a * b + c` in double with one rounding.

    The sum of the exact parts of product and sum is rounded to odd before it is added (Boldo and
    Melquiond 2008); numbers near the ends of the range are left to exact fractions.
    """
    if b == 1.0 or c == 0.0:
        return a * b + c
    made = _by_instruction(a, np.asarray(b, D), np.asarray(c, D))
    if made is not None:
        return made
    with np.errstate(all="ignore"):
        product, low = _two_product(a, b)
        first, first_rest = _two_sum(low, c)
        second, second_rest = _two_sum(product, first)
        rest, error = _two_sum(first_rest, second_rest)
        odd = (rest.view(np.int64) & 1).astype(bool)
        toward = np.where(error > 0, np.inf, -np.inf)
        rest = np.where((error != 0) & ~odd, np.nextafter(rest, toward), rest)
        result = np.asarray(second + rest)
        size = np.abs(product)
        sure = ((size > 1e-250) & (size < 1e290) & (np.abs(a) < 1e290)) | (a == 0.0)
        sure &= abs(b) < 1e290 and abs(c) < 1e290
    if not sure.all():
        flat, source = result.reshape(-1), a.reshape(-1)
        for i in np.flatnonzero(~sure):
            flat[i] = _fused_exactly(float(source[i]), b, c)
    return result


def _two_sum(a: Array, b: Array | float) -> tuple[Array, Array]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Array, b: float) -> tuple[Array, Array]:
    split = 134217729.0
    a_high = a * split - (a * split - a)
    b_high = b * split - (b * split - b)
    a_low, b_low = a - a_high, b - b_high
    product = a * b
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _fused_exactly(a: float, b: float, c: float) -> float:
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
