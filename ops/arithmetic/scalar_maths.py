"""The functions of `math` and `cmath` over Python numbers, and rounding.

Nothing raises for want of a value: as in C, the result is then infinite or not a number.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, overload

import numpy as np

from ..memory.dtype import Scalar
from ..memory.errors import OperatorError
from ..table.inline import Inline, Native, inline, native
from ..table.table import operator
from .complex_scalars import COMPLEX_FUNCTIONS, divide_complex
from .scalar import INVALID, divide_floats, fmod, signed_nan, wrap64

__all__ = ["FITS", "as_c_int", "int_of", "log"]

Function = Callable[[float], float]


def _safe(
    function: Function, overflow: Callable[[float], float] = abs, invalid: float = INVALID
) -> Function:
    """A function of `math` that gives what C gives where Python raises."""

    def call(a: float) -> float:
        try:
            return float(function(a))
        except ValueError:
            return invalid
        except OverflowError:
            return math.copysign(math.inf, overflow(a))

    return call


def log(a: float) -> float:
    """The natural logarithm; -inf for 0, not a number below."""
    if a > 0:
        return math.log(a)
    return _not_above_zero(a)


def _log10(a: float) -> float:
    return math.log10(a) if a > 0 else _not_above_zero(a)


def _not_above_zero(a: float) -> float:
    """A logarithm of 0, of what is below, or of a NaN."""
    if a != a:
        return a
    return -math.inf if a == 0 else math.nan


def _log1p(a: float) -> float:
    return -math.inf if a == -1 else math.log1p(a)


@cache
def _of_libm(name: str) -> Function | None:
    """A function of the C library, which rounds other than Python's own; None without it."""
    import ctypes

    try:
        function = getattr(ctypes.CDLL(None), name)
    except (TypeError, OSError, AttributeError):
        return None
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    found: Function = function
    return found


def _gamma(a: float) -> float:
    if a == 0:
        return math.copysign(math.inf, a)
    return (_of_libm("tgamma") or math.gamma)(float(a))


def _lgamma(a: float) -> float:
    if a <= 0 and a == math.floor(a):
        return math.inf
    return (_of_libm("lgamma") or math.lgamma)(float(a))


def _atanh(a: float) -> float:
    return math.copysign(math.inf, a) if abs(a) == 1 else math.atanh(a)


def _sign(a: float) -> float:
    return a


_REAL: Final[dict[str, Function]] = {
    "acos": _safe(math.acos, invalid=math.nan),
    "acosh": _safe(math.acosh),
    "asin": _safe(math.asin, invalid=math.nan),
    "asinh": _safe(math.asinh),
    "atan": _safe(math.atan),
    "atanh": _safe(_atanh),
    "cos": _safe(math.cos),
    "cosh": _safe(math.cosh),
    "degrees": _safe(math.degrees),
    "erf": _safe(math.erf),
    "erfc": _safe(math.erfc),
    "exp": _safe(math.exp),
    "expm1": _safe(math.expm1),
    "fabs": _safe(math.fabs),
    "gamma": _safe(_gamma),
    "lgamma": _safe(_lgamma),
    "log": _safe(log),
    "log10": _safe(_log10),
    "log1p": _safe(_log1p),
    "radians": _safe(math.radians),
    "sin": _safe(math.sin),
    "sinh": _safe(math.sinh, overflow=_sign),
    "sqrt": _safe(math.sqrt),
    "tan": _safe(math.tan),
    "tanh": _safe(math.tanh),
}


def _either(
    real: Function, compute: Callable[[complex], complex] | None
) -> Callable[[object], object]:
    """The function of a number of any kind; of a real one it has float32 precision, as in torch."""

    def call(a: Any) -> complex:
        if compute is not None and isinstance(a, complex):
            return compute(a)
        return float(np.float32(real(a)))

    return call


