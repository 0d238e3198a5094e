"""Kernels along the last dimension: running sums, taking and adding at places."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..threads import share
from .compile import compiled

__all__ = ["add_at", "running_sums", "take"]

_MOST = 1 << 17
_TOGETHER = 8
"""Rows that are summed side by side, since each sum waits for the one before it."""


@compiled
def _running_rows(start: int, stop: int, x: Any, out: Any) -> None:
    sums = np.empty(_TOGETHER, np.float64)
    for first in range(start, stop, _TOGETHER):
        count = min(_TOGETHER, stop - first)
        sums[:] = 0.0
        for i in range(x.shape[1]):
            for r in range(count):
                sums[r] += x[first + r, i]
                out[first + r, i] = sums[r]


@compiled
def _running_columns(start: int, stop: int, x: Any, out: Any) -> None:
    sums = np.empty(stop - start, np.float64)
    for n in range(x.shape[0]):
        sums[:] = 0.0
        for i in range(x.shape[1]):
            row, made = x[n, i, start:stop], out[n, i, start:stop]
            for j in range(sums.size):
                sums[j] += row[j]
                made[j] = sums[j]


def running_sums(x: Any) -> Any:
    """Sums so far along the middle one of three dimensions, added up in double."""
    out = np.empty_like(x)
    outer, count, inner = x.shape
    if inner == 1:
        share(_running_rows, outer, _MOST // count + 1, x[:, :, 0], out[:, :, 0])
    else:
        share(_running_columns, inner, max(16, _MOST // (outer * count)), x, out)
    return out


@compiled
def _take(start: int, stop: int, x: Any, places: Any, out: Any, wrong: Any) -> None:
    for r in range(start, stop):
        row, place, made = x[r], places[r], out[r]
        bad = False
        for i in range(place.size):
            at = place[i]
            inside = 0 <= at < row.size
            bad = bad or not inside
            made[i] = row[at if inside else 0]
        if bad:
            wrong[0] = 1


def take(x: Any, places: Any) -> Any:
    """`x[r, places[r, i]]` of two matrices of as many rows; None if a place is not there."""
    out = np.empty(places.shape, x.dtype)
    wrong = np.zeros(1, np.int64)
    if not x.shape[1]:
        return None
    share(_take, x.shape[0], _MOST // places.shape[1] + 1, x, places, out, wrong)
    return None if wrong[0] else out


@compiled
def _add_at(start: int, stop: int, target: Any, places: Any, source: Any) -> None:
    for r in range(start, stop):
        row, place, more = target[r], places[r], source[r]
        for i in range(place.size):
            row[place[i]] += more[i]


def add_at(target: Any, places: Any, source: Any) -> None:
    """Add `source[r, i]` to `target[r, places[r, i]]`; the places are known to be there."""
    share(_add_at, target.shape[0], _MOST // places.shape[1] + 1, target, places, source)
