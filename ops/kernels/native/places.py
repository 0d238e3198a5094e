"""Kernels along the last dimension: taking and adding at places."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..threads import share
from .compile import compiled

__all__ = ["add_at", "take"]

_MOST = 1 << 17
_BLOCK = 512


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
    if not x.shape[1] or x.shape[0] != places.shape[0]:
        return None
    out = np.empty(places.shape, x.dtype)
    wrong = np.zeros(1, np.int64)
    share(_take, x.shape[0], _MOST // places.shape[1] + 1, x, places, out, wrong)
    return None if wrong[0] else out


@compiled
def _add_at(start: int, stop: int, target: Any, places: Any, source: Any, wrong: Any) -> None:
    own = np.empty(_BLOCK, np.uint64)
    for r in range(start, stop):
        row, size = target[r], np.uint64(target.shape[1])
        for first in range(0, places.shape[1], _BLOCK):
            place, more = places[r, first : first + _BLOCK], source[r, first : first + _BLOCK]
            outside = 0
            for i in range(place.size):
                own[i] = place[i]  # below 0 is far above, too
                outside += own[i] >= size
            if outside:
                wrong[0] = 1
                return
            for i in range(place.size):
                row[own[i]] += more[i]


def add_at(target: Any, places: Any, source: Any) -> bool:
    """Add `source[r, i]` to `target[r, places[r, i]]`; whether all places are there.

    A few at a time are copied, checked and used: they may lie in what is written.
    """
    if places.shape != source.shape or target.shape[0] != places.shape[0]:
        return False
    wrong = np.zeros(1, np.int64)
    least = _MOST // max(1, places.shape[1]) + 1
    share(_add_at, target.shape[0], least, target, places, source, wrong)
    return not wrong[0]
