"""Whether tensors as a whole are equal, or close to each other."""

from __future__ import annotations

import numpy as np

from ..kernels import LARGE, family
from ..memory.dtype import Array, dtype_of
from ..memory.errors import OperatorError
from ..memory.overlap import lies_as
from ..table.pointwise import as_array, checked_broadcast, exactly
from ..table.promotion import kind
from ..table.table import operator
from ..table.without_data import always
from .signs import absolute


@operator(
    "aten::equal(Tensor self, Tensor other) -> bool",
    autocast_in_graphs="widest",
    data_dependent=always,
)
def equal(self: Array, other: Array) -> bool:
    if self.dtype.kind in "biu" and (self is other or lies_as(self, other)):
        return True
    self, other = self[...], other[...]  # which no other thread can change
    if self.shape != other.shape:
        return False
    found = _where_equal(self, other)
    if self.size < LARGE:
        return b"\0" not in found.tobytes()  # sooner than NumPy counts few
    return bool(np.count_nonzero(found) == self.size)


def _where_equal(self: Array, other: Array) -> Array:
    """Which elements of tensors of one shape are equal."""
    is_large = self.size >= LARGE and self.dtype == other.dtype
    arrays = family("elementwise.arrays") if is_large else None
    letter = arrays.LETTERS[self.dtype] if arrays is not None else ""
    if arrays is None or not letter:
        return np.equal(self, other)
    found: Array = arrays.evaluate([("equal", letter, (0, 1))], "?", self, other)
    return found


@operator(
    "aten::isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, "
    "float atol=1e-08, bool equal_nan=False) -> Tensor",
    layout="P",
    out="",
)
def isclose(self: Array, other: Array, rtol: float, atol: float, equal_nan: bool) -> Array:
    if self.dtype != other.dtype:
        raise OperatorError(
            f"{dtype_of(self).scalar_name} did not match {dtype_of(other).scalar_name}",
            code="dtype-mismatch",
            headline=f"`self` is `{dtype_of(self)}` and `other` is `{dtype_of(other)}`",
        )
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise OperatorError(
                f"{name} must be greater than or equal to zero, but got {value:g}",
                headline=f"`{name}` is {value:g}, it must not be negative",
                roles={name: "must not be negative"},
            )
    checked_broadcast(self.shape, other.shape)
    close = np.equal(self, other)
    if equal_nan and kind(self.dtype) >= 2:
        close = close | (np.isnan(self) & np.isnan(other))
    if rtol == 0 and atol == 0:
        return as_array(close)
    if kind(self.dtype) < 2:
        self, other = self.astype(np.float64), other.astype(np.float64)
    difference = absolute(as_array(self - other))
    if self.dtype.kind == "c":
        allowed = absolute(as_array(rtol * other)) + atol
    else:
        share = np.abs(exactly(np.multiply, other, rtol, other.dtype))
        allowed = exactly(np.add, share, atol, other.dtype)
    near = np.isfinite(difference) & (difference <= allowed)
    return as_array(close | near)


@operator(
    "aten::allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, "
    "float atol=1e-08, bool equal_nan=False) -> bool",
    data_dependent=always,
)
def allclose(self: Array, other: Array, rtol: float, atol: float, equal_nan: bool) -> bool:
    return bool(isclose(self, other, rtol, atol, equal_nan).all())
