"""Powers of tensors and numbers.

`in_place.py` adds the in-place twins.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy import asarray

from ..kernels import by_formula, of_floats
from ..memory.dtype import Array, Scalar
from ..memory.errors import OperatorError
from ..table.formula import formula
from ..table.pointwise import as_array, binary, cast, checked_operand, number_as, operand
from ..table.promotion import common_dtype_with, kind
from ..table.refusals import Refusal
from ..table.table import operator
from .elementwise import mul

__all__ = ["number_pow", "pow_number", "pow_tensors"]

_FLOAT32: Final = np.dtype(np.float32)
_ROOTS: Final[dict[object, str]] = {0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}
"""Powers that bfloat16 has by functions of their own; float16 has them by the power in float32."""
_refuse_pow: Final = Refusal("buq", "pow")
_OF_POWERS: Final = (
    *formula("square", meets="own", at={1: 2}),
    *formula("square", meets="own", at={1: 2.0}),
    *formula("cube", meets="own", at={1: 3}),
    *formula("cube", meets="own", at={1: 3.0}),
    *formula("sqrt", meets="own", at={1: 0.5}),
    *formula("rsqrt", meets="own", at={1: -0.5}),
    *formula("reciprocal", meets="own", at={1: -1}),
    *formula("reciprocal", meets="own", at={1: -1.0}),
    *formula("power", 0, 1, meets="own", checks=True),
)


def _raised(a: Array, b: Array) -> Array:
    """Floats to the power of floats of the same dtype; of 16 bits in float32."""
    if a.itemsize < 4:
        return asarray(_raised(a.astype(_FLOAT32), b.astype(_FLOAT32)).astype(a.dtype))
    found = of_floats("power", a, b)
    return asarray(np.power(a, b)) if found is None else as_array(found)


def _power(a: Array, b: Array) -> Array:
    _refuse_pow(a.dtype)
    if a.dtype.kind == "c":
        return _complex_power(a, b)
    if a.dtype.kind not in "iu":
        return _raised(a, b)
    negative = b < 0
    if not negative.any():
        return np.power(a, b)
    parity = np.where(b & 1, a, a * a)  # of 1 and -1: the only ones with whole reciprocals
    below = np.where(np.abs(a) == 1, parity, 0).astype(a.dtype)
    return np.where(negative, below, np.power(a, np.where(negative, 0, b)))


def _complex_power(a: Array, b: Array) -> Array:
    """`exp(b * log(a))`, as the C library has it, so a NaN for the power 0 of 0 and infinities."""
    logarithm = np.log(a)
    found = as_array(b * logarithm)
    lost = as_array(np.isnan(found.real) & np.isnan(found.imag))
    if lost.any():
        x, y, out = np.broadcast_arrays(logarithm, b, found)
        found = out.copy()
        found[lost] = _infinite_product(x[lost], y[lost])
    return as_array(np.exp(found))


def _infinite_product(a: Array, b: Array) -> Array:
    """Products whose parts both came out as NaN: infinite if a factor is, whatever the other holds.

    So C says in its annex G: an infinity counts as 1 with its sign then, anything beside as 0.
    """
    endless = [np.isinf(each.real) | np.isinf(each.imag) for each in (a, b)]
    parts = []
    for each, is_endless in zip((a, b), endless, strict=True):
        for part in (each.real, each.imag):
            direction = np.copysign(np.isinf(part).astype(part.dtype), part)
            finite = np.where(np.isnan(part), np.copysign(0, part), part)
            parts.append(np.where(is_endless, direction, finite))
    a_real, a_imag, b_real, b_imag = parts
    made = np.empty(a.shape, a.dtype)
    made.real = np.inf * (a_real * b_real - a_imag * b_imag)
    made.imag = np.inf * (a_real * b_imag + a_imag * b_real)
    return np.where(endless[0] | endless[1], made, complex(np.nan, np.nan))


@operator(
    "aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    autocast_in_graphs="full",
    formula=formula("power", 0, 1),
)
def pow_tensors(self: Array, exponent: Array) -> Array:
    return binary(_power, self, exponent)


@operator(
    "aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    autocast_in_graphs="full",
    formula=_OF_POWERS,
)
def pow_number(self: Array, exponent: Scalar) -> Array:
    if exponent in (0, 1):
        base = cast(self, common_dtype_with(self, exponent))
        return np.ones_like(base) if exponent == 0 else base.copy("K")
    if isinstance(exponent, int) and self.dtype.kind in "biu" and exponent < 0:
        raise OperatorError(
            "Integers to negative integer powers are not allowed.",
            code="dtype-mismatch",
            headline="a tensor of whole numbers cannot be raised to a negative whole power",
            roles={"exponent": f"is {exponent}"},
        )
    dtype = common_dtype_with(self, exponent)
    if self.dtype is not _FLOAT32:
        _refuse_pow(dtype)
    value = (operand if dtype is _FLOAT32 else checked_operand)(exponent, dtype)
    if exponent == 2 and kind(self.dtype) >= (1 if isinstance(exponent, int) else 2):
        return mul(self, self)
    if self.dtype.kind in "fc" and self.itemsize >= 4:
        if exponent == 0.5:
            return as_array(np.sqrt(self))
        if exponent == 3:
            return as_array(self * self * self)
    if self.dtype.name == "bfloat16" and exponent in _ROOTS:
        found = by_formula(_ROOTS[exponent], self)
        wide = pow_number(self.astype(_FLOAT32), exponent) if found is None else found
        return wide.astype(self.dtype, copy=False)
    if kind(self.dtype) == 2 and self.itemsize >= 4:
        if exponent == -0.5:
            return as_array(np.reciprocal(np.sqrt(self)))
        if exponent == -1:
            return as_array(np.reciprocal(self))
        return _raised(cast(self, dtype), asarray(value))
    return as_array(_power(cast(self, dtype), value))


@operator(
    "aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
    autocast_in_graphs="full",
    layout="C",
    formula=formula("power", 0, 1),
)
def number_pow(self: Scalar, exponent: Array) -> Array:
    dtype = common_dtype_with(exponent, self)
    if self == 1 and not isinstance(self, bool):
        return np.ones(exponent.shape, dtype)
    return as_array(_power(number_as(self, dtype), cast(exponent, dtype)))
