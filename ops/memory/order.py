"""In which order torch stores the elements of what is computed of several tensors.

For each two dimensions the first operand counts whose strides tell which of them lies inside.
Where operands contradict each other NumPy stores by rows instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from .dtype import Array
from .storage import laid_out, strides_of, with_steps_of_ones

__all__ = [
    *("beside", "dims_in_memory", "lies_beside", "memory_order", "order_of", "strides_beside"),
]

Steps = tuple[int, ...]


def beside(computed: object, *operands: Array) -> Array:
    """What NumPy has computed of operands, or a copy of it, that lies as torch's result does.

    Where the first operand is contiguous and not repeated nobody need ask: both go by that.
    """
    result = computed if type(computed) is np.ndarray else np.asarray(computed)
    if result.ndim < 2:
        return result
    told = tuple([(each.shape, each.strides, each.itemsize) for each in operands if each.ndim])
    wanted = _wanted(result.shape, result.itemsize, told)
    return result if result.strides == wanted else _stored(result, wanted)


def dims_in_memory(array: Array) -> Steps:
    """The dimensions in the order they have in memory, that of the largest stride first."""
    steps = array.strides
    return tuple(sorted(range(array.ndim), key=lambda dim: -steps[dim]))


def memory_order(array: Array) -> Array:
    """The array with its dimensions in that order."""
    return array.transpose(dims_in_memory(array))


def order_of(array: Array) -> Steps | None:
    """The order of dimensions in which an array lies by rows; None if it lies in no such order."""
    order = dims_in_memory(array)
    return order if array.transpose(order).flags.c_contiguous else None


def lies_beside(result: Array, operands: Sequence[Sequence[int]]) -> Array:
    """A result, or a copy of it, that lies as torch's do beside operands with these strides, which
    are 0 where elements are repeated."""
    steps = strides_beside(result.shape, operands)
    return _stored(result, tuple([step * result.itemsize for step in steps]))


def _stored(result: Array, steps: Steps) -> Array:
    own = tuple([step * result.itemsize for step in strides_of(result)])
    if result.size < 2 or own == steps:
        return result
    fresh = laid_out(result.shape, result.dtype, steps)
    fresh[...] = result
    return fresh


@lru_cache(maxsize=512)
def _wanted(sizes: Steps, itemsize: int, operands: tuple[tuple[Steps, Steps, int], ...]) -> Steps:
    """The strides, in bytes, of a result beside operands of some sizes, strides and item sizes."""
    steps = [_meeting(own, strides, unit, sizes) for own, strides, unit in operands]
    return tuple([step * itemsize for step in strides_beside(sizes, steps)])


def _meeting(own: Steps, strides: Steps, unit: int, sizes: Steps) -> list[int]:
    """The strides of an operand among others: 0 where its elements are repeated."""
    told = with_steps_of_ones(own, strides, unit)
    pairs = zip(told, own, sizes[len(sizes) - len(own) :], strict=True)
    return [0] * (len(sizes) - len(own)) + [s if mine == size else 0 for s, mine, size in pairs]


def strides_beside(sizes: tuple[int, ...], operands: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The strides, in elements, of what is computed from operands with these: for each two
    dimensions the first operand counts whose strides or sizes tell which lies inside."""
    order = list(reversed(range(len(sizes))))
    for at in range(1, len(order)):
        for place in reversed(range(at)):
            told = (_is_inner(sizes, steps, order[at], order[place]) for steps in operands)
            inner = next((each for each in told if each is not None), None)
            if inner:
                order[at], order[place] = order[place], order[at]
                at = place
            elif inner is False:
                break
    found, step = [1] * len(sizes), 1
    for dim in order:
        found[dim] = step
        step *= max(sizes[dim], 1)
    return tuple(found)


def _is_inner(sizes: tuple[int, ...], steps: Sequence[int], one: int, other: int) -> bool | None:
    """Whether a dimension lies inside of another; None if neither strides nor sizes tell."""
    if not steps[one] or not steps[other]:
        return None
    if steps[one] != steps[other]:
        return steps[one] < steps[other]
    return True if sizes[one] < sizes[other] else None
