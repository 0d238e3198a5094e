"""Whether all elements hold, or any, and how many are not zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ..arithmetic.chosen import truths
from ..kernels import LARGE, Prepared, family
from ..memory.dims import wrap_dim, wrap_dims
from ..memory.dtype import Array
from ..table.out_dtypes import OutDtype
from ..table.table import operator
from .folding import folded

Dims = Sequence[int] | None
asarray: Final = np.asarray
_INT64: Final = np.dtype(np.int64)
_BOOL: Final = np.dtype(np.bool_)
_OUT_OF_ALL: Final = OutDtype("same", "{name} only supports bool tensor for result, got: {out}")


def _natively(
    self: Array, axes: tuple[int, ...] | None, keepdim: bool, *, of_any: bool
) -> Array | None:
    """Whether any element holds, or all do, by native code so that it is learned; None where there
    is none, nothing to look at, or too much."""
    if self.dtype == np.uint8 or not 0 < self.size < LARGE or not self.ndim:
        return None
    return _known.call(self, axes, keepdim, of_any)  # type: ignore[no-any-return]


def _counted(
    self: Array, axes: tuple[int, ...] | None, keepdim: bool, of_any: bool
) -> Array | None:
    """The same by counts of those that hold, or do not."""
    arrays = family("elementwise.arrays")
    letter = "" if arrays is None else arrays.LETTERS[self.dtype]
    if letter not in _COUNTED:
        return None
    step, own = ("same", "?") if of_any else ("is_zero", letter)
    ones = arrays.evaluate([(step, own, (0,)), ("same", "f", (1,))], "f", self)
    counts = folded(ones, axes, keepdim, "sum")
    if counts is None:
        return None
    last = ("same", "?") if of_any else ("is_zero", "f")
    return arrays.evaluate([(*last, (0,))], "?", counts)  # type: ignore[no-any-return]


_COUNTED: Final = frozenset("fdeEbhil?")
_known: Final = Prepared(_counted)


def _truth(name: str, choose: Callable[..., object]) -> None:
    def chosen(self: Array, axes: tuple[int, ...] | None, keepdim: bool) -> Array:
        native = _natively(self, axes, keepdim, of_any=name == "any")
        if native is not None:
            return native
        self = truths(self)
        value = asarray(choose(self, axes, keepdims=keepdim))
        if self.dtype is _BOOL:
            return value
        return value.astype(np.uint8 if self.dtype == np.uint8 else np.bool_)

    def of_all(self: Array) -> Array:
        return chosen(self, None, False)

    def along(self: Array, dim: int, keepdim: bool) -> Array:
        axis = wrap_dim(dim, self.ndim)
        return chosen(self, (axis,) if self.ndim else None, keepdim)

    def over(self: Array, dim: Dims, keepdim: bool) -> Array:
        axes = wrap_dims(dim, self.ndim)
        if dim is not None and not dim:
            return self.astype(np.uint8 if self.dtype == np.uint8 else np.bool_)
        return chosen(self, axes, keepdim)

    operator(
        f"aten::{name}(Tensor self) -> Tensor",
        on_slices="folds",
        prepared=True,
        out="all_out",
        out_dtype=_OUT_OF_ALL,
        out_overlap="read-first",
    )(of_all)
    operator(
        f"aten::{name}.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
        prepared=True,
        layout="C",
        out="out",
        out_dtype=_OUT_OF_ALL,
        out_overlap="read-first",
    )(along)
    operator(
        f"aten::{name}.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
        prepared=True,
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
    on_slices="dims",
    prepared=True,
)
def count_nonzero(self: Array, dim: int | None) -> Array:
    axis = None if dim is None else wrap_dim(dim, self.ndim)
    return _count(self, (axis,) if axis is not None and self.ndim else None)


@operator(
    "aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", layout="C", prepared=True
)
def count_nonzero_over(self: Array, dim: Sequence[int]) -> Array:
    return _count(self, wrap_dims(dim, self.ndim))


def _count(self: Array, axes: tuple[int, ...] | None) -> Array:
    """How many elements are not zero, by native code where that is learned, or of some
    dimensions."""
    self = self[...]  # which no other thread can change
    if 0 < self.size < LARGE or (self.size and axes and len(axes) < self.ndim):
        found: Array | None = _known_counts.call(self, axes)
        if found is not None:
            return found
    return asarray(np.count_nonzero(truths(self), axes if self.ndim else None), _INT64)


def _counts(self: Array, axes: tuple[int, ...] | None) -> Array | None:
    arrays = family("elementwise.arrays")
    letter = "" if arrays is None else arrays.LETTERS[self.dtype]
    if not letter:
        return None
    return folded(arrays.evaluate([("same", "?", (0,))], "?", self), axes, False, "sum")


_known_counts: Final = Prepared(_counts)
