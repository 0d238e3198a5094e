"""Gradients of reading and writing by indices."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module

import numpy as np

from ...memory.dtype import Array
from ...table.grad_mode import is_recording
from ...tensors.tensor import Tensor
from ..nodes.together import not_twice
from ..table.rows import Grads, Ints, Tensors, Wanted, aten, gradient, joint, lying, moving, same_as


def _indexed(g: Tensor, self_sizes: Ints, indices: Grads) -> Tensor:
    return g.new_zeros(list(self_sizes)).index_put(indices, g, True)


def _written_over(
    g: Tensor, indices: Grads, values_sizes: Ints, accumulate: bool = False
) -> Tensor:
    if accumulate:
        return g
    by_bytes = any(each is not None and each._array.dtype == np.uint8 for each in indices)
    zeros = g.new_zeros(list(values_sizes) if by_bytes else [])  # one number goes by bools alone
    return g.index_put(indices, zeros)


gradient("aten::index", self=_indexed)
same_as("aten::index", "aten::_unsafe_index")
gradient(
    "aten::index_put",
    self=_written_over,
    values=lambda g, indices: aten.index(g, indices),
)
same_as("aten::index_put", "aten::_unsafe_index_put", "aten::_index_put_impl")
gradient(
    "aten::index_select",
    self=lambda g, self_sizes, dim, index: (
        g.new_zeros(list(self_sizes)).index_add(dim, index, g) if self_sizes else g.reshape([])
    ),
)
gradient(
    "aten::gather",
    self=lambda g, self_sizes, dim, index: g.new_zeros(list(self_sizes)).scatter_add(dim, index, g),
)
gradient(
    "aten::scatter",
    self=lambda g, dim, index: g.scatter(dim, index, 0),
    src=lambda g, dim, index: g.gather(dim, index),
)
gradient(
    "aten::scatter_add",
    self=lambda g: g,
    src=lambda g, dim, index: g.gather(dim, index),
)
gradient(
    "aten::index_add",
    self=lambda g: g,
    source=lambda g, source_sizes, dim, index, alpha=1: (
        g.index_select(dim, index) * alpha
        if source_sizes or not g.ndim
        else g.index_select(dim, index).squeeze(0) * alpha
    ),
)
gradient(
    "aten::index_copy",
    self=lambda g, dim, index: g.index_fill(dim, index, 0),
    source=lambda g, source_sizes, dim, index: (
        g.index_select(dim, index).expand(list(source_sizes))
        if source_sizes
        else g.index_select(dim, index).squeeze(0)
    ),
)
gradient(
    "aten::index_fill",
    self=lambda g, dim, index: g.index_fill(dim, index, 0),
    value=lambda g, dim, index: g.index_select(
        dim, index.unique() if hasattr(index, "unique") else index
    ).sum(),
)
gradient(
    "aten::take",
    self=lambda g, self_sizes, index: g.new_zeros(list(self_sizes)).put(index, g, True),
)
gradient(
    "aten::put",
    self=lambda g, index, accumulate=False: (
        g if accumulate else g.put(index, g.new_zeros(index.shape))
    ),
    source=lambda g, index, source_sizes: g.take(index).reshape(list(source_sizes)),
)


def _taken_along_back(
    g: Tensor, self_sizes: Ints, indices: Tensor, dim: int | None = None
) -> Tensor:
    sizes = list(self_sizes)
    if dim is None:
        zeros = g.new_zeros([math.prod(sizes)])
        places = indices.remainder(max(zeros.numel(), 1)).reshape([-1])
        return zeros.index_add(0, places, g.reshape([-1])).reshape(sizes)
    whole = list(g.shape)
    whole[dim] = sizes[dim]
    places = indices.remainder(max(sizes[dim], 1)).expand(list(g.shape))
    found = g.new_zeros(whole).scatter_add(dim, places, g)
    spread = [i for i, (n, size) in enumerate(zip(whole, sizes, strict=True)) if n != size]
    return found.sum(spread, keepdim=True) if spread else found


gradient("aten::take_along_dim", self=_taken_along_back, name="GatherBackward0")
moving("aten::masked_select", "aten::nonzero_static")
gradient(
    "aten::_unsafe_masked_index",
    self=lambda g, self_sizes, mask, indices: aten._unsafe_masked_index_put_accumulate(
        g.new_zeros(list(self_sizes)), mask, indices, g
    ),
)
gradient(
    "aten::_unsafe_masked_index_put_accumulate",
    self=lambda g: g,
    values=lambda g, mask, indices: aten._unsafe_masked_index(g, mask, indices, 0),
)
gradient(
    "aten::masked_scatter",
    self=lambda g, mask: g.masked_fill(mask, 0),
    source=lambda g, mask, source_sizes: _masked_source(g, mask, source_sizes),
)


def _masked_source(g: Tensor, mask: Tensor, sizes: Ints) -> Tensor:
    chosen = g.masked_select(mask)
    count = 1
    for size in sizes:
        count *= size
    left = count - chosen.numel()
    return aten.cat([chosen, g.new_zeros([left])]).reshape(list(sizes))


gradient(
    "aten::select_scatter",
    self=lambda g, dim, index, src_sizes: aten.select_scatter(
        g, g.new_zeros(list(src_sizes)), dim, index
    ),
    src=lambda g, dim, index: g.select(dim, index),
)
gradient(
    "aten::slice_scatter",
    self=lambda g, src_sizes, dim=0, start=None, end=None, step=1: aten.slice_scatter(
        g, g.new_zeros(list(src_sizes)), dim, start, end, step
    ),
    src=lambda g, dim=0, start=None, end=None, step=1: aten.slice(g, dim, start, end, step),
)
gradient(
    "aten::diagonal_scatter",
    self=lambda g, src_sizes, offset=0, dim1=0, dim2=1: aten.diagonal_scatter(
        g, g.new_zeros(list(src_sizes)), offset, dim1, dim2
    ),
    src=lambda g, offset=0, dim1=0, dim2=1: g.diagonal(offset, dim1, dim2),
)


def _places(sizes: Ints, strides: Ints, offset: int) -> Array:
    """Where in its storage each element of a tensor lies."""
    places: Array = np.full(tuple(sizes), offset, np.int64)
    for dim, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        shape = [1] * len(sizes)
        shape[dim] = size
        places += (np.arange(size) * stride).reshape(shape)
    return places.ravel()


def _strided_back(
    g: Tensor, self: Tensor, size: Ints, stride: Ints, storage_offset: int | None = None
) -> Tensor:
    """Through the storage: what two elements of `self` share there is shared out among them."""
    start = self.storage_offset()
    own = _places(self.shape, self.stride(), start)
    taken = _places(size, stride, start if storage_offset is None else storage_offset)
    if not own.size or not taken.size:
        return g.new_zeros(list(self.shape))
    first = min(own[0], taken[0])
    length = int(max(own.max(), taken.max()) - first + 1)
    memory = g.new_zeros([length]).index_add(0, Tensor._of(taken - first), g.reshape([-1]))
    found = memory.index_select(0, Tensor._of(own - first))
    shared = np.bincount(own - first)[own - first]
    if shared.max() > 1:
        found = found / Tensor._of(shared)
    return found.reshape(list(self.shape))


gradient("aten::as_strided", "aten::as_strided_copy", self=_strided_back)
gradient(
    "aten::as_strided_scatter",
    # torch keeps the gradient where `src` was written and drops it elsewhere; so does this
    self=lambda g, size, stride, storage_offset=None: aten.as_strided_scatter(
        aten.zeros_like(g.contiguous()),
        aten.as_strided(g.contiguous(), size, stride, storage_offset),
        size,
        stride,
        storage_offset,
    ),
    src=lambda g, size, stride, storage_offset=None: aten.as_strided(
        g.contiguous(), size, stride, storage_offset
    ),
)
gradient(
    "aten::embedding",
    weight=lambda g, weight_sizes, indices, padding_idx, scale_grad_by_freq, sparse: _table(
        g, weight_sizes, indices, padding_idx, scale_grad_by_freq, sparse
    ),
)


def _table(
    g: Tensor, sizes: Ints, indices: Tensor, padding: int, by_count: bool, sparse: bool
) -> Tensor:
    """The gradient of a table of which rows were read; the row `padding` gets none.

    Raises:
        RuntimeError: it is to be sparse, and divided by how often rows were read.
    """
    flat = indices.reshape([-1]).long()
    rows = g.reshape([flat.numel(), *sizes[1:]])
    if sparse:
        if by_count:
            raise RuntimeError(
                "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
            )
        return sparse_rows(flat, rows, sizes, padding)
    if padding >= 0:
        rows = rows.masked_fill((flat == padding).reshape([-1] + [1] * (rows.ndim - 1)), 0)
    if by_count:
        rows = rows / aten.bincount(flat, minlength=sizes[0]).index_select(0, flat).unsqueeze(-1)
    return g.new_zeros(list(sizes)).index_add(0, flat, rows)


def sparse_rows(flat: Tensor, rows: Tensor, sizes: Ints, padding: int) -> Tensor:
    """A sparse tensor of rows at some places, but for those at the place `padding`."""
    made = import_module("...sparse_tensors.tensors", __package__)
    if (flat._array == padding).any():
        seen = Tensor._of(np.flatnonzero(flat._array != padding))
        flat, rows = flat.index_select(0, seen), rows.index_select(0, seen)
    if 0 in rows._array.strides:  # one row for several: those of a gradient may be written
        rows = rows.clone()
    found: Tensor = made.coo(flat.unsqueeze(0), rows, sizes)
    return found


def _exclusive(
    g: Tensor, self: Tensor, src: Tensor, result: Tensor, reduce: Callable[..., Tensor],
    count: Callable[..., Tensor], at: Callable[..., Tensor],
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The gradients of a product at places: each factor's is the product of the others.

    A factor of `self` that is 0 is left out of the product; so is one of `src`, if no other factor
    of `src` at its place is 0.  `reduce` multiplies its two arguments at their places, `count`
    adds up its argument there, `at` reads the places.
    """
    mine = self.masked_fill(self == 0, 1)
    zero = src == 0
    zeros = at(count(aten.zeros_like(self), zero.to(self.dtype)))
    lone = zero.logical_and(zeros == 1)
    of_self = g * reduce(mine, src) / mine
    others = at(g * reduce(self, src.masked_fill(lone, 1)))
    of_src = aten.where(lone, others, at(g * result) / src.masked_fill(zero, 1))
    if is_recording() and zero.logical_and(zeros > 1)._array.any():
        of_src = not_twice(of_src, _SEVERAL_ZEROS)
    return of_self, of_src


