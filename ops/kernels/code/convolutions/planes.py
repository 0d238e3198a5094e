"""Depthwise convolutions of small planes, whose outputs lie as the planes do.

A vector holds 16 neighbours of a plane of the output, which may be those of several rows.  What
their windows see at one place lies side by side as well, so much before or behind them; bits tell
which of it is inside the plane, and zeros stand for the rest.  So planes are read as they lie, and
no lane is idle where rows are short.  Sums are chains as in `convolution_sums`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ....memory.dtype import Array
from ..language.target import Target
from ..language.text import BYTE, FLOAT, INT64, LANES, Kind, Value
from ..products.pairs import HALF, number_seen, seen_as_floats
from .frame import PLAIN, After, Convolving

__all__ = ["NAME", "SIZES", "seen_bits", "text"]

NAME: Final = "convolution_planes"

SIZES: Final = ("items", "block", "planes", "slot", "area", "vectors", "depth", "channels", "made")
"""What the numbers are that the kernel is given.

The work is cut into `items`, `block` of all `planes` of the output; a sample has so many `channels`
of them, of which `made` see the same plane of the input.  A plane has `area` numbers, in so many
`vectors`, and a window `depth`.
"""

_BITS: Final = Kind("i16")
_BLOCKS: Final = (8, 4, 2, 1)
"""Vectors that are summed side by side."""


def seen_bits(space: Sequence[int], window: Sequence[tuple[int, int]]) -> Array:
    """uint16 [depth, vectors]: which lanes see a number that is inside planes of so many rows and
    columns; a window sees what lies so many rows and columns further on."""
    height, width = space
    count = -(-height * width // LANES) * LANES
    row, column = np.divmod(np.arange(count), width)
    inside = np.empty((len(window), count), bool)
    for place, (down, across) in enumerate(window):
        rows, columns = row + down, column + across
        seen = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        inside[place] = seen & (row < height)
    bits: object = np.packbits(inside.reshape(-1, LANES), axis=-1, bitorder="little")
    return np.ascontiguousarray(bits).view("<u2").reshape(len(window), -1)


def text(target: Target, after: After = PLAIN, short: str = "") -> str:
    """A kernel of `turn, sizes, offsets, x, weight, bias, out, slots` for a range of slots.

    - turn: uint64 [1], 0 before the call, the next item that nobody has taken;
    - sizes: int64, as `SIZES` says;
    - offsets: int64 [depth], in bytes, and behind them uint16 [depth, vectors] (see `seen_bits`);
    - x: float32 [samples * channels / made, area];
    - weight, bias: float32 [channels, depth] and [channels];
    - out: float32 [samples * channels, area];
    - slots: not used.

    The operands of what comes `after` follow.  Input and weight are bfloat16 if they are `short`.
    """
    return _Planes(target, after, short).text(NAME)


class _Planes(Convolving):
    """The parts of the kernel."""

    def __init__(self, target: Target, after: After, short: str) -> None:
        super().__init__(target, SIZES, after)
        self.kind = HALF if short else FLOAT

    def work(self, slot: Value) -> None:
        """Items, as long as there are some."""
        with self.handed_out_parts(self.size["block"], self.size["planes"]) as plane:
            _, channel = self.code.split(plane, self.size["channels"])
            self._plane(plane, channel)

    def _plane(self, plane: Value, channel: Value) -> None:
        """All sums of a plane of the output."""
        code, size = self.code, self.size
        bias = self.number_of(channel, "bias")
        same = {number: self.number_of(channel, number) for number in self.operands("v")}
        weights = code.at(self.at["weight"], channel * size["depth"], self.kind)
        x = code.at(self.at["x"], plane / size["made"] * size["area"], self.kind)
        begin = self.zero
        for count in _BLOCKS:
            end = begin + ((size["vectors"] - begin) & -count)
            with code.counted(begin, end, count) as vector:
                sums = [code.variable(bias) for _ in range(count)]
                self._add(x, weights, vector, sums)
                place = vector * LANES
                for i, total in enumerate(sums):
                    at = place + i * LANES
                    is_last = i == count - 1
                    mask = code.first(size["area"] - at) if is_last else None
                    goal = plane * size["area"] + at
                    made = self.finished_at(total.now, goal, mask, same.__getitem__)
                    self.written(made, goal, mask)
            begin = end

    def _add(self, x: Value, weights: Value, vector: Value, sums: Sequence[Any]) -> None:
        """Add what windows see to the sums of neighbouring vectors, place by place."""
        code, size = self.code, self.size
        begin = code.at(x, vector * LANES, self.kind)
        bits = code.at(code.at(self.at["offsets"], size["depth"], INT64), vector, _BITS)
        with code.counted(self.zero, size["depth"]) as k:
            offset = code.load(INT64, code.at(self.at["offsets"], k, INT64))
            weight = code.spread(number_seen(code, self.kind, code.at(weights, k, self.kind)))
            seen, inside = code.at(begin, offset, BYTE), code.at(bits, k * size["vectors"], _BITS)
            for i, total in enumerate(sums):
                mask = code.load(_BITS, code.at(inside, i, _BITS)).bits(Kind("i1", LANES))
                here = code.at(seen, i * LANES, self.kind)
                number = seen_as_floats(code, self.kind, here, mask)
                total.set(code.multiply_add(number, weight, total.now))
