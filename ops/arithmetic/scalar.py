"""Operators over Python numbers, bools and what compares like them.

Whole numbers are 64 bits wide and wrap.  A float operation never raises: where Python would, the
result is the one of C.
"""

from __future__ import annotations

import math
import operator as python
from collections.abc import Callable, Sequence
from typing import Any, Final, Unpack

from ..memory.dtype import Device, Scalar
from ..memory.errors import OperatorError
from ..table.inline import SHORT, Native, inline, native
from ..table.record import Known
from ..table.table import operator

__all__ = [
    "INVALID",
    "OF_TENSORS",
    "divide_floats",
    "floordiv_floats",
    "floordiv_ints",
    "power",
    "remainder_floats",
    "remainder_ints",
    "signed_nan",
    "to_bytes",
    "wrap64",
    "zero_division",
]

_LOWEST: Final = -(1 << 63)
_BEYOND: Final = 1 << 63
_MASK: Final = (1 << 64) - 1


def wrap64(number: int) -> int:
    """A whole number in 64 bits, two's complement."""
    if _LOWEST <= number < _BEYOND:
        return number
    return ((number - _LOWEST) & _MASK) + _LOWEST


def zero_division(sentence: str) -> OperatorError:
    """The error of dividing a whole number by zero."""
    return OperatorError(
        sentence,
        code="division-by-zero",
        headline="a whole number is divided by zero",
    )


# --------------------------------------------------------------------------- arithmetic


@operator(
    "aten::add.int(int a, int b) -> int",
    instruction="add_int",
    native=native("{0} + {1}"),
    neutral=0,
)
def add_ints(a: int, b: int) -> int:
    result = a + b
    return result if _LOWEST <= result < _BEYOND else wrap64(result)


@operator(
    "aten::sub.int(int a, int b) -> int",
    instruction="sub_int",
    native=native("{0} - {1}"),
    neutral=0,
)
def sub_ints(a: int, b: int) -> int:
    result = a - b
    return result if _LOWEST <= result < _BEYOND else wrap64(result)


@operator(
    "aten::mul.int(int a, int b) -> int",
    instruction="mul_int",
    native=native("{0} * {1}"),
    neutral=1,
)
def mul_ints(a: int, b: int) -> int:
    result = a * b
    return result if _LOWEST <= result < _BEYOND else wrap64(result)


@operator("aten::neg.int(int a) -> int", inline=inline("-{0}", wraps=True), native=native("-{0}"))
def neg_int(a: int) -> int:
    return wrap64(-a)


operator("aten::neg.float(float a) -> float", inline=inline("-{0}"), native=native("-{0}"))(
    python.neg
)

_PAIRS: Final = (("int", "float"), ("float", "int"))


def _declare_pairs(
    name: str,
    forward: Callable[..., object],
    pairs: tuple[tuple[str, str], ...],
    result: str,
    space: str = "aten",
    **known: Unpack[Known],
) -> None:
    """Declare `name.float_int(float a, int b) -> result` and its like."""
    for a, b in pairs:
        operator(f"{space}::{name}.{a}_{b}({a} a, {b} b) -> {result}", **known)(forward)


def _wrapping(forward: Callable[[Scalar, Scalar], Scalar]) -> Callable[[Scalar, Scalar], Scalar]:
    def on_scalars(a: Scalar, b: Scalar) -> Scalar:
        result = forward(a, b)
        return wrap64(result) if isinstance(result, int) else result

    return on_scalars


OF_TENSORS: Final = ("array float", "float array", "array int", "int array", "array array")
"""Operands of native code one of which is the number of a tensor."""

for _name, _sign, _forward, _native in (
    ("add", "+", python.add, "numbers_added"),
    ("sub", "-", python.sub, "numbers_apart"),
    ("mul", "*", python.mul, "numbers_times"),
):
    _known: Known = {"native": native(f"{{0}} {_sign} {{1}}"), "instruction": _name}
    operator(f"aten::{_name}.float(float a, float b) -> float", **_known)(_forward)
    _declare_pairs(_name, _forward, _PAIRS, "float", **_known)
    operator(
        f"aten::{_name}(Scalar a, Scalar b) -> Scalar",
        native=native(f"{_native}({{0}}, {{1}})", of=OF_TENSORS, gives="array"),
    )(_wrapping(_forward))


