"""Tensors by their strides: any view of a storage, tensors of given strides, changes in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final

import numpy as np

from ..arithmetic.convert import in_format
from ..memory.counts import check_count, check_strides
from ..memory.determinism import unfilled
from ..memory.dtype import Array, Device, Dtype, dtype_of, numpy_dtype
from ..memory.errors import OperatorError
from ..memory.growing import grown
from ..memory.metadata import become
from ..memory.overlap import overlaps_itself
from ..memory.storage import (
    contiguous_strides,
    memory_of,
    reach,
    storage_of,
    strides_of,
    view_of,
)
from ..memory.versions import unwritten
from ..shapes import shape as views
from ..shapes.creation import OPTIONS, check_sizes, float_dtype
from ..table.layouts import contiguous
from ..table.out_dtypes import SAME
from ..table.refusals import cpp_name
from ..table.table import operator
from .copying import copy_into

__all__ = ["copy_with_storage", "elements_of"]

Sizes = Sequence[int]
_BYTES: Final = np.dtype(np.uint8)
_MOST: Final = 2**63 - 1


# --------------------------------------------------------------------------- views of a storage


def elements_of(array: Array, dtype: Dtype) -> Array:
    """The storage of an array as a vector of elements of a dtype."""
    memory = memory_of(array)
    return view_of(memory, (memory.size // dtype.itemsize,), (dtype.itemsize,), 0, dtype)


def _check_strides(size: Sizes, stride: Sizes) -> None:
    if len(size) != len(stride):
        raise OperatorError("mismatch in length of strides and shape", code="shape-mismatch")
    if any(step < 0 for step in stride):
        raise OperatorError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(stride)}"
        )


def _check_size(
    size: Sizes, stride: Sizes, offset: int, width: int, contiguous: bool = False
) -> int:
    """The bytes of a storage that a tensor of these sizes and strides needs.

    Raises:
        OperatorError: there is no such tensor, or its bytes cannot be counted.
    """
    if len(size) != len(stride):
        raise OperatorError(
            f"unequal size length ({len(size)}) and stride length ({len(stride)})",
            code="shape-mismatch",
        )
    if offset < 0:
        raise OperatorError(f"Tensor: invalid storage offset {offset}")
    if min(size, default=0) < 0 or prod(size) > _MOST:
        raise OperatorError("numel: integer multiplication overflow", code="shape-mismatch")
    if 0 in size:
        return 0
    needed = (reach(size, stride) + offset) * width
    if needed > _MOST or min(stride, default=0) < 0:
        raise OperatorError(
            f"Storage size calculation overflowed with sizes={list(size)}"
            + ("" if contiguous else f" and strides={list(stride)}"),
            code="shape-mismatch",
        )
    return needed


def _view_of_bytes(memory: Array, dtype: Dtype, size: Sizes, stride: Sizes, offset: int) -> Array:
    width = dtype.itemsize
    needed = _check_size(size, stride, offset, width)
    if needed > memory.size:
        raise OperatorError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
            f"itemsize {width} requiring a storage size of {needed} are out of bounds for storage "
            f"of size {memory.size}",
            code="shape-mismatch",
            headline=f"sizes {list(size)} with strides {list(stride)} leave the memory",
        )
    return view_of(memory, size, [step * width for step in stride], offset * width, dtype)


@operator(
    "aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, "
    "SymInt? storage_offset=None) -> Tensor(a)"
)
def as_strided(self: Array, size: Sizes, stride: Sizes, storage_offset: int | None) -> Array:
    _check_strides(size, stride)
    offset = storage_of(self)[1] if storage_offset is None else storage_offset
    return _view_of_bytes(memory_of(self), self.dtype, size, stride, offset)


@operator(
    "aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)",
    face="operator",
)
def reshape_alias(self: Array, size: Sizes, stride: Sizes) -> Array:
    return as_strided(self, size, stride, None)


@operator(
    "aten::as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, "
    "SymInt? storage_offset=None) -> Tensor",
    face="function",
    out_dtype=SAME,
)
def as_strided_copy(self: Array, size: Sizes, stride: Sizes, storage_offset: int | None) -> Array:
    return as_strided(self, size, stride, storage_offset).copy()


def copy_with_storage(array: Array) -> Array:
    """A copy of the whole storage, and in it the tensor at its place.

    A tensor that overlaps itself is copied alone and becomes contiguous.
    """
    _, offset, size = storage_of(array)
    if overlaps_itself(array) or (array.flags.c_contiguous and size == array.size):
        return array.copy()
    memory = memory_of(array).copy()
    return _view_of_bytes(memory, array.dtype, array.shape, strides_of(array), offset)


@operator(
    "aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, "
    "SymInt? storage_offset=None) -> Tensor",
    on_slices="refused",
)
def as_strided_scatter(
    self: Array, src: Array, size: Sizes, stride: Sizes, storage_offset: int | None
) -> Array:
    _check_strides(size, stride)
    result = copy_with_storage(self)
    offset = storage_of(result)[1] if storage_offset is None else storage_offset
    part = _view_of_bytes(memory_of(result), self.dtype, size, stride, offset)
    if src.shape != part.shape:
        raise OperatorError(
            f"expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(part.shape)}",
            code="shape-mismatch",
        )
    copy_into(part, src)
    return result


# --------------------------------------------------------------------------- new tensors


@operator(
    f"aten::empty_strided(SymInt[] size, SymInt[] stride, {OPTIONS}) -> Tensor", undefined=True
)
def empty_strided(
    size: Sizes,
    stride: Sizes,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Array:
    return _empty(size, stride, float_dtype(dtype))


def _empty(size: Sizes, stride: Sizes, dtype: Dtype) -> Array:
    if min(size, default=0) >= 0:
        check_count(size)
    check_sizes(size, "empty_strided")
    if len(size) != len(stride):
        raise OperatorError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides "
            f"({len(stride)})",
            code="shape-mismatch",
        )
    memory = np.zeros(_check_size(size, stride, 0, dtype.itemsize), _BYTES)
    unfilled(memory.view(dtype))
    return _view_of_bytes(memory, dtype, size, stride, 0)


@operator(
    f"aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, {OPTIONS}) -> Tensor",
    out="",
    face="method",
)
def new_empty_strided(
    self: Array,
    size: Sizes,
    stride: Sizes,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Array:
    return _empty(size, stride, self.dtype if dtype is None else numpy_dtype(dtype))


@operator(f"aten::empty_permuted(SymInt[] size, int[] physical_layout, {OPTIONS}) -> Tensor")
def empty_permuted(
    size: Sizes,
    physical_layout: Sizes,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Array:
    """An unfilled tensor whose dimensions lie in memory in the given order."""
    count = len(size)
    if len(physical_layout) != count:
        raise OperatorError(
            f"Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {count} is not equal to len(physical_layout) = {len(physical_layout)}"
        )
    for place, dim in enumerate(physical_layout):
        if not 0 <= dim < count:
            raise OperatorError(
                f"Dimension out of range (expected to be between 0 and {count - 1}, but got {dim} "
                f"at index {place}).  NB: negative dims not currently supported; file an issue if "
                "you want it."
            )
        if dim in physical_layout[:place]:
            raise OperatorError("Duplicate dim not allowed")
    made = contiguous(np.empty([size[dim] for dim in physical_layout], float_dtype(dtype)))
    return unfilled(made).transpose(np.argsort(physical_layout))


# --------------------------------------------------------------------------- views in place


def _in_place(view: Callable[..., Array]) -> Callable[..., Array]:
    """The in-place form of a view: the tensor itself becomes it."""

    def change(self: Array, *rest: object) -> Array:
        return become(self, view(self, *rest))

    return change


for _schema, _squeeze in (
    ("squeeze_(Tensor(a!) self) -> Tensor(a!)", views.squeeze),
    ("squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)", views.squeeze_dim),
    ("squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)", views.squeeze_dims),
    ("t_(Tensor(a!) self) -> Tensor(a!)", views.t),
):
    operator(f"aten::{_schema}", written="replaced", face="method")(_in_place(_squeeze))

for _schema, _view in (
    ("unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)", views.unsqueeze),
    ("transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", views.transpose),
    ("swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)", views.transpose),
    ("swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", views.transpose),
):
    operator(f"aten::{_schema}", written="replaced")(_in_place(_view))

operator(
    "aten::as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, "
    "SymInt? storage_offset=None) -> Tensor(a!)",
    written="replaced",
    face="both",
)(_in_place(as_strided))


# --------------------------------------------------------------------------- other memory


def resize_in_place(self: Array, size: Sizes, memory_format: int | None) -> Array:
    """Other sizes on the same memory, which is exchanged for larger one if it is too small."""
    if min(size, default=0) < 0:
        raise OperatorError("numel: integer multiplication overflow", code="shape-mismatch")
    if memory_format == 1:
        raise OperatorError("Unsupported memory formatPreserve")
    if memory_format is None and self.shape == tuple(size):
        return self
    check_strides([*size])
    stride: Sizes = contiguous_strides(tuple(size))
    if memory_format:
        stride = strides_of(in_format(np.empty(size, self.dtype), memory_format))
    _, offset, _ = storage_of(self)
    before = memory_of(self).size
    needed = _check_size(size, stride, offset, self.itemsize, contiguous=not memory_format)
    memory = grown(self, needed) if needed > before else memory_of(self)
    more = memory[before:]
    unfilled(more[: more.size // self.itemsize * self.itemsize].view(self.dtype))
    return become(self, _view_of_bytes(memory, self.dtype, size, stride, offset))


@operator(
    "aten::resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) "
    "-> Tensor(a!)",
    written="replaced",
)
def resize(self: Array, size: Sizes, memory_format: int | None) -> Array:
    if self.shape == tuple(size):
        unwritten(self)
    return resize_in_place(self, size, memory_format)


@operator(
    "aten::resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) "
    "-> Tensor(a!)",
    written="replaced",
    face="both",
)
def resize_as(self: Array, the_template: Array, memory_format: int | None) -> Array:
    if memory_format == 1:  # as the template lies
        resize(self, the_template.shape, None)
        steps = strides_of(in_format(np.empty_like(the_template), None))
        return become(self, as_strided(self, the_template.shape, steps, None))
    return resize(self, the_template.shape, memory_format)


@operator(
    "aten::set_(Tensor(a!) self) -> Tensor(a!)",
    written="replaced",
    face="method",
    order="source_Tensor -",
)
def set_nothing(self: Array) -> Array:
    return become(self, np.empty(0, self.dtype))


@operator(
    "aten::set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)",
    written="replaced",
    face="method",
)
def set_source(self: Array, source: Array) -> Array:
    _check_source(self, source)
    return self if self is source else become(self, source)


def _check_source(self: Array, source: Array) -> None:
    if self.dtype != source.dtype:
        raise OperatorError(
            f"Could not set tensor of type {cpp_name(dtype_of(source))} to a tensor of type "
            f"{cpp_name(dtype_of(self))}",
            code="dtype-mismatch",
        )


@operator(
    "aten::set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, "
    "SymInt storage_offset, SymInt[] size, SymInt[] stride=[]) -> Tensor(a!)",
    written="replaced",
    face="method",
)
def set_part(self: Array, source: Array, storage_offset: int, size: Sizes, stride: Sizes) -> Array:
    _check_source(self, source)
    steps = stride or contiguous_strides(tuple(size))
    part = _view_of_bytes(memory_of(source), source.dtype, size, steps, storage_offset)
    return become(self, part)
