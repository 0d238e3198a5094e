"""Weights of transposed convolutions, cut into those of the plain ones that they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from ..calls.run import run
from ..language.target import Target
from ..language.text import FLOAT, FLOATS, INT64, LANES, POINTER, Code
from ..loading.objects import kernel

__all__ = ["cut"]

_LEAST: Final = 1 << 14
"""Weights that are worth another thread."""


def cut(weight: Any, groups: int, parts: Sequence[tuple[int, ...]]) -> list[Any]:
    """The weights [out channels, in channels of a group, taps] of each part.

    `weight` is float32 [in channels, out channels of a group, at most 16 taps]; a part names
    its taps.
    """
    weight = np.ascontiguousarray(weight[...])  # which no other thread can change
    channels, made, taps = weight.shape
    inside = channels // groups
    rows, least = made * groups, _LEAST // max(1, inside * taps) + 1
    out = np.empty(rows * inside * sum(map(len, parts)), np.float32)
    run(_cutting(taps, tuple(parts)), rows, least, rows, inside, made, weight, out)
    ends = np.cumsum([rows * inside * len(part) for part in parts])
    shapes = [(rows, inside, len(part)) for part in parts]
    pieces = zip(np.split(out, ends[:-1]), shapes, strict=True)
    return [piece.reshape(shape) for piece, shape in pieces]


@cache
def _cutting(taps: int, parts: tuple[tuple[int, ...], ...]) -> int:
    form = "_".join(".".join(map(str, part)) for part in parts)
    return kernel("cut_weights", (str(taps), form), lambda target: _text(target, taps, parts))


def _text(target: Target, taps: int, parts: tuple[tuple[int, ...], ...]) -> str:
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
