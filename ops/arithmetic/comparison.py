"""Comparison and logic of elements, the smaller and the larger ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..kernels import LARGE, by_formula
from ..memory.dtype import Array, Scalar, dtype_of, of_numpy
from ..memory.errors import OperatorError, UnsupportedDtype
from ..table.declare import with_twin
from ..table.formula import Part, formula
from ..table.inline import BOTH_FLOAT32, ON_FLOAT32, inline, native, small, small_with_number
from ..table.layouts import like
from ..table.out_dtypes import CAN_CAST, CASTABLE, FOUND, OutDtype
from ..table.pointwise import (
    as_array,
    binary,
    cast,
    checked_broadcast,
    checked_operand,
    in_place,
    number_as,
    with_number,
)
from ..table.promotion import can_cast, common_dtype, common_dtype_with, kind, result_dtype
from ..table.refusals import Refusal, check_number, cpp_name
from ..table.table import operator

__all__ = ["clamp"]

_OUT_OF_ISNEGINF: Final = OutDtype("same", "{name} does not support non-boolean outputs.")

_maximum: Final = np.maximum
_minimum: Final = np.minimum
_BOOL: Final = np.dtype(np.bool_)
_FLOAT32: Final = np.dtype(np.float32)
_FLOAT64: Final = np.dtype(np.float64)
_PLAIN: Final = frozenset(map(np.dtype, (np.float32, np.int64)))
"""Dtypes that every operator of this file takes, if they meet their like."""
Kernel = Callable[..., object]
_name: str
_kernel: Kernel


# --------------------------------------------------------------------------- comparison


def _comparison(name: str, kernel: Kernel) -> tuple[Callable[..., Array], Callable[..., Array]]:
    ordered = name not in ("eq", "ne")
    refuse = Refusal("uqc", f"{name}_cpu")

    def compare(self: Array, other: Array) -> Array:
        if self.dtype is not other.dtype or self.dtype not in _PLAIN:
            dtype = common_dtype(self, other)
            if ordered:
                refuse(dtype)
            self, other = cast(self, dtype), cast(other, dtype)
        return binary(kernel, self, other)

    def compare_number(self: Array, other: Scalar) -> Array:
        if ordered and (self.dtype not in _PLAIN or isinstance(other, complex)):
            refuse(common_dtype_with(self, other))
        return with_number(kernel, self, other)

    return compare, compare_number


for _name, _sign, _alias, _kernel in (
    ("eq", "==", "", np.equal),
    ("ne", "!=", "not_equal", np.not_equal),
    ("lt", "<", "less", np.less),
    ("le", "<=", "less_equal", np.less_equal),
    ("gt", ">", "greater", np.greater),
    ("ge", ">=", "greater_equal", np.greater_equal),
):
    _of_tensors, _of_number = _comparison(_name, _kernel)
    for _spelling in filter(None, (_name, _alias)):
        operator(
            f"aten::{_spelling}.Tensor(Tensor self, Tensor other) -> Tensor",
            first_name=_name,
            inline=inline(f"{{0}} {_sign} {{1}}", BOTH_FLOAT32),
            order="Scalar_out Tensor_out",
            native=native(
                f"(array_whole({{0}}) {_sign} array_whole({{1}}) if array_is_whole({{0}}) else "
                f"array_real({{0}}) {_sign} array_real({{1}}))",
                ("{0}[3] == 0", "{1}[3] == 0", "{0}[4] == {1}[4]"),
                gives="bool",
            )
            + small(_sign),
            formula=formula(_kernel.__name__, 0, 1, meets="operands"),
        )(_of_tensors)
        operator(
            f"aten::{_spelling}.Scalar(Tensor self, Scalar other) -> Tensor",
            inline=inline(f"{{0}} {_sign} {{k}}", ON_FLOAT32),
            native=native(
                f"(array_whole({{0}}) {_sign} {{1}} if array_is_whole({{0}}) else "
                f"array_real({{0}}) {_sign} array_rounded({{0}}, float({{1}})))",
                ("{0}[3] == 0",),
                of=("array int",),
                gives="bool",
            )
            + native(
                f"array_real({{0}}) {_sign} array_rounded({{0}}, {{1}})",
                ("{0}[3] == 0",),
                of=("array float",),
                gives="bool",
            )
            + small_with_number(_sign),
            formula=formula(_kernel.__name__, 0, 1, meets="operands"),
        )(_of_number)
        operator(f"aten::{_spelling}_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")(
            in_place(_of_number)
        )
        operator(f"aten::{_spelling}_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")(
            in_place(_of_tensors)
        )


# --------------------------------------------------------------------------- kinds of numbers


def _test(name: str, kernel: Kernel, otherwise: bool) -> Callable[[Array], Array]:
    """A test of floats; `otherwise` is the answer for whole numbers."""
    sentence = f"{name} does not support complex inputs."
    refuse = Refusal("", fails=("qc" if name in ("isposinf", "isneginf") else "", sentence))

    def test(self: Array) -> Array:
        refuse(self.dtype)
        if kind(self.dtype) < 2:
            answers = like(self, _BOOL)
            answers.fill(otherwise)
            return answers
        return as_array(kernel(self))

    return test


operator("aten::isnan(Tensor self) -> Tensor", formula=formula("isnan", meets="operands"))(
    _test("isnan", np.isnan, False)
)
operator("aten::isinf(Tensor self) -> Tensor", formula=formula("isinf", meets="operands"))(
    _test("isinf", np.isinf, False)
)
operator(
    "aten::isfinite(Tensor self) -> Tensor", out="", formula=formula("isfinite", meets="operands")
)(_test("isfinite", np.isfinite, True))
operator(
    "aten::isposinf(Tensor self) -> Tensor",
    out_dtype=_OUT_OF_ISNEGINF,
    formula=formula("isposinf", meets="operands"),
)(_test("isposinf", np.isposinf, False))
operator(
    "aten::isneginf(Tensor self) -> Tensor",
    out_dtype=_OUT_OF_ISNEGINF,
    formula=formula("isneginf", meets="operands"),
)(_test("isneginf", np.isneginf, False))


_refuse_signbit: Final = Refusal("", says=("qc", "signbit is not implemented for complex tensors."))


def _parts_of_signbit(result: Array, self: Array) -> list[Part]:
    if self.dtype.char not in "fdbhil":
        return []
    letter = self.dtype.char
    if letter not in "fd":
        return [Part([("less", letter, (0, 1))], [self, 0], result)]
    steps = [("copysign", letter, (1, 0)), ("less", letter, (3, 2))]
    return [Part(steps, [self, 1.0, 0.0], result)]


@operator(
    "aten::signbit(Tensor self) -> Tensor", out_dtype=_OUT_OF_ISNEGINF, parts=_parts_of_signbit
)
def signbit(self: Array) -> Array:
    _refuse_signbit(self.dtype)
    return as_array(np.signbit(self) if kind(self.dtype) == 2 else self < 0)


# --------------------------------------------------------------------------- logic and bits


_refuse_logical_not: Final = Refusal("uq", "logical_not_cpu")


@operator("aten::logical_not(Tensor self) -> Tensor", formula=formula("is_zero", meets="operands"))
def logical_not(self: Array) -> Array:
    _refuse_logical_not(self.dtype)
    return as_array(np.logical_not(self))


operator("aten::logical_not_(Tensor(a!) self) -> Tensor(a!)", face="method")(in_place(logical_not))


def _logical(name: str, kernel: Kernel) -> Callable[[Array, Array], Array]:
    refuse = Refusal("uq", f"{name}_cpu")

    def logical(self: Array, other: Array) -> Array:
        refuse(common_dtype(self, other))
        checked_broadcast(self.shape, other.shape)
        return as_array(kernel(self.astype(_BOOL), other.astype(_BOOL)))

    return logical


_BITS: Final = {"and": "both", "or": "either", "xor": "only_one"}

for _name, _kernel in (
    *(("and", np.logical_and), ("or", np.logical_or)),
    ("xor", np.logical_xor),
):
    _forward = _logical(f"logical_{_name}", _kernel)
    operator(
        f"aten::logical_{_name}(Tensor self, Tensor other) -> Tensor",
        layout="P",
        formula=formula(_BITS[_name], 0, 1, meets="bools"),
    )(_forward)
    operator(f"aten::logical_{_name}_(Tensor(a!) self, Tensor other) -> Tensor(a!)")(
        in_place(_forward)
    )


def _check_classes(refuse: Refusal, self: Array, other: Array) -> None:
    """Refuse dtypes, but shapes that do not fit first."""
    try:
        refuse(common_dtype(self, other))
    except UnsupportedDtype:
        checked_broadcast(self.shape, other.shape)
        raise


def _bitwise(name: str, kernel: Kernel) -> tuple[Callable[..., Array], ...]:
    check = Refusal("hfqc", f"bitwise_{name}_cpu")

    def combine(self: Array, other: Array) -> Array:
        _check_classes(check, self, other)
        return binary(kernel, self, other)

    def combine_number(self: Array, other: Scalar) -> Array:
        dtype = common_dtype_with(self, other)
        check(dtype)
        return as_array(kernel(cast(self, dtype), number_as(other, dtype)))

    def number_combine(self: Scalar, other: Array) -> Array:
        return combine_number(other, self)

    return combine, combine_number, number_combine


for _name, _kernel in (
    *(("and", np.bitwise_and), ("or", np.bitwise_or)),
    ("xor", np.bitwise_xor),
):
    _formula = formula(_BITS[_name], 0, 1)
    _forward, _of_number, _number_of = _bitwise(_name, _kernel)
    _tensors, _number = "Tensor(Tensor self, Tensor other)", "Scalar(Tensor self, Scalar other)"
    _order = "Scalar Tensor" if _name == "and" else ""
    operator(f"aten::__{_name}__.{_tensors} -> Tensor", out="", order=_order, formula=_formula)(
        _forward
    )
    operator(f"aten::__{_name}__.{_number} -> Tensor", out="", formula=_formula)(_of_number)
    operator(f"aten::bitwise_{_name}.{_tensors} -> Tensor", formula=_formula)(_forward)
    operator(f"aten::bitwise_{_name}.{_number} -> Tensor", formula=_formula)(_of_number)
    operator(f"aten::bitwise_{_name}.Scalar_Tensor(Scalar self, Tensor other) -> Tensor")(
        _number_of
    )
    for _spelling in (f"__i{_name}__", f"bitwise_{_name}_"):
        operator(f"aten::{_spelling}.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")(
            in_place(_forward)
        )
        operator(f"aten::{_spelling}.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")(
            in_place(_of_number)
        )


_refuse_bitwise_not: Final = Refusal("uhfqc", "bitwise_not_cpu")


@operator("aten::bitwise_not(Tensor self) -> Tensor", out_dtype=FOUND, formula=formula("invert"))
def bitwise_not(self: Array) -> Array:
    _refuse_bitwise_not(self.dtype)
    return as_array(np.invert(self))


operator("aten::bitwise_not_(Tensor(a!) self) -> Tensor(a!)", face="method")(in_place(bitwise_not))


def _shift(name: str, kernel: Kernel) -> tuple[Callable[..., Array], ...]:
    refuse = Refusal("buhfqc", f"{name}_cpu")

    def shift(self: Array, other: Array) -> Array:
        _check_classes(refuse, self, other)
        return binary(kernel, self, other)

    def shift_by_number(self: Array, other: Scalar) -> Array:
        dtype = common_dtype_with(self, other)
        refuse(dtype)
        return as_array(kernel(cast(self, dtype), number_as(other, dtype)))

    def shift_number(self: Scalar, other: Array) -> Array:
        dtype = common_dtype_with(other, self)
        refuse(dtype)
        return as_array(kernel(number_as(self, dtype), cast(other, dtype)))

    return shift, shift_by_number, shift_number


for _name, _word, _kernel in (
    ("lshift", "bitwise_left_shift", np.left_shift),
    ("rshift", "bitwise_right_shift", np.right_shift),
):
    _formula = formula("shift_left" if _name == "lshift" else "shift_right", 0, 1)
    _forward, _of_number, _number_of = _shift(_name, _kernel)
    operator(f"aten::__{_name}__.Tensor(Tensor self, Tensor other) -> Tensor", formula=_formula)(
        _forward
    )
    operator(f"aten::__{_name}__.Scalar(Tensor self, Scalar other) -> Tensor", formula=_formula)(
        _of_number
    )
    operator(f"aten::__i{_name}__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")(
        in_place(_forward)
    )
    operator(f"aten::__i{_name}__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")(
        in_place(_of_number)
    )
    with_twin(
        f"aten::{_word}.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
        order="Tensor Tensor_Scalar Tensor_out Tensor_Scalar_out",
        formula=_formula,
    )(_of_number)
    with_twin(f"aten::{_word}.Tensor(Tensor self, Tensor other) -> Tensor", formula=_formula)(
        _forward
    )
    operator(f"aten::{_word}.Scalar_Tensor(Scalar self, Tensor other) -> Tensor")(_number_of)


# --------------------------------------------------------------------------- smaller, larger


def _chooser(name: str, kernel: Kernel) -> Callable[[Array, Array], Array]:
    shown = "maximum_cpu" if "max" in name else "minimum_cpu"
    refuse = Refusal("u", shown, fails=("qc", f"{name} not implemented for complex tensors."))

    def choose(self: Array, other: Array) -> Array:
        if self.dtype is not other.dtype or self.dtype not in _PLAIN:
            refuse(common_dtype(self, other))
        return binary(kernel, self, other)

    return choose


for _name, _short, _kernel in (("maximum", "max", np.maximum), ("minimum", "min", np.minimum)):
    _choose, _formula = _chooser(_name, _kernel), formula(_name, 0, 1)
    _small = small("larger" if _short == "max" else "smaller")
    operator(
        f"aten::{_name}(Tensor self, Tensor other) -> Tensor", formula=_formula, native=_small
    )(_choose)
    operator(
        f"aten::{_short}.other(Tensor self, Tensor other) -> Tensor",
        out="out",
        order="unary_out out",
        out_dtype=CAN_CAST,
        formula=_formula,
        native=_small,
    )(_choose)


def _check_bounds(low: object, high: object) -> None:
    if low is None and high is None:
        raise OperatorError("torch.clamp: At least one of 'min' or 'max' must not be None")


def _of_clamp(classes: str, kernel: str) -> Refusal:
    return Refusal(classes, kernel, says=("qc", "clamp is not supported for complex types"))


_refuse_clamp: Final = {
    (True, True): _of_clamp("bu", "clamp_scalar_cpu"),
    (True, False): _of_clamp("bu", "clamp_min_scalar_cpu"),
    (False, True): _of_clamp("bu", "clamp_max_scalar_cpu"),
}
_refuse_clamp_tensors: Final = {
    (True, True): _of_clamp("bu", "clamp_cpu"),
    (True, False): _of_clamp("uqc", "maximum_cpu"),
    (False, True): _of_clamp("uqc", "minimum_cpu"),
}


_BOUNDS: Final = frozenset({int, float, type(None)})


def _clamp_floats(self: Array, min: Any, max: Any) -> Array:
    """The usual case: float32, and plain numbers."""
    if min is None and max is None:
        _check_bounds(min, max)
    if self.size >= LARGE and min is not None and max is not None:
        low, high = checked_operand(min, _FLOAT32), checked_operand(max, _FLOAT32)
        found = by_formula("clamp", self, low, high)
        if found is not None:
            return found
    if min is None:
        return as_array(_minimum(checked_operand(max, _FLOAT32), self))
    result = _maximum(checked_operand(min, _FLOAT32), self)
    if max is not None:
        if self.ndim:
            return _minimum(checked_operand(max, _FLOAT32), result, out=result)
        result = _minimum(checked_operand(max, _FLOAT32), result)
    return as_array(result)


def clamp(self: Array, min: Scalar | None, max: Scalar | None) -> Array:
    """Every element held between two numbers; the upper one wins where they cross."""
    if self.dtype is _FLOAT32 and type(min) in _BOUNDS and type(max) in _BOUNDS:
        return _clamp_floats(self, min, max)
    _check_bounds(min, max)
    if kind(self.dtype) == 2:
        min, max = _real(min), _real(max)
    bounds = [bound for bound in (min, max) if bound is not None]
    dtype = result_dtype([self, *bounds])
    if dtype is not _FLOAT32:
        _refuse_clamp[min is not None, max is not None](dtype)
    result = cast(self, dtype)
    if dtype.itemsize == 2 and kind(dtype) == 2:
        names = {(True, True): "clamp", (True, False): "clamp_low", (False, True): "clamp_high"}
        whole = [checked_operand(bound, dtype) for bound in bounds]
        found = by_formula(names[min is not None, max is not None], result, *whole)
        if found is not None:
            return found
    if min is not None:
        result = np.maximum(checked_operand(min, dtype), result)
    if max is not None:
        result = np.minimum(checked_operand(max, dtype), result)
    return as_array(result)


def _real(bound: Scalar | None) -> Scalar | None:
    """The bound of floats that a number without an imaginary part is."""
    if not isinstance(bound, complex):
        return bound
    check_number(bound, _FLOAT64)
    return bound.real


def _clamp_in_place(forward: Callable[..., Array]) -> Callable[..., Array]:
    """The in-place form with numbers, whose refusal names the type of C++."""
    general = in_place(forward)

    def write_result(self: Array, *bounds: Scalar | None) -> Array:
        if len(bounds) == 1 and isinstance(bounds[0], complex):
            return forward(self, *bounds)  # which refuses it
        if kind(self.dtype) == 2:
            bounds = tuple(map(_real, bounds))
        elif self.dtype is not _FLOAT32:
            dtype = result_dtype([self, *(bound for bound in bounds if bound is not None)])
            if not can_cast(dtype, self.dtype):
                raise OperatorError(
                    f"result type {of_numpy(dtype).scalar_name} can't be cast to the desired "
                    f"output type {cpp_name(dtype_of(self))}",
                    code="dtype-mismatch",
                )
        return general(self, *bounds)

    write_result.checks_overlap = True  # type: ignore[attr-defined]
    return write_result


def clamp_tensors(self: Array, min: Array | None, max: Array | None) -> Array:
    _check_bounds(min, max)
    if kind(self.dtype) == 3:
        _refuse_clamp[True, True](self.dtype)
    dtype = result_dtype([each for each in (self, min, max) if each is not None])
    _refuse_clamp_tensors[min is not None, max is not None](dtype)
    result = cast(self, dtype)
    if min is not None:
        result = binary(np.maximum, result, cast(min, dtype))
    if max is not None:
        result = binary(np.minimum, result, cast(max, dtype))
    return result


def _parts_of_clamp(result: Array, self: Array, min: Array | None, max: Array | None) -> list[Part]:
    """The larger of an element and one bound, then the smaller of that and the other; of one bound
    that alone."""
    bounds = [each for each in (min, max) if each is not None]
    if any(each.dtype != self.dtype for each in bounds):
        return []
    if len(bounds) == 1:
        return [
            Part([("maximum" if max is None else "minimum", "", (0, 1))], [self, *bounds], result)
        ]
    return [Part([("maximum", "", (0, 1)), ("minimum", "", (3, 2))], [self, *bounds], result)]


_OF_CLAMP: Final = (
    *formula("clamp_high", 0, 2, at={1: None}, checks=True),
    *formula("clamp_low", 0, 1, at={2: None}, checks=True),
    *formula("clamp", 0, 1, 2, checks=True),
)
_NUMBERS: Final = ("int", "float")
_SMALL_CLAMP: Final = (
    *native(
        'small_with(known("larger"), {0}, {1})',
        of=[f"array {each} none" for each in _NUMBERS],
        gives="made",
    ),
    *native(
        'small_with(known("smaller"), {0}, {2})',
        of=[f"array none {each}" for each in _NUMBERS],
        gives="made",
    ),
)
_ONE_SIDED: Final = {
    ("min", ""): formula("clamp_low", 0, 1, checks=True),
    ("max", ""): formula("clamp_high", 0, 1, checks=True),
    ("min", ".Tensor"): formula("maximum", 0, 1),
    ("max", ".Tensor"): formula("minimum", 0, 1),
}


def _declare_clamp() -> None:
    for name in ("clamp", "clip"):
        for type, suffix, forward in (("Scalar", "", clamp), ("Tensor", ".Tensor", clamp_tensors)):
            bounds = f"{type}? min=None, {type}? max=None"
            operator(
                f"aten::{name}{suffix}(Tensor self, {bounds}) -> Tensor",
                first_name="clamp",
                layout="P" if suffix else "",
                formula=() if suffix else _OF_CLAMP,
                parts=_parts_of_clamp if suffix else None,
                native=() if suffix else _SMALL_CLAMP,
                out_dtype=CASTABLE if suffix else FOUND,
            )(forward)
            operator(
                f"aten::{name}_{suffix}(Tensor(a!) self, {bounds}) -> Tensor(a!)", face="both"
            )((in_place if suffix else _clamp_in_place)(forward))
    for type, suffix, forward in (("Scalar", "", clamp), ("Tensor", ".Tensor", clamp_tensors)):

        def above(self: Array, min: float | Array, forward: Any = forward) -> Array:
            if isinstance(min, complex):
                _refuse_clamp[True, False](result_dtype([self, min]))
            return forward(self, min, None)  # type: ignore[no-any-return]

        def below(self: Array, max: Any, forward: Any = forward) -> Array:
            if isinstance(max, complex):
                _refuse_clamp[False, True](result_dtype([self, max]))
            return forward(self, None, max)  # type: ignore[no-any-return]

        for bound, one_sided in (("min", above), ("max", below)):
            name = f"aten::clamp_{bound}"
            operator(
                f"{name}{suffix}(Tensor self, {type} {bound}) -> Tensor",
                formula=_ONE_SIDED[bound, suffix],
                out_dtype=CASTABLE if suffix else FOUND,
            )(one_sided)
            operator(
                f"{name}_{suffix}(Tensor(a!) self, {type} {bound}) -> Tensor(a!)", face="both"
            )((in_place if suffix else _clamp_in_place)(one_sided))


_declare_clamp()
