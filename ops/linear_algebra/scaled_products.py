"""Products of matrices of 8-bit floats that are multiplied by scales."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..memory.dtype import Array, dtype_of, numpy_dtype
from ..memory.errors import BadNumber, OperatorError
from ..memory.storage import strides_of
from ..table.pointwise import cast
from ..table.table import operator
from .linalg import mm

__all__ = ["scaled_mm"]

_TAKEN: Final = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")


@operator(
    "aten::_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, "
    "Tensor? bias=None, Tensor? scale_result=None, ScalarType? out_dtype=None, "
    "bool use_fast_accum=False) -> Tensor",
    cost="product",
    out="out",
)
def scaled_mm(
    self: Array,
    mat2: Array,
    scale_a: Array,
    scale_b: Array,
    bias: Array | None,
    scale_result: Array | None,
    out_dtype: int | None,
    use_fast_accum: bool,
) -> Array:
    """(m, k) by (k, n), in float32, times one scale of each, or one a row and one a column; only
    results of 8 bits are divided by theirs."""
    del use_fast_accum
    _check(self, mat2, scale_a, scale_b, bias)
    wanted = self.dtype if out_dtype is None else numpy_dtype(out_dtype)
    product: Array = mm(self.astype(np.float32), mat2.astype(np.float32))
    if scale_a.size == scale_b.size == 1:
        scale_a, scale_b = scale_a.reshape(()), scale_b.reshape(())
    made = product * scale_a * scale_b
    if bias is not None:
        made = made + bias.astype(np.float32)
    if scale_result is not None and wanted.itemsize == 1:
        made = made / scale_result
    return cast(made, wanted)


def _check(self: Array, mat2: Array, scale_a: Array, scale_b: Array, bias: Array | None) -> None:
    """What the operator takes.

    Raises:
        OperatorError: it does not.
        BadNumber: matrices or scales are of other dtypes, or there are too many scales.
    """
    for name, matrix in (("mat1", self), ("mat2", mat2)):
        if matrix.ndim != 2:
            raise OperatorError(f"{name} must be a matrix", code="shape-mismatch")
    (rows, inner), (other, columns) = self.shape, mat2.shape
    if inner != other:
        raise OperatorError(
            f"mat_a and mat_b shapes cannot be multiplied ({rows}x{inner} and {other}x{columns})",
            code="shape-mismatch",
        )
    one = scale_a.size == scale_b.size == 1
    each = (scale_a.shape, scale_b.shape) == ((rows, 1), (1, columns))
    each = each and scale_a.flags.c_contiguous and scale_b.flags.c_contiguous
    floats = scale_a.dtype == scale_b.dtype == np.float32
    taken = all(dtype_of(matrix).name in _TAKEN for matrix in (self, mat2))
    if not (floats and taken and (one or each)):
        raise BadNumber(
            "Invalid scaling configuration.\n"
            "- For TensorWise scaling, a and b should be float8, scales should be float and "
            "singletons.\n"
            "- For RowWise scaling, a and b should be float8, scales should be float, scale_a "
            f"should be ({rows}, 1) and scale_b should be (1, {columns}), and both should be "
            "contiguous.\n"
            f"Got {_told('a', self, scale_a)}, {_told('b', mat2, scale_b, ' and')}"
        )
    for name, scale in (("scale_a", scale_a), ("scale_b", scale_b)):
        if not one and strides_of(scale)[1] != 1:
            raise BadNumber(f"expected {name}.stride(1) to be 1, but got {strides_of(scale)[1]}")
    if bias is not None and bias.size != columns:
        raise OperatorError(f"Bias must be size {columns} but got {bias.size}")


def _told(name: str, matrix: Array, scale: Array, last: str = ",") -> str:
    """What a matrix and its scale are like."""
    kind, scalar = dtype_of(matrix).scalar_name, dtype_of(scale).scalar_name
    return (
        f"mat_{name}.dtype()={kind}, scale_{name}.dtype()={scalar}, "
        f"scale_{name}.size()={list(scale.shape)}{last} "
        f"scale_{name}.stride()={list(strides_of(scale))}"
    )
