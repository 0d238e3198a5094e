"""Arithmetic in place, and the other names of its operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ..memory.dtype import Array, Scalar
from ..memory.errors import OperatorError
from ..table.inline import Native, into_first
from ..table.out_dtypes import FOUND
from ..table.pointwise import in_place, in_place_kernel
from ..table.record import Known
from ..table.table import TABLE, operator
from .elementwise import (
    add,
    add_number,
    div,
    div_number,
    div_number_rounded,
    div_rounded,
    floor_divide,
    floor_divide_number,
    fmod,
    fmod_number,
    mul,
    mul_number,
    remainder,
    remainder_number,
    sub,
    sub_number,
)
from .powers import pow_number, pow_tensors
from .signs import absolute, neg

_add: Final = np.add


def _native_of(name: str) -> tuple[Native, ...]:
    """How native code writes an operator out that does in place what another one does."""
    twin = TABLE.operator(name.replace("_.", ".", 1).removesuffix("_"))
    return () if twin is None else into_first(twin.native)


_sum_into: Final = in_place(add)


def add_in_place(self: Array, other: Array, alpha: Scalar) -> Array:
    dtype = self.dtype
    plain = type(alpha) is int and alpha == 1 and dtype is other.dtype
    if plain and dtype.kind not in "uc" and self.shape == other.shape:
        _add(self, other, self)
        return self
    return _sum_into(self, other, alpha)


operator(
    "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
    native=_native_of("aten::add_.Tensor"),
)(add_in_place)


def _absolute_in_place(self: Array) -> Array:
    if self.dtype.kind == "c":
        raise OperatorError(
            "In-place abs is not supported for complex tensors.",
            code="dtype-mismatch",
            headline="the sizes of complex numbers are real: they cannot go into `self`",
        )
    return absolute(self)


_IN_PLACE: Final[dict[str, Callable[..., Array]]] = {
    "aten::add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)": add_number,
    "aten::sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)": sub,
    "aten::sub_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)": sub_number,
    "aten::mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)": mul,
    "aten::mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)": mul_number,
    "aten::div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)": div,
    "aten::div_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)": (
        div_rounded
    ),
    "aten::div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)": div_number,
    "aten::div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)": (
        div_number_rounded
    ),
    "aten::floor_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)": floor_divide,
    "aten::floor_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)": floor_divide_number,
    "aten::remainder_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)": remainder,
    "aten::remainder_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)": remainder_number,
    "aten::fmod_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)": fmod,
    "aten::fmod_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)": fmod_number,
    "aten::pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)": pow_number,
    "aten::pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)": pow_tensors,
    "aten::neg_(Tensor(a!) self) -> Tensor(a!)": neg,
    "aten::abs_(Tensor(a!) self) -> Tensor(a!)": _absolute_in_place,
}
_STRAIGHT: Final = {add: _add, add_number: _add, sub: np.subtract, sub_number: np.subtract} | {
    **{mul: np.multiply, mul_number: np.multiply, div: np.true_divide, div_number: np.true_divide}
}
"""The kernels of forwards which need no more than that for float32."""

for _schema, _forward in _IN_PLACE.items():
    _straight = _STRAIGHT.get(_forward)
    operator(_schema, native=_native_of(_schema.partition("(")[0]))(
        in_place(_forward) if _straight is None else in_place_kernel(_straight, _forward)
    )

_ALIASES: Final = {
    **{"multiply": "mul", "subtract": "sub", "divide": "div", "true_divide": "div"},
    **{"negative": "neg", "absolute": "abs"},
}


_OF_ALIASES: Final[dict[str, Known]] = {
    "absolute_": {"face": "method"},
    "negative": {"out_dtype": FOUND},
    "divide_": {"order": "Scalar_mode Scalar"},
    "subtract": {"order": "out Scalar"},
}


def _declare_aliases() -> None:
    """The other names of operators, with the in-place forms of those."""
    for alias, name in _ALIASES.items():
        for entry in list(TABLE):
            if entry.name not in (f"aten::{name}", f"aten::{name}_"):
                continue
            if "(Tensor" not in entry.schema:  # those on Python's numbers have no other names
                continue
            if alias == "true_divide" and entry.overload.endswith("_mode"):
                continue
            out = "" if entry.overload.startswith("Scalar") else entry.out
            schema = entry.schema.replace(f"aten::{name}", f"aten::{alias}", 1)
            known = _OF_ALIASES.get(entry.name.replace(f"aten::{name}", alias, 1), {}).copy()
            known["first_name"] = name
            if entry.takes_numbers:
                known["takes_numbers"] = True
            if out is not None:
                known["out"] = out
            operator(schema, **known)(entry.forward)


_declare_aliases()