_BY_LIBM: Final = frozenset(
    (
        *("exp", "expm1", "log", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
        *("asin", "acos", "atan", "asinh", "acosh", "atanh", "lgamma"),
    )
)
"""Functions that Python calls in the C library, and native code too."""

_OTHERWISE: Final[Mapping[str, str]] = {
    "degrees": f"float({{0}}) * {180.0 / math.pi!r}",
    "fabs": "fabs(float({0}))",
    "gamma": "m_tgamma(float({0}))",
    "radians": f"float({{0}}) * {math.pi / 180.0!r}",
}


_HAS_VALUE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("atan", "degrees", "erf", "erfc", "fabs", "radians", "tanh"), ""),
    **dict.fromkeys(("cos", "sin", "tan"), "-1e300 < {0} < 1e300"),
    **dict.fromkeys(("acos", "asin"), "-1 <= {0} <= 1"),
    **dict.fromkeys(("log", "log10"), "{0} > 0"),
    **dict.fromkeys(("cosh", "exp", "expm1", "sinh"), "-700 < {0} < 700"),
    "log1p": "{0} > -1",
    "sqrt": "{0} >= 0",
}
"""Of which numbers a function of Python's has a value, where not of all."""


def _inline(name: str) -> tuple[Inline, ...]:
    """How plans write a function of a number that Python has."""
    given, function = _HAS_VALUE.get(name), f"math_{name}"
    if given is None:
        return ()
    return inline(f"{function}({{0}})", given, names={function: getattr(math, name)})


def _native(name: str) -> tuple[Native, ...]:
    """How native code writes a function of a number; where it has no value, the forward says."""
    if name == "sqrt":
        return native("sqrt({0})", ("{0} >= 0",))
    text = f"m_{name}(float({{0}}))" if name in _BY_LIBM else _OTHERWISE.get(name)
    return native(text, then="is_finite({result})") if text else ()


def _native_of_tensors(name: str) -> tuple[Native, ...]:
    """The same of the number of a tensor, to float32 precision."""
    found = list[Native]()
    for form in _native(name):
        text = form.text.replace("{0}", "array_float({0})")
        given = tuple(each.replace("{0}", "array_float({0})") for each in form.given)
        found += native(
            f"number_made(narrow({text}))",
            given,
            then="is_finite(array_float({result}))",
            of=("array",),
            gives="array",
        )
    return tuple(found)


for _name, _real in _REAL.items():
    _declare = operator(
        f"aten::{_name}.int(int a) -> float",
        f"aten::{_name}.float(float a) -> float",
        inline=_inline(_name),
        native=_native(_name),
    )
    _declare(_real)
    if _name in COMPLEX_FUNCTIONS:
        operator(f"aten::{_name}.complex(complex a) -> complex")(COMPLEX_FUNCTIONS[_name])
    operator(f"aten::{_name}.Scalar(Scalar a) -> Scalar", native=_native_of_tensors(_name))(
        _either(_real, COMPLEX_FUNCTIONS.get(_name))
    )


# --------------------------------------------------------------------------- two operands


@operator(
    "aten::log.int_int(int a, int b) -> float",
    "aten::log.float_float(float a, float b) -> float",
    "aten::log.int_float(int a, float b) -> float",
    "aten::log.float_int(float a, int b) -> float",
    "aten::log.Scalar_Scalar(Scalar a, Scalar b) -> float",
    native=native(
        "m_log(float({0})) / m_log(float({1}))",
        ("{0} > 0", "{1} > 0"),
        then="is_finite({result})",
        of=("int int", "float float", "int float", "float int"),
    ),
    autocast_in_graphs="full",
    order=(
        "complex_complex int_float float_int int_complex complex_int float_complex "
        "complex_float Scalar_Scalar"
    ),
)
def log_to_base(a: float, b: float) -> float:
    return divide_floats(log(a), log(b))


@operator(
    "aten::log.complex_complex(complex a, complex b) -> complex",
    "aten::log.complex_float(complex a, float b) -> complex",
    "aten::log.complex_int(complex a, int b) -> complex",
    "aten::log.float_complex(float a, complex b) -> complex",
    "aten::log.int_complex(int a, complex b) -> complex",
    autocast_in_graphs="full",
)
def complex_log_to_base(a: complex, b: complex) -> complex:
    return divide_complex(COMPLEX_FUNCTIONS["log"](a), COMPLEX_FUNCTIONS["log"](b))


