"""Gradients of distances of all pairs of rows, where they need no gradients themselves."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...kernels import Prepared, family, in_order
from ...linear_algebra.distance import is_by_products
from ...memory.dtype import Array
from ...memory.remembered import remembered
from ...tensors.tensor import Tensor
from ..table.rows import Wanted, aten, direct
from ..table.rules import are_wide


def _slopes(shares: Array, one: Array, other: Array, form: str) -> Array:
    made: Array = family("rows.distances").slopes(shares, one, other, form)
    return made


_KNOWN: Final = Prepared(_slopes)


def _kernels(p: float, *tensors: Tensor) -> object:
    """The kernels' form of a norm; None where they do not do it."""
    if p not in (1.0, 2.0) or not are_wide(*tensors) or family("rows.distances") is None:
        return None
    arrays = [each._array for each in tensors]
    if any(each.dtype is not arrays[0].dtype or not each.size for each in arrays):
        return None
    return family("rows.distances").FORMS[p]


def _shares(g: Array, result: Array, p: float) -> Array:
    """What the differences of each pair are multiplied with: nothing where there is no distance."""
    if p == 1:
        return in_order(g)
    out = np.zeros(g.shape, g.dtype)
    return np.divide(g, result, out, where=result != 0)


@direct("aten::cdist", "aten::_cdist_forward", of="x1 x2")
def cdist(
    g: Tensor, wanted: Wanted, x1: Tensor, x2: Tensor, p: float, compute_mode: int | None,
    result: Tensor,
) -> tuple[Tensor | None, Tensor | None] | None:  # fmt: skip
    """The distances of all rows to all others."""
    form = _kernels(p, g, x1, x2, result)
    one, other = in_order(x1._array[...]), in_order(x2._array[...])
    if form is None or one.shape[:-2] != other.shape[:-2]:
        return None
    shares = _shares(g._array, result._array, p)
    turned = in_order(shares.swapaxes(-1, -2)) if wanted["x2"] else shares
    if one.shape[-1] >= _MANY and is_by_products(one, other, p, compute_mode or 0):
        near = _near_pairs(result._array, one, other)
        if len(near[0]) <= result._array.size >> 3:
            beside = (*near[:-2], near[-1], near[-2])
            return (
                _by_products(shares, one, other, near) if wanted["x1"] else None,
                _by_products(turned, other, one, beside) if wanted["x2"] else None,
            )
    return (
        Tensor._of(_KNOWN.call(shares, one, other, form)) if wanted["x1"] else None,
        Tensor._of(_KNOWN.call(turned, other, one, form)) if wanted["x2"] else None,
    )


_MANY: Final = 32
"""Columns from which products are quicker than differences."""
_NEAR: Final = 0.01
"""The part of the largest length below which a distance is that of a near pair."""


def _near_pairs(result: Array, one: Array, other: Array) -> tuple[Array, ...]:
    """The places of pairs whose difference a sum of products would lose."""
    longest = max(np.einsum("...i,...i", rows, rows).max() for rows in (one, other))
    return np.nonzero(result < _NEAR * np.sqrt(longest))


def _by_products(shares: Array, one: Array, other: Array, near: tuple[Array, ...]) -> Tensor:
    """The slopes of distances that came of a matrix product, in the same way but for near pairs."""
    far = shares.copy()
    far[near] = 0
    by, first, second = (Tensor._of(each) for each in (far, one, other))
    found = first * by.sum([-1], True) - aten.matmul(by, second)
    if not len(near[0]):
        return found
    *batch, row, column = near
    apart = one[(*batch, row)] - other[(*batch, column)]
    own = shares[near][:, None] * apart
    rows = np.ravel_multi_index((*batch, row), one.shape[:-1])
    every = found.reshape([-1, one.shape[-1]])
    return every.index_add(0, Tensor._of(rows), Tensor._of(own)).reshape(list(one.shape))


@direct("aten::pdist", "aten::_pdist_forward", of="self")
def pdist(g: Tensor, self: Tensor, p: float, result: Tensor) -> tuple[Tensor] | None:
    """The distances of all pairs of rows."""
    form = _kernels(p, g, self, result)
    if form is None:
        return None
    rows, count = in_order(self._array[...]), len(self._array)
    whole = np.zeros((count, count), rows.dtype)
    whole.reshape(-1)[_above(count)] = _shares(g._array, result._array, p)
    return (Tensor._of(_KNOWN.call(whole + whole.T, rows, rows, form)),)


@remembered(1 << 22)
def _above(count: int) -> Array:
    """The places of pairs in a matrix."""
    first, second = np.triu_indices(count, 1)
    made = first * count + second
    made.setflags(write=False)
    return made
