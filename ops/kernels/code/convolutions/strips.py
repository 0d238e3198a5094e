"""Convolutions whose groups have few channels, such as depthwise ones.

A vector holds 16 neighbours of a row of the output.  Some rows of a group's input, a strip, are
copied into memory of the thread's own, with zeros around them and the columns sorted by their place
in a stride; there all windows of a row move by one number.  Where windows are deep, a strip has the
rows of all planes that an output plane sees.  A table tells how far from a window's
first number its others lie.  Sums are chains as in `convolution_sums`.
"""

from __future__ import annotations

from typing import Final

from ..language.target import Target
from ..language.text import BYTE, FLOAT, FLOATS, INT64, LANES, Value
from .frame import PLAIN, After, Convolving
from .padded_planes import are_inside, copy_row

__all__ = ["BESIDE", "NAME", "SIZES", "SLACK", "text"]

NAME: Final = "convolution_strips"

SIZES: Final = (
    *("items", "block", "strips", "chunks", "rows", "groups", "inside", "made", "depth", "slot"),
    *("height", "width", "down", "across", "top", "left"),
    *("made_height", "made_width", "seen", "pitch", "room"),
    *("planes", "deep", "apart", "front", "levels", "made_planes"),
)
"""What the numbers are that the kernel is given.

The work is cut into `items`, `block` of all `strips`; there are `chunks` strips of `rows` output
rows for each sample, group and plane of the output, of which there are `groups` and `made_planes`;
`inside` channels become `made`.  A strip has `seen` rows, for each of the places in a stride
`across` a row of `pitch`, in `room` numbers, of which a slot has some side by side.  Of `planes` of
the input windows see `levels`, so many `apart`; they move by `deep`, from `front` before the first.
"""

BESIDE: Final = 4
"""Strips that are filled before sums of the first are taken, so that these wait for no memory."""

SLACK: Final = 2 * LANES
"""Numbers behind a strip that may be read, but not used."""


