"""Gradients of what moves elements, where they need no gradients themselves: without operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...tensors.tensor import Tensor
from ..table.rows import Grads, Ints, direct
from .frames import MODES, folded

One = tuple[Tensor]

_MOST_PLACES: Final = 64
"""Of a window: each is a step of its own."""


def _reshaped(g: Tensor, self_sizes: Ints) -> One:
    return (Tensor._of(g._array.reshape(tuple(self_sizes))),)


direct(
    *(
        f"aten::{name}"
        for name in """view _unsafe_view reshape _reshape_alias flatten unflatten view_as reshape_as
        ravel squeeze squeeze.dim squeeze.dims unsqueeze""".split()
    ),
    of="self",
)(_reshaped)


@direct("aten::permute", of="self")
def permute(g: Tensor, dims: Ints) -> One:
    """Dimensions in another order."""
    order = [d % len(dims) for d in dims]
    return (Tensor._of(g._array.transpose([order.index(i) for i in range(len(order))])),)


@direct("aten::transpose", of="self")
def transpose(g: Tensor, dim0: int, dim1: int) -> One | None:
    """Two dimensions exchanged."""
    return (Tensor._of(g._array.swapaxes(dim0, dim1)),) if g._array.ndim else None


def _among_zeros(g: Tensor, sizes: Ints, dim: int, place: int | slice) -> One | None:
    """A gradient at some places along a dimension, and zeros at all others."""
    array = g._array
    if array.dtype.isbuiltin != 1:
        return None
    whole = np.zeros(tuple(sizes), array.dtype)
    whole[(slice(None),) * (dim % len(sizes)) + (place,)] = array
    return (Tensor._of(whole),)


@direct("aten::select", of="self")
def select(g: Tensor, self_sizes: Ints, dim: int, index: int) -> One | None:
    """What lies at one place along a dimension."""
    return _among_zeros(g, self_sizes, dim, index)


@direct("aten::slice", of="self")
def part(
    g: Tensor, self_sizes: Ints, dim: int, start: int | None, end: int | None, step: int
) -> One | None:
    """What lies in a range along a dimension."""
    return _among_zeros(g, self_sizes, dim, slice(start, end, step))


@direct("aten::diagonal", of="self")
def diagonal(g: Tensor, self_sizes: Ints, offset: int, dim1: int, dim2: int) -> One | None:
    """What lies on a diagonal."""
    array = g._array
    if array.dtype.isbuiltin != 1:
        return None
    whole = np.zeros(tuple(self_sizes), array.dtype)
    line = np.diagonal(whole, offset, dim1, dim2)
    line.flags.writeable = True
    line[...] = array
    return (Tensor._of(whole),)


@direct("aten::constant_pad_nd", of="self")
def constant_pad(g: Tensor, pad: Ints) -> One | None:
    """What lies within a frame."""
    array, count = g._array, len(pad) // 2
    if any(each < 0 for each in pad) or not count:
        return None
    sides = zip(pad[-2::-2], pad[-1::-2], strict=True)
    within = [slice(None)] * (array.ndim - count)
    within += [
        slice(before, size - after)
        for (before, after), size in zip(sides, array.shape[-count:], strict=True)
    ]
    return (Tensor._of(array[tuple(within)].copy("K")),)


@direct("aten::pad", of="self")
def padded(g: Tensor, pad: Ints, mode: str) -> One | None:
    """The same, where the frame holds one value; or what lies within any other."""
    return folded(g, pad, mode) if mode in MODES else constant_pad(g, pad)


# --------------------------------------------------------------------------- parts


def _joined(gs: Grads, sizes: Ints, dim: int, lengths: Sequence[int], keeps: bool) -> One | None:
    """Gradients of parts one after the other, zeros for those that have none; parts of length 1
    that do not keep the dimension lie side by side."""
    arrays = [g._array for g in gs if g is not None]
    if not arrays:
        return None
    kind = arrays[0].dtype
    if kind.isbuiltin != 1 or any(each.dtype != kind for each in arrays):
        return None
    whole = np.empty(tuple(sizes), kind)
    if keeps and len(arrays) == len(gs):
        np.concatenate(arrays, dim, whole)
        return (Tensor._of(whole),)
    before, start = (slice(None),) * (dim % len(sizes)), 0
    for g, length in zip(gs, lengths, strict=True):
        place = slice(start, start + length) if keeps else start
        whole[(*before, place)] = 0 if g is None else g._array
        start += length
    return (Tensor._of(whole),)


@direct("aten::unbind", of="self")
def unbind(gs: Grads, self_sizes: Ints, dim: int) -> One | None:
    """All places along a dimension."""
    return _joined(gs, self_sizes, dim, [1] * len(gs), False)


@direct("aten::chunk", of="self")
def chunk(gs: Grads, self_sizes: Ints, chunks: int, dim: int) -> One | None:
    """As many parts as are asked for, or fewer."""
    total = self_sizes[dim]
    return _joined(gs, self_sizes, dim, _lengths(total, -(-total // chunks), len(gs)), True)


@direct("aten::split", of="self")
def split(
    gs: Grads, self_sizes: Ints, dim: int, split_size: int | Ints = (), split_sizes: Ints = ()
) -> One | None:
    """Parts of one length, but for the last, or of given lengths."""
    if isinstance(split_size, int):
        return _joined(gs, self_sizes, dim, _lengths(self_sizes[dim], split_size, len(gs)), True)
    return split_with_sizes(gs, self_sizes, split_size or split_sizes, dim)


def _lengths(total: int, length: int, count: int) -> list[int]:
    return [min(length, total - i * length) for i in range(count)]


@direct("aten::split_with_sizes", of="self")
def split_with_sizes(gs: Grads, self_sizes: Ints, split_sizes: Ints, dim: int) -> One | None:
    """Parts of given lengths."""
    return _joined(gs, self_sizes, dim, list(split_sizes), True)


# --------------------------------------------------------------------------- joining


@direct("aten::cat", of="tensors")
def cat(g: Tensor, tensors_sizes: Sequence[Ints], dim: int) -> tuple[list[Tensor]] | None:
    """Tensors one after the other."""
    array = g._array
    if any(len(sizes) != array.ndim for sizes in tensors_sizes):  # an old empty tensor
        return None
    before, start, grads = (slice(None),) * (dim % array.ndim), 0, []
    for sizes in tensors_sizes:
        end = start + sizes[dim]
        grads.append(Tensor._of(array[(*before, slice(start, end))]))
        start = end
    return (grads,)


@direct("aten::stack", of="tensors")
def stack(g: Tensor, dim: int) -> tuple[list[Tensor]]:
    """Tensors side by side."""
    array = g._array
    before: tuple[Any, ...] = (slice(None),) * (dim % array.ndim)
    return ([Tensor._of(array[(*before, place, ...)]) for place in range(array.shape[dim])],)


@direct("aten::unfold", of="self")
def unfold(g: Tensor, self_sizes: Ints, dimension: int, size: int, step: int) -> One | None:
    """Windows along a dimension, which lie last: one place of all of them after the other, the last
    first, so that what an element gets is added up as its windows follow each other."""
    array = g._array
    if array.dtype.isbuiltin != 1 or not self_sizes or not size or size > _MOST_PLACES:
        return None
    whole = np.zeros(tuple(self_sizes), array.dtype)
    along = whole.swapaxes(dimension, -1)
    given = array.swapaxes(dimension if dimension >= 0 else dimension - 1, -2)
    reach = (given.shape[-2] - 1) * step + 1
    for place in reversed(range(size)):
        part = along[..., place : place + reach : step]
        np.add(part, given[..., place], part)
    return (Tensor._of(whole),)
