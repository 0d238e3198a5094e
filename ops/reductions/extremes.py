"""The largest and smallest elements, and where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final

import numpy as np

from ..kernels import LARGE, family, in_order, is_half, is_whole
from ..memory.dims import wrap_dim, wrap_dims
from ..memory.dtype import Array
from ..memory.errors import IndexOutOfRange, OperatorError
from ..table.inline import native
from ..table.out_dtypes import CAN_CAST, SAME, OutDtype
from ..table.pointwise import as_array
from ..table.promotion import kind
from ..table.refusals import check_kernel, check_ordered
from ..table.table import operator
from .folding import folded

__all__ = ["aminmax", "check_dim_not_empty"]

Dims = Sequence[int] | None
Kernel = Callable[..., Array]
ndarray: Final = np.ndarray
asarray: Final = np.asarray
_INT64: Final = np.dtype(np.int64)
_FLOAT32: Final = np.dtype(np.float32)


def _check_not_empty(self: Array, name: str) -> None:
    if not self.size:
        raise OperatorError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument.",
            headline=f"`{name}` of a tensor without elements",
        )


def check_dim_not_empty(self: Array, dim: int, name: str) -> int:
    axis = wrap_dim(dim, self.ndim)
    if self.ndim and not self.shape[axis]:
        raise IndexOutOfRange(
            f"{name}{'' if name == 'aminmax' else '()'}: Expected reduction dim {axis} to have "
            "non-zero size.",
            headline=f"`{name}` over dimension {axis}, which has no elements",
        )
    return axis


def _is_folded(self: Array) -> bool:
    """Whether native code may find its extremes: of floats and whole numbers."""
    return self.dtype is _FLOAT32 or self.dtype.kind in "iu" or kind(self.dtype) == 2


def _declare_of_all(
    name: str, choose: Callable[..., Array], position: Callable[..., Array]
) -> None:
    """Declare max or min of all elements."""

    def of_all(self: Array) -> Array:
        if self.size and _is_folded(self):
            found = folded(self, None, False, name)
            if found is not None:
                return found
        if self.dtype is _FLOAT32 and self.size:
            flat = self.reshape(-1)
            return asarray(flat[position(flat)])
        _check_not_empty(self, name)
        check_kernel(f"{name}_all", self, "uqce")
        return as_array(choose(self, None))

    operator(
        f"aten::{name}(Tensor self) -> Tensor",
        on_slices="dims",
        native=native(f'small_extreme(known("{name}"), {{0}})', gives="made"),
        prepared=True,
        out="unary_out",
        unchosen="unary_out",
        out_dtype=CAN_CAST,
        out_overlap="apart",
    )(of_all)


def _declare_along(name: str, position: Callable[..., Array]) -> None:
    """Declare max or min along a dimension, with positions."""

    def along(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
        if self.dtype is not _FLOAT32:
            check_ordered(f"{name}():", self, "c", "input")
            check_kernel(f"{name}_cpu", self, "ue")
        axis = check_dim_not_empty(self, dim, name)
        if not self.ndim:
            return self.copy(), np.zeros((), _INT64)
        native = _first_extreme(self, axis, keepdim, name)
        if native is not None:
            return native
        if self.ndim == 1 and not keepdim:
            found = position(self)
            return asarray(self[found]), asarray(found)
        if self.ndim == 2 and not keepdim:
            found = position(self, axis)
            if axis and self.flags.c_contiguous:
                starts = np.arange(0, self.size, self.shape[1])
                return self.reshape(-1).take(starts + found), found
            line = np.arange(found.size)
            return (self[line, found] if axis else self[found, line]), found
        where = np.expand_dims(asarray(position(self, axis)), axis)
        values = np.take_along_axis(self, where, axis)
        return (values, where) if keepdim else (values.squeeze(axis), where.squeeze(axis))

    operator(
        f"aten::{name}.dim(Tensor self, int dim, bool keepdim=False) "
        "-> (Tensor values, Tensor indices)",
        native=native(
            f'small_extreme_along(known("{name}"), {{0}}, {{1}})', at={2: "False"}, gives="made"
        ),
        prepared=True,
        order=f"other - dim dim_{name} unary_out out",
        out=f"dim_{name} {name} {'max_values' if name == 'max' else 'min_indices'}",
        out_dtype=SAME,
        out_overlap="apart",
    )(along)


def _declare_over(name: str, choose: Callable[..., Array]) -> None:
    """Declare amax or amin, over several dimensions."""

    def over(self: Array, dim: Dims, keepdim: bool) -> Array:
        if self.dtype is not _FLOAT32:
            check_kernel(f"{name}_values_cpu", self, "uqce")
        axes = wrap_dims(dim, self.ndim)
        if not dim:
            _check_not_empty(self, f"a{name}")
        for axis in axes:
            check_dim_not_empty(self, axis, f"a{name}")
        found = folded(self, axes, keepdim, name)
        if found is not None:
            return found
        return as_array(choose(self, axes, None, None, keepdim))

    operator(
        f"aten::a{name}(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
        on_slices="folds",
        row_fold=name,
        prepared=True,
        out_dtype=OutDtype(
            "same",
            "Expected the dtype for input and out to match, but got {result} for input's dtype "
            "and {out} for out's dtype.",
        ),
        layout="C",
        out_overlap="read-first",
    )(over)


def _declare(name: str, choose: Callable[..., Array], position: Callable[..., Array]) -> None:
    _declare_of_all(name, choose, position)
    _declare_along(name, position)
    _declare_over(name, choose)


_declare("max", np.maximum.reduce, ndarray.argmax)
_declare("min", np.minimum.reduce, ndarray.argmin)


@operator(
    "aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    prepared=True,
    layout="CC",
    out_dtype=SAME,
)
def aminmax(self: Array, dim: int | None, keepdim: bool) -> tuple[Array, Array]:
    check_kernel("aminmax_cpu", self)
    axis = None if dim is None else check_dim_not_empty(self, dim, "aminmax")
    if axis is None and not self.size:
        raise OperatorError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
            "identity."
        )
    axis = axis if self.ndim else None
    if self.size and _is_folded(self):
        axes = None if axis is None else (axis,)
        ends = [folded(self, axes, keepdim, name) for name in ("min", "max")]
        if ends[0] is not None and ends[1] is not None:
            return ends[0], ends[1]
    low, high = np.min(self, axis, keepdims=keepdim), np.max(self, axis, keepdims=keepdim)
    return as_array(low), as_array(high)


def _first_extreme(
    self: Array, axis: int, keepdim: bool, operation: str
) -> tuple[Array, Array] | None:
    """The extreme along a dimension and its place by native code; None if that is no work for it:
    long rows in one piece NumPy does as well."""
    self = self[...]  # which no other thread can change
    is_last = prod(self.shape[axis + 1 :]) <= 1
    is_work = self.size < LARGE or not is_last or is_half(self.dtype) or not is_whole(self)
    if is_work:
        self = in_order(self)
    ranks = family("ordering.ranks") if is_work and is_whole(self) else None
    found: tuple[Array, Array] | None = None
    if ranks is not None:
        found = ranks.extreme(self, axis, operation)
    if found is None or not keepdim:
        return found
    shape = (*self.shape[:axis], 1, *self.shape[axis + 1 :])
    return found[0].reshape(shape), found[1].reshape(shape)


def _position(name: str, choose: Callable[..., Array]) -> Kernel:
    def position(self: Array, dim: int | None, keepdim: bool) -> Array:
        if self.dtype is not _FLOAT32:
            check_ordered(f"{name}():", self, "bc", "input")
        if dim is None:
            if not self.size:
                raise IndexOutOfRange(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
                )
            flat = in_order(self).reshape(-1)  # copied where calls that are learned see it
            native = _first_extreme(flat, 0, False, name.removeprefix("arg"))
            where = asarray(choose(self)) if native is None else native[1]
            return where.reshape((1,) * self.ndim) if keepdim else where
        axis = check_dim_not_empty(self, dim, name)
        if not self.ndim:
            return np.zeros((), _INT64)
        native = _first_extreme(self, axis, keepdim, name.removeprefix("arg"))
        if native is not None:
            return native[1]
        return asarray(choose(self, axis, keepdims=True) if keepdim else choose(self, axis))

    return position


operator(
    "aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
    native=native('small_position(known("max"), {0})', at={1: "None", 2: "False"}, gives="made"),
    prepared=True,
    out_dtype=SAME,
    out_overlap="read-first",
    on_slices="dims",
)(_position("argmax", ndarray.argmax))
operator(
    "aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
    native=native('small_position(known("min"), {0})', at={1: "None", 2: "False"}, gives="made"),
    prepared=True,
    out_dtype=SAME,
    out_overlap="read-first",
    on_slices="dims",
)(_position("argmin", ndarray.argmin))
