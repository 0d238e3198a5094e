"""Convolutions over two dimensions whose groups have few channels, such as depthwise ones.

A vector holds 16 neighbours of a row of the output.  Some rows of a group's input, a strip, are
copied into memory of the thread's own, with zeros around them and the columns sorted by their place
in a stride; there all windows of a row move by one number.  A table tells how far from a window's
first number its others lie.  Sums are chains as in `convolution_sums`.
"""

from __future__ import annotations

from typing import Final

from .convolution_frame import PLAIN, After, Convolving
from .padded_planes import copy_row
from .target import Target
from .text import BYTE, FLOAT, FLOATS, INT64, LANES, Value

__all__ = ["NAME", "SIZES", "SLACK", "text"]

NAME: Final = "convolution_strips"

SIZES: Final = (
    *("items", "block", "strips", "chunks", "rows", "groups", "inside", "made", "depth", "slot"),
    *("height", "width", "down", "across", "top", "left"),
    *("made_height", "made_width", "seen", "pitch"),
)
"""What the numbers are that the kernel is given.

The work is cut into `items`, `block` of all `strips`; there are `chunks` strips of `rows` output
rows for each sample and group, of which there are `groups`, with `inside` channels that become
`made`.  A strip has `seen` rows, for each of the places in a stride `across` a row of `pitch`.
"""

SLACK: Final = 2 * LANES
"""Numbers behind a strip that may be read, but not used."""


def text(target: Target, after: After = PLAIN) -> str:
    """A kernel of `turn, sizes, offsets, x, weight, bias, out, slots` for a range of slots.

    - turn: uint64 [1], 0 before the call, the next item that nobody has taken;
    - sizes: int64, as `SIZES` says;
    - offsets: int64 [depth], in bytes, within a strip;
    - x: float32 [samples, groups * inside, height, width];
    - weight, bias: float32 [groups * made, depth] and [groups * made];
    - out: float32 [samples, groups * made, made_height, made_width];
    - slots: float32, `slot` of them, a strip and `SLACK`, for each slot.

    The operands of what comes `after` follow.
    """
    return _Strips(target, after).text(NAME)


class _Strips(Convolving):
    """The parts of the kernel."""

    def __init__(self, target: Target, after: After) -> None:
        super().__init__(target, SIZES, after)
        self.tall = 8 if target.has_scaling else 2

    def work(self, slot: Value) -> None:
        """Items, as long as there are some."""
        code, size = self.code, self.size
        with code.handed_out(self.at["turn"], size["items"]) as item:
            first = item * size["block"]
            last = code.lesser(first + size["block"], size["strips"])
            with code.counted(first, last) as strip:
                plane, chunk = code.split(strip, size["chunks"])
                top = chunk * size["rows"]
                count = code.lesser(size["rows"], size["made_height"] - top)
                self._fill(slot, plane, top, count)
                _, group = code.split(plane, size["groups"])
                with code.counted(self.zero, size["made"]) as channel:
                    row = plane * size["made"] + channel
                    self._channel(slot, group * size["made"] + channel, row, top, count)

    def _fill(self, slot: Value, plane: Value, top: Value, count: Value) -> None:
        """Copy the rows that `count` rows of the output from `top` on see."""
        code, size = self.code, self.size
        needed = size["seen"] - (size["rows"] - count) * size["down"]
        first = top * size["down"] - size["top"]
        with code.counted(self.zero, size["inside"]) as channel:
            lines = (plane * size["inside"] + channel) * size["height"]
            goal = channel * size["seen"] * size["across"]
            with code.counted(self.zero, needed) as row:
                line = first + row
                width = code.choose(line.below(size["height"]), size["width"], 0)
                source = code.at(self.at["x"], (lines + line) * size["width"], FLOAT)
                with code.counted(self.zero, size["across"]) as place:
                    made = code.at(
                        slot, (goal + row * size["across"] + place) * size["pitch"], FLOAT
                    )
                    copy_row(
                        *(code, source, width, made, size["pitch"]),
                        *(size["left"] - place, size["across"]),
                    )

    def _channel(self, slot: Value, channel: Value, plane: Value, top: Value, count: Value) -> None:
        """The rows of an output channel; the last one stands in for those that are missing."""
        code, size = self.code, self.size
        weights = code.at(self.at["weight"], channel * size["depth"], FLOAT)

        def spread(array: Value) -> Value:
            return code.spread(code.load(FLOAT, code.at(array, channel, FLOAT)))

        bias = spread(self.at["bias"])
        same = {number: spread(self.given[number]) for number in self.operands("v")}
        line = plane * size["made_height"] + top
        step = size["down"] * size["across"] * size["pitch"]
        with code.counted(self.zero, count, self.tall) as first:
            rows = [code.lesser(first + i, count - 1) for i in range(self.tall)]
            seen = [code.at(slot, row * step, FLOAT) for row in rows]
            begins = [(line + row) * size["made_width"] for row in rows]

            def finish(row: int, at: Value, sums: Value, mask: Value | None) -> None:
                place = begins[row] + at

                def seen_too(number: int) -> Value:
                    if number in same:
                        return same[number]
                    return code.load_if(FLOATS, code.at(self.given[number], place, FLOAT), mask)

                goal = code.at(self.at["out"], place, FLOAT)
                code.store_if(self.finished(sums, seen_too), goal, mask)

            def add_up(columns: list[Value], mask: Value | None) -> None:
                places = [(row, at) for row in range(self.tall) for at in columns]
                sums = [code.variable(bias) for _ in places]
                windows = [code.at(seen[row], at, FLOAT) for row, at in places]
                with code.counted(self.zero, size["depth"]) as k:
                    offset = code.load(INT64, code.at(self.at["offsets"], k, INT64))
                    weight = code.spread(code.load(FLOAT, code.at(weights, k, FLOAT)))
                    for window, total in zip(windows, sums, strict=True):
                        number = code.load(FLOATS, code.at(window, offset, BYTE))
                        total.set(code.multiply_add(number, weight, total.now))
                for (row, at), total in zip(places, sums, strict=True):
                    finish(row, at, total.now, mask)

            code.vectors(self.zero, size["made_width"], 2, add_up)