_SEVERAL_ZEROS = (
    "Double backward is unsupported for src when >1 zeros in src are scattered to the same "
    "position in self"
)


def _at_places(
    g: Tensor, self: Tensor, src: Tensor, result: Tensor, how: str, include: bool,
    reduce: Callable[..., Tensor], count: Callable[..., Tensor], at: Callable[..., Tensor],
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The gradients of what `src` holds reduced into places of `self`; see `_exclusive`."""
    if how == "sum":
        return g, at(g)
    if how == "prod":
        return _exclusive(g, self, src, result, reduce, count, at)
    if how == "mean":
        start = aten.ones_like(g) if include else aten.zeros_like(g)
        shared = g / count(start, aten.ones_like(src)).clamp_min(1)
        return shared, at(shared)
    of_self, of_src = (self == result).to(g.dtype), (src == at(result)).to(g.dtype)
    shared = g / count(of_self, of_src)
    return of_self * shared, of_src * at(shared)


@joint("aten::scatter_reduce", of="self src")
def _reduced(
    gs: Tensors, wanted: Wanted, self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str,
    include_self: bool, result: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    mine, theirs = _at_places(
        gs[0], self, src, result, reduce, include_self,
        lambda a, b: aten.scatter_reduce(a, dim, index, b, reduce, include_self=include_self),
        lambda a, b: a.scatter_add(dim, index, b),
        lambda x: x.gather(dim, index),
    )  # fmt: skip
    return (mine if include_self else mine.scatter(dim, index, 0)), theirs


@joint("aten::index_reduce", of="self source")
def _index_reduced(
    gs: Tensors, wanted: Wanted, self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str,
    include_self: bool, result: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    mine, theirs = _at_places(
        gs[0], self, source, result, reduce, include_self,
        lambda a, b: a.index_reduce(dim, index, b, reduce, include_self=include_self),
        lambda a, b: a.index_add(dim, index, b),
        lambda x: x.index_select(dim, index),
    )  # fmt: skip
    return (mine if include_self else mine.index_fill(dim, index, 0)), theirs


lying("as the first", "take", "masked_select")
