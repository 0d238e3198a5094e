"""Maxima and minima so far along a dimension, and where they are."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels import cast_by_kernel, family, in_order, is_whole
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, Dtype
from ..table.out_dtypes import SPELLED_APART
from ..table.refusals import check_kernel
from ..table.table import operator
from ..table.without_data import rows_of
from .sorting import is_nan, sortable

_INT64: Final = np.dtype(np.int64)


def _widened(self: Array) -> Array:
    """Whole numbers and bools as int64, others as they are."""
    is_narrow = self.dtype.kind in "biu" and self.dtype is not _INT64
    return cast_by_kernel(self, _INT64, of_any_size=True) if is_narrow else self


def _narrowed(self: Array, dtype: Dtype) -> Array:
    """The reverse."""
    return self if self.dtype is dtype else cast_by_kernel(self, dtype, of_any_size=True)


def _running_extreme(name: str, extreme: np.ufunc, as_good: np.ufunc) -> None:
    def running(self: Array, dim: int) -> tuple[Array, Array]:
        self = self[...]  # which no other thread can change
        check_kernel(f"{name}_cpu", self)
        axis = wrap_dim(dim, self.ndim)
        if not self.ndim:
            return self.copy(), np.zeros((), _INT64)
        scans, whole = family("rows.scans"), in_order(self)
        if scans is not None and is_whole(whole):
            found = scans.running_extreme(_widened(whole), axis, name[3:])
            if found is not None:
                values, where = found
                return _narrowed(values, self.dtype), where
        moved = np.moveaxis(sortable(self), axis, -1)
        values = extreme.accumulate(moved, -1)
        places = np.zeros(moved.shape, _INT64)
        places[..., :] = np.arange(moved.shape[-1])
        taken = as_good(moved[..., 1:], values[..., :-1]) | is_nan(moved[..., 1:])
        places[..., 1:][~taken] = 0
        where = np.maximum.accumulate(places, -1)
        result = np.moveaxis(values, -1, axis).astype(self.dtype, copy=False)
        return np.ascontiguousarray(result), np.ascontiguousarray(np.moveaxis(where, -1, axis))

    operator(
        f"aten::{name}(Tensor self, int dim) -> (Tensor values, Tensor indices)",
        on_slices="dims",
        prepared=True,
        out_dtype=SPELLED_APART,
        out_overlap="read-first",
        rows=rows_of("self"),
    )(running)


_running_extreme("cummax", np.maximum, np.greater_equal)
_running_extreme("cummin", np.minimum, np.less_equal)
