"""Weights of transposed convolutions, cut into those of the plain ones that they are made of."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ....memory.remembered import remembered
from ..calls.run import run
from ..language.target import Target
from ..language.text import FLOAT, FLOATS, INT64, LANES, POINTER, Code
from ..loading.objects import kernel

__all__ = ["cut"]

_LEAST: Final = 1 << 14
"""Weights that are worth another thread."""
_FEW: Final = LANES
"""Taps that are moved all at once."""

Parts = tuple[tuple[int, ...], ...]


def cut(weight: Array, groups: int, parts: Parts) -> list[Array]:
    """The weights [out channels, in channels of a group, taps] of each part.

    `weight` is float32 [in channels, out channels of a group, *taps]; a part names its taps by
    their numbers.
    """
    channels, made, *sizes = weight.shape
    weight = np.ascontiguousarray(weight[...])  # which no other thread can change
    taps, inside = prod(sizes), channels // groups
    rows, least = made * groups, _LEAST // max(1, inside * taps) + 1
    out = np.empty(rows * inside * sum(map(len, parts)), np.float32)
    if taps <= _FEW:
        run(_cutting(taps, parts), rows, least, rows, inside, made, weight, out)
    else:
        moves = _moves(parts, rows * inside)
        words = inside, made, taps, moves.shape[1], moves, weight, out
        run(_moving(), rows, least, *words)
    ends = np.cumsum([rows * inside * len(part) for part in parts])
    shapes = [(rows, inside, len(part)) for part in parts]
    pieces = zip(np.split(out, ends[:-1]), shapes, strict=True)
    return [piece.reshape(shape) for piece, shape in pieces]


@remembered(1 << 20)
def _moves(parts: Parts, several: int) -> Array:
    """For each tap of each part which of the weight it is, where it stands in the first line of so
    many, and how long these lines are."""
    found, before = list[tuple[int, int, int]](), 0
    for part in parts:
        found += [(tap, before + at, len(part)) for at, tap in enumerate(part)]
        before += several * len(part)
    made = np.array(found, np.int64).T.copy()
    made.setflags(write=False)
    return made


@cache
def _moving() -> int:
    return kernel("move_weights", (), _moving_text)


def _moving_text(target: Target) -> str:
    code = Code(target)
    arguments = [(INT64, name) for name in ("inside", "made", "taps", "count")]
    arguments += [(POINTER, name) for name in ("moves", "weight", "out")]
    inside, made, taps, count, moves, weight, out = (code.argument(*each) for each in arguments)
    zero = code.constant(INT64, 0)
    with code.units() as channel:
        group, own = code.split(channel, made)
        first = group * inside * made + own
        with code.counted(zero, inside) as i, code.counted(zero, count) as number:
            tap, begin, length = (
                code.load(INT64, code.at(moves, count * row + number, INT64)) for row in range(3)
            )
            seen = code.load(FLOAT, code.at(weight, (first + i * made) * taps + tap, FLOAT))
            goal = begin + (channel * inside + i) * length
            code.store(seen, code.at(out, goal, FLOAT))
    return code.kernel("move_weights", arguments)


@cache
def _cutting(taps: int, parts: Parts) -> int:
    form = "_".join(".".join(map(str, part)) for part in parts)
    return kernel("cut_weights", (str(taps), form), lambda target: _text(target, taps, parts))


def _text(target: Target, taps: int, parts: Parts) -> str:
    code = Code(target)
    arguments = [(INT64, "rows"), (INT64, "inside"), (INT64, "made")]
    arguments += [(POINTER, "weight"), (POINTER, "out")]
    rows, inside, made, weight, out = (code.argument(*each) for each in arguments)
    before = [sum(map(len, parts[:i])) for i in range(len(parts))]
    places = [code.at(out, rows * inside * count, FLOAT) for count in before]
    held = code.chosen([lane < taps for lane in range(LANES)])
    with code.units() as channel:
        group, own = code.split(channel, made)
        first, line = group * inside * made + own, channel * inside
        with code.counted(code.constant(INT64, 0), inside) as i:
            seen = code.load_if(FLOATS, code.at(weight, (first + i * made) * taps, FLOAT), held)
            for part, place in zip(parts, places, strict=True):
                count = len(part)
                moved = code.shuffled(seen, seen, [*part, *(0,) * (LANES - count)])
                mask = code.chosen([lane < count for lane in range(LANES)])
                code.store_if(moved, code.at(place, (line + i) * count, FLOAT), mask)
    return code.kernel("cut_weights", arguments)
