"""Writing, adding and reducing to whole slices that an index tensor names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from ..kernels import written_by_numpy
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, Scalar, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.overlap import check_apart, warn_if_expanded
from ..memory.storage import settled, strides_of
from ..table.out_dtypes import SAME
from ..table.pointwise import cast, number_in
from ..table.promotion import kind
from ..table.refusals import Refusal
from ..table.table import operator
from ..table.without_data import rows_of
from .index_errors import PLACES, first_outside, outside_dimension
from .places import combined_natively, copied, one
from .scatter import combine_along, with_rank
from .strides import as_strided

Key = tuple[Any, ...]
_INT64: Final = np.dtype(np.int64)


def _check_vector(name: str, self: Array, dim: int, index: Array, source: Array) -> int:
    """The dimension that the slices are counted in, of what adds or reduces."""
    axis = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexOutOfRange(
            f"{name}(): Index is supposed to be a vector, but got dim: {index.ndim} with "
            f"type: {dtype_of(index).scalar_name} and size: {list(index.shape)}"
        )
    if index.dtype not in PLACES:
        raise OperatorError(
            f"{name}(): Expected dtype int32/int64 for index but got: {dtype_of(index).scalar_name}"
        )
    if self.dtype != source.dtype:
        mine, given = dtype_of(self).scalar_name, dtype_of(source).scalar_name
        raise _dtype_error(
            f"{name}(): self ({mine}) and source ({given}) must have the same scalar type",
            self,
            source,
        )
    if axis and axis >= source.ndim:
        raise OperatorError(
            f"{name}(): Indexing dim {axis} is out of bounds of the source tensor with dim "
            f"{source.ndim}",
            code="shape-mismatch",
        )
    count = source.shape[axis] if source.ndim else 1
    if index.size != count:
        if not source.ndim:
            raise IndexOutOfRange(f"Dimension specified as {axis} but tensor has no dimensions")
        raise OperatorError(
            f"{name}(): Number of indices ({index.size}) should be equal to source.size(dim): "
            f"({count}), for dim: {axis}",
            code="shape-mismatch",
            headline=f"{index.size} indices for {count} slices of `source`",
        )
    fits = _others(self, axis) == _others(source, axis)
    if not fits if self.ndim and source.ndim else self.shape != source.shape:
        raise OperatorError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(self.shape)} source.shape = {list(source.shape)}",
            code="shape-mismatch",
            headline=_misfit(self, source, axis),
        )
    return axis


def _check_copied(self: Array, dim: int, index: Array, source: Array) -> int:
    """The dimension that the slices are counted in, of what copies."""
    axis, name = wrap_dim(dim, self.ndim), "index_copy_"
    if index.ndim > 1:
        raise IndexOutOfRange(f"{name}(): Index should have dimension 1 or 0 (got {index.ndim})")
    if not source.ndim and index.size != 1:
        raise IndexOutOfRange(
            f"{name}(): When source is scalar, index should have one element (got {index.size})"
        )
    if source.ndim and self.ndim and source.ndim != self.ndim:
        raise IndexOutOfRange(
            f"{name}(): When source and destination are not scalars, their dimensionality must "
            f"match. Source dimensionality ({source.ndim}), destination dimensionality "
            f"({self.ndim})",
            headline=_misfit(self, source, axis),
        )
    if index.dtype != _INT64:
        given = dtype_of(index).scalar_name
        raise OperatorError(f"{name}(): Expected a long tensor for index, but got {given}")
    if self.dtype != source.dtype:
        mine, given = dtype_of(self).scalar_name, dtype_of(source).scalar_name
        raise _dtype_error(
            f"{name}(): self and source expected to have the same dtype, but got (self) {mine} and "
            f"(source) {given}",
            self,
            source,
        )
    mine, given = (" ".join(map(str, _others(each, axis))) for each in (self, source))
    if mine != given:
        raise OperatorError(
            f"{name}(): Source/destination tensor must have same slice shapes. Destination slice "
            f"shape: {mine} at dimension {axis} and source slice shape: {given} at dimension 0.",
            code="shape-mismatch",
            headline=_misfit(self, source, axis),
        )
    if source.ndim and index.size != source.shape[axis]:
        raise IndexOutOfRange(
            f"{name}(): Number of indices ({index.size}) should be equal to source.size(dim) "
            f"({source.shape[axis]})",
            headline=f"{index.size} indices for {source.shape[axis]} slices of `source`",
        )
    return axis


def _dtype_error(sentence: str, self: Array, source: Array) -> OperatorError:
    return OperatorError(
        sentence,
        code="dtype-mismatch",
        headline=f"`source` is `{dtype_of(source)}`, `self` is `{dtype_of(self)}`",
        roles={"source": f"must be `{dtype_of(self)}`"},
    )


def _others(array: Array, axis: int) -> list[int]:
    """The sizes besides the one of a dimension."""
    return [n for dim, n in enumerate(array.shape) if dim != axis]


def _misfit(self: Array, source: Array, axis: int) -> str:
    shapes = _others(source, axis), _others(self, axis)
    return "slices of shape {} do not fit slices of shape {}".format(*shapes)


_Outside = Callable[[int, int], OperatorError]
"""The error about an index that is none, and the size of the dimension."""


def _slices(
    self: Array, axis: int, index: Array, told: _Outside, negative: bool = False
) -> tuple[Array, Key]:
    """The tensor with a dimension, and the key of the slices.

    Raises:
        OperatorError: `told` of the first index that is outside.
    """
    target, places = with_rank(self), settled(index).reshape(-1)
    size = target.shape[axis]
    wrong = first_outside(places, -size if negative else 0, size)
    if wrong is not None:
        raise told(wrong, size)
    return target, (slice(None),) * axis + (places,)


def _outside(axis: int, name: str = "") -> _Outside:
    return lambda wrong, size: IndexOutOfRange(
        f"{name}index {wrong} is out of bounds for dimension {axis} with size {size}",
        headline=f"`index` leaves dimension {axis}, which has size {size}",
    )


def _not_in_self(wrong: int, size: int) -> OperatorError:
    headline = f"there is no slice {wrong}, `self` has {size}"
    return IndexOutOfRange("index out of range in self", headline=headline)


def _has_slices(self: Array, axis: int, index: Array) -> bool:
    """Whether there is anything to write.

    Torch has a view with as many slices as there are indices, all of them at the first one's place.

    Raises:
        OperatorError: an empty tensor's memory has no room for it.
    """
    if self.size or not index.size:
        return index.size > 0
    sizes, strides = list(self.shape), list(strides_of(self))
    sizes[axis], strides[axis] = index.size, 0
    return as_strided(self, sizes, strides, None).size > 0


@operator(
    "aten::index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) "
    "-> Tensor(a!)",
    prepared=True,
    written="unchecked",
)
def index_add_in_place(self: Array, dim: int, index: Array, source: Array, alpha: Scalar) -> Array:
    axis = _check_vector("index_add_", self, dim, index, source)
    check_apart(self, (index, source))
    if not index.size or (not self.size and self.ndim > 1):
        return self
    if alpha != 1:
        source = np.multiply(source, number_in(alpha, source.dtype))
    scattered = alpha == 1 and index.dtype == _INT64 and self.ndim > 1
    scattered = scattered and axis in (0, self.ndim - 1)  # so torch adds these, and rounds once
    told = partial(outside_dimension, axis) if scattered else _not_in_self
    target, key = _slices(self, axis, index, told)
    # the index, not its copy: kernels that are known beforehand are given operands
    source = with_rank(source)
    if not combined_natively(target, axis, index.reshape(-1), source, "sum", once=scattered):
        combine_along(target, axis, key[-1], source, "sum", True, not scattered)
    return self


@operator(
    "aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) "
    "-> Tensor",
    prepared=True,
    out_dtype=SAME,
)
def index_add(self: Array, dim: int, index: Array, source: Array, alpha: Scalar) -> Array:
    return index_add_in_place(copied(self), dim, index, source, alpha)


@operator(
    "aten::index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)",
    prepared=True,
    written="unchecked",
)
def index_copy_in_place(self: Array, dim: int, index: Array, source: Array) -> Array:
    check_apart(self, (index, source))
    axis = _check_copied(self, dim, index, source)
    if _has_slices(self, axis, index):
        target, key = _slices(self, axis, index, _outside(axis, "index_copy_(): "))
        if not combined_natively(target, axis, index.reshape(-1), with_rank(source), "put"):
            written_by_numpy()
            target[key] = with_rank(source)
    return self


@operator(
    "aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    autocast="widest",
    prepared=True,
    out_dtype=SAME,
    rows=rows_of("self"),
)
def index_copy(self: Array, dim: int, index: Array, source: Array) -> Array:
    return index_copy_in_place(copied(self), dim, index, source)


@operator(
    "aten::index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *, "
    "bool include_self=True) -> Tensor(a!)",
    refuses=Refusal("bqc", "index_func_"),
    written="unchecked",
)
def index_reduce_in_place(
    self: Array, dim: int, index: Array, source: Array, reduce: str, include_self: bool
) -> Array:
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise OperatorError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    axis = _check_vector("index_reduce_", self, dim, index, source)
    check_apart(self, (index, source))
    if index.size:
        if self.ndim > 1 and not self.shape[axis]:
            raise IndexOutOfRange(
                f"select(): index 0 out of range for tensor of size {list(self.shape)} at "
                f"dimension {axis}"
            )
        target, key = _slices(self, axis, index, _not_in_self)
        combine_along(target, axis, key[-1], with_rank(source), reduce, include_self, True)
    return self


@operator(
    "aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, "
    "bool include_self=True) -> Tensor",
    refuses=Refusal("bqc", "index_func_"),
    out_dtype=SAME,
)
def index_reduce(
    self: Array, dim: int, index: Array, source: Array, reduce: str, include_self: bool
) -> Array:
    return index_reduce_in_place(copied(self), dim, index, source, reduce, include_self)


def _index_fill(self: Array, dim: int, index: Array, value: Array) -> Array:
    if value.ndim:
        raise OperatorError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    _check_real(self, is_complex=kind(value.dtype) == 3)
    if index.dtype != _INT64:
        raise IndexOutOfRange("index_fill_(): Expected dtype int64 for index.")
    axis = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise OperatorError("Index has to be a vector/scalar")
    warn_if_expanded(self, "index_fill_", "tensor[mask] = scalar")
    check_apart(self, (index,), False)
    if _has_slices(self, axis, index):
        target, key = _slices(self, axis, index, _outside(axis), negative=True)
        value = value if value.dtype == self.dtype else cast(value, self.dtype)
        if not (_is_put_natively(target, axis, index, key[-1], value)):
            written_by_numpy()
            target[key] = value
    return self


def _is_put_natively(target: Array, axis: int, index: Array, places: Array, value: Array) -> bool:
    """Whether native code wrote a value to slices; `places` are what was seen of the index."""
    if places.min() < 0:
        return combined_natively(target, axis, places % target.shape[axis], value, "put")
    return combined_natively(target, axis, index.reshape(-1), value, "put")


def _fill_number(self: Array, dim: int, index: Array, value: Scalar) -> Array:
    _check_real(self, is_complex=isinstance(value, complex))
    return _index_fill(self, dim, index, one(value, self.dtype))


def _check_real(self: Array, *, is_complex: bool) -> None:
    if is_complex and kind(self.dtype) != 3:
        raise OperatorError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported",
            code="dtype-mismatch",
        )


operator(
    "aten::index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) "
    "-> Tensor(a!)",
    prepared=True,
    written="unchecked",
    order="int_Tensor int_Scalar",
)(_fill_number)
operator(
    "aten::index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) "
    "-> Tensor(a!)",
    written="unchecked",
)(_index_fill)


@operator(
    "aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    layout="L",
    prepared=True,
    order="int_Tensor int_Scalar",
)
def index_fill(self: Array, dim: int, index: Array, value: Scalar) -> Array:
    return _fill_number(copied(self), dim, index, value)


@operator(
    "aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    layout="L",
)
def index_fill_from(self: Array, dim: int, index: Array, value: Array) -> Array:
    return _index_fill(copied(self), dim, index, value)