@operator(
    "aten::neg.Scalar(Scalar a) -> Scalar",
    native=native("number_negated({0})", of=("array",), gives="array"),
)
def neg_scalar(a: Scalar) -> Scalar:
    return wrap64(-a) if isinstance(a, int) else -a


INVALID: Final = math.inf - math.inf
"""The NaN that this processor makes of an invalid operation; on x86 its sign is set, and shows."""


def signed_nan(number: float) -> str:
    """What C makes of a number that is none: it shows its sign; empty for any other number."""
    if number == number:
        return ""
    return "-nan" if math.copysign(1.0, number) < 0 else "nan"


@operator(
    "aten::div.int(int a, int b) -> float",
    "aten::div.float(float a, float b) -> float",
    inline=inline("float({0}) / {1}", "{1}", of="int int")
    + inline("{0} / {1}", "{1}", of="float float")
    + inline("{0} / {1}", "{1}", of="float int")
    + inline("{0} / {1}", "{1}", of="int float"),
    native=native("float({0}) / float({1})"),
    neutral=1,
)
def divide_floats(a: float, b: float) -> float:
    """The quotient as C computes it: infinite or not a number for a divisor of 0."""
    if b:
        return float(a) / float(b)
    if a != a:
        return a
    return math.copysign(math.inf, a) * math.copysign(1.0, b) if a else INVALID


_DIVISOR: Final = ("{1} != 0", "{1} != -1 or {0} > -9223372036854775807")
"""What native code checks: the processor traps otherwise."""

_HALF: Final = 1 << 62
_BELOW_HALF: Final = f"{-_HALF} <= {{1}} <= {_HALF}"
"""Divisors whose remainders are Python's."""


