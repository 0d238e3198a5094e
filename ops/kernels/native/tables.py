"""Irregular kernels: the k largest of rows, weighted sums of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..threads import share
from .compile import compiled, inlined

__all__ = ["resample", "top"]

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


@compiled
def _resample_rows(start: int, stop: int, x: Any, places: Any, weights: Any, out: Any) -> None:
    taps = places.shape[0]
    for n in range(start, stop):
        for o in range(out.shape[1]):
            made = out[n, o]
            row, weight = x[n, places[0, o]], weights[0, o]
            for j in range(made.size):
                made[j] = row[j] * weight
            for t in range(1, taps):
                row, weight = x[n, places[t, o]], weights[t, o]
                for j in range(made.size):
                    made[j] += row[j] * weight


@compiled
def _resample_last(start: int, stop: int, x: Any, places: Any, weights: Any, out: Any) -> None:
    taps = places.shape[0]
    for n in range(start, stop):
        row, made = x[n], out[n]
        for o in range(made.size):
            total = row[places[0, o]] * weights[0, o]
            for t in range(1, taps):
                total += row[places[t, o]] * weights[t, o]
            made[o] = total


def resample(x: Any, places: Any, weights: Any) -> Any:
    """Weighted sums of rows along the middle one of three dimensions."""
    count = places.shape[1]
    if places.shape != weights.shape or not 0 <= places.min() <= places.max() < x.shape[1]:
        raise ValueError("a sum of rows that are not there")
    if x.shape[2] == 1:
        flat = np.empty((x.shape[0], count), x.dtype)
        share(_resample_last, x.shape[0], _MOST // count + 1, x[:, :, 0], places, weights, flat)
        return flat[:, :, None]
    out = np.empty((x.shape[0], count, x.shape[2]), x.dtype)
    share(_resample_rows, x.shape[0], _MOST // (count * x.shape[2]) + 1, x, places, weights, out)
    return out
