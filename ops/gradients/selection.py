"""Gradients of reading and writing by indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensor import Tensor
from .rows import aten, gradient, joint, moving, same_as


def _indexed(g: Any, self_sizes: Any, indices: Any) -> Any:
    return g.new_zeros(list(self_sizes)).index_put(indices, g, True)


gradient("aten::index", self=_indexed)
same_as("aten::index", "aten::_unsafe_index")
gradient(
    "aten::index_put",
    self=lambda g, indices, values_sizes, accumulate=False: (
        g if accumulate else g.index_put(indices, g.new_zeros([]))
    ),
    values=lambda g, indices: aten.index(g, indices),
)
same_as("aten::index_put", "aten::_unsafe_index_put")
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
moving("aten::take_along_dim", name="GatherBackward0")
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


def _masked_source(g: Any, mask: Any, sizes: Any) -> Any:
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


def _places(sizes: Any, strides: Any, offset: int) -> Any:
    """Where in its storage each element of a tensor lies."""
    places: Any = np.full(tuple(sizes), offset, np.int64)
    for dim, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        shape = [1] * len(sizes)
        shape[dim] = size
        places += (np.arange(size) * stride).reshape(shape)
    return places.ravel()


def _strided_back(g: Any, self: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
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
    weight=lambda g, weight_sizes, indices, padding_idx=-1, scale_grad_by_freq=False: _table(
        g, weight_sizes, indices, padding_idx, scale_grad_by_freq
    ),
)


def _table(g: Any, sizes: Any, indices: Any, padding: int, by_count: bool) -> Any:
    """The gradient of a table of which rows were read; the row `padding` gets none."""
    flat = indices.reshape([-1]).long()
    rows = g.reshape([flat.numel(), *sizes[1:]])
    if padding >= 0:
        rows = rows.masked_fill((flat == padding).reshape([-1] + [1] * (rows.ndim - 1)), 0)
    if by_count:
        rows = rows / aten.bincount(flat, minlength=sizes[0]).index_select(0, flat).unsqueeze(-1)
    return g.new_zeros(list(sizes)).index_add(0, flat, rows)


def _reduced_places(self: Any, index: Any, src: Any, dim: int, include: bool) -> Any:
    counts = aten.ones_like(self) if include else aten.zeros_like(self)
    return counts.scatter_add(dim, index, aten.ones_like(src))


@joint("aten::scatter_reduce", of="self src")
def _reduced(
    gs: Any, wanted: Any, self: Any, dim: int, index: Any, src: Any, reduce: str,
    include_self: bool, result: Any,
) -> Any:  # fmt: skip
    (g,) = gs[:1]
    if reduce == "sum":
        mine, theirs = g, g.gather(dim, index)
    elif reduce == "mean":
        count = _reduced_places(self, index, src, dim, include_self).clamp_min(1)
        mine, theirs = g / count, (g / count).gather(dim, index)
    elif reduce == "prod":
        mine = (g * result / self).masked_fill(self == 0, 0)
        zero = src == 0
        zeros_there = aten.zeros_like(self).scatter_add(dim, index, zero.to(self.dtype))
        base = aten.ones_like(self) if not include_self else self
        without = base.detach() if not include_self else base
        others = aten.scatter_reduce(
            without, dim, index, src.masked_fill(zero, 1), "prod", include_self=include_self
        ).gather(dim, index)
        single = zero.logical_and(zeros_there.gather(dim, index) == 1)
        plain = (g * result).gather(dim, index) / src.masked_fill(zero, 1)
        theirs = aten.where(single, g.gather(dim, index) * others, plain.masked_fill(zero, 0))
    else:
        value = result.gather(dim, index)
        mask_self, mask_src = (self == result), (src == value)
        count = mask_self.to(g.dtype).scatter_add(dim, index, mask_src.to(g.dtype))
        share = g / count
        mine, theirs = mask_self * share, mask_src * share.gather(dim, index)
    if not include_self:
        mine = mine.scatter(dim, index, 0)
    return mine, theirs


@joint("aten::index_reduce", of="self source")
def _index_reduced(
    gs: Any, wanted: Any, self: Any, dim: int, index: Any, source: Any, reduce: str,
    include_self: bool, result: Any,
) -> Any:  # fmt: skip
    (g,) = gs[:1]

    def at(x: Any) -> Any:
        return x.index_select(dim, index)

    if reduce == "mean":
        count = aten.ones_like(self) if include_self else aten.zeros_like(self)
        count = count.index_add(dim, index, aten.ones_like(source)).clamp_min(1)
        mine, theirs = g / count, at(g / count)
    elif reduce == "prod":
        filled = self.masked_fill(self == 0, 1)
        mine = g * filled.index_reduce(dim, index, source, "prod", include_self=include_self)
        mine = mine / filled
        zero = source == 0
        zeros = aten.zeros_like(self).index_add(dim, index, zero.to(self.dtype))
        single = zero.logical_and(at(zeros) == 1)
        others = self.index_reduce(
            dim, index, source.masked_fill(single, 1), "prod", include_self=include_self
        )
        plain = at(g * result) / source.masked_fill(zero, 1)
        theirs = aten.where(single, at(g * others), plain)
    else:
        of_self, of_source = self == result, source == at(result)
        count = of_self.to(g.dtype).index_add(dim, index, of_source.to(g.dtype))
        mine, theirs = of_self * (g / count), of_source * at(g / count)
    if not include_self:
        mine = mine.index_fill(dim, index, 0)
    return mine, theirs
