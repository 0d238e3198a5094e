"""Gradients of sums and means, where they need no gradients themselves: without operators."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..memory.dtype import Array
from ..tensors.tensor import Tensor
from .reduction import dims_of
from .rows import Ints, direct


def spread(g: Array, sizes: Ints, dim: int | Ints | None) -> Array:
    """What was summed up along dimensions, at each place along them."""
    kept = list(sizes)
    for each in dims_of(dim, len(kept)):
        kept[each] = 1
    return np.broadcast_to(g.reshape(kept), tuple(sizes))


@direct("aten::sum", "aten::sum.dim_IntList", of="self")
def summed(g: Tensor, self_sizes: Ints, dim: Ints | None = None) -> tuple[Tensor]:
    """A sum's gradient at each place."""
    return (Tensor._of(spread(g._array, self_sizes, dim)),)


@direct("aten::mean", "aten::mean.dim", of="self")
def averaged(g: Tensor, self_sizes: Ints, dim: Ints | None = None) -> tuple[Tensor] | None:
    """The same, divided by the number of places."""
    array = g._array
    if array.dtype.char not in "fd" or 0 in self_sizes:
        return None
    count = counted(self_sizes, dim)
    shares = np.divide(array, np.asarray(count, array.dtype), np.empty_like(array))
    return (Tensor._of(spread(shares, self_sizes, dim)),)


def counted(sizes: Sequence[int], dim: int | Ints | None) -> int:
    """The number of places that are summed up."""
    return math.prod(sizes[each] for each in dims_of(dim, len(sizes)))
