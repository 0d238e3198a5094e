"""Bessel functions of orders 0 and 1, and the Airy function, by way of float64.

Near zero each is a Chebyshev series or a rational function, with its logarithm apart where it has
one; far out it is a decay or a wave whose slowly changing parts are such in the inverse argument.
`ops/special_functions` has the same for NumPy, and says where the coefficients are from.
"""

from __future__ import annotations

from math import inf, nan, pi, sqrt
from typing import Final

from ..language.text import Value
from . import doubles, fitted
from .arithmetic import at_least, at_most, called
from .formulas import by_doubles
from .series import chebyshev, either, polynomial

# ------------------------------------------------------------------------------ modified ones


def _i0e(x: Value, unit: str) -> Value:
    """`exp(-|x|) * I0(x)`."""
    size = x.code.absolute(x)
    return either(
        size > 8.0, lambda: _tail("i0_tail", size, 8.0, unit), lambda: chebyshev("i0", size, unit)
    )


def _i1e(x: Value, unit: str) -> Value:
    """`exp(-|x|) * I1(x)`."""
    size = x.code.absolute(x)
    made = either(
        size > 8.0,
        lambda: _tail("i1_tail", size, 8.0, unit),
        lambda: chebyshev("i1", size, unit) * size,
    )
    return x.code.call(f"llvm.copysign.{x.kind.suffix}", x.kind, [made, x])


def _tail(name: str, size: Value, least: float, unit: str) -> Value:
    inverse = 1.0 / at_least(size, least)
    return chebyshev(name, inverse, unit) * called("sqrt", inverse)


def _grown(made: Value, x: Value) -> Value:
    """Times `exp(|x|)`, which may overflow before the product does."""
    half = doubles.exp(x.code.absolute(x) * 0.5)
    return made * half * half


def _i0(x: Value, unit: str) -> Value:
    return _grown(_i0e(x, unit), x)


def _i1(x: Value, unit: str) -> Value:
    return _grown(_i1e(x, unit), x)


def _k0e(x: Value, unit: str) -> Value:
    """`exp(x) * K0(x)`; infinite at 0, NaN below."""
    return _second_kind(x, 0, unit)


def _k1e(x: Value, unit: str) -> Value:
    """`exp(x) * K1(x)`; infinite at 0, NaN below."""
    return _second_kind(x, 1, unit)


def _second_kind(x: Value, order: int, unit: str) -> Value:
    code = x.code

    def inner() -> Value:
        near = at_most(at_least(x, 0.0), 2.0)
        power, logarithm = doubles.exp(near), doubles.natural_log(near * 0.5)
        made = chebyshev(f"k{order}", near * near, unit)
        if order:
            first = chebyshev("i1", near, unit) * near * power
            return (made / near + logarithm * first) * power
        return (made - logarithm * (chebyshev("i0", near, unit) * power)) * power

    made = either(x > 2.0, lambda: _tail(f"k{order}_tail", x, 2.0, unit), inner)
    edge = code.choose(x.equals(0.0), x.taken(inf), nan)
    return code.choose(x > 0.0, made, edge)


def _k0(x: Value, unit: str) -> Value:
    return _k0e(x, unit) * doubles.exp(-x)


def _k1(x: Value, unit: str) -> Value:
    return _k1e(x, unit) * doubles.exp(-x)


# ------------------------------------------------------------------------------------- waves

_SCALE: Final = sqrt(2 / pi)


def _ratio(order: int, above: str, below: str, x: Value) -> Value:
    known = fitted.polynomials()
    above, below = f"j{order}_{above}", f"j{order}_{below}"
    return polynomial(x, *known[above]) / polynomial(x, *known[below])


def _wave(order: int, x: Value, *, second: bool) -> Value:
    """The function of the first or of the second kind from 5 on."""
    size = at_least(x, 5.0)
    inverse = 5.0 / size
    square = inverse * inverse
    even, odd = _ratio(order, "pp", "pq", square), _ratio(order, "qp", "qq", square) * inverse
    sine, cosine = doubles.waves(size - pi * (0.75 if order else 0.25))
    made = even * sine + odd * cosine if second else even * cosine - odd * sine
    return made * (_SCALE / called("sqrt", size))


