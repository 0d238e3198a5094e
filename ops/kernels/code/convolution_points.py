"""Convolutions whose windows are single numbers side by side: products of weights and planes.

A vector holds 16 neighbouring pixels of one channel.  Some vectors of all channels that are summed
are packed into memory of the thread's own; then the sums of some channels made stay in registers
while the depth goes by, and are written as they lie.  Weights are read from where they are.

Sums are chains as in `convolution_sums`.  Where the depth is large it is cut into pieces, between
which sums wait in the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

from .convolution_frame import PLAIN, After, Convolving
from .target import Target
from .text import BYTE, FLOAT, FLOATS, INT64, LANES, Value
from .tiles import Tile

__all__ = [
    *("NAME", "SIZES", "WIDE"),
    *("depth_of_piece", "pixels_of_tile", "slot_size", "text"),
]

NAME: Final = "convolution_points"

SIZES: Final = (
    *("items", "chunks", "tiles", "blocks", "block", "groups", "made", "depth", "deep", "pieces"),
    *("slot", "pixels", "x_plane", "x_sample", "x_group"),
)
"""What the numbers are that the kernel is given.

The work is cut into `items`: a part, one of `chunks`, of the `tiles` that the `pixels` of a sample
fill, for a `block` of the channels that are `made` of a group of `groups`.  There are `pieces` of
the `depth`, `deep` each but for the last.  Planes, samples and groups of the input lie so many
bytes apart.
"""

WIDE: Final = 64
"""Pixels, at most, that are packed at once."""
_DEEP: Final = 192
"""Lines that are packed at once: with those of the weights they fill a near cache."""
_AHEAD: Final = 8
"""Lines that are packed, from those that are brought near meanwhile."""
_FEW: Final = 4
"""Channels that are taken together where no more are left for a tall tile."""


def pixels_of_tile(target: Target) -> int:
    """Pixels that are taken together."""
    return Tile.of(target).vectors * LANES


def depth_of_piece(depth: int) -> int:
    """Lines of a piece; pieces are as even as they can be."""
    return -(-depth // -(-depth // _DEEP))


def slot_size(deep: int) -> int:
    """Numbers that are packed at once."""
    return deep * WIDE


def text(target: Target, after: After = PLAIN) -> str:
    """A kernel of `turn, sizes, offsets, x, weight, bias, out, slots` for a range of slots.

    - turn: uint64 [1], 0 before the call, the next item that nobody has taken;
    - sizes: int64, as `SIZES` says; offsets are not read;
    - x: float32, with all planes in it;
    - weight, bias: float32 [groups * made, depth] and [groups * made];
    - out: float32 [samples, groups * made, pixels];
    - slots: float32, `slot_size` of them for each slot.

    The operands of what comes `after` follow.
    """
    return _Points(target, after).text(NAME)


class _Panel(NamedTuple):
    """Packed pixels: where they lie, the first one, and which of the last are there."""

    lines: Value
    pixel: Value
    vectors: int
    mask: Value | None


class _Points(Convolving):
    """The parts of the kernel."""

    def __init__(self, target: Target, after: After) -> None:
        super().__init__(target, SIZES, after)
        self.tile = Tile.of(target)
        self.width = pixels_of_tile(target)

    def work(self, slot: Value) -> None:
        """Items, as long as there are some."""
        code, size = self.code, self.size
        packed = code.variable(code.constant(INT64, -1))
        with self.handed_out(size["items"]) as item:
            rest, block = code.split(item, size["blocks"])
            rest, chunk = code.split(rest, size["chunks"])
            sample, group = code.split(rest, size["groups"])
            source = sample * size["x_sample"] + group * size["x_group"]
            x = code.at(self.at["x"], source, BYTE)
            row = block * size["block"]
            rows = row, code.lesser(row + size["block"], size["made"])
            self._channel = group * size["made"]
            self._sample = sample * size["groups"] * size["made"]
            start, end = (
                each * size["tiles"] / size["chunks"] * self.width for each in (chunk, chunk + 1)
            )
            stop = code.lesser(end, size["pixels"])
            most = WIDE // self.width * self.width
            with (
                code.counted(start, stop, most) as begin,
                code.counted(self.zero, size["pieces"]) as number,
            ):
                first = number * size["deep"]
                piece = first, code.lesser(first + size["deep"], size["depth"])
                end = code.lesser(begin + most, stop)
                here = (rest * size["pieces"] + number) * size["pixels"] + begin
                with code.when(packed.now.differs(here)):
                    packed.set(here)
                    self._pack(x, begin, end, piece, slot)
                self._rows(rows, begin, end, piece, slot)

    def _pack(
        self, x: Value, begin: Value, end: Value, piece: tuple[Value, Value], slot: Value
    ) -> None:
        """Pixels of planes of a piece, as many as a tile is wide beside each other."""
        code, size, width = self.code, self.size, self.width
        whole = begin + (end - begin) / width * width
        masks = [code.first(end - whole - j * LANES) for j in range(self.tile.vectors)]
        with code.counted(*piece) as k:
            line = code.at(code.at(x, k * size["x_plane"], BYTE), begin, FLOAT)
            goal = code.at(slot, (k - piece[0]) * width, FLOAT)
            ahead = code.at(line, size["x_plane"] * _AHEAD, BYTE)

            def pack(far: Value, masks: Sequence[Value | None]) -> None:
                seen, to = code.at(line, far, FLOAT), code.at(goal, far * size["deep"], FLOAT)
                code.prefetch(code.at(ahead, far, FLOAT))
                for j, mask in enumerate(masks):
                    numbers = code.load_if(FLOATS, code.at(seen, j * LANES, FLOAT), mask)
                    code.store(numbers, code.at(to, j * LANES, FLOAT))

            with code.counted(self.zero, whole - begin, width) as far:
                pack(far, [None] * self.tile.vectors)
            with code.when(whole < end):
                pack(whole - begin, masks)

    def _rows(
        self,
        rows: tuple[Value, Value],
        begin: Value,
        end: Value,
        piece: tuple[Value, Value],
        slot: Value,
    ) -> None:
        """All channels of a block, in tall tiles and then in small ones, of which the last may
        have the last channel several times."""
        code, tall = self.code, self.tile.rows
        row, last = rows
        _, rest = code.split(last - row, code.constant(row.kind, tall))
        until = last - rest
        is_short = (rest > 0) & (rest < 2 * _FEW - tall + 1) & (until > row)
        until = code.choose(rest > _FEW, until + tall, code.choose(is_short, until - tall, until))
        for count, start, stop in ((tall, row, until), (_FEW, until, last)):
            with code.counted(start, stop, count) as here:
                channels = [code.lesser(here + i, last - 1) + self._channel for i in range(count)]
                with code.counted(begin, end, self.width) as pixel:
                    panel = code.at(slot, (pixel - begin) * self.size["deep"], FLOAT)
                    self._panel(channels, panel, pixel, end - pixel, piece)

    def _panel(
        self,
        channels: list[Value],
        panel: Value,
        pixel: Value,
        left: Value,
        piece: tuple[Value, Value],
    ) -> None:
        """Channels of the pixels that a tile has, or of those that are left, vector by vector."""
        code, vectors = self.code, self.tile.vectors
        with code.when(left > self.width - 1):
            self._tile(channels, _Panel(panel, pixel, vectors, None), piece)
        with code.when(left < self.width), code.counted(self.zero, left, LANES) as at:
            mask = code.first(left - at)
            here = _Panel(code.at(panel, at, FLOAT), pixel + at, 1, mask)
            self._tile(channels, here, piece)

    def _tile(self, channels: list[Value], panel: _Panel, piece: tuple[Value, Value]) -> None:
        """The sums of channels over a piece of the depth."""
        code, size, (first, end) = self.code, self.size, piece
        vectors = range(panel.vectors)
        places = [(self._sample + channel) * size["pixels"] + panel.pixel for channel in channels]
        goals = [
            [code.at(self.at["out"], place + v * LANES, FLOAT) for v in vectors] for place in places
        ]
        for row in goals:
            code.prefetch(row[0])
        sums = [[code.variable(self._number(each, "bias")) for _ in vectors] for each in channels]
        with code.when(first > 0):
            for row, totals in zip(goals, sums, strict=True):
                for goal, total in zip(row, totals, strict=True):
                    total.set(code.load_if(FLOATS, goal, panel.mask))
        lines = [
            code.at(self.at["weight"], channel * size["depth"] + first, FLOAT)
            for channel in channels
        ]
        with code.counted(self.zero, end - first) as k:
            at = code.at(panel.lines, k * self.width, FLOAT)
            numbers = [code.load(FLOATS, code.at(at, v * LANES, FLOAT)) for v in vectors]
            for line, totals in zip(lines, sums, strict=True):
                weight = code.spread(code.load(FLOAT, code.at(line, k, FLOAT)))
                for number, total in zip(numbers, totals, strict=True):
                    total.set(code.multiply_add(number, weight, total.now))
        is_last = end.equals(size["depth"])
        for channel, place, row, totals in zip(channels, places, goals, sums, strict=True):
            seen = partial(self._number, channel)
            with code.when(is_last):
                for v, total in zip(vectors, totals, strict=True):
                    made = self.finished_at(total.now, place + v * LANES, panel.mask, seen)
                    code.store_if(made, row[v], panel.mask)
            with code.when(is_last.equals(0)):
                for goal, total in zip(row, totals, strict=True):
                    code.store_if(total.now, goal, panel.mask)

    def _number(self, channel: Value, array: str | int) -> Value:
        """A vector of what an array has for a channel."""
        whole = self.at[array] if isinstance(array, str) else self.given[array]
        return self.code.spread(self.code.load(FLOAT, self.code.at(whole, channel, FLOAT)))
