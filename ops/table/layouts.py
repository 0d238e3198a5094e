"""Where torch lays the results of an operator in another order than NumPy computes them in.

One row an operator, a letter for each result: `F` for matrices that are stored by columns, as
LAPACK leaves them, `C` for contiguous tensors, `-` for what stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any, Final

import numpy as np

from ..memory.dtype import Array
from ..memory.storage import contiguous_strides, strides_of, view_of
from .pointwise import cast

__all__ = ["column_major", "contiguous", "in_order", "into_resized", "laid_out"]

_ROWS: Final = """
cross C
linalg_cross C
cholesky F
cholesky_inverse F
cholesky_solve F
geqrf F-
linalg_cholesky F
linalg_cholesky_ex F-
linalg_eig -F
linalg_eigh -F
linalg_householder_product F
linalg_ldl_factor F-
linalg_ldl_factor_ex F--
linalg_ldl_solve F
linalg_lu_factor F-
linalg_lu_factor_ex F--
linalg_qr FF
linalg_solve_triangular F
linalg_svd F-F
lu_solve F
orgqr F
ormqr F
qr FF
svd F-C
triangular_solve FF
_linalg_eigh -F
_linalg_svd F-F
_lu_with_info F--
"""


def _has_strides(array: Array) -> bool:
    """Whether the strides are those of a new tensor, also where sizes are 1 or 0."""
    step = array.itemsize
    for size, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
        if stride != step:
            return False
        step *= max(size, 1)
    return True


def contiguous(array: Array) -> Array:
    """The array, or a copy of it, with the strides of a new contiguous tensor."""
    if _has_strides(array):
        return array
    if not array.size:  # a new array without elements has no strides in NumPy
        steps = [step * array.itemsize for step in contiguous_strides(array.shape)]
        return view_of(np.empty(0, array.dtype), array.shape, steps)
    fresh = np.empty(array.shape, array.dtype)
    fresh[...] = array
    return fresh


def column_major(array: Array) -> Array:
    """The matrices, or a copy of them, stored by columns; their batch is contiguous."""
    if array.ndim < 2:
        return array
    return contiguous(array.swapaxes(-1, -2)).swapaxes(-1, -2)


def in_order(array: Array, dims: Sequence[int]) -> Array:
    """The tensor, or a copy of it, stored with the dimensions in this order, outermost first."""
    back = sorted(range(array.ndim), key=dims.__getitem__)
    return contiguous(array.transpose(dims)).transpose(back)


def _duplicate(array: Array, dtype: np.dtype[Any]) -> Array:
    """A copy in a dtype; dense tensors keep their strides, also where sizes are 1 or 0."""
    steps = strides_of(array)
    dims = sorted(range(array.ndim), key=lambda d: (steps[d], array.shape[d]), reverse=True)
    if array.dtype.isbuiltin == 1 and _has_strides(array.transpose(dims)):
        fresh = in_order(np.empty(array.shape, dtype), dims)
        fresh[...] = cast(array, dtype)
        return fresh
    return cast(array, dtype).copy(order="K")


def _as_it_is(array: Array) -> Array:
    return array


_LAYOUTS: Final = {"F": column_major, "C": contiguous, "-": _as_it_is}


_CONTIGUOUS_OUT: Final = frozenset(("cholesky", "cholesky_solve", "linalg_tensorinv"))


def into_resized(name: str, result: Array, dtype: np.dtype[Any]) -> Array:
    """What an `out=` of another shape becomes: a copy of the result of that operator."""
    short = name.partition("::")[2]
    if short in _CONTIGUOUS_OUT or (short.startswith("fft_") and not short.endswith("ifft")):
        result = contiguous(result)
    return _duplicate(result, dtype)


@cache
def _rows() -> dict[str, str]:
    """The letters of the results, by name."""
    return dict(line.split() for line in _ROWS.split("\n") if line)


def laid_out(name: str, forward: Callable[..., Any]) -> Callable[..., Any]:
    """The forward of an operator (`aten::linalg_qr`), its results laid out as torch does."""
    letters = _rows().get(name.partition("::")[2])
    if letters is None:
        return forward
    first, *rest = (_LAYOUTS[letter] for letter in letters)

    @wraps(forward)
    def of_one(*arguments: Any) -> Any:
        return first(forward(*arguments))

    @wraps(forward)
    def of_many(*arguments: Any) -> Any:
        results = forward(*arguments)
        return tuple(lay(part) for lay, part in zip((first, *rest), results, strict=True))

    return of_many if rest else of_one
