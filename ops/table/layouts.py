"""Where torch lays the results of an operator in another order than NumPy computes them in.

An operator's declaration has a letter for each result (`layout=`): `F` for matrices that are stored
by columns, as LAPACK leaves them, `C` for contiguous tensors, `-` for what stays as it is, `L` for
what lies like the first argument, as far as that is dense, `P` for what is computed element by
element and lies as torch has it beside all its operands.  `f` and `e` are `F` and `-` of tensors
with elements, `C` and `L` of others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any, Final, Literal

import numpy as np

from ..kernels import family, move
from ..memory.dtype import Array, Dtype
from ..memory.order import beside, strides_beside
from ..memory.storage import contiguous_strides, strides_of, view_of
from .pointwise import cast

__all__ = [
    "OutLayout",
    "in_shape_of",
    "column_major",
    "contiguous",
    "in_order",
    "in_own_order",
    "into_resized",
    "laid_out",
    "lies_like",
    "like",
    "strides_like",
]


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
    if (array.flags.c_contiguous and array.size and 1 not in array.shape) or _has_strides(array):
        return array
    if not array.size:  # a new array without elements has no strides in NumPy
        steps = [step * array.itemsize for step in contiguous_strides(array.shape)]
        return view_of(np.empty(0, array.dtype), array.shape, steps)
    native = family("calls.run")
    if native is not None and native.is_told():  # by native code, so that it may be learned
        made: Array | None = family("elementwise.arrays").in_order(array)
        if made is not None:
            return made
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


def _duplicate(array: Array, dtype: Dtype) -> Array:
    """A copy in a dtype; dense tensors keep their strides, also where sizes are 1 or 0."""
    steps = strides_of(array)
    dims = sorted(range(array.ndim), key=lambda d: (steps[d], array.shape[d]), reverse=True)
    if array.dtype.isbuiltin == 1 and _has_strides(array.transpose(dims)):
        fresh = in_order(np.empty(array.shape, dtype), dims)
        fresh[...] = cast(array, dtype)
        return fresh
    return cast(array, dtype).copy(order="K") if array.size else np.empty(array.shape, dtype)


@lru_cache(maxsize=256)
def _dense_strides(sizes: tuple[int, ...], steps: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of a new tensor beside one with elements that is not contiguous.

    They are the same where those leave no gaps and do not overlap; else dimensions keep their order
    from the innermost on, where strides or sizes tell one.
    """
    step = 1
    dims = sorted(range(len(sizes)), key=lambda d: (sizes[d] < 2, steps[d]))
    for dim in dims:
        if sizes[dim] > 1 and steps[dim] != step:
            break
        step *= sizes[dim]
    else:
        return steps
    return strides_beside(sizes, (steps,))


def strides_like(array: Array) -> tuple[int, ...]:
    """The strides, in elements, of a new tensor like another one (`empty_like`)."""
    steps = strides_of(array)
    return steps if array.flags.c_contiguous else _dense_strides(array.shape, steps)


def like(array: Array, dtype: Dtype) -> Array:
    """An unfilled tensor of the sizes of another and, as far as that is dense, its strides."""
    if array.flags.c_contiguous and array.size and 1 not in array.shape:
        return np.empty(array.shape, dtype)
    steps = strides_like(array)
    if steps == contiguous_strides(array.shape):
        return np.empty(array.shape, dtype)
    memory = np.empty(array.size, dtype)
    return view_of(memory, array.shape, [step * dtype.itemsize for step in steps])


def in_own_order(array: Array) -> Array:
    """The array; a copy of one that repeats elements, which lies as results computed of it do."""
    strides = array.strides
    if array.flags.c_contiguous or (0 not in strides and len(set(strides)) == len(strides)):
        return array
    fresh = like(array, array.dtype)
    fresh[...] = array
    return fresh


def lies_like(result: Array, given: Array) -> Array:
    """A result, or a copy of it, with the strides of a new tensor like an argument."""
    if result.strides == given.strides and result.itemsize == given.itemsize:
        return result
    if result.shape != given.shape:
        return result
    are_whole = result.flags.c_contiguous and given.flags.c_contiguous
    if are_whole and given.size and 1 not in given.shape:
        return result
    if strides_of(result) == strides_like(given):
        return result
    fresh = like(given, result.dtype)
    move(result, fresh)
    return fresh


def _as_it_is(array: Array) -> Array:
    return array


def _matrices(array: Array) -> Array:
    return column_major(array) if array.size else contiguous(array)


_LAYOUTS: Final = {
    **{"F": column_major, "C": contiguous, "-": _as_it_is},
    "f": _matrices,
}
_BY_THE_FIRST: Final = {"L": None, "e": _as_it_is}


OutLayout = Literal["", "C", "-", "L", "="]
"""How an `out=` of another shape lies: as the result would, or contiguous; as it is computed, where
the dtype is that; like it, where it has no elements; as it did before, if it has as many."""


def in_shape_of(layout: OutLayout, result: Array, out: Array) -> Array:
    """The result in the shape of an `out=` that need not change for it; else as it is."""
    return result.reshape(out.shape) if layout == "=" and result.size == out.size else result


def into_resized(layout: OutLayout, result: Array, dtype: Dtype) -> Array:
    """What an `out=` of another shape becomes: a copy of the result, in a dtype."""
    if layout == "C":
        result = contiguous(result)
    if layout == "-" and result.dtype == dtype:
        return result  # a part of more memory, as it is without `out`
    if layout == "L" and not result.size:
        return like(result, dtype)
    return _duplicate(result, dtype)


def laid_out(letters: str, forward: Callable[..., Any]) -> Callable[..., object]:
    """The forward of an operator, its results laid out as torch does."""
    if not letters:
        return forward
    if letters == "P":
        return _like_operands(forward)
    if letters[0] in _BY_THE_FIRST:
        return _like_the_first(forward, len(letters) > 1, _BY_THE_FIRST[letters[0]])
    first, *rest = (_LAYOUTS[letter] for letter in letters)

    @wraps(forward)
    def of_one(*arguments: object) -> Array:
        return first(forward(*arguments))

    @wraps(forward)
    def of_many(*arguments: object) -> tuple[Array, ...]:
        results = forward(*arguments)
        return tuple(lay(part) for lay, part in zip((first, *rest), results, strict=True))

    return of_many if rest else of_one


def _like_operands(forward: Callable[..., Array]) -> Callable[..., object]:
    @wraps(forward)
    def call(*arguments: object) -> Array:
        result = forward(*arguments)
        if result.ndim < 2:
            return result
        arrays = [each for each in arguments if isinstance(each, np.ndarray) and each.ndim]
        if result.flags.c_contiguous and all(each.flags.c_contiguous for each in arrays):
            return result
        return beside(result, *arrays)

    return call


def _like_the_first(
    forward: Callable[..., Any],
    are_many: bool,
    with_elements: Callable[[Array], Array] | None,
) -> Callable[..., object]:
    """The forward, its results like its first argument; those `with_elements` laid out by that."""

    def lay(result: Array, given: Array) -> Array:
        if with_elements is not None and given.size:
            return with_elements(result)
        return lies_like(result, given)

    @wraps(forward)
    def of_one(given: Array, *arguments: object) -> Array:
        result = forward(given, *arguments)
        return lay(result, given) if isinstance(given, np.ndarray) else result

    @wraps(forward)
    def of_many(given: object, *arguments: object) -> object:
        results = forward(given, *arguments)  # of a number or a list where it is another overload's
        if not isinstance(given, np.ndarray):
            return results
        return tuple(lay(part, given) for part in results)

    return of_many if are_many else of_one
