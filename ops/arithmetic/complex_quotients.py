"""Quotients of complex numbers: by kernels where there are many, with NumPy's bits."""

from __future__ import annotations

import numpy as np

from ..kernels import LARGE, family
from ..memory.dtype import Array
from ..table.direct import notes_of
from ..table.pointwise import as_array
from ..table.words import parts_of_quotient

__all__ = ["divided", "inverted"]


def divided(a: Array, b: Array) -> Array:
    """`a / b` of complex numbers of one dtype, as a ufunc gives it."""
    found = _natively(as_array(a), as_array(b))
    return as_array(np.true_divide(a, b)) if found is None else found


def inverted(x: Array) -> Array:
    """`1 / x`; NumPy's reciprocal has other signs of 0, and no infinities."""
    found = _natively(None, as_array(x))
    return as_array(np.true_divide(1, x)) if found is None else found


def _natively(a: Array | None, b: Array) -> Array | None:
    """The quotient by kernels; None where they are not there (yet), or would not pay."""
    given = [each[...] for each in (a, b) if each is not None]  # which no other thread can change
    if max(each.size for each in given) < LARGE:
        return None
    arrays = family("elementwise.arrays")
    shape = np.broadcast_shapes(*(each.shape for each in given))
    whole = [each for each in given if each.shape == shape]
    if arrays is None or not whole:
        return None
    if not all(each.flags.c_contiguous for each in whole):
        if len(whole) < len(given) or not all(each.flags.f_contiguous for each in whole):
            return None
        turned = _natively(None if a is None else a.T, b.T)
        return None if turned is None else turned.T
    out = np.empty(shape, b.dtype)
    notes = notes_of(arrays, parts_of_quotient(None if a is None else given[0], given[-1], out))
    if notes is None:
        return None
    for note in notes:
        arrays.run(*note)
    return out
