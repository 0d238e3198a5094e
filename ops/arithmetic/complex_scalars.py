"""Arithmetic of complex numbers in script, as C++ computes it.

Parts are computed one by one: a real operand has no imaginary part, where Python gives it one of 0,
which changes signs of zeros and makes NaN of infinities.  Powers and functions are the C library's,
which NumPy calls, since Python's own round otherwise.
"""

from __future__ import annotations

import cmath
import math
import operator as python
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..memory.dtype import Scalar
from ..table.inline import native
from ..table.table import operator
from .scalar import INVALID, OF_TENSORS, divide_floats, power

_Two = Callable[[Any, Any], complex]

__all__ = ["COMPLEX_FUNCTIONS", "divide_complex"]


def _add_real(a: complex, b: float) -> complex:
    return complex(a.real + b, a.imag)


def _subtract_real(a: complex, b: float) -> complex:
    return complex(a.real - b, a.imag)


def _subtract_from_real(a: float, b: complex) -> complex:
    return complex(a - b.real, -b.imag)


def _times_real(a: complex, b: float) -> complex:
    return complex(a.real * b, a.imag * b)


def _swapped(compute: Callable[[complex, float], complex]) -> Callable[[float, complex], complex]:
    return lambda a, b: compute(b, a)


def divide_complex(a: complex, b: complex) -> complex:
    """The quotient by Smith's method (R. L. Smith, Algorithm 116, 1962), as C++ codes it."""
    c, d = b.real, b.imag
    if abs(c) >= abs(d):
        if c == 0:
            return complex(divide_floats(a.real, abs(c)), divide_floats(a.imag, abs(d)))
        ratio = d / c
        scale = divide_floats(1.0, c + d * ratio)
        return complex((a.real + a.imag * ratio) * scale, (a.imag - a.real * ratio) * scale)
    ratio = divide_floats(c, d)
    scale = divide_floats(1.0, d + c * ratio)
    return complex((a.real * ratio + a.imag) * scale, (a.imag * ratio - a.real) * scale)


def _function(name: str) -> Callable[[complex], complex]:
    spelling = f"arc{name[1:]}" if name[0] == "a" else name
    compute = getattr(np, spelling)

    def call(a: complex) -> complex:
        with np.errstate(all="ignore"):
            return complex(compute(complex(a)))

    return call


COMPLEX_FUNCTIONS: Final[dict[str, Callable[[complex], complex]]] = {
    name: _function(name)
    for name in (
        *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp"),
        *("log", "log10", "sin", "sinh", "sqrt", "tan", "tanh"),
    )
}
"""The functions of `cmath`."""


def power_of_complex(a: complex | float, b: complex | float) -> complex:
    """`a` to the power of `b`, of which one may be real."""
    if not isinstance(a, complex):
        if a > 0:
            return _polar(power(a, b.real), b.imag * math.log(a))
    elif not isinstance(b, complex):
        if a.imag == 0 and a.real > 0:
            return complex(power(a.real, b))
        logarithm = COMPLEX_FUNCTIONS["log"](a)
        return _polar(_exponential(b * logarithm.real), b * logarithm.imag)
    return COMPLEX_FUNCTIONS["exp"](_product(complex(b), COMPLEX_FUNCTIONS["log"](complex(a))))


def _product(a: complex, b: complex) -> complex:
    """The product as the C library computes it within powers: infinities are kept (C99, G.5.1)."""
    plain = a * b
    if plain.real == plain.real or plain.imag == plain.imag:
        return plain
    infinite = False
    if cmath.isinf(a):
        a, b, infinite = _unit(a, 1.0), _unit(b, 0.0), True
    if cmath.isinf(b):
        a, b, infinite = _unit(a, 0.0), _unit(b, 1.0), True
    if not infinite:
        return plain
    real, imag = a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real
    return complex(_times_infinity(real), _times_infinity(imag))