@operator(
    "aten::floordiv.int(int a, int b) -> int",
    inline=inline("{0} // {1}", wraps=True),
    native=native("{0} // {1}", _DIVISOR),
    neutral=1,
    order="int_float float_int",
)
def floordiv_ints(a: int, b: int) -> int:
    if b:
        return wrap64(a // b)
    raise zero_division("division by 0")


@operator(
    "aten::__round_to_zero_floordiv.int(int a, int b) -> int",
    native=native("cut_quotient({0}, {1})", _DIVISOR),
)
def round_to_zero_floordiv(a: int, b: int) -> int:
    """The quotient without its fraction; loops that are done several rounds at a time need it."""
    if b == 0:
        raise zero_division("division by 0")
    quotient = abs(a) // abs(b)
    return wrap64(quotient if (a < 0) == (b < 0) else -quotient)


@operator(
    "aten::floordiv.float(float a, float b) -> float",
    "aten::floordiv.float_int(float a, int b) -> float",
    "aten::floordiv.int_float(int a, float b) -> float",
    native=native("float_quotient(float({0}), float({1}))", ("{1} != 0",)),
)
def floordiv_floats(a: float, b: float) -> float:
    quotient = divide_floats(a, b)
    if not math.isfinite(quotient):
        return quotient
    return math.copysign(math.floor(quotient), quotient)  # the sign of a zero stays


@operator("aten::floordiv(Scalar a, Scalar b) -> Scalar")
def floordiv_scalars(a: float, b: float) -> Scalar:
    if isinstance(a, int) and isinstance(b, int):
        return floordiv_ints(a, b)
    return floordiv_floats(a, b)


@operator(
    "aten::remainder.int(int a, int b) -> int",
    inline=inline("{0} % {1}", at={1: SHORT}) + inline("{0} % {1}", _BELOW_HALF),
    native=native("{0} % {1}", (*_DIVISOR, _BELOW_HALF)),
)
def remainder_ints(a: int, b: int) -> int:
    """The remainder with the sign of `b`, made from C's, to which `b` is added in 64 bits."""
    if -_HALF <= b <= _HALF and b:
        return a % b
    if b:
        return _rest(wrap64(_rest(a, b) + b), b)
    raise zero_division("ZeroDivisionError: integer division or modulo by zero")


def _rest(a: int, b: int) -> int:
    """C's remainder of whole numbers, with the sign of `a`."""
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


def fmod(a: float, b: float) -> float:
    """C's remainder, with the sign of `a`; not a number where Python's raises."""
    try:
        return math.fmod(a, b)
    except ValueError:
        return INVALID


@operator(
    "aten::remainder.float(float a, float b) -> float",
    "aten::remainder.float_int(float a, int b) -> float",
    "aten::remainder.int_float(int a, float b) -> float",
    native=native("float_remainder(float({0}), float({1}))", then="is_finite({result})"),
)
def remainder_floats(a: float, b: float) -> float:
    return fmod(fmod(a, b) + b, b)


@operator("aten::remainder(Scalar a, Scalar b) -> Scalar")
def remainder_scalars(a: float, b: float) -> Scalar:
    if isinstance(a, int) and isinstance(b, int):
        return remainder_ints(a, b)
    return remainder_floats(a, b)


@operator(
    "aten::fmod.int(int a, int b) -> float",
    "aten::fmod.float(float a, float b) -> float",
    "aten::fmod.int_float(int a, float b) -> float",
    "aten::fmod.float_int(float a, int b) -> float",
    "aten::fmod(Scalar a, Scalar b) -> float",
    native=native(
        "m_fmod(float({0}), float({1}))",
        then="is_finite({result})",
        of=("int int", "float float", "int float", "float int"),
    ),
)
def fmod_scalars(a: float, b: float) -> float:
    return fmod(a, b)


@operator(
    "aten::pow.int(int a, int b) -> float",
    "aten::pow.float(float a, float b) -> float",
    "aten::pow.int_float(int a, float b) -> float",
    "aten::pow.float_int(float a, int b) -> float",
    native=native("m_pow(float({0}), float({1}))", then="is_finite({result})"),
)
def power(a: float, b: float) -> float:
    """C's power.

    Raises:
        OperatorError: 0 is raised to a negative number.
    """
    if a == 0 and b < 0:
        raise OperatorError(
            "0.0 cannot be raised to a negative power",
            code="division-by-zero",
            headline="0 is raised to a negative power",
        )
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and float(b) % 2 == 1 else math.inf
    except ValueError:
        return INVALID


@operator(
    "aten::pow.int_to_int(int a, int b) -> int",
    native=native(
        "power_of_ints({0}, {1})",
        (f"{{1}} > {-(2**53)}",),  # below, the forward's floats know no odd numbers
    ),
)
def power_of_ints(a: int, b: int) -> int:
    if b >= 0:
        return wrap64(pow(a, b, 1 << 64))
    return int(power(a, b)) if abs(a) == 1 else 0


# --------------------------------------------------------------------------- comparison


def _as_floats(compare: Callable[[float, float], bool]) -> Callable[[float, float], bool]:
    """A comparison of a whole number with a float: C compares two floats, Python exactly."""
    return lambda a, b: compare(float(a), float(b))


def to_bytes(text: str) -> bytes:
    """The bytes of a string."""
    return text.encode("utf-8", "surrogateescape")


def _by_bytes(compare: Callable[[Any, Any], bool]) -> Callable[[str, str], bool]:
    """A comparison of strings: parts of characters come where their bytes do."""

    def on_texts(a: str, b: str) -> bool:
        if a.isascii() and b.isascii():
            return compare(a, b)
        return compare(to_bytes(a), to_bytes(b))

    return on_texts


def _as_wider(compare: Callable[[Any, Any], bool]) -> Callable[[Scalar, Scalar], bool]:
    """A comparison of numbers as the wider kind of the two."""

    def on_scalars(a: Scalar, b: Scalar) -> bool:
        if isinstance(a, int) and isinstance(b, int):
            return compare(a, b)
        if isinstance(a, complex) or isinstance(b, complex):
            return compare(complex(a), complex(b))
        return compare(float(a), float(b))

    return on_scalars


def _of_numbers(sign: str) -> tuple[Native, ...]:
    """How native code compares numbers of tensors, whose dtypes show when it runs."""
    real, whole = "array_is_real({0})", f"array_whole({{0}}) {sign}"
    other_real, other_whole = "array_is_real({1})", f"{sign} array_whole({{1}})"
    floats = f"array_float({{0}}) {sign} array_float({{1}})"
    return (
        native(f"array_float({{0}}) {sign} {{1}}", of=("array float",))
        + native(f"{{0}} {sign} array_float({{1}})", of=("float array",))
        + native(
            f"(array_real({{0}}) {sign} float({{1}}) if {real} else {whole} {{1}})",
            of=("array int",),
        )
        + native(
            f"(float({{0}}) {sign} array_real({{1}}) if {other_real} else {{0}} {other_whole})",
            of=("int array",),
        )
        + native(
            f"({floats} if {real} or {other_real} else {whole} array_whole({{1}}))",
            of=("array array",),
        )
    )


for _name, _sign, _compare in (
    *(("eq", "==", python.eq), ("ne", "!=", python.ne), ("lt", "<", python.lt)),
    *(("le", "<=", python.le), ("gt", ">", python.gt), ("ge", ">=", python.ge)),
):
    _known = {"native": native(f"{{0}} {_sign} {{1}}"), "instruction": _name}
    for _type in ("int", "float"):
        operator(f"aten::{_name}.{_type}({_type} a, {_type} b) -> bool", **_known)(_compare)
    for _types, _text in (
        (_PAIRS[0], f"float({{0}}) {_sign} {{1}}"),
        (_PAIRS[1], f"{{0}} {_sign} float({{1}})"),
    ):
        _declare_pairs(
            _name,
            _as_floats(_compare),
            (_types,),
            "bool",
            inline=inline(_text),
            native=native(_text),
        )
    operator(f"aten::{_name}(Scalar a, Scalar b) -> bool", native=_of_numbers(_sign))(
        _as_wider(_compare)
    )
    if _name not in ("eq", "ne"):
        operator(
            f"aten::{_name}.str(str a, str b) -> bool",
            inline=inline(f"{{0}} {_sign} {{1}}", "{0}.isascii() and {1}.isascii()"),
            native=native(f"{{0}} {_sign} {{1}}"),
        )(_by_bytes(_compare))
for _name, _sign, _compare in (("eq", "==", python.eq), ("ne", "!=", python.ne)):
    _known = {"native": native(f"{{0}} {_sign} {{1}}"), "instruction": _name}
    operator(f"aten::{_name}.bool(bool a, bool b) -> bool", **_known)(_compare)
    operator(f"aten::{_name}.complex(complex a, complex b) -> bool", **_known)(_compare)
    operator(f"aten::{_name}.str(str a, str b) -> bool", **_known)(_compare)
    operator(f"aten::{_name}.device(Device a, Device b) -> bool", instruction=_name)(_compare)
    operator(f"aten::{_name}.enum(AnyEnumType a, AnyEnumType b) -> bool", **_known)(_compare)
    _mixed = (("complex", "float"), ("float", "complex"))
    _declare_pairs(_name, _compare, _mixed, "bool", instruction=_name)


# --------------------------------------------------------------------------- logic and bits

operator("aten::__not__(bool self) -> bool", native=native("not {0}"), instruction="not")(
    python.not_
)

_PLACELESS: Final = (int, float, Device)


@operator("aten::__is__(t1 self, t2 obj) -> bool", instruction="is")
def is_same(self: object, obj: object) -> bool:
    """Whether two values are one; those without a place of their own are when they are equal."""
    if type(self) in _PLACELESS:
        return type(self) is type(obj) and bool(self == obj)
    return self is obj


@operator("aten::__isnot__(t1 self, t2 obj) -> bool", instruction="is_not")
def is_not_same(self: object, obj: object) -> bool:
    return not is_same(self, obj)


@operator("prim::id(AnyClassType? x) -> int")
def identity(x: object) -> int:
    """What tells an object from all others; 0 for None."""
    return 0 if x is None else id(x)


for _name, _word, _sign, _forward in (
    ("and", "and", "&", python.and_),
    ("or", "or", "|", python.or_),
):
    operator(
        f"aten::__{_name}__.bool(bool a, bool b) -> bool",
        native=native(f"{{0}} {_word} {{1}}"),
        instruction=_name,
    )(_forward)
    operator(
        f"aten::__{_name}__.int(int a, int b) -> int",
        native=native(f"{{0}} {_sign} {{1}}"),
        instruction=_name,
    )(_forward)
operator("aten::__xor__.bool(bool a, bool b) -> bool", native=native("{0} != {1}"))(python.xor)
operator(
    "aten::__xor__.int(int a, int b) -> int",
    inline=inline("{0} ^ {1}"),
    native=native("{0} ^ {1}"),
)(python.xor)


@operator(
    "aten::__lshift__.int(int a, int b) -> int",
    native=native("{0} << ({1} & 63)"),
    order="Scalar_out Tensor_out",
)
def shift_left(a: int, b: int) -> int:
    return wrap64(a << (b & 63))


@operator(
    "aten::__rshift__.int(int a, int b) -> int",
    native=native("{0} >> ({1} & 63)"),
    order="Scalar_out Tensor_out",
)
def shift_right(a: int, b: int) -> int:
    return a >> (b & 63)


# --------------------------------------------------------------------------- loops over ranges


@operator(
    "aten::__range_length(int lo, int hi, int step) -> int",
    native=native(
        "range_length({0}, {1}, {2})",
        ("{2} != 0", *(f"fabs({{{place}}}) < 2**62" for place in range(3))),
    ),
)
def range_length(lo: int, hi: int, step: int) -> int:
    if not step:
        raise OperatorError("range() arg 3 must not be zero")
    return len(range(lo, hi, step))


@operator(
    "aten::__derive_index(int index, int start, int step) -> int",
    inline=inline("{0}", at={1: "0", 2: "1"}) + inline("{1} + {0}", at={2: "1"}),
    native=native("{0} * {2} + {1}"),
)
def derive_index(index: int, start: int, step: int) -> int:
    return start + index * step


# --------------------------------------------------------------------------- smallest, largest


def _smaller(a: float, b: float) -> float:
    return a if a < b else b  # of a number and a NaN the second, as in C


def _larger(a: float, b: float) -> float:
    return a if a > b else b


def _reduce(
    choose: Callable[[Sequence[Any]], object], name: str
) -> Callable[[list[object]], object]:
    """The first of those that no other is before; Python's own looks at them in this order, too."""

    def over_list(values: Sequence[object]) -> object:
        if not values:
            raise OperatorError(f"{name}() arg is an empty sequence")
        return choose(values)

    return over_list


def _as_float(choose: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda a, b: float(choose(a, b))


for _name, _sign, _choose, _of_list in (
    ("min", "<", _smaller, min),
    ("max", ">", _larger, max),
):
    _text = f"{{0}} if {{0}} {_sign} {{1}} else {{1}}"
    _of_floats = f"float({{0}}) if {{0}} {_sign} {{1}} else float({{1}})"
    for _type in ("int", "float"):
        operator(
            f"prim::{_name}.{_type}({_type} a, {_type} b) -> {_type}",
            inline=inline(_text),
            native=native(_text),
        )(_choose)
    _declare_pairs(_name, _as_float(_choose), _PAIRS, "float", "prim", native=native(_of_floats))
    operator(
        f"prim::{_name}(Scalar a, Scalar b) -> Scalar",
        native=native(f"number_{_name}({{0}}, {{1}})", of=OF_TENSORS, gives="array"),
    )(_choose)
    for _type in ("int", "float", "bool"):
        operator(f"prim::{_name}.{_type}_list({_type}[] l, {_type}[] r) -> {_type}[]")(_choose)
        operator(
            f"prim::{_name}.self_{_type}({_type}[] self) -> {_type}",
            inline=inline(f"{_name}({{0}})", names={_name: _of_list}),
            native=native(f"{'least' if _name == 'min' else 'greatest'}({{0}})"),
        )(_reduce(_of_list, _name))


@operator(
    "prim::abs.int(int a) -> int",
    inline=inline("abs({0})", wraps=True, names={"abs": abs}),
    native=native("-{0} if {0} < 0 else {0}"),
    order="int float complex Scalar -",
)
@operator(
    "prim::abs.float(float a) -> float",
    inline=inline("abs({0})", names={"abs": abs}),
    native=native("fabs({0})"),
)
@operator("prim::abs.complex(complex a) -> float", "prim::abs.Scalar(Scalar a) -> Scalar")
def absolute(a: Scalar) -> Scalar:
    if isinstance(a, complex):  # Python's own takes an overflow of before for one of NaN
        return math.hypot(a.real, a.imag)
    return wrap64(abs(a)) if isinstance(a, int) else abs(a)
