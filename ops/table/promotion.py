"""Which dtype an operator computes in.

Operands fall into three classes: tensors with dimensions, 0-d tensors, Python numbers.  A class
only counts against the one before it when it is of a higher kind (bool < int < float < complex);
within a class the usual lattice of dtypes decides.  A Python float counts as the default dtype.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

import numpy as np

from ..memory.dtype import DTYPES, Array, DType, Dtype, Scalar, default_dtype, of_numpy
from ..memory.errors import OperatorError, UnsupportedOperator

__all__ = [
    "can_cast",
    "common_dtype",
    "common_dtype_with",
    "number_dtype",
    "promote",
    "result_dtype",
]

_INT64: Final = np.dtype(np.int64)
_BOOL: Final = np.dtype(np.bool_)
_ORDER: Final = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


@cache
def kind(dtype: Dtype) -> int:
    """0 for bool, 1 for whole numbers, 2 for floats, 3 for complex."""
    order = _ORDER.get(of_numpy(dtype).kind)
    if order is None:
        raise UnsupportedOperator(
            "promoteTypes with quantized numbers is not handled yet; figure out what the "
            f"correct rules should be, offending types: {of_numpy(dtype).scalar_name}",
            headline="a quantized tensor is no argument of this operator: dequantize it first",
        )
    return order


@cache
def promote(a: Dtype, b: Dtype) -> Dtype:
    """The smallest dtype of the lattice above both.

    Raises:
        OperatorError: there is none, as for float8 with another float.
    """
    return _promote(of_numpy(a), of_numpy(b)).numpy


def _promote(a: DType, b: DType) -> DType:
    if a is b:
        return a
    for x, y in ((a, b), (b, a)):
        if x.name.startswith("float8"):
            raise _no_promotion("Float8 Types", a, b)
        if x.name in ("uint16", "uint32", "uint64"):
            if y.is_floating_point:
                return y
            raise _no_promotion("uint16, uint32, uint64 types", a, b)
    if a.is_complex or b.is_complex:
        parts = [t.to_real() for t in (a, b) if t.kind in "fc"]
        part = _promote(parts[0], parts[-1])
        return part.complex_form
    if a.is_floating_point and b.is_floating_point:
        if a.itemsize == b.itemsize:
            return DTYPES["float32"]
        return a if a.itemsize > b.itemsize else b
    if a.is_floating_point or b.is_floating_point:
        return a if a.is_floating_point else b
    if "q" in (a.kind, b.kind):
        raise OperatorError(
            "promoteTypes with quantized numbers is not handled yet; figure out what the correct "
            f"rules should be, offending types: {a.scalar_name} {b.scalar_name}",
            code="dtype-mismatch",
            headline=f"`{a}` and `{b}` have no common dtype",
        )
    return of_numpy(np.promote_types(a.numpy, b.numpy))


def _no_promotion(what: str, a: DType, b: DType) -> OperatorError:
    return OperatorError(
        f"Promotion for {what} is not supported, attempted to promote "
        f"{a.scalar_name} and {b.scalar_name}",
        code="dtype-mismatch",
        headline=f"`{a}` and `{b}` have no common dtype",
    )


def number_dtype(number: Scalar) -> Dtype:
    """The dtype a Python number counts as."""
    if isinstance(number, bool):
        return _BOOL
    if isinstance(number, int):
        return _INT64
    if isinstance(number, float):
        return default_dtype.float
    return default_dtype.complex


def _combine(higher: Dtype, lower: Dtype) -> Dtype:
    """The dtype of two classes of operands, the higher one first."""
    above, below = kind(higher), kind(lower)
    if above >= below and not (above == below == 0):
        return higher
    if above == 2 and below == 3:
        return of_numpy(higher).complex_form.numpy
    if below >= 2:
        return lower
    return promote(higher, lower)


def common_dtype(a: Array, b: Array) -> Dtype:
    """The dtype in which two tensors meet."""
    if a.dtype == b.dtype:
        return a.dtype
    if (a.ndim == 0) == (b.ndim == 0):
        return promote(a.dtype, b.dtype)
    return _combine(a.dtype, b.dtype) if a.ndim else _combine(b.dtype, a.dtype)


def common_dtype_with(a: Array, number: Scalar) -> Dtype:
    """The dtype in which a tensor and a Python number meet."""
    return _combine(a.dtype, number_dtype(number))


def result_dtype(operands: Iterable[Array | Scalar]) -> Dtype:
    """The dtype in which any number of tensors and Python numbers meet.

    Raises:
        OperatorError: there are no operands, or no such dtype.
    """
    classes: list[Dtype | None] = [None, None, None]
    for operand in operands:
        if isinstance(operand, np.ndarray):
            rank, dtype = (0 if operand.ndim else 1), operand.dtype
        else:
            rank, dtype = 2, number_dtype(operand)
        known = classes[rank]
        classes[rank] = dtype if known is None else promote(known, dtype)
    result: Dtype | None = None
    for dtype_of_class in reversed(classes):
        if dtype_of_class is not None:
            result = dtype_of_class if result is None else _combine(dtype_of_class, result)
    if result is None:
        raise OperatorError("result_type needs at least one operand")
    return result


def can_cast(source: Dtype, target: Dtype) -> bool:
    """Whether a result may be written into a tensor of `target`: never to a lower kind."""
    above, below = kind(source), kind(target)
    return above <= below or (above == 1 and below == 1)