@operator(
    "aten::polar.int(int a, int b) -> complex",
    "aten::polar.float(float a, float b) -> complex",
    "aten::polar.int_float(int a, float b) -> complex",
    "aten::polar.float_int(float a, int b) -> complex",
    "aten::polar.Scalar_Scalar(Scalar a, Scalar b) -> Scalar",
    autocast="full",
)
def polar(a: float, b: float) -> complex:
    return complex(a * math.cos(b), a * math.sin(b))


@operator(
    "aten::angle.int(int a) -> float",
    "aten::angle.float(float a) -> float",
    "aten::angle.complex(complex a) -> float",
    "aten::angle.Scalar(Scalar a) -> Scalar",
)
def angle(a: Any) -> float:
    """The phase; a real number that is not a number keeps itself."""
    if not isinstance(a, complex):
        return math.pi if a < 0 else a if a != a else 0.0
    return math.atan2(a.imag, a.real)


def _declare_of_two(
    name: str, forward: Callable[[float, float], float], generic: str, in_c: str
) -> None:
    form = native(f"m_{in_c}(float({{0}}), float({{1}}))", then="is_finite({result})")
    for a, b in (("int", "int"), ("float", "float"), ("int", "float"), ("float", "int")):
        overload = a if a == b else f"{a}_{b}"
        operator(f"aten::{name}.{overload}({a} a, {b} b) -> float", native=form)(forward)
    operator(f"aten::{name}{generic}(Scalar a, Scalar b) -> float")(forward)


def _remainder(a: float, b: float) -> float:
    try:
        return math.remainder(a, b)
    except ValueError:
        return INVALID


_declare_of_two("atan2", math.atan2, ".Scalar_Scalar", "atan2")
_declare_of_two("copysign", math.copysign, "", "copysign")
_declare_of_two("mathremainder", _remainder, "", "remainder")


@operator("aten::gcd.int(int a, int b) -> int", native=native("gcd_of({0}, {1})"))
def gcd(a: int, b: int) -> int:
    return wrap64(math.gcd(a, b))


@operator("aten::factorial.int(int a) -> int", native=native("factorial_of({0})"))
def factorial(a: int) -> int:
    a = as_c_int(a)
    if a < 0:
        raise OperatorError("factorial() not defined for negative values")
    return wrap64(math.factorial(a)) if a < 67 else 0  # from 66! on all 64 low bits are 0


@operator("aten::modf(float a) -> (float, float)")
def modf(a: float) -> tuple[float, float]:
    return math.modf(a)


@operator("aten::frexp(float a) -> (float, int)")
def frexp(a: float) -> tuple[float, int]:
    return math.frexp(a)


@operator("aten::ldexp(float x, int i) -> float")
def ldexp(x: float, i: int) -> float:
    try:
        return math.ldexp(x, as_c_int(i))
    except OverflowError:
        return math.copysign(math.inf, x)


