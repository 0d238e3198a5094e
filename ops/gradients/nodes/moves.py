"""The way back through operators that only move elements, found by running them on numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ...memory.dtype import Array
from ...memory.overlap import holds_apart
from ...table.table import Operator
from ...tensors.tensor import Tensor
from ..table.rules import is_unheard
from .autograd import Edge

__all__ = ["moved"]


def moved(
    entry: Operator,
    arguments: Sequence[object],
    sizes: Sequence[tuple[int, ...]],
    places: Sequence[tuple[int, int | None]],
    asked: Sequence[Edge | None],
    grads: list[Tensor | None],
) -> list[Tensor | None]:
    """The gradients of the arguments at some `places`, which have `sizes`.

    The operator is run on the numbers of the elements; number 0 stands for what is filled in.
    """
    found = _through_views(entry, arguments, sizes, places, grads)
    if found is not None:
        return [None if edge is None else each for edge, each in zip(asked, found, strict=True)]
    ends = np.cumsum([1] + [math.prod(size) for size in sizes])
    numbers = {
        place: np.arange(start, end, dtype=np.float64).reshape(size)
        for place, start, end, size in zip(places, ends[:-1], ends[1:], sizes, strict=True)
    }
    flat = _gathered(_arrays(_run(entry, arguments, numbers)), int(ends[-1]), grads)
    if flat is None:
        return [None] * len(asked)
    return [
        None if edge is None else flat[int(start) : int(end)].reshape(list(size))
        for edge, start, end, size in zip(asked, ends[:-1], ends[1:], sizes, strict=True)
    ]


def _through_views(
    entry: Operator,
    arguments: Sequence[object],
    sizes: Sequence[tuple[int, ...]],
    places: Sequence[tuple[int, int | None]],
    grads: list[Tensor | None],
) -> list[Tensor] | None:
    """The same where results are views, and gradients are not differentiated themselves: what is
    added to views of zeros.  None elsewhere."""
    given = [grad._array for grad in grads if grad is not None]
    if not (entry.is_view and given and is_unheard()):
        return None
    if any(type(each) is not np.ndarray or each.dtype is not given[0].dtype for each in given):
        return None
    zeros = {
        place: np.zeros(size, given[0].dtype) for place, size in zip(places, sizes, strict=True)
    }
    views = _arrays(_run(entry, arguments, zeros))
    if not all(any(holds_apart(each, view) for each in zeros.values()) for view in views):
        return None
    for view, grad in zip(views, grads, strict=False):
        if grad is not None:
            np.add(view, grad._array, view)
    return [Tensor._of(zeros[place]) for place in places]


def _run(
    entry: Operator, arguments: Sequence[object], numbers: Mapping[tuple[int, int | None], Array]
) -> object:
    """What an operator gives with numbers in the place of some arguments."""
    values: list[object] = []
    for at, value in enumerate(arguments):
        if isinstance(value, list):
            values.append([numbers.get((at, i), _bare(v)) for i, v in enumerate(value)])
        else:
            values.append(numbers.get((at, None), _bare(value)))
    return entry.forward(*values)


def _gathered(found: list[Array], count: int, grads: list[Tensor | None]) -> Tensor | None:
    """The gradients of the elements by their numbers, which `found` holds at their new places."""
    given = [grad for grad in grads if grad is not None]
    flat = None
    for places, grad in zip(found, grads, strict=False):
        if grad is None:
            continue
        if flat is None:
            flat = max(given, key=lambda each: each.dtype.is_complex).new_zeros([count])
        index = Tensor._of(places.astype(np.int64).reshape(-1))
        flat = flat.index_add(0, index, grad.reshape([-1]).to(flat.dtype))
    return flat


def _bare(value: object) -> object:
    if isinstance(value, Tensor):
        return value._array
    return [_bare(each) for each in value] if isinstance(value, list) else value


def _arrays(value: object) -> list[Array]:
    if isinstance(value, np.ndarray):
        return [value]
    return [a for each in value for a in _arrays(each)] if isinstance(value, (list, tuple)) else []
