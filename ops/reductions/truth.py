"""Whether all elements hold, or any, and how many are not zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..memory.dims import wrap_dim, wrap_dims
from ..memory.dtype import Array
from ..table.out_dtypes import OutDtype
from ..table.table import operator

__all__: list[str] = []

Dims = Sequence[int] | None
asarray: Final = np.asarray
_INT64: Final = np.dtype(np.int64)
_BOOL: Final = np.dtype(np.bool_)
_OUT_OF_ALL: Final = OutDtype("same", "{name} only supports bool tensor for result, got: {out}")


def _truth(name: str, choose: Any) -> None:
    def result(self: Array, value: object) -> Array:
        if self.dtype is _BOOL:
            return asarray(value)
        return asarray(value).astype(np.uint8 if self.dtype == np.uint8 else np.bool_)

    def of_all(self: Array) -> Array:
        if self.dtype is _BOOL:
            count = np.count_nonzero(self)
            return asarray(count > 0 if name == "any" else count == self.size)
        return result(self, choose(self, None))

    def along(self: Array, dim: int, keepdim: bool) -> Array:
        axis = wrap_dim(dim, self.ndim)
        return result(self, choose(self, axis if self.ndim else None, keepdims=keepdim))

    def over(self: Array, dim: Dims, keepdim: bool) -> Array:
        axes = wrap_dims(dim, self.ndim)
        if dim is not None and not dim:
            return result(self, self.astype(np.bool_))
        return result(self, choose(self, axes, keepdims=keepdim))

    operator(
        f"aten::{name}(Tensor self) -> Tensor",
        out="all_out",
        out_dtype=_OUT_OF_ALL,
        out_overlap="read-first",
    )(of_all)
    operator(
        f"aten::{name}.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
        layout="C",
        out="out",
        out_dtype=_OUT_OF_ALL,
        out_overlap="read-first",
    )(along)
    operator(
        f"aten::{name}.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
        layout="C",
        out_dtype=_OUT_OF_ALL,
        out_overlap="read-first",
    )(over)


_truth("all", np.all)
_truth("any", np.any)


@operator(
    "aten::count_nonzero(Tensor self, int? dim=None) -> Tensor",
    order="dim_IntList_out out",
    layout="C",
)
def count_nonzero(self: Array, dim: int | None) -> Array:
    axis = None if dim is None else wrap_dim(dim, self.ndim)
    return asarray(np.count_nonzero(self, axis if self.ndim else None), _INT64)


@operator("aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", layout="C")
def count_nonzero_over(self: Array, dim: Sequence[int]) -> Array:
    return asarray(np.count_nonzero(self, wrap_dims(dim, self.ndim)), _INT64)
