"""Products of matrices that come in groups of rows or columns, and words of `grid_sample`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DType
from ...ops.tensors.tensor import Tensor

__all__ = ["GRID_SAMPLE_INTERPOLATION_MODES", "GRID_SAMPLE_PADDING_MODES", "grouped_mm"]

GRID_SAMPLE_INTERPOLATION_MODES: Final = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES: Final = {"zeros": 0, "border": 1, "reflection": 2}
_cat: Callable[..., Tensor] = eager_function("aten::cat")
_stack: Callable[..., Tensor] = eager_function("aten::stack")


def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: DType | None = None,
) -> Tensor:
    """Products of matrices, a group each.

    Args:
        mat_a: (groups, m, k), or (m, k) whose rows, or columns, are cut at `offs`.
        mat_b: (groups, k, n), or (k, n) whose columns, or rows, are cut at `offs`.
        offs: where each group ends, int32; needed where a matrix is cut.
        bias: must be None.
        out_dtype: of the result.

    Returns:
        (groups, m, n), or (m, n) where rows or columns are cut.

    Raises:
        RuntimeError: no two or three dimensions, `offs` is missing or there is a bias.
    """
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if not {mat_a.ndim, mat_b.ndim} <= {2, 3}:
        raise RuntimeError(f"mat_a has to be 2 or 3d, got {mat_a.ndim} and {mat_b.ndim} dimensions")
    if (offs is None) != (mat_a.ndim == mat_b.ndim == 3):
        raise RuntimeError(
            "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d"
        )
    made = mat_a @ mat_b if offs is None else _cut(mat_a, mat_b, offs)
    return made if out_dtype is None else made.to(out_dtype)


def _cut(a: Tensor, b: Tensor, offs: Tensor) -> Tensor:
    """The product where one operand or both have no dimension for the groups."""
    pieces = list(pairwise([0, *offs.tolist()]))
    if a.ndim == b.ndim == 2:
        return _stack([a[:, first:last] @ b[first:last] for first, last in pieces])
    if a.ndim == 2:
        return _cat([a[first:last] @ b[group] for group, (first, last) in enumerate(pieces)])
    parts = [a[group] @ b[:, first:last] for group, (first, last) in enumerate(pieces)]
    return _cat(parts, 1)
