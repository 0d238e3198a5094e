"""Gradients of sums and means, where they need no gradients themselves: without operators."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...kernels import LARGE
from ...memory.dtype import Array
from ...memory.quiet import QUIET, enter, leave
from ...memory.storage import spread as repeated
from ...tensors.tensor import Tensor
from ..formulas.reduction import dims_of
from ..table.rows import Ints, aten, direct
from ..table.rules import are_wide


def spread(g: Array, sizes: Ints, dim: int | Ints | None) -> Array:
    """What was summed up along dimensions, at each place along them."""
    kept = list(sizes)
    dims = dims_of(dim, len(kept))
    for each in dims:
        kept[each] = 1
    shares = g.reshape(kept)
    strides = list(shares.strides)
    for each in dims:
        strides[each] = 0
    return repeated(shares, sizes, strides)


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


@direct("aten::cumprod", of="self")
def running_products(
    g: Tensor, self: Tensor, result: Tensor, dim: int, dtype: int | None
) -> tuple[Tensor] | None:
    """Products that were made with each number, divided by it where none is 0."""
    x, made = self._array[...], result._array  # which no other thread can change
    if x.dtype.char not in "fd" or made.dtype != x.dtype or not x.ndim or not x.all():
        return None
    later = np.flip(g._array * made, dim)
    np.cumsum(later, dim, out=later)
    found = np.flip(later, dim)
    return (Tensor._of(np.divide(found, x, np.empty_like(found))),)


@direct("aten::logcumsumexp", of="self")
def running_logarithms(g: Tensor, self: Tensor, result: Tensor, dim: int) -> tuple[Tensor] | None:
    """The sum of all later gradients, each times e to the element less the sum's logarithm there,
    by logarithms of its own, of gradients above and below 0 apart."""
    if not are_wide(g, self) or not self._array.ndim:
        return None

    def shares(part: Tensor) -> Tensor:
        lacks = aten.logcumsumexp((part.log() - result).flip([dim]), dim).flip([dim])
        return (lacks + self).exp()

    return (shares(g.clamp_min(0)) - shares((-g).clamp_min(0)),)


def counted(sizes: Sequence[int], dim: int | Ints | None) -> int:
    """The number of places that are summed up."""
    return math.prod(sizes[each] for each in dims_of(dim, len(sizes)))


def _left(
    sizes: Sequence[int], dim: Ints | None, unbiased: bool | None, correction: float | None
) -> float:
    """By how many squares of deviations are divided."""
    taken = correction if correction is not None else float(unbiased is not False)
    return counted(sizes, dim) - (1.0 if taken is None else taken)


def _off_mean(share: Array, self: Tensor, dim: Ints | None, left: float) -> tuple[Tensor] | None:
    """The gradient of a variance: twice the distance from the mean, in parts."""
    x = self._array
    middle = self.mean(dims_of(dim, x.ndim), True)._array
    state = enter(QUIET)
    try:
        factor = (share * x.dtype.type(2.0 / left)).reshape(middle.shape)
        apart = x - middle
        return (Tensor._of(np.multiply(factor, apart, apart)),)
    finally:
        leave(state)


def _is_small(g: Tensor, self: Tensor | None) -> bool:
    """Whether NumPy does it as quickly as kernels."""
    if self is None:
        return False
    x, own = self._array, g._array
    is_known = own.dtype is x.dtype and x.dtype.char in "fd" and type(self) is Tensor
    return is_known and 0 < x.size < LARGE and x.ndim > 0


@direct("aten::var", of="self")
def variance(
    g: Tensor | None, self: Tensor | None, dim: Ints | None = None, unbiased: bool | None = None,
    correction: float | None = None,
) -> tuple[Tensor] | None:  # fmt: skip
    """A variance."""
    if g is None or self is None or not _is_small(g, self):
        return None
    left = _left(self._array.shape, dim, unbiased, correction)
    return _off_mean(g._array, self, dim, left) if left > 0 else None


@direct("aten::std", of="self")
def deviation(
    g: Tensor | None, self: Tensor | None, result: Tensor, dim: Ints | None = None,
    unbiased: bool | None = None, correction: float | None = None,
) -> tuple[Tensor] | None:  # fmt: skip
    """Its root, whose slope is left out where it is 0."""
    if g is None or self is None or not _is_small(g, self):
        return None
    left, root = _left(self._array.shape, dim, unbiased, correction), result._array
    if left <= 0:
        return None
    state = enter(QUIET)
    try:
        share = np.divide(g._array, root * 2, np.zeros_like(root), where=root != 0)
    finally:
        leave(state)
    return _off_mean(share, self, dim, left)
