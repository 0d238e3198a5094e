"""Products of matrices that come in groups of rows, columns or inner dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np

from ..memory.dtype import Array, dtype_of, numpy_dtype
from ..memory.errors import OperatorError
from ..table.pointwise import cast
from ..table.refusals import cpp_name
from ..table.table import operator
from .linalg import bmm, mm

__all__ = ["grouped_mm"]

_TAKEN: Final = ("float32", "bfloat16", "float16")


@operator(
    "aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, "
    "ScalarType? out_dtype=None) -> Tensor",
    cost="product",
    out="",
)
def grouped_mm(
    self: Array, mat2: Array, offs: Array | None, bias: Array | None, out_dtype: int | None
) -> Array:
    """Each group's product.  A matrix without a dimension for groups is cut where they end.

    (g, m, k) by (g, k, n) and (m, k) by (k, n), cut along k, give (g, m, n); (m, k) by (g, k, n),
    cut along m, and (g, m, k) by (k, n), cut along n, give (m, n), with zeros past the last group.
    """
    _check(self, mat2, offs, bias)
    wanted = self.dtype if out_dtype is None else numpy_dtype(out_dtype)
    if offs is None:
        return cast(bmm(self, mat2), wanted)
    shape: tuple[int, ...] = (self.shape[-2], mat2.shape[-1])
    if self.ndim == mat2.ndim:
        shape = (len(offs), *shape)
    made = np.zeros(shape, wanted)
    for place, left, right in _groups(made, self, mat2, offs):
        if place.size and left.shape[1]:
            place[...] = cast(mm(left, right), wanted)
    return made


def _groups(
    made: Array, self: Array, mat2: Array, offs: Array
) -> Iterator[tuple[Array, Array, Array]]:
    """Each group's place in the result, and its two matrices."""
    for group, (first, last) in enumerate(pairwise([0, *np.maximum(offs, 0).tolist()])):
        if self.ndim == mat2.ndim:
            yield made[group], self[:, first:last], mat2[first:last]
        elif self.ndim == 2:
            yield made[first:last], self[first:last], mat2[group]
        else:
            yield made[:, first:last], self[group], mat2[:, first:last]


def _check(self: Array, mat2: Array, offs: Array | None, bias: Array | None) -> None:
    """What the operator takes.

    Raises:
        OperatorError: it does not.
    """
    one, other = dtype_of(self), dtype_of(mat2)
    for name, matrix, dtype in (("mat_a", self, one), ("mat_b", mat2, other)):
        if dtype.name not in _TAKEN:
            raise OperatorError(
                f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got "
                f"{dtype.scalar_name}",
                code="dtype-mismatch",
            )
        if matrix.ndim not in (2, 3):
            raise OperatorError(f"{name} has to be 2 or 3d", code="shape-mismatch")
    if self.shape[-1] != mat2.shape[-2]:
        raise OperatorError(
            "contraction dimension of mat_a and mat_b must match", code="shape-mismatch"
        )
    if self.dtype != mat2.dtype:
        names = f"{cpp_name(one)} != {cpp_name(other)}"
        raise OperatorError(
            f"expected m1 and m2 to have the same dtype, but got: {names}", code="dtype-mismatch"
        )
    if bias is not None:
        raise OperatorError("Bias not supported yet")
    if (offs is None) != (self.ndim == mat2.ndim == 3):
        raise OperatorError(
            "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d"
        )
    if offs is not None:
        _check_ends(self, mat2, offs)


def _check_ends(self: Array, mat2: Array, offs: Array) -> None:
    """That the groups' ends are whole numbers, one a group of what has a dimension for groups.

    Raises:
        OperatorError: they are not.
    """
    if offs.ndim != 1:
        raise OperatorError("offs has to be 1D", code="shape-mismatch")
    if offs.dtype != np.int32:
        raise OperatorError("Offsets have to be int32", code="dtype-mismatch")
    if any(matrix.ndim == 3 and len(matrix) != len(offs) for matrix in (self, mat2)):
        raise OperatorError("matrix batch sizes have to match", code="shape-mismatch")