def text(target: Target, after: After = PLAIN) -> str:
    """A kernel of `turn, sizes, offsets, x, weight, bias, out, slots` for a range of slots.

    - turn: uint64 [1], 0 before the call, the next item that nobody has taken;
    - sizes: int64, as `SIZES` says;
    - offsets: int64 [depth], in bytes, within a strip;
    - x: float32 [samples, groups * inside, planes, height, width];
    - weight, bias: float32 [groups * made, depth] and [groups * made];
    - out: float32 [samples, groups * made, made_planes, made_height, made_width];
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
        with self.handed_out(size["items"]) as item:
            first = item * size["block"]
            last = code.lesser(first + size["block"], size["strips"])
            with code.counted(first, last, BESIDE) as begin:
                stop = code.lesser(begin + BESIDE, last)
                for part in (self._fill, self._strip):
                    with code.counted(begin, stop) as strip:
                        here = code.at(slot, (strip - begin) * size["room"], FLOAT)
                        rest, group = code.split(strip, size["groups"])
                        rest, chunk = code.split(rest, size["chunks"])
                        sample, level = code.split(rest, size["made_planes"])
                        which = sample * size["groups"] + group, level
                        top = chunk * size["rows"]
                        count = code.lesser(size["rows"], size["made_height"] - top)
                        part(here, which, top, count)

    def _strip(self, slot: Value, which: tuple[Value, Value], top: Value, count: Value) -> None:
        """All channels made of a strip, of which group of a sample and which plane it is."""
        code, size = self.code, self.size
        of_sample, level = which
        _, group = code.split(of_sample, size["groups"])
        with code.counted(self.zero, size["made"]) as channel:
            plane = (of_sample * size["made"] + channel) * size["made_planes"] + level
            self._channel(slot, group * size["made"] + channel, plane, top, count)

    def _fill(self, slot: Value, which: tuple[Value, Value], top: Value, count: Value) -> None:
        """Copy the rows that `count` rows of the output from `top` on see; none of planes that are
        not there."""
        code, size = self.code, self.size
        needed = size["seen"] - (size["rows"] - count) * size["down"]
        first = top * size["down"] - size["top"]
        begin = code.lesser(code.choose(first < 0, -first, 0), needed)
        end = code.choose(first + needed > size["height"], size["height"] - first, needed)
        end = code.choose(end < begin, begin, end)
        of_sample, level = which
        with code.counted(self.zero, size["inside"] * size["levels"]) as number:
            channel, seen = code.split(number, size["levels"])
            plane = level * size["deep"] + seen * size["apart"] - size["front"]
            line = (of_sample * size["inside"] + channel) * size["planes"] + plane
            source = (line * size["height"] + first) * size["width"]
            start = number * size["seen"] * size["across"] * size["pitch"]
            rows = begin, code.choose(plane.below(size["planes"]), end, begin), needed
            goal = code.at(slot, start, FLOAT)
            self._copy(code.at(self.at["x"], source, FLOAT), goal, rows)

    def _copy(self, source: Value, goal: Value, rows: tuple[Value, ...]) -> None:
        """Copy rows, sorted by their place in a stride; the first and last are zeros."""
        code, size = self.code, self.size
        across, width, (begin, end, needed) = size["across"], size["width"], rows
        step, left = across * size["pitch"], size["left"]
        for start, stop in ((self.zero, begin), (end, needed)):
            with (
                code.counted(start, stop) as row,
                code.counted(self.zero, step, LANES) as at,
            ):
                code.store(code.constant(FLOATS, 0), code.at(goal, row * step + at, FLOAT))
        for far in (1, 2):
            with code.when(across.equals(far)):
                for start, stop, is_inside in self._parts(left, far):
                    with code.counted(start, stop, LANES) as at:
                        first = at * far - left
                        masks = self._inside(far, first, is_inside)
                        with code.counted(begin, end) as row:
                            seen = code.at(source, row * width + first, FLOAT)
                            here = code.at(goal, row * step + at, FLOAT)
                            for number, made in enumerate(self._sorted(far, seen, masks)):
                                code.store(made, code.at(here, size["pitch"] * number, FLOAT))
        with (
            code.when(across > 2),
            code.counted(self.zero, across) as place,
            code.counted(begin, end) as row,
        ):
            here = code.at(goal, row * step + place * size["pitch"], FLOAT)
            copy_row(
                *(code, code.at(source, row * width, FLOAT), width),
                *(here, size["pitch"], left - place, across),
            )

    def _parts(self, left: Value, far: int) -> list[tuple[Value, Value, bool]]:
        """The vectors of a row of a strip, and whether all their numbers are inside."""
        code, pitch = self.code, self.size["pitch"]
        before = code.choose(left > 0, left + (far - 1), 0) / far
        low = code.lesser((before + (LANES - 1)) & -LANES, pitch)
        seen = code.lesser((self.size["width"] + left) / far, pitch) - low
        high = low + (code.choose(seen > 0, seen, 0) & -LANES)
        return [(self.zero, low, False), (low, high, True), (high, pitch, False)]

    def _inside(self, far: int, first: Value, is_whole: bool) -> list[Value | None]:
        """Which numbers of so many vectors are in a row, given the first one's place in it; no
        masks where all are."""
        if is_whole:
            return [None] * far
        width = self.size["width"]
        return [are_inside(self.code, first + i * LANES, width) for i in range(far)]

    def _sorted(self, far: int, place: Value, masks: list[Value | None]) -> list[Value]:
        """So many vectors of neighbours, or those at the first and at the second place of two;
        numbers outside of the row are zero."""
        code = self.code
        seen = [
            code.load_if(FLOATS, code.at(place, i * LANES, FLOAT), mask)
            for i, mask in enumerate(masks)
        ]
        if far == 1:
            return seen
        one, other = seen
        return [code.shuffled(one, other, range(first, 2 * LANES, 2)) for first in range(2)]

    def _channel(self, slot: Value, channel: Value, plane: Value, top: Value, count: Value) -> None:
        """The rows of an output channel; the last one stands in for those that are missing."""
        code, size = self.code, self.size
        weights = code.at(self.at["weight"], channel * size["depth"], FLOAT)
        bias = self.number_of(channel, "bias")
        same = {number: self.number_of(channel, number) for number in self.operands("v")}
        line = plane * size["made_height"] + top
        step = size["down"] * size["across"] * size["pitch"]
        with code.counted(self.zero, count, self.tall) as first:
            rows = [code.lesser(first + i, count - 1) for i in range(self.tall)]
            seen = [code.at(slot, row * step, FLOAT) for row in rows]
            begins = [(line + row) * size["made_width"] for row in rows]

            def finish(row: int, at: Value, sums: Value, mask: Value | None) -> None:
                place = begins[row] + at
                made = self.finished_at(sums, place, mask, same.__getitem__)
                self.written(made, place, mask)

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
