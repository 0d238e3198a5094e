"""Gradients of distances of all pairs of rows, where they need no gradients themselves."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...kernels import Prepared, family, in_order
from ...memory.dtype import Array
from ...memory.remembered import remembered
from ...tensors.tensor import Tensor
from ..table.rows import Wanted, direct
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
    g: Tensor, wanted: Wanted, x1: Tensor, x2: Tensor, p: float, result: Tensor
) -> tuple[Tensor | None, Tensor | None] | None:
    """The distances of all rows to all others."""
    form = _kernels(p, g, x1, x2, result)
    one, other = in_order(x1._array[...]), in_order(x2._array[...])
    if form is None or one.shape[:-2] != other.shape[:-2]:
        return None
    shares = _shares(g._array, result._array, p)
    of_one = Tensor._of(_KNOWN.call(shares, one, other, form)) if wanted["x1"] else None
    if not wanted["x2"]:
        return of_one, None
    turned = in_order(shares.swapaxes(-1, -2))
    return of_one, Tensor._of(_KNOWN.call(turned, other, one, form))


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
