"""Products of matrices that come in groups of rows or columns, and words of `grid_sample`."""

from collections.abc import Callable
from typing import Final

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DType
from ...ops.tensors.tensor import Tensor

__all__ = ["GRID_SAMPLE_INTERPOLATION_MODES", "GRID_SAMPLE_PADDING_MODES", "grouped_mm"]

GRID_SAMPLE_INTERPOLATION_MODES: Final = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES: Final = {"zeros": 0, "border": 1, "reflection": 2}
_grouped_mm: Callable[..., Tensor] = eager_function("aten::_grouped_mm")


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
        mat_a: (groups, m, k), or (m, k) whose rows, or columns, are cut at `offs`; float32,
            float16 or bfloat16.
        mat_b: (groups, k, n), or (k, n) whose columns, or rows, are cut at `offs`.
        offs: where each group ends, int32; needed where a matrix is cut.
        bias: must be None.
        out_dtype: of the result.

    Returns:
        (groups, m, n), or (m, n) where rows or columns are cut, with zeros past the last group.

    Raises:
        RuntimeError: no two or three dimensions, sizes or dtypes that do not fit, `offs` is
            missing or there is a bias.
    """
    return _grouped_mm(mat_a, mat_b, offs, bias, out_dtype)
