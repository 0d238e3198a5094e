"""Joining tensors, cutting them up, repeating and turning them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any, Final

import numpy as np

from ..arithmetic.choice import where
from ..kernels import family
from ..memory.counts import check_storage, repeated
from ..memory.dims import wrap_dim, wrap_dims
from ..memory.dtype import Array
from ..memory.errors import IndexOutOfRange, OperatorError, WrongType
from ..memory.remembered import remembered
from ..table.formula import Part, moved
from ..table.inline import inline, native
from ..table.layouts import contiguous, lies_like, like
from ..table.out_dtypes import SAME, OutDtype
from ..table.pointwise import cast, operand
from ..table.promotion import result_dtype
from ..table.refusals import not_implemented
from ..table.table import operator
from ..table.without_data import rows_of
from .windows import channels_last, ends_in_channels

__all__ = ["JOINED", "cat", "end_to_end", "rolled", "stack"]

JOINED: Final = OutDtype(
    "castable",
    "torch.cat(): input types can't be cast to the desired output type {out}",
    WrongType,
)
"""What `out=` of joined tensors must be."""

_array: Final = np.array
_concatenate: Final = np.concatenate


class EmptyList(OperatorError, ValueError):
    """A list of tensors without a tensor."""


def _common(tensors: Sequence[Array]) -> Sequence[Array]:
    """The tensors, all in one dtype."""
    dtype = tensors[0].dtype
    for tensor in tensors:
        if tensor.dtype is not dtype:
            common = result_dtype(tensors)
            return [cast(each, common) for each in tensors]
    return tensors


_ORDINARY_FIRST: Final = inline("{p}({all})", "type({0}[0]) is ndarray")
"""For lists that are not empty; without a tensor the forward refuses them."""


def end_to_end(result: Array, tensors: Sequence[Array], dim: int) -> list[Part]:
    """The parts of a result in which tensors lie one after the other along a dimension."""
    axis, begin, parts = wrap_dim(dim, result.ndim), 0, list[Part]()
    for tensor in tensors:
        if tensor.ndim == result.ndim and tensor.size:
            end = begin + tensor.shape[axis]
            parts.append(moved(tensor, result[(slice(None),) * axis + (slice(begin, end),)]))
            begin = end
    return parts


@operator(
    "aten::concat(Tensor[] tensors, int dim=0) -> Tensor",
    "aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor",
    first_name="cat",
    parts=end_to_end,
    out_dtype=JOINED,
    out_overlap="apart",
    rows=rows_of("tensors"),
    on_slices="joined",
)
@operator(
    "aten::cat(Tensor[] tensors, int dim=0) -> Tensor",
    native=native("array_cat({0}, {1})", gives="made"),
    parts=end_to_end,
    autocast="widest",
    autocast_in_graphs="widest",
    inline=_ORDINARY_FIRST,
    out_dtype=JOINED,
    out_overlap="apart",
    rows=rows_of("tensors"),
    on_slices="joined",
)
def cat(tensors: Sequence[Array], dim: int) -> Array:
    """The tensors one after the other along `dim`; empty 1-d ones are passed over."""
    if not tensors:
        raise EmptyList("torch.cat(): expected a non-empty list of Tensors")
    first = tensors[0]
    dtype, rank = first.dtype, first.ndim
    if rank > 1 and 0 <= dim < rank and all(t.dtype is dtype and t.ndim == rank for t in tensors):
        try:
            return _joined(_concatenate(tensors, dim), tensors)
        except ValueError:
            raise _cat_error(tensors, first, dim) from None
    tensors = _common(tensors)
    real = [t for t in tensors if t.ndim != 1 or t.size]
    if not real:
        return np.zeros(0, tensors[0].dtype)
    if any(not t.ndim for t in real):
        position = next(i for i, t in enumerate(tensors) if not t.ndim)
        raise OperatorError(
            f"zero-dimensional tensor (at position {position}) cannot be concatenated",
            code="shape-mismatch",
        )
    axis = wrap_dim(dim, real[0].ndim)
    try:
        return _joined(np.concatenate(real, axis), tensors)
    except ValueError:
        raise _cat_error(tensors, real[0], axis) from None


def _joined(result: Array, tensors: Sequence[Array]) -> Array:
    """What was joined: contiguous, but with its channels last where all tensors have them there."""
    if result.flags.c_contiguous:
        return result
    return channels_last(result) if all(map(ends_in_channels, tensors)) else contiguous(result)


def _cat_error(tensors: Sequence[Array], first: Array, axis: int) -> OperatorError:
    for position, tensor in enumerate(tensors):
        if tensor.ndim == 1 and not tensor.size:
            continue
        if tensor.ndim != first.ndim:
            return OperatorError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {tensor.ndim}",
                code="shape-mismatch",
                headline=f"tensor {position} of `tensors` has {tensor.ndim} dimensions, "
                f"the first has {first.ndim}",
            )
        for dim in range(first.ndim):
            a, b = first.shape[dim], tensor.shape[dim]
            if dim != axis and a != b:
                return OperatorError(
                    f"Sizes of tensors must match except in dimension {axis}. "
                    f"Expected size {a} but got size {b} for tensor number {position} in the list.",
                    code="shape-mismatch",
                    headline=f"tensor {position} of `tensors` has size {b} in dimension {dim}, "
                    f"the first has {a}",
                )
    return OperatorError("torch.cat(): the tensors do not fit together", code="shape-mismatch")


def _side_by_side(result: Array, tensors: Sequence[Array], dim: int) -> list[Part]:
    slices = np.moveaxis(result, wrap_dim(dim, result.ndim), 0)
    return [moved(tensor, slices[place, ...]) for place, tensor in enumerate(tensors)]


@operator(
    "aten::stack(Tensor[] tensors, int dim=0) -> Tensor",
    native=native("array_stack({0}, {1})", gives="made"),
    parts=_side_by_side,
    autocast="widest",
    autocast_in_graphs="widest",
    inline=_ORDINARY_FIRST,
    out_dtype=JOINED,
    out_overlap="apart",
    rows=rows_of("tensors"),
    on_slices="joined",
)
def stack(tensors: Sequence[Array], dim: int) -> Array:
    """The tensors, all of one shape, side by side along a new dimension."""
    if not tensors:
        raise OperatorError(
            "stack expects a non-empty TensorList", headline="`tensors` must not be empty"
        )
    tensors = _common(tensors)
    shape = tensors[0].shape
    for position, tensor in enumerate(tensors):
        if tensor.shape != shape:
            wrap_dim(dim, len(shape) + 1)
            raise OperatorError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 "
                f"and {list(tensor.shape)} at entry {position}",
                code="shape-mismatch",
                headline=f"tensor {position} of `tensors` has shape {list(tensor.shape)}, "
                f"the first has {list(shape)}",
            )
    if len(shape) in (4, 5) and 0 <= dim < len(shape) and ends_in_channels(tensors[0]):
        joined = cat(tensors, dim)
        return joined.reshape(*shape[:dim], len(tensors), *shape[dim:])
    if dim == 0 and shape:
        return contiguous(_concatenate(tensors)).reshape(len(tensors), *shape)
    if -1 <= dim < 2 and len(shape) == 1:
        return _array(tensors).T.copy()
    return contiguous(np.stack(tensors, wrap_dim(dim, len(shape) + 1)))


@operator(
    "aten::hstack(Tensor[] tensors) -> Tensor",
    parts=lambda result, tensors: end_to_end(result, *_beside(tensors)),
    out_dtype=JOINED,
    out_overlap="apart",
)
def hstack(tensors: Sequence[Array]) -> Array:
    if not tensors:
        raise OperatorError("hstack expects a non-empty TensorList")
    return cat(*_beside(tensors))


def _beside(tensors: Sequence[Array]) -> tuple[list[Array], int]:
    wide = [t.reshape(1) if not t.ndim else t for t in tensors]
    return wide, 0 if wide[0].ndim == 1 else 1


@operator(
    "aten::row_stack(Tensor[] tensors) -> Tensor",
    "aten::vstack(Tensor[] tensors) -> Tensor",
    first_name="vstack",
    parts=lambda result, tensors: end_to_end(result, _below(tensors), 0),
    out_dtype=JOINED,
    out_overlap="apart",
)
def vstack(tensors: Sequence[Array]) -> Array:
    if not tensors:
        raise OperatorError("vstack expects a non-empty TensorList")
    return cat(_below(tensors), 0)


def _below(tensors: Sequence[Array]) -> list[Array]:
    return [t.reshape(1, -1) if t.ndim < 2 else t for t in tensors]


# --------------------------------------------------------------------------- cutting


def _part(self: Array, axis: int, start: int, stop: int) -> Array:
    return self[(slice(None),) * axis + (slice(start, stop),)]


@operator(
    "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
    on_slices="dims",
)
def split(self: Array, split_size: int, dim: int) -> list[Array]:
    if not self.ndim:
        raise OperatorError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise OperatorError(
            f"split expects split_size be non-negative, but got split_size={split_size}"
        )
    axis = wrap_dim(dim, self.ndim)
    size = self.shape[axis]
    if not split_size:
        if size:
            raise OperatorError(
                f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
            )
        return [self.view()]
    before, starts = (slice(None),) * axis, range(0, max(size, 1), split_size)
    return [self[(*before, slice(start, start + split_size))] for start in starts]


@operator(
    "aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
    "aten::split(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
    traced="sizes",
)
@operator(
    "aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
    on_slices="dims",
)
def split_with_sizes(self: Array, split_sizes: Sequence[int], dim: int) -> list[Array]:
    if not self.ndim:
        raise OperatorError("split expects at least a 1-dimensional tensor")
    axis = wrap_dim(dim, self.ndim)
    if any(size < 0 for size in split_sizes):
        raise OperatorError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(split_sizes)}"
        )
    if sum(split_sizes) != self.shape[axis]:
        raise OperatorError(
            f"split_with_sizes expects split_sizes to sum exactly to {self.shape[axis]} (input "
            f"tensor's size at dimension {axis}), but got split_sizes={list(split_sizes)}",
            code="shape-mismatch",
            headline=f"the sizes {list(split_sizes)} do not add up to {self.shape[axis]}",
            roles={"self": f"has size {self.shape[axis]} in dimension {axis}"},
        )
    parts, start = [], 0
    for size in split_sizes:
        parts.append(_part(self, axis, start, start + size))
        start += size
    return parts


@operator(
    "aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
    on_slices="dims",
)
def chunk(self: Array, chunks: int, dim: int) -> list[Array]:
    if not self.ndim:
        raise OperatorError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise OperatorError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    axis = wrap_dim(dim, self.ndim)
    size = self.shape[axis]
    length = -(-size // chunks)
    if not length:
        views: list[Any] = [None] * chunks  # which says at once if memory does not do
        for place in range(chunks):
            views[place] = self.view()
        return views
    return split(self, length, dim)


def _check_splittable(self: Array) -> None:
    if not self.ndim:
        raise OperatorError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )


@operator(
    "aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
    slices=True,
)
def tensor_split(self: Array, sections: int, dim: int) -> list[Array]:
    _check_splittable(self)
    if sections <= 0:
        raise OperatorError(f"number of sections must be larger than 0, got {sections}")
    return np.array_split(self, sections, wrap_dim(dim, self.ndim))


@operator(
    "aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
    slices=True,
)
def tensor_split_at(self: Array, indices: Sequence[int], dim: int) -> list[Array]:
    _check_splittable(self)
    axis = wrap_dim(dim, self.ndim)
    bounds = [0, *indices, self.shape[axis]]
    return [_part(self, axis, a, b) for a, b in pairwise(bounds)]


# --------------------------------------------------------------------------- repeating, turning


def _tiles(result: Array, self: Array, repeats: Sequence[int]) -> list[Part]:
    """Each dimension of a tiled tensor as two: how often, and its elements."""
    if not result.flags.c_contiguous:
        return []
    more = len(repeats) - self.ndim
    sizes = (1,) * more + self.shape
    times = (1,) * -more + tuple(repeats)
    pairs = zip(times, sizes[-len(times) :] if times else (), strict=True)
    split = [each for pair in pairs for each in pair]
    source = self.reshape([each for size in sizes for each in (1, size)])
    return [moved(np.broadcast_to(source, split), result.reshape(split))]


@operator(
    "aten::repeat(Tensor self, SymInt[] repeats) -> Tensor",
    layout="C",
    face="method",
    parts=_tiles,
    on_slices="repeats",
)
def repeat(self: Array, repeats: Sequence[int]) -> Array:
    if len(repeats) < self.ndim:
        raise OperatorError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor",
            code="shape-mismatch",
            headline=f"`repeats` needs {self.ndim} numbers or more, it has {len(repeats)}",
        )
    return tile(self, repeats) if repeats else self.copy()


@operator(
    "aten::tile(Tensor self, SymInt[] dims) -> Tensor",
    layout="C",
    out="",
    parts=_tiles,
    on_slices="repeats",
)
def tile(self: Array, dims: Sequence[int]) -> Array:
    more = max(len(dims) - self.ndim, 0), max(self.ndim - len(dims), 0)
    sizes, times = (*(1,) * more[0], *self.shape), (*(1,) * more[1], *dims)
    wanted = [n * size for n, size in zip(times, sizes, strict=True)]
    negative = next((n for n in wanted if n < 0), None)
    if negative is not None:
        raise OperatorError(f"Trying to create tensor with negative dimension {negative}: {wanted}")
    check_storage(wanted)
    if 0 in wanted:  # NumPy would make what the other numbers ask for, and count it wrongly
        return np.empty_like(self, shape=wanted, order="C")
    return np.tile(self, tuple(dims))


def _interleaved(
    result: Array, self: Array, repeats: int, dim: int | None, *_: object
) -> list[Part]:
    if dim is None or not self.ndim or not result.flags.c_contiguous:
        return []
    behind = wrap_dim(dim, self.ndim) + 1
    split = (*self.shape[:behind], repeats, *self.shape[behind:])
    source = np.expand_dims(self, behind)
    return [moved(np.broadcast_to(source, split), result.reshape(split))]


@operator(
    "aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, "
    "SymInt? output_size=None) -> Tensor",
    on_slices="dims",
    out="",
    parts=_interleaved,
)
def repeat_interleave(self: Array, repeats: int, dim: int | None, output_size: int | None) -> Array:
    axis = None if dim is None else wrap_dim(dim, self.ndim)
    if repeats < 0:
        raise OperatorError("Repeats must be non-negative")
    sizes = list(self.shape) if axis is not None and self.ndim else [self.size]
    sizes[axis or 0] *= repeats
    if output_size is not None and output_size != sizes[axis or 0]:
        raise OperatorError(
            f"repeat_interleave: Invalid output_size, expected {sizes[axis or 0]} but got "
            f"{output_size}",
            code="shape-mismatch",
        )
    check_storage(sizes)
    if 0 in sizes:  # NumPy counts what the other numbers ask for, and may count wrongly
        return np.empty_like(self, shape=sizes, order="C")
    return np.repeat(self, repeats, axis)


@operator(
    "aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, "
    "SymInt? output_size=None) -> Tensor",
    out="",
    data_dependent=lambda self, repeats, dim, output_size: output_size is None,
)
def repeat_interleave_each(
    self: Array, repeats: Array, dim: int | None, output_size: int | None
) -> Array:
    if repeats.dtype not in (np.dtype(np.int64), np.dtype(np.int32)):
        raise not_implemented("repeat_interleave_cpu", repeats.dtype)
    if repeats.ndim > 1:
        raise OperatorError("repeats must be 0-dim or 1-dim tensor")
    axis = None if dim is None else wrap_dim(dim, self.ndim)
    size = self.size if axis is None else self.shape[axis]
    if repeats.size not in (1, size):
        raise OperatorError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats.size} and input.size({axis or 0}) = {size}",
            code="shape-mismatch",
        )
    if axis is None or not self.ndim:
        self, axis = self.reshape(-1), 0
    return repeated(self, repeats, axis, output_size)


def _turned(result: Array, self: Array, dims: Sequence[int]) -> list[Part]:
    return [moved(np.flip(self, wrap_dims(dims, self.ndim) if dims else ()), result)]


@operator(
    "aten::flip(Tensor self, int[] dims) -> Tensor",
    layout="L",
    rows=rows_of("self"),
    parts=_turned,
    on_slices="dims",
)
def flip(self: Array, dims: Sequence[int]) -> Array:
    self = self[...]  # which no other thread can change
    made = like(self, self.dtype)  # as the result lies, so that it is written once
    made[...] = np.flip(self, wrap_dims(dims, self.ndim) if dims else ())
    return made


def rolled(result: Array, self: Array, shifts: Sequence[int], dims: Sequence[int]) -> list[Part]:
    """Of what a rolled tensor is put together."""
    if not dims:
        if not self.flags.c_contiguous or not result.flags.c_contiguous:
            return []
        self, result, dims = self.reshape(-1), result.reshape(-1), [0]
    by = [0] * self.ndim
    for shift, dim in zip(shifts, dims, strict=True):
        by[wrap_dim(dim, self.ndim)] += shift
    cuts = [shift % size for shift, size in zip(by, self.shape, strict=True)]
    goals = [(slice(cut, None), slice(cut)) if cut else (slice(None),) for cut in cuts]
    sizes = zip(cuts, self.shape, strict=True)
    ways = [
        (slice(size - cut), slice(size - cut, None)) if cut else (slice(None),)
        for cut, size in sizes
    ]
    pairs = zip(product(*ways), product(*goals), strict=True)
    return [moved(self[source], result[goal]) for source, goal in pairs]


@operator(
    "aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor",
    rows=rows_of("self"),
    parts=rolled,
    on_slices="dims",
)
def roll(self: Array, shifts: Sequence[int], dims: Sequence[int]) -> Array:
    if not shifts:
        raise OperatorError("`shifts` required")
    if not dims:
        return contiguous(np.roll(self, shifts[0]))
    if len(shifts) != len(dims):
        raise OperatorError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        )
    if not self.ndim:
        raise IndexOutOfRange(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    rolled = np.roll(self, tuple(shifts), tuple(wrap_dim(d, self.ndim) for d in dims))
    if not self.size:
        return lies_like(rolled, self)
    moved = all(s % self.shape[d] for s, d in zip(shifts, dims, strict=True))
    return channels_last(rolled) if moved and ends_in_channels(self) else contiguous(rolled)


def triangle(self: Array, diagonal: int, lower: bool) -> Array:
    """A mask of what lies up to a diagonal, or from it on: do not write to it."""
    if self.ndim < 2:
        name = "tril" if lower else "triu"
        raise OperatorError(f"{name}: input tensor must have at least 2 dimensions")
    rows, columns = self.shape[-2:]
    diagonal -= not lower
    diagonal = min(max(diagonal, -rows - 1), columns)  # the farthest that make a difference
    mask = _kept if rows * columns <= _SMALL else _made
    return mask(rows, columns, diagonal, lower)


_SMALL: Final = 1 << 18


def _made(rows: int, columns: int, diagonal: int, lower: bool) -> Array:
    """A mask of the elements up to a diagonal, or beyond it."""
    up_to = np.tri(rows, columns, diagonal, dtype=bool)
    return up_to if lower else np.logical_not(up_to)


_kept: Final = remembered(8 << 20)(_made)
"""The same, remembered: do not write to it."""


def _kept_part(self: Array, diagonal: int, *, lower: bool) -> Array:
    """What lies up to a diagonal, or from it on, and zeros."""
    kernels = family("rows.triangles") if self.size and self.ndim > 1 else None
    if kernels is not None:
        rows, columns = self.shape[-2:]
        bounded = min(max(diagonal, -rows), columns)
        found: Array | None = kernels.triangle(self, bounded, lower=lower)
        if found is not None:
            return found
    return where(triangle(self, diagonal, lower), self, operand(0, self.dtype))


@operator(
    "aten::tril(Tensor self, SymInt diagonal=0) -> Tensor",
    prepared=True,
    layout="C",
    out_dtype=SAME,
    out_overlap="read-first",
    rows=rows_of("self"),
    on_slices="matrices",
)
def tril(self: Array, diagonal: int) -> Array:
    return _kept_part(self, diagonal, lower=True)


@operator(
    "aten::triu(Tensor self, SymInt diagonal=0) -> Tensor",
    prepared=True,
    layout="C",
    out_dtype=SAME,
    out_overlap="read-first",
    rows=rows_of("self"),
    on_slices="matrices",
)
def triu(self: Array, diagonal: int) -> Array:
    return _kept_part(self, diagonal, lower=False)
