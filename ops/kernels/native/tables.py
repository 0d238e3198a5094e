"""The k largest of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..threads import share
from .compile import compiled, inlined

__all__ = ["top"]

_MOST = 1 << 17


@inlined
def _above(a: object, b: Any, sign: int) -> Any:
    """Whether a stands before b; NaN is the largest of all."""
    if sign > 0:
        return a > b or (a != a and b == b)
    return a < b or (b != b and a == a)


@compiled
def _top(start: int, stop: int, x: Any, k: int, sign: int, values: Any, places: Any) -> None:
    for n in range(start, stop):
        row, best, where = x[n], values[n], places[n]
        for i in range(row.size):
            new = row[i]
            if i >= k and not _above(new, best[k - 1], sign):
                continue
            at = min(i, k - 1)
            while at > 0 and _above(new, best[at - 1], sign):
                best[at], where[at] = best[at - 1], where[at - 1]
                at -= 1
            best[at], where[at] = new, i


def top(x: Any, k: int, sign: int) -> tuple[Any, Any]:
    """The k largest of every row in order, or smallest if sign is -1, and their places.

    Among equals the first comes first.
    """
    if not 0 < k <= x.shape[1]:
        raise ValueError(f"there are no {k} of {x.shape[1]}")
    values, places = np.empty((x.shape[0], k), x.dtype), np.empty((x.shape[0], k), np.int64)
    share(_top, x.shape[0], _MOST // max(1, x.shape[1]) + 1, x, k, sign, values, places)
    return values, places
