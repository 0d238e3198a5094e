"""The way back through operators that only move elements, found by running them on numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...table.table import Operator
from ...tensors.tensor import Tensor
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
    ends = np.cumsum([1] + [math.prod(size) for size in sizes])
    numbers = {
        place: np.arange(start, end, dtype=np.float64).reshape(size)
        for place, start, end, size in zip(places, ends[:-1], ends[1:], sizes, strict=True)
    }
    values: list[Any] = []
    for at, value in enumerate(arguments):
        if isinstance(value, list):
            values.append([numbers.get((at, i), _bare(v)) for i, v in enumerate(value)])
        else:
            values.append(numbers.get((at, None), _bare(value)))
    flat = _gathered(_arrays(entry.forward(*values)), int(ends[-1]), grads)
    if flat is None:
        return [None] * len(asked)
    return [
        None if edge is None else flat[int(start) : int(end)].reshape(list(size))
        for edge, start, end, size in zip(asked, ends[:-1], ends[1:], sizes, strict=True)
    ]


def _gathered(found: list[Any], count: int, grads: list[Tensor | None]) -> Tensor | None:
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


def _bare(value: object) -> Any:
    if isinstance(value, Tensor):
        return value._array
    return [_bare(each) for each in value] if isinstance(value, list) else value


def _arrays(value: object) -> list[Any]:
    if isinstance(value, np.ndarray):
        return [value]
    return [a for each in value for a in _arrays(each)] if isinstance(value, (list, tuple)) else []
