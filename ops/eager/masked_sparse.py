"""Reductions of sparse tensors that leave elements out, by what they hold.

Where a mask holds and the tensor has no element it has a zero, which counts.  What a reduction
starts from stands in `first`, a tensor without dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from ..memory.dtype import STRIDED, Array
from ..tensors.tensor import Tensor
from .aten import aten
from .masks import SPARSE_COO, SPARSE_CSR, Dims, canonical_dims, input_mask

__all__ = ["product_along", "reduced", "where"]


class _Held(NamedTuple):
    """The elements that count: their places in the sparse dimensions, in order, and values."""

    places: Array
    values: Tensor
    shape: tuple[int, ...]

    @property
    def sparse(self) -> int:
        """How many dimensions are sparse."""
        return len(self.places)


def where(mask: Tensor, input: Tensor, fill_value: Tensor) -> Tensor:
    """The input where the mask holds, `fill_value` elsewhere: nothing, in sparse tensors.

    Raises:
        AssertionError: the mask is sparse, and the input has another layout.
    """
    if mask.layout is STRIDED:
        return aten.where(mask, input, fill_value)
    if mask.layout is not input.layout:
        raise AssertionError(
            f"input.layout must be {str(mask.layout).removeprefix('torch.')}, got {input.layout}"
        )
    held = _held(_by_coordinates(input), _by_coordinates(mask), fill_value)
    made = _tensor(held.places, held.values, held.shape, in_order=True)
    return made.to_sparse_csr() if mask.layout is SPARSE_CSR else made


def reduced(
    name: str, input: Tensor, dim: Dims, keepdim: bool, mask: Tensor | None, first: Tensor
) -> Tensor:
    """A reduction of a sparse tensor, of the same layout.

    Raises:
        ValueError: without a mask all elements count, of which only a sum needs those that it
            holds alone.
        RuntimeError, AssertionError: rows and columns have to stay dimensions.
    """
    if mask is None and name != "sum":
        layout = str(input.layout).removeprefix("torch.")
        raise ValueError(f"masked {name} expects explicit mask for {layout} tensor input")
    by_rows = input.layout is SPARSE_CSR
    if by_rows and not keepdim:
        kind = RuntimeError if name in ("sum", "prod") else AssertionError
        raise kind("reduction operations on CSR tensors with keepdim=False is unsupported")
    given = _by_coordinates(input)
    if mask is None:
        held = _Held(given.indices()._array, given.values(), tuple(input.shape))
    else:
        counts = _by_coordinates(input_mask(input, mask=mask))
        held = _held(given, counts, first)
    made = _folded(name, held, canonical_dims(dim, input.ndim), keepdim, first, by_rows)
    return made.to_sparse_csr() if by_rows else made


# --------------------------------------------------------------------------- what counts


def _by_coordinates(tensor: Tensor) -> Tensor:
    made: Tensor = tensor if tensor.layout is SPARSE_COO else tensor.to_sparse()
    return made.coalesce()


def _held(input: Tensor, mask: Tensor, fill: Tensor) -> _Held:
    """The elements of coalesced tensors where the mask holds; `fill` where it does not in dense
    dimensions."""
    shape, places = tuple(input.shape), mask.indices()._array
    holds, sizes = mask.values(), tuple(input.shape[: len(places)])
    if holds.ndim == 1:
        places = places[:, holds._array]
    own = _numbers(input.indices()._array, sizes)
    wanted = _numbers(places, sizes)
    at = np.searchsorted(own, wanted)
    there = at < len(own)
    there[there] = own[at[there]] == wanted[there]
    found = input.values()
    if not len(own):
        values = aten.new_zeros(found, [len(wanted), *found.shape[1:]])
    else:
        values = aten.index_select(found, 0, Tensor._of(np.where(there, at, 0)))
        exists = there.reshape(-1, *[1] * (found.ndim - 1))
        values = aten.where(Tensor._of(exists), values, aten.new_zeros(values, []))
    if holds.ndim > 1:
        values = aten.where(holds, values, fill)
    return _Held(places, values, shape)


def _numbers(places: Array, sizes: Sequence[int]) -> Array:
    """One number for the place of each element, in their order."""
    steps = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    found: Array = (np.array(steps, np.int64)[:, None] * places).sum(0)
    return found


def _tensor(places: Array, values: Tensor, shape: Sequence[int], in_order: bool = False) -> Tensor:
    where_to = Tensor._of(places)
    return aten.sparse_coo_tensor(where_to, values, list(shape), is_coalesced=in_order)


# --------------------------------------------------------------------------- reductions


def _folded(
    name: str, held: _Held, dims: tuple[int, ...], keepdim: bool, first: Tensor, by_rows: bool
) -> Tensor:
    shape = [1 if i in dims else size for i, size in enumerate(held.shape)]
    values, counts = held.values, held.values.new_ones([held.places.shape[1]])
    inner = [dim - held.sparse + 1 for dim in dims if dim >= held.sparse]
    if inner:
        counts = counts * prod(values.shape[dim] for dim in inner)
        values = (
            getattr(aten, name)(values, inner, keepdim)
            if name != "prod"
            else product_along(values, inner, keepdim)
        )
    kept = [dim for dim in range(held.sparse) if dim not in dims]
    where_to = np.zeros_like(held.places)
    where_to[kept] = held.places[kept]
    flat = _numbers(where_to, held.shape[: held.sparse])
    groups, group = np.unique(flat, return_inverse=True)
    if not kept:
        groups, group = np.zeros(1, np.int64), np.zeros(len(flat), np.int64)
    made = _by_group("sum" if name == "mean" else name, values, group, len(groups), first)
    if name == "mean":
        total = _by_group("sum", counts, group, len(groups), aten.new_zeros(first, []))
        made = made / total.reshape([-1, *[1] * (made.ndim - 1)])
    sizes = shape if keepdim else [n for i, n in enumerate(held.shape) if i not in dims]
    if not kept and not by_rows:
        return made.reshape(sizes).to_sparse()
    coordinates = np.array(np.unravel_index(groups, held.shape[: held.sparse]), np.int64)
    return _tensor(coordinates if keepdim else coordinates[kept], made, sizes)


def product_along(values: Tensor, dims: Sequence[int], keepdim: bool) -> Tensor:
    """The product along several dimensions."""
    for dim in sorted(dims, reverse=True):
        values = aten.prod(values, dim, keepdim)
    return values


def _by_group(name: str, values: Tensor, group: Array, count: int, first: Tensor) -> Tensor:
    """The values of each group as one."""
    start = aten.new_zeros(values, [count, *values.shape[1:]]) + first
    where_to = Tensor._of(group.reshape(-1, *[1] * (values.ndim - 1)))
    places = aten.broadcast_to(where_to, list(values.shape))
    return aten.scatter_reduce(start, 0, places, values, name, include_self=True)