def _near_j0(size: Value) -> Value:
    square = size * size
    zeros = (square - 5.78318596294678452118) * (square - 30.4712623436620863991)
    made = zeros * _ratio(0, "rp", "rq", square)
    return size.code.choose(size < 1e-5, 1.0 - square * 0.25, made)


def _near_j1(size: Value) -> Value:
    square = size * size
    zeros = (square - 14.6819706421238932572) * (square - 49.2184563216946036703)
    return _ratio(1, "rp", "rq", square) * size * zeros


def _j0(x: Value, _: str) -> Value:
    size = x.code.absolute(x)
    return either(
        size > 5.0, lambda: _wave(0, size, second=False), lambda: _near_j0(at_most(size, 5.0))
    )


def _j1(x: Value, _: str) -> Value:
    size = x.code.absolute(x)
    made = either(
        size > 5.0, lambda: _wave(1, size, second=False), lambda: _near_j1(at_most(size, 5.0))
    )
    return x.code.choose(x < 0.0, -made, made)


def _y0(x: Value, _: str) -> Value:
    def near() -> Value:
        held = at_most(at_least(x, 1e-300), 5.0)
        made = _ratio(0, "yp", "yq", held * held)
        return made + doubles.natural_log(held) * _near_j0(held) * (2 / pi)

    return _at_ends(x, either(x > 5.0, lambda: _wave(0, x, second=True), near))


def _y1(x: Value, _: str) -> Value:
    def near() -> Value:
        held = at_most(at_least(x, 1e-300), 5.0)
        made = held * _ratio(1, "yp", "yq", held * held)
        rest = _near_j1(held) * doubles.natural_log(held) - 1.0 / held
        return made + rest * (2 / pi)

    return _at_ends(x, either(x > 5.0, lambda: _wave(1, x, second=True), near))


def _at_ends(x: Value, made: Value) -> Value:
    edge = x.code.choose(x.equals(0.0), x.taken(-inf), nan)
    return x.code.choose(x > 0.0, made, edge)


def _spherical_j0(x: Value, _: str) -> Value:
    """`sin(x) / x`, 1 at 0."""
    code = x.code
    made = code.choose(x.equals(0.0), 1.0, doubles.waves(x)[0] / x)
    return code.choose(code.absolute(x).equals(inf), 0.0, made)


def _airy_ai(x: Value, unit: str) -> Value:
    """The Airy function Ai; NaN at infinity."""
    code = x.code
    size = at_least(code.absolute(x), 2.0)

    def far() -> Value:
        root = called("sqrt", size)
        zeta = size * root * (2 / 3)
        inverse, height = 1.0 / zeta, 1 / sqrt(pi) / called("sqrt", root)

        def decay() -> Value:
            return chebyshev("airy_tail", inverse, unit) * doubles.exp(-zeta) * height * 0.5

        def wave() -> Value:
            square = inverse * inverse
            p, q = chebyshev("airy_p", square, unit), chebyshev("airy_q", square, unit) * inverse
            sine, cosine = doubles.waves(zeta + pi / 4)
            return height * (p * sine + q * cosine)

        return either(x > 0.0, decay, wave)

    made = either(code.absolute(x) > 2.0, far, lambda: chebyshev("airy", x, unit))
    return code.choose(code.absolute(x).equals(inf), nan, made)


for _name, _function in {
    **{"i0": _i0, "i0e": _i0e, "i1": _i1, "i1e": _i1e, "airy_ai": _airy_ai},
    **{"bessel_j0": _j0, "bessel_j1": _j1, "bessel_y0": _y0, "bessel_y1": _y1},
    **{"modified_bessel_k0": _k0, "modified_bessel_k1": _k1},
    **{"scaled_modified_bessel_k0": _k0e, "scaled_modified_bessel_k1": _k1e},
    "spherical_bessel_j0": _spherical_j0,
}.items():
    by_doubles(_name, _function)