@operator(
    "aten::divmod.int(int x, int y) -> (int, int)",
    native=native(
        "make_tuple({0} // {1}, {0} % {1})", ("{1} != 0", "{1} != -1 or {0} > -9223372036854775807")
    ),
    order="float int_float float_int",
)
def divmod_ints(x: int, y: int) -> tuple[int, int]:
    if not y:
        raise OperatorError(
            "ZeroDivisionError: integer division or modulo by zero", code="division-by-zero"
        )
    return wrap64(x // y), x % y


@operator(
    "aten::divmod.float_int(float x, int y) -> (float, float)",
    "aten::divmod.int_float(int x, float y) -> (float, float)",
)
def divmod_mixed(x: float, y: float) -> tuple[float, float]:
    """Of C's `int` and `float`, to which torch cuts the numbers."""
    a, b = (as_c_int(n) if isinstance(n, int) else float(np.float32(n)) for n in (x, y))
    if not b:
        raise OperatorError("ZeroDivisionError: float divmod()", code="division-by-zero")
    with np.errstate(all="ignore"):
        quotient = float(floor(float(np.float32(a) / np.float32(b))))
    return quotient, a - quotient * b


@overload
def as_c_int(number: int) -> int: ...
@overload
def as_c_int(number: float) -> float: ...
def as_c_int(number: float) -> float:
    """A whole number cut to the 32 bits of C's `int`; others as they are."""
    if not isinstance(number, int) or -(1 << 31) <= number < 1 << 31:
        return number
    return int(np.int64(number).astype(np.int32))


@operator("aten::divmod.float(float x, float y) -> (float, float)")
def divmod_floats(x: float, y: float) -> tuple[float, float]:
    if not y:
        raise OperatorError("ZeroDivisionError: float divmod()", code="division-by-zero")
    rest = fmod(x, y)
    if rest and (rest < 0) != (y < 0):
        rest += y
    return (x - rest) / y, rest


# --------------------------------------------------------------------------- rounding


def int_of(a: float) -> int:
    """A float cut to a whole number; the lowest one where that does not fit, as on x86."""
    if not math.isfinite(a):
        return -(1 << 63)
    cut = int(a)
    return cut if -(1 << 63) <= cut < 1 << 63 else -(1 << 63)


_CUT: Final = ("fabs({0}) < 9.2e18",)
FITS: Final = "-9.2e18 < {0} < 9.2e18"
"""Floats whose whole numbers have 64 bits."""


@operator(
    "aten::floor.float(float a) -> int",
    inline=inline("math_floor({0})", FITS, names={"math_floor": math.floor}),
    native=native("floor_of({0})", _CUT),
    order="int float",
)
def floor(a: float) -> int:
    return int_of(math.floor(_whole(a)))


def _whole(a: float) -> float:
    if -_BEYOND <= a <= _BEYOND:
        return a
    raise OperatorError(
        f"Cannot convert float {signed_nan(a) or format(a, 'f')} to integer",
        code="number-too-large",
        headline=f"{a!r} is no whole number of 64 bits",
    )


_BEYOND: Final = 2.0**63


@operator(
    "aten::ceil.float(float a) -> int",
    inline=inline("math_ceil({0})", FITS, names={"math_ceil": math.ceil}),
    native=native("ceil_of({0})", _CUT),
    order="int float",
)
def ceil(a: float) -> int:
    return int_of(math.ceil(_whole(a))) + (a == _BEYOND)  # C's, which rounds up what it has cut


operator("aten::ceil.int(int a) -> int", native=native("{0}"))(int)


@operator("aten::floor.int(int a) -> int", native=native("int(float({0}))", _CUT))
def floor_int(a: int) -> int:
    """The number itself, having been a float of 64 bits on the way, as in torch; `ceil` has not."""
    return int_of(float(a))


@operator("aten::floor.Scalar(Scalar a) -> Scalar")
def floor_scalar(a: float) -> Scalar:
    return a if isinstance(a, int) else floor(a)


@operator("aten::ceil.Scalar(Scalar a) -> Scalar")
def ceil_scalar(a: float) -> Scalar:
    return a if isinstance(a, int) else ceil(a)


@operator(
    "aten::round.int(int a) -> float",
    "aten::round.float(float a) -> float",
    inline=inline("float(round({0}))", "1 <= {0} < 1e15", names={"round": round}),
    native=native("m_rint(float({0}))"),
)
def round_half_even(a: float) -> float:
    if not math.isfinite(a):
        return a
    return math.copysign(float(round(a)), a) if a else float(a)


@operator("aten::round.Scalar(Scalar a) -> Scalar")
def round_scalar(a: float) -> Scalar:
    return a if isinstance(a, int) else round_half_even(a)


operator("aten::isnan.float(float a) -> bool", native=native("{0} != {0}"))(math.isnan)
operator("aten::isinf.float(float a) -> bool", native=native("is_inf({0})"))(math.isinf)
operator("aten::isfinite.float(float a) -> bool", native=native("is_finite({0})"), out="")(
    math.isfinite
)
operator("aten::isnan.complex(complex a) -> bool")(cmath.isnan)
operator("aten::isinf.complex(complex a) -> bool")(cmath.isinf)
operator("aten::isfinite.complex(complex a) -> bool", out="")(cmath.isfinite)