def _times_infinity(a: float) -> float:
    return math.inf * a if a else INVALID


def _unit(number: complex, of_infinity: float) -> complex:
    """A direction: infinite parts become 1 where that is asked for, NaN 0, with their signs."""
    return complex(*(_unit_part(part, of_infinity) for part in (number.real, number.imag)))


def _unit_part(part: float, of_infinity: float) -> float:
    if of_infinity:
        return math.copysign(float(math.isinf(part)), part)
    return math.copysign(0.0, part) if part != part else part


def _exponential(a: float) -> float:
    try:
        return math.exp(a)
    except OverflowError:
        return math.inf


def _polar(length: float, angle: float) -> complex:
    if math.isinf(angle):
        return complex(INVALID, INVALID)
    return complex(length * math.cos(angle), length * math.sin(angle))


@operator(
    "aten::div(Scalar a, Scalar b) -> float",
    native=native("float({0}) / float({1})", of=("float float", "float int", "int float"))
    + native("number_float({0}) / number_float({1})", of=OF_TENSORS),
    order="out_mode Scalar_out Scalar_mode_out int complex float -",
)
def divide_scalars(a: Scalar, b: Scalar) -> Scalar:
    if isinstance(a, complex) or isinstance(b, complex):
        return divide_complex(complex(a), complex(b))
    return divide_floats(a, b)


@operator(
    "aten::pow.Scalar_Scalar(Scalar a, Scalar b) -> float",
    order=(
        "Scalar_out Tensor_Scalar_out int complex float int_float float_int float_complex "
        "complex_float Scalar_Scalar int_to_int"
    ),
)
def power_scalars(a: Scalar, b: Scalar) -> Scalar:
    if isinstance(a, complex) or isinstance(b, complex):
        return power_of_complex(a, b)
    return power(a, b)


def _declare(
    name: str,
    both: _Two,
    left: _Two,
    right: _Two,
    reals: Sequence[str],
    natively: Sequence[str] = (),
    instruction: str = "",
) -> None:
    """Declare an operator of two complex numbers, and of one with a real number on either side.

    `natively` are the texts of their native forms; the `instruction` is that of two complex ones.
    """
    forms = [native(each) for each in natively] or [()] * 3
    schema = f"aten::{name}.complex(complex a, complex b) -> complex"
    operator(schema, native=forms[0], instruction=instruction)(both)
    for real in reals:
        operator(f"aten::{name}.complex_{real}(complex a, {real} b) -> complex", native=forms[1])(
            left
        )
        operator(f"aten::{name}.{real}_complex({real} a, complex b) -> complex", native=forms[2])(
            right
        )


_REALS: Final = ("float", "int")
operator(
    "aten::neg.complex(complex a) -> complex",
    order="complex Scalar",
    native=native("c128_neg({0})"),
)(python.neg)
operator("aten::div.complex(complex a, complex b) -> complex", native=native("{0} / {1}"))(
    divide_complex
)
_declare(
    *("add", python.add, _add_real, _swapped(_add_real), _REALS),
    (
        "{0} + {1}",
        "c128_of({0}[0] + float({1}), {0}[1])",
        "c128_of({1}[0] + float({0}), {1}[1])",
    ),
    instruction="add",
)
_declare(
    *("sub", python.sub, _subtract_real, _subtract_from_real, _REALS),
    (
        "{0} - {1}",
        "c128_of({0}[0] - float({1}), {0}[1])",
        "c128_of(float({0}) - {1}[0], -{1}[1])",
    ),
    instruction="sub",
)
_declare(
    *("mul", python.mul, _times_real, _swapped(_times_real), _REALS),
    (
        "{0} * {1}",
        "c128_of({0}[0] * float({1}), {0}[1] * float({1}))",
        "c128_of({1}[0] * float({0}), {1}[1] * float({0}))",
    ),
    instruction="mul",
)
_declare("pow", power_of_complex, power_of_complex, power_of_complex, ("float",))
