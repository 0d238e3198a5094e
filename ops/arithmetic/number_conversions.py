"""Conversions of Python numbers, and of texts, to others: `int(x)`, `float("1e3")`."""

from __future__ import annotations

import math
import re
import sys
from decimal import Decimal
from typing import Any, Final

from ..memory.dtype import Scalar
from ..memory.errors import OperatorError
from ..table.inline import inline, native
from ..table.table import operator
from .scalar import wrap64
from .scalar_maths import FITS, as_c_int, int_of

__all__ = ["float_of"]

operator(
    "aten::Int.float(float a) -> int",
    inline=inline("int({0})", FITS),
    native=native("whole_of({0})"),
)(int_of)
operator("aten::Int.bool(bool a) -> int", inline=inline("int({0})"), native=native("int({0})"))(int)
operator(
    "aten::Float.int(int a) -> float",
    "aten::Float.bool(bool a) -> float",
    inline=inline("float({0})"),
    native=native("float({0})", of=("int",)) + native("1.0 if {0} else 0.0", of=("bool",)),
)(float)
operator(
    "aten::Bool.int(int a) -> bool",
    "aten::Bool.float(float a) -> bool",
    inline=inline("{0} != 0"),
    native=native("{0} != 0"),
)(bool)


@operator(
    "aten::Int.Scalar(Scalar a) -> int",
    inline=inline("{0}", of="int") + inline("{0}", "type({0}) is int", of="Scalar"),
    native=native("{0}", of=("int",)) + native("array_c_int({0})", of=("array",)),
)
def int_of_scalar(a: Any) -> int:
    if type(a) is int:
        return a
    if isinstance(a, int):
        return int(a)
    if isinstance(a, complex) and not a.imag:
        a = a.real
    if isinstance(a, complex) or not -(2.0**31) <= a <= 2.0**31 - 1:  # C's int
        raise OperatorError("value cannot be converted to type int without overflow")
    return int(a)


@operator(
    "aten::Float.Scalar(Scalar a) -> float",
    inline=inline("float({0})", of="int")
    + inline("{0}", of="float")
    + inline("{0}", "type({0}) is float", of="Scalar"),
    native=native("float({0})", of=("int", "float")) + native("array_float({0})", of=("array",)),
)
def float_of(a: int) -> float:
    return float(a.real if isinstance(a, complex) else a)


def _number_at_front(text: str, accepted: str, function: str) -> tuple[str, str]:
    """The number at the front of a text, as C's `function` finds it, and what comes after it."""
    text = text.lstrip(" \t\n\v\f\r")
    found = re.match(accepted, text, re.IGNORECASE | re.ASCII)
    if found is None:
        raise OperatorError(function, headline=f"{text!r} is not a number")
    return found.group(), text[found.end() :]


@operator(
    "aten::Int.str(str a) -> int",
    inline=inline("int({0})", "{0}.isascii() and {0}.isdigit() and len({0}) < 19"),
    native=native("int_of({0})"),
)
def int_of_text(a: str) -> int:
    """A whole number after leading white space; nothing may follow it."""
    number, rest = _number_at_front(a, r"[+-]?\d+", "stoll")
    digits = number.lstrip("+-").lstrip("0")
    value = int(number[:1].strip("+0123456789") + (digits or "0")) if len(digits) < 20 else 1 << 63
    if wrap64(value) != value:
        raise OperatorError("stoll", headline=f"{a!r} does not fit into 64 bits")
    if rest:
        raise OperatorError(f"invalid literal for int() with base 10: '{a}'")
    return value


_HEXADECIMAL = r"0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?\d+)?"
_DECIMAL = r"(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_FLOAT = rf"[+-]?(?:{_HEXADECIMAL}|{_DECIMAL}|inf(?:inity)?|nan(?:\(\w*\))?)"
_PLAIN: Final = re.compile(r"-?\d{1,15}(?:\.\d{0,15})?", re.ASCII).fullmatch
"""Numbers that Python reads as C does, none of them outside the range of floats."""


@operator("aten::Float.str(str a) -> float", native=native("float_of({0})"))
def float_of_text(a: str) -> float:
    """The float that C's `strtod` reads after leading white space; nothing may follow it."""
    if _PLAIN(a):
        return float(a)
    number, rest = _number_at_front(a, _FLOAT, "stod")
    value = _float_of_number(number.lower())
    if value is None:
        raise OperatorError("stod", headline=f"{a!r} is outside the range of floats")
    if rest:
        raise OperatorError(f"could not convert string to float: '{a}'")
    return value


def _float_of_number(number: str) -> float | None:
    """The value of a spelling; None if it is too large, or too small to be told exactly."""
    if "n" in number:
        return float(number.partition("(")[0])
    if "x" in number:
        return _float_of_hexadecimal(number)
    value = float(number)
    if abs(value) >= sys.float_info.min:
        return value if math.isfinite(value) else None
    if value == 0:
        return None if re.search("[1-9]", number.partition("e")[0]) else value
    return value if Decimal(number) == Decimal(value) else None


def _float_of_hexadecimal(number: str) -> float | None:
    try:
        value = float.fromhex(number)
    except OverflowError:
        return None
    digits = number.partition("x")[2].partition("p")[0]
    return None if value == 0 and re.search("[1-9a-f]", digits) else value


@operator(
    "aten::Complex.Scalar(Scalar a) -> complex",
    order=(
        "Scalar Tensor_Tensor int_bool bool_int float_bool bool_float float_int int_float "
        "int_int bool_bool float_float Tensor_float float_Tensor Tensor_int int_Tensor "
        "Tensor_bool bool_Tensor"
    ),
)
def complex_of(a: Scalar) -> complex:
    return complex(a)


def complex_of_parts(x: float, y: float) -> complex:
    """A complex number of two others; whole ones are C's `int`s."""
    return complex(as_c_int(x), as_c_int(y))


for _x in ("int", "float", "bool"):
    for _y in ("int", "float", "bool"):
        operator(
            f"aten::Complex.{_x}_{_y}({_x} x, {_y} y) -> complex",
            inline=inline("complex({0}, {1})") if _x == _y == "float" else (),
            native=native("c128_of({0}, {1})") if _x == _y == "float" else (),
        )(complex_of_parts)
