"""Stacking, splitting, turning and combining tensors; diagonals and grids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb
from typing import Final

import numpy as np

from ..memory.complex_parts import is_complex
from ..memory.counts import check_count, repeated
from ..memory.dims import expands_to, wrap_dim
from ..memory.dtype import Array, Scalar, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.remembered import remembered
from ..memory.versions import counted_apart
from ..reductions.reduce import sum_over, total
from ..table.formula import Part, filled_with, moved
from ..table.layouts import contiguous, like
from ..table.out_dtypes import SAME
from ..table.pointwise import as_array, cast, number_to_fill, operand
from ..table.promotion import result_dtype
from ..table.table import operator
from ..table.without_data import always
from . import join, shape
from .join import JOINED

_INT64: Final = np.dtype(np.int64)


# --------------------------------------------------------------------------- more dimensions


@operator("aten::atleast_1d(Tensor self) -> Tensor", out="", face="function", views=True)
def atleast_1d(self: Array) -> Array:
    return self if self.ndim else self.reshape(1)


@operator("aten::atleast_2d(Tensor self) -> Tensor", out="", face="function", views=True)
def atleast_2d(self: Array) -> Array:
    return self if self.ndim > 1 else self.reshape(1, -1)


@operator("aten::atleast_3d(Tensor self) -> Tensor", out="", face="function", views=True)
def atleast_3d(self: Array) -> Array:
    if self.ndim > 2:
        return self
    if self.ndim == 2:
        return shape.unsqueeze(self, -1)
    return shape.unsqueeze(self[None], -1) if self.ndim else self.reshape(1, 1, 1)


def _each(forward: Callable[[Array], Array]) -> Callable[[Sequence[Array]], list[Array]]:
    return lambda tensors: [forward(tensor) for tensor in tensors]


for _count, _forward in ((1, atleast_1d), (2, atleast_2d), (3, atleast_3d)):
    operator(
        f"aten::atleast_{_count}d.Sequence(Tensor[] tensors) -> Tensor[]",
        face="function",
        views_of_each=True,
    )(_each(_forward))


# --------------------------------------------------------------------------- joining


@operator(
    "aten::dstack(Tensor[] tensors) -> Tensor",
    parts=lambda result, tensors: join.end_to_end(result, [*map(atleast_3d, tensors)], 2),
    out_dtype=JOINED,
    out_overlap="apart",
)
def dstack(tensors: Sequence[Array]) -> Array:
    if not tensors:
        raise OperatorError("dstack expects a non-empty TensorList")
    return join.cat([atleast_3d(tensor) for tensor in tensors], 2)


def _columns(tensors: Sequence[Array]) -> list[Array]:
    return [t.reshape(t.size, 1) if t.ndim < 2 else t for t in tensors]


@operator(
    "aten::column_stack(Tensor[] tensors) -> Tensor",
    parts=lambda result, tensors: join.end_to_end(result, _columns(tensors), 1),
    out_dtype=JOINED,
)
def column_stack(tensors: Sequence[Array]) -> Array:
    if not tensors:
        raise OperatorError("column_stack expects a non-empty TensorList")
    return join.hstack(_columns(tensors))


@operator("aten::block_diag(Tensor[] tensors) -> Tensor")
def block_diag(tensors: Sequence[Array]) -> Array:
    """Matrices one after the other along the diagonal of a matrix of zeros."""
    dtype = result_dtype(tensors) if tensors else np.dtype(np.float32)
    for place, tensor in enumerate(tensors):
        if tensor.ndim > 2:
            raise OperatorError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {place} "
                f"has {tensor.ndim} dimensions",
                code="shape-mismatch",
            )
    blocks = [atleast_2d(tensor) for tensor in tensors]
    if not blocks:
        return np.zeros((1, 0), dtype)
    rows, columns = (sum(block.shape[dim] for block in blocks) for dim in (0, 1))
    result = np.zeros((rows, columns), dtype)
    row = column = 0
    for block in blocks:
        height, width = block.shape
        result[row : row + height, column : column + width] = cast(block, dtype)
        row, column = row + height, column + width
    return result


@operator("aten::_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor")
def chunk_cat(tensors: Sequence[Array], dim: int, num_chunks: int) -> Array:
    """Each tensor cut into padded chunks, the chunks of all side by side."""
    if not tensors:
        raise OperatorError("_chunk_cat expects a non-empty input tensor list")
    if num_chunks < 1:
        raise OperatorError("_chunk_cat expects positive num_chunks")
    if not all(tensor.size for tensor in tensors):
        raise OperatorError("_chunk_cat expects non-empty tensor")
    if dim < 0 and any(tensor.ndim != tensors[0].ndim for tensor in tensors):
        raise OperatorError(
            "_chunk_cat expects non-negative dim when input tensors have different ndims"
        )
    axis = wrap_dim(dim, tensors[0].ndim)
    if any(axis >= tensor.ndim for tensor in tensors):
        raise OperatorError("_chunk_cat expects dim < ndim for all input tensors")
    if any(tensor.shape[:axis] != tensors[0].shape[:axis] for tensor in tensors):
        raise OperatorError(
            "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors"
        )
    parts = []
    for tensor in tensors:
        size = tensor.shape[axis]
        length = -(-size // num_chunks)
        padding = [(0, 0)] * tensor.ndim
        padding[axis] = (0, length * num_chunks - size)
        padded = np.pad(tensor, padding)
        parts.append(padded.reshape(*tensor.shape[:axis], num_chunks, -1))
    return join.cat(parts, axis + 1)


# --------------------------------------------------------------------------- cutting


def _unsafe(cut: Callable[..., list[Array]]) -> Callable[..., list[Array]]:
    """The parts as tensors of their own: writes of one are not counted for the others."""

    def parts(self: Array, sizes: object, dim: int) -> list[Array]:
        return [counted_apart(part) for part in cut(self, sizes, dim)]

    return parts


operator("aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", on_slices="dims")(
    _unsafe(join.chunk)
)
operator(
    "aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
    on_slices="dims",
)(_unsafe(join.split))
operator(
    "aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
    on_slices="dims",
)(_unsafe(join.split_with_sizes))


@operator(
    "aten::tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, "
    "Tensor tensor_indices_or_sections, int dim=0) -> Tensor(a)[]",
    data_dependent=always,
    on_slices="dims",
    slices=True,
)
def tensor_split_from(self: Array, tensor_indices_or_sections: Array, dim: int) -> list[Array]:
    given = tensor_indices_or_sections
    if given.dtype != _INT64:
        raise OperatorError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{dtype_of(given).scalar_name}"
        )
    if given.ndim > 1:
        raise OperatorError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            f"one-dimensional tensor, but got a tensor with {given.ndim} dims"
        )
    if not given.ndim:
        return join.tensor_split(self, int(given), dim)
    return join.tensor_split_at(self, given.tolist(), dim)


def _check_split(name: str, self: Array, least: int) -> None:
    if self.ndim < least:
        raise OperatorError(
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor "
            f"with {self.ndim} dimensions!",
            code="shape-mismatch",
        )


def _declare_split(name: str, least: int, axis_of: Callable[[Array], int]) -> None:
    def into(self: Array, sections: int) -> list[Array]:
        _check_split(name, self, least)
        axis = axis_of(self)
        size = self.shape[axis]
        if not sections or size % sections:
            raise OperatorError(
                f"torch.{name} attempted to split along dimension {axis}, but the size of the "
                f"dimension {size} is not divisible by the split_size {sections}!",
                code="shape-mismatch",
            )
        return join.tensor_split(self, sections, axis)

    def at(self: Array, indices: Sequence[int]) -> list[Array]:
        _check_split(name, self, least)
        return join.tensor_split_at(self, indices, axis_of(self))

    schemas = "int(Tensor(a -> *) self, int sections)", "array(Tensor(a -> *) self, int[] indices)"
    operator(f"aten::{name}.{schemas[0]} -> Tensor(a)[]", slices=True)(into)
    operator(f"aten::{name}.{schemas[1]} -> Tensor(a)[]", slices=True)(at)


_declare_split("hsplit", 1, lambda self: 0 if self.ndim == 1 else 1)
_declare_split("vsplit", 2, lambda self: 0)
_declare_split("dsplit", 3, lambda self: 2)


# --------------------------------------------------------------------------- turning


def _turned_over(axis: int) -> Callable[[Array, Array], list[Part]]:
    return lambda result, self: [moved(np.flip(self, axis), result)]


@operator("aten::fliplr(Tensor self) -> Tensor", layout="L", out="", parts=_turned_over(1))
def fliplr(self: Array) -> Array:
    if self.ndim < 2:
        raise OperatorError("Input must be >= 2-d.", code="shape-mismatch")
    return self[:, ::-1].copy()


@operator("aten::flipud(Tensor self) -> Tensor", layout="L", out="", parts=_turned_over(0))
def flipud(self: Array) -> Array:
    if not self.ndim:
        raise OperatorError("Input must be >= 1-d.", code="shape-mismatch")
    return self[::-1].copy()


def _quarter_turns(self: Array, k: int, dims: Sequence[int]) -> Array:
    """The elements after so many quarter turns, as a view."""
    over: dict[int, tuple[int, ...]] = {0: (), 1: (dims[1],), 2: (dims[0], dims[1]), 3: (dims[0],)}
    turned: Array = np.flip(self, over[k % 4])
    return turned.swapaxes(dims[0], dims[1]) if k % 2 else turned


def _turned_around(result: Array, self: Array, k: int, dims: Sequence[int]) -> list[Part]:
    return [moved(_quarter_turns(self, k, dims), result)]


@operator("aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", parts=_turned_around)
def rot90(self: Array, k: int, dims: Sequence[int]) -> Array:
    if len(dims) != 2:
        raise OperatorError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise OperatorError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    if wrap_dim(dims[0], self.ndim) == wrap_dim(dims[1], self.ndim):
        raise OperatorError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    if not k % 4:
        return contiguous(self.copy())
    turned = like(self, self.dtype).swapaxes(*dims) if k % 2 else like(self, self.dtype)
    turned[...] = _quarter_turns(self, k, dims)
    return turned


operator(
    "aten::moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
    first_name="movedim",
    order="intlist int",
    on_slices="dims",
)(shape.movedim)
operator("aten::moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)")(
    shape.move_dims
)


@operator("aten::adjoint(Tensor(a) self) -> Tensor(a)", first_name="mH", lazily="complex")
def adjoint(self: Array) -> Array:
    """The conjugate transpose of matrices; a copy where there is something to conjugate."""
    turned = shape.matrix_t(self, "adjoint()")
    return as_array(np.conjugate(turned)) if is_complex(self.dtype) else turned


@operator(
    "aten::mH(Tensor(a) self) -> Tensor(a)",
    "aten::mH.a(Tensor(a) self) -> Tensor(a)",
    face="method",
    lazily="complex",
)
def matrix_adjoint(self: Array) -> Array:
    if self.ndim < 2:
        raise OperatorError(
            "tensor.mH is only supported on matrices or batches of matrices. "
            f"Got {self.ndim}-D tensor.",
            code="shape-mismatch",
        )
    return adjoint(self)


@operator(
    "aten::matrix_H(Tensor(a) self) -> Tensor(a)",
    "aten::matrix_H.a(Tensor(a) self) -> Tensor(a)",
    face="operator",
    lazily="complex",
)
def matrix_h(self: Array) -> Array:
    if self.ndim != 2 and self.ndim:
        raise OperatorError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor.",
            code="shape-mismatch",
        )
    return adjoint(self)


# --------------------------------------------------------------------------- diagonals


def _zeroing(lower: bool) -> Callable[[Array, int], Array]:
    def zero(self: Array, diagonal: int) -> Array:
        """Writes zeros alone, so that elements may share memory, as in torch."""
        away = np.logical_not(join.triangle(self, diagonal, lower))
        np.copyto(self, operand(0, self.dtype), where=away)
        return self

    return zero


for _name, _lower in (("tril", True), ("triu", False)):
    operator(
        f"aten::{_name}_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)", written="unchecked"
    )(_zeroing(_lower))


def _on_diagonal(
    result: Array, self: Array, offset: int, dim1: int = 0, dim2: int = 1
) -> list[Part]:
    """The parts of zeros with elements on a diagonal."""
    a, b = wrap_dim(dim1, result.ndim), wrap_dim(dim2, result.ndim)
    return [filled_with(0, result), moved(self, shape.diagonal(result, offset, a, b))]


def _of_diagonal(result: Array, self: Array, diagonal: int) -> list[Part]:
    if self.ndim == 1:
        return _on_diagonal(result, self, diagonal)
    return [moved(shape.diagonal(self, diagonal, 0, 1), result)]


@operator(
    "aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    parts=_on_diagonal,
    out_dtype=SAME,
)
def diag_embed(self: Array, offset: int, dim1: int, dim2: int) -> Array:
    """Matrices of zeros with the last dimension on a diagonal."""
    count = self.ndim + 1
    a, b = wrap_dim(dim1, count), wrap_dim(dim2, count)
    if a == b:
        raise OperatorError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if not self.ndim:
        raise IndexOutOfRange("Dimension specified as -1 but tensor has no dimensions")
    size = self.shape[-1] + abs(offset)
    sizes = list(self.shape[:-1])
    for dim in sorted((a, b)):
        sizes.insert(dim, size)
    result = np.zeros(sizes, self.dtype)
    shape.diagonal(result, offset, a, b)[...] = self
    return result


@operator(
    "aten::diagflat(Tensor self, int offset=0) -> Tensor",
    parts=lambda result, self, offset: (
        _on_diagonal(result, self.reshape(-1), offset) if self.flags.c_contiguous else []
    ),
    out="",
)
def diagflat(self: Array, offset: int) -> Array:
    return diag_embed(self.reshape(-1), offset, 0, 1)


@operator(
    "aten::diag(Tensor self, int diagonal=0) -> Tensor",
    parts=_of_diagonal,
    out_dtype=SAME,
    out_overlap="read-first",
)
def diag(self: Array, diagonal: int) -> Array:
    if self.ndim not in (1, 2):
        raise OperatorError(
            f"diag(): Supports 1D or 2D tensors. Got {self.ndim}D", code="shape-mismatch"
        )
    if self.ndim == 1:
        return diagflat(self, diagonal)
    return shape.diagonal(self, diagonal, 0, 1).copy()


@operator(
    "aten::fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
    written="unchecked",
)
def fill_diagonal(self: Array, fill_value: Scalar, wrap: bool) -> Array:
    if self.ndim < 2:
        raise OperatorError("dimensions must larger than 1")
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise OperatorError("all dimensions of input must be of equal length")
    np.fill_diagonal(self, number_to_fill(fill_value, self.dtype, min(self.shape)), wrap=wrap)
    return self


# --------------------------------------------------------------------------- grids


def _check_vector(tensor: Array) -> None:
    if tensor.ndim != 1:
        raise OperatorError(
            f"Expect a 1D vector, but got shape {list(tensor.shape)}", code="shape-mismatch"
        )


@operator("aten::meshgrid(Tensor[] tensors) -> Tensor[]", views_of_each=True)
def meshgrid(tensors: Sequence[Array]) -> list[Array]:
    return meshgrid_indexed(tensors, "ij")


@operator(
    "aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", views_of_each=True
)
def meshgrid_indexed(tensors: Sequence[Array], indexing: str) -> list[Array]:
    if not tensors:
        raise OperatorError("meshgrid expects a non-empty TensorList")
    if any(tensor.dtype != tensors[0].dtype for tensor in tensors):
        raise OperatorError(
            "meshgrid expects all tensors to have the same dtype", code="dtype-mismatch"
        )
    if indexing not in ("ij", "xy"):
        raise OperatorError(
            'torch.meshgrid: indexing must be one of "xy" or "ij", but received: ' + indexing
        )
    for tensor in tensors:
        if tensor.ndim > 1:
            raise OperatorError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                f"{list(tensor.shape)}",
                code="shape-mismatch",
                headline=f"`tensors` must have at most 1 dimension, not {tensor.ndim}",
            )
    if indexing == "xy" and len(tensors) > 1:
        first, second, *rest = meshgrid([tensors[1], tensors[0], *tensors[2:]])
        return [second, first, *rest]
    sizes = [tensor.size for tensor in tensors]
    grids = []
    for axis, tensor in enumerate(tensors):
        own = [1] * len(tensors)
        own[axis] = tensor.size
        grids.append(shape.expand(tensor.reshape(own), sizes))
    return grids


@operator("aten::cartesian_prod(Tensor[] tensors) -> Tensor", out="")
def cartesian_prod(tensors: Sequence[Array]) -> Array:
    for tensor in tensors:
        _check_vector(tensor)
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid_indexed(tensors, "ij")
    return np.stack([grid.reshape(-1) for grid in grids], 1)


@operator(
    "aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
    out="",
    face="function",
)
def combinations_of(self: Array, r: int, with_replacement: bool) -> Array:
    _check_vector(self)
    if r < 0:
        raise OperatorError(f"Expect a non-negative number, but got {r}")
    if not r:
        return np.empty(0, self.dtype)
    if self.size > 1 and r >= 63:
        raise OperatorError("numel: integer multiplication overflow", code="shape-mismatch")
    check_count([self.size] * r)  # torch makes all of them before it chooses
    count = comb(self.size + r - 1, r) if with_replacement else comb(self.size, r)
    chosen = _known_combinations if r * count <= _FEW_CHOSEN else _combinations
    return np.take(self, chosen(self.size, r, with_replacement))


def _combinations(size: int, r: int, with_replacement: bool) -> Array:
    """The places of combinations, a row each."""
    step = 0 if with_replacement else 1
    columns, low = list[Array](), np.zeros(1, _INT64)
    for rest in range(r - 1, -1, -1):  # what has come so far goes on with each number from `low`
        counts = np.maximum(size - step * rest - low, 0)
        kept = np.repeat(np.arange(low.size), counts)
        last = np.arange(kept.size) - (counts.cumsum() - counts - low)[kept]
        columns = [*(each[kept] for each in columns), last]
        low = last + step
    return np.stack(columns, -1)


_known_combinations: Final = remembered(1 << 20)(_combinations)
_FEW_CHOSEN: Final = 1 << 14
"""Places up to which combinations are remembered."""


@operator(
    "aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
    order="Tensor self_Tensor self_int",
    data_dependent=lambda repeats, output_size: output_size is None,
)
def repeated_places(repeats: Array, output_size: int | None) -> Array:
    """0 as often as the first number says, 1 as often as the second, and so on."""
    if repeats.ndim != 1:
        raise OperatorError("repeat_interleave only accept 1D vector as repeat")
    if repeats.dtype not in (_INT64, np.dtype(np.int32)):
        raise OperatorError("repeats has to be Long or Int tensor")
    return repeated(np.arange(repeats.size, dtype=repeats.dtype), repeats, 0, output_size)


# --------------------------------------------------------------------------- sizes


@operator("aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor", out="", face="method")
def sum_to_size(self: Array, size: Sequence[int]) -> Array:
    """The tensor added up to a smaller size that would broadcast to its own."""
    if not expands_to(size, self.shape):
        raise OperatorError(
            f"size {{{list(size)}}} is not expandable to size {{{list(self.shape)}}}.",
            code="shape-mismatch",
        )
    if not size:
        return total(self, None)
    new = self.ndim - len(size)
    axes = [dim for dim in range(self.ndim) if dim < new or size[dim - new] != self.shape[dim]]
    return sum_over(self, axes, True, None).reshape(size) if axes else self
