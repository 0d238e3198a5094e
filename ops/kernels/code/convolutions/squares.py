"""Convolutions of windows of three by three that step by one, two by two results at a time.

Such a square of results depends on four by four numbers of each channel.  Sums and differences of
these, and of the weights, are multiplied by place: 16 products for four results of nine (Winograd's
algorithm F(2x2, 3x3)).  All squares of some rows and samples are taken together, so that each place
is a product of matrices: a vector holds 16 channels of a square, and the sums of some squares stay
in registers while the channels of the input go by.

Where float32 may be short these sums and differences are rounded to bfloat16, two channels of the
input in a word (see `pairs`); errors are then some 1.6 times those of rounding what is given.

A result is a sum of nine such sums, each one chain over the channels, to which the bias is added.
It depends on what its window sees alone; but where that is not finite it need not be what a chain
over the window gives.  So rows of squares with a result that is not finite are made anew for those
16 channels, as such chains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from ..language.target import Target
from ..language.text import FLOAT, FLOATS, INT64, LANES, Value
from ..language.tiles import Tile, turned
from ..products.pairs import joined
from .frame import PLAIN, After, Convolving
from .padded_planes import are_inside

__all__ = ["NAME", "PLACES", "SIZES", "WINDOW", "text", "vectors_of_panel"]

NAME: Final = "convolution_squares"

SIZES: Final = (
    *("items", "slot", "samples", "several", "parts", "chunks", "rows", "groups"),
    *("blocks", "block", "panels", "made", "inside", "deep", "is_kept"),
    *("height", "width", "top", "left", "high", "wide", "down", "across", "far_down", "far_across"),
    *("line", "seen_place", "panel", "panel_place", "sum_place", "result"),
    *("weights_at", "sums_at", "results_at"),
)
"""What the numbers are that the kernel is given.

The work is cut into `items`: `several` of the samples, and `rows` of their squares, which has so
many `parts` and `chunks`, of a group, for a block of panels of its channels.  A group has `blocks`
of `block` panels, `panels` in all, for the `made` channels, which are sums over `inside` ones.  The
input has `height` rows of `width` numbers, its windows begin so many rows and columns before the
first one; the result has `high` rows of `wide` numbers, which are `down` rows of squares, with so
many `across`.  The two rows of a square lie so `far` from each other, as those of a window do, and
so do its columns: the squares that begin beside each other come first, then what follows them.

A slot has what squares see, place by place, a `line` of numbers for each channel (or of words for
two); then panels of
weights, all of a block if that `is_kept`; then sums of all squares, then results of a row of them.
Places, panels and the two rows of a `result` begin so many numbers after each other.  Where weights
are not kept a slot has those for `deep` channels of the input, between which sums wait in their
places.
"""

WINDOW: Final = 3
PLACES: Final = 16
_FEW: Final = (4, 1)
"""Squares that are taken together where no more are left for a tall tile."""
_AHEAD: Final = 96
"""Weights of a channel that are brought near before they are turned around."""


def vectors_of_panel(target: Target) -> int:
    """Vectors of channels in a panel."""
    return Tile.of(target).vectors


def text(target: Target, after: After = PLAIN, pairs: str = "") -> str:
    """A kernel of `turn, sizes, offsets, x, weight, bias, out, slots` for a range of slots.

    - turn: uint64 [1], 0 before the call, the next item that nobody has taken;
    - sizes: int64, as `SIZES` says;
    - offsets: not used;
    - x: float32 [samples, groups * inside, height, width];
    - weight, bias: float32 [groups * made, inside, 3, 3] and [groups * made];
    - out: float32 [samples, groups * made, high, wide];
    - slots: float32, `slot` of them for each slot.

    The operands of what comes `after` follow.  Where there are `pairs` products are those of
    numbers rounded to bfloat16.
    """
    return _Squares(target, after, bool(pairs)).text(NAME)


class _Part(NamedTuple):
    """What an item is of: where the first sample's group begins in the input, its number among all
    samples' groups and how many samples there are; rows of squares."""

    x: Value
    sample: Value
    group: Value
    samples: Value
    rows: tuple[Value, Value]


class _Panel(NamedTuple):
    """Where its weights begin, the first of its channels in a group and how many are left from
    there, and its vectors."""

    lines: Value
    channel: Value
    left: Value
    vectors: Value

    @property
    def wide(self) -> Value:
        return self.vectors * LANES


class _Squares(Convolving):
    """The parts of the kernel."""

    def __init__(self, target: Target, after: After, in_pairs: bool) -> None:
        super().__init__(target, SIZES, after)
        tile = Tile.of(target)
        self.multiply_add = self.code.add_pairs if in_pairs else self.code.multiply_add
        self.together = 2 if in_pairs else 1
        """Channels of the input that one number of a line holds."""
        self.vectors, self.heights = tile.vectors, (tile.rows, *_FEW)
        self._turned = self.code.room(FLOATS, LANES * WINDOW * WINDOW)
        self._area = self.size["height"] * self.size["width"]

    def work(self, slot: Value) -> None:
        """Items, as long as there are some."""
        code, size = self.code, self.size
        is_kept = size["is_kept"].differs(0)
        seen, packed = (code.variable(code.constant(INT64, -1)) for _ in range(2))
        places = "weights_at", "sums_at", "results_at"
        lines, self._sums, self._results = (code.at(slot, size[each], FLOAT) for each in places)
        self._seen = slot
        with self.handed_out(size["items"]) as item:
            number, block = code.split(item, size["blocks"])
            rest, chunk = code.split(number, size["chunks"])
            group, part = code.split(rest, size["parts"])
            where = self._part(part, group, chunk)
            with code.when(seen.now.differs(number)):
                seen.set(number)
                self._see(where)
            first = block * size["block"]
            stop = code.lesser(first + size["block"], size["panels"])
            key = code.variable(group)
            with code.counted(first, stop) as panel:
                key.set(code.choose(is_kept, group, group * size["panels"] + panel))
                begin, end = (self.first_channel(each) for each in (panel, panel + 1))
                left = code.lesser(end, size["made"]) - begin
                here = code.at(lines, (panel - first) * size["panel"], FLOAT)
                is_new = packed.now.differs(key.now) | (size["deep"] < size["inside"])
                vectors = code.lesser((left + (LANES - 1)) / LANES, self.zero + self.vectors)
                self._channels(where, _Panel(here, begin, left, vectors), is_new)
            packed.set(key.now)

    def _part(self, part: Value, group: Value, chunk: Value) -> _Part:
        code, size = self.code, self.size
        first = part * size["several"]
        count = code.lesser(size["several"], size["samples"] - first)
        begin = chunk * size["rows"]
        sample = first * size["groups"] + group
        x = code.at(self.at["x"], sample * size["inside"] * self._area, FLOAT)
        return _Part(
            x, sample, group, count, (begin, code.lesser(begin + size["rows"], size["down"]))
        )

    def _channels(self, part: _Part, panel: _Panel, is_new: Value) -> None:
        """The results of a panel's channels."""
        code, size = self.code, self.size
        with code.counted(self.zero, size["inside"], size["deep"]) as begin:
            piece = begin, code.lesser(begin + size["deep"], size["inside"])
            back = code.choose(
                size["is_kept"].differs(0), 0, self.zero - begin / self.together * panel.wide
            )
            here = panel._replace(lines=code.at(panel.lines, back, FLOAT))
            with code.counted(self.zero, code.choose(is_new, panel.vectors, 0)) as v:
                self._pack(part.group, here, v * LANES, piece)
            for vectors in range(1, self.vectors + 1):
                with code.when(panel.vectors.equals(vectors)):
                    self._multiply(part, here, vectors, piece)
        with code.counted(self.zero, panel.vectors) as v:
            self._finish(part, panel, v * LANES)

    # -------------------------------------------------------------------------- what is seen

    def _see(self, part: _Part) -> None:
        """What 16 squares of a row see, and those below, of all channels.

        Vectors are stored whole: what is too much in one is written over by those that follow.
        """
        code, size, (begin, end) = self.code, self.size, part.rows
        vectors = (size["across"] + (LANES - 1)) / LANES
        is_near = (size["far_down"] + size["far_across"]).equals(2)
        with code.when(is_near.equals(0)):
            self._see_far(part)
        stop = code.choose(is_near, size["inside"], 0)
        with code.counted(self.zero, stop, self.together) as channel:
            line = code.at(self._seen, channel / self.together * size["line"], FLOAT)
            with (
                code.counted(self.zero, part.samples) as sample,
                code.counted(self.zero, vectors) as number,
            ):
                square = (vectors - 1 - number) * LANES
                plane = sample * size["groups"] * size["inside"] + channel
                first = square * 2 - size["left"]
                x = code.at(code.at(part.x, plane * self._area, FLOAT), first, FLOAT)
                goal = code.at(line, sample * (end - begin) * size["across"] + square, FLOAT)
                self._see_below(x, channel, first, part.rows, goal)

    def _see_below(
        self, x: Value, channel: Value, first: Value, rows: tuple[Value, Value], goal: Value
    ) -> None:
        """What 16 squares see, and those below, from a column on, of one channel or two."""
        code, size, (begin, end) = self.code, self.size, rows
        ends = [are_inside(code, first + i * LANES, size["width"]) for i in range(3)]
        top = begin * 2 - size["top"]
        channels = self._channels_seen(x, channel)
        kept = [
            [[code.variable(each) for each in self._row(*there, top + i, ends)] for i in range(2)]
            for there in channels
        ]
        with code.counted(begin, end) as row:
            below = row * 2 - size["top"]
            lower = [[self._row(*there, below + i, ends) for i in (2, 3)] for there in channels]
            seen = [
                [*([each.now for each in line] for line in upper), *others]
                for upper, others in zip(kept, lower, strict=True)
            ]
            self._keep(seen, code.at(goal, (row - begin) * size["across"], FLOAT))
            for upper, others in zip(kept, lower, strict=True):
                for line_kept, made_line in zip(upper, others, strict=True):
                    for each, made in zip(line_kept, made_line, strict=True):
                        each.set(made)

    def _channels_seen(self, x: Value, channel: Value) -> list[tuple[Value, Value]]:
        """Where the channels that are seen together begin, and how many rows each has: none if it
        is beyond the last one."""
        code, size = self.code, self.size
        return [
            (
                code.at(x, self._area * i, FLOAT),
                code.choose(channel + i < size["inside"], size["height"], 0),
            )
            for i in range(self.together)
        ]

    def _keep(self, channels: Sequence[Sequence[Sequence[Value]]], goal: Value) -> None:
        """Combine four rows of each channel, and store what comes of it place by place."""
        code, size = self.code, self.size
        for column in range(4):
            seen = [_of_seen([row[column] for row in rows]) for rows in channels]
            for i, made in enumerate(zip(*seen, strict=True)):
                place = code.at(goal, size["seen_place"] * (4 * i + column), FLOAT)
                code.store(self._together(made), place)

    def _together(self, made: Sequence[Value]) -> Value:
        """The numbers of one channel, or the words of two."""
        return made[0] if len(made) == 1 else joined(self.code, *made)

    def _see_far(self, part: _Part) -> None:
        """The same where the numbers of windows lie apart: squares that begin beside each other
        see neighbours."""
        code, size, (begin, end) = self.code, self.size, part.rows
        far = size["far_across"]
        with (
            code.counted(self.zero, size["inside"], self.together) as channel,
            code.counted(self.zero, part.samples) as sample,
            code.counted(begin, end) as row,
            code.counted(self.zero, size["across"], far) as block,
            code.counted(block, code.lesser(block + far, size["across"]), LANES) as square,
        ):
            plane = sample * size["groups"] * size["inside"] + channel
            line = (sample * (end - begin) + row - begin) * size["across"] + square
            of_channel = code.at(self._seen, channel / self.together * size["line"], FLOAT)
            goal = code.at(of_channel, line, FLOAT)
            first = square + block - size["left"]
            x = code.at(code.at(part.x, plane * self._area, FLOAT), first, FLOAT)
            ends = [are_inside(code, first + far * i, size["width"]) for i in range(4)]
            top = self._first_of(row, "far_down") - size["top"]
            places = [top + size["far_down"] * i for i in range(4)]
            channels = self._channels_seen(x, channel)
            self._keep(
                [[self._row_far(*there, row, ends) for row in places] for there in channels], goal
            )

    def _first_of(self, square: Value, far: str) -> Value:
        """The first row, or column, of the result that is in a row of squares."""
        return square + square / self.size[far] * self.size[far]

    def _row_far(self, x: Value, height: Value, row: Value, ends: Sequence[Value]) -> list[Value]:
        """What squares see of a row whose columns lie apart, combined along it."""
        code, size = self.code, self.size
        is_there = row.below(height)
        here = code.at(x, row * size["width"], FLOAT)
        nothing = code.chosen([False] * LANES)
        places = (code.at(here, size["far_across"] * i, FLOAT) for i in range(4))
        masks = (code.choose(is_there, mask, nothing) for mask in ends)
        pairs = zip(places, masks, strict=True)
        return _of_seen([code.load_if(FLOATS, place, mask) for place, mask in pairs])

    def _row(self, x: Value, height: Value, row: Value, ends: Sequence[Value]) -> list[Value]:
        """What squares see of a row, combined along it."""
        code = self.code
        is_there = row.below(height)
        here = code.at(x, row * self.size["width"], FLOAT)
        nothing = code.chosen([False] * LANES)
        one, other, more = (
            code.load_if(
                FLOATS, code.at(here, i * LANES, FLOAT), code.choose(is_there, mask, nothing)
            )
            for i, mask in enumerate(ends)
        )
        even, odd = (code.shuffled(one, other, range(i, 2 * LANES, 2)) for i in range(2))
        beside = [
            code.shuffled(each, more, [*range(1, LANES), LANES + i])
            for i, each in enumerate((even, odd))
        ]
        return _of_seen([even, odd, *beside])

    # ------------------------------------------------------------------------------- weights

    def _pack(self, group: Value, panel: _Panel, at: Value, piece: tuple[Value, Value]) -> None:
        """The weights of 16 channels from one of the panel's on, for some of the input's, place by
        place; the last channel stands in for what is too many."""
        code, size, window = self.code, self.size, WINDOW * WINDOW
        last, depth = panel.left - 1, size["inside"] * window
        channels = [code.lesser(at + i, last) for i in range(LANES)]
        channel = group * size["made"] + panel.channel
        lines = [code.at(self.at["weight"], (channel + each) * depth, FLOAT) for each in channels]
        with code.counted(*piece, LANES) as first:
            begin, stop = first * window, code.lesser(first + LANES, piece[1])

            def turn(places: list[Value], mask: Value | None) -> None:
                for at in places:
                    for line in lines:
                        code.prefetch(code.at(line, at + _AHEAD, FLOAT))
                    rows = [code.load_if(FLOATS, code.at(line, at, FLOAT), mask) for line in lines]
                    for i, vector in enumerate(turned(code, rows)):
                        place = (at - begin + i) * LANES
                        code.store(vector, code.at(self._turned, place, FLOAT))

            code.vectors(begin, stop * window, 1, turn)
            with code.counted(first, stop, self.together) as channel:
                made = [self._weights(channel + i, first, stop) for i in range(self.together)]
                line = channel / self.together * panel.wide + at
                goal = code.at(panel.lines, line, FLOAT)
                for i, of_place in enumerate(zip(*made, strict=True)):
                    place = size["panel_place"] * i
                    code.store(self._together(of_place), code.at(goal, place, FLOAT))

    def _weights(self, channel: Value, first: Value, stop: Value) -> list[Value]:
        """What the weights for a channel of the input become, place by place, of those turned from
        the `first` one's on; zeros from `stop` on."""
        code, window = self.code, WINDOW * WINDOW
        here = code.at(self._turned, (channel - first) * (window * LANES), FLOAT)
        weights = [code.load(FLOATS, code.at(here, i * LANES, FLOAT)) for i in range(window)]
        if self.together > 1:
            weights = [code.choose(channel < stop, each, 0.0) for each in weights]
        columns = [_of_weights(weights[i::WINDOW]) for i in range(WINDOW)]
        return [made for row in zip(*columns, strict=True) for made in _of_weights(row)]

    # ------------------------------------------------------------------------------ products

    def _multiply(
        self, part: _Part, panel: _Panel, vectors: int, piece: tuple[Value, Value]
    ) -> None:
        """The sums of a panel of so many vectors at all places, over some channels of the input."""
        code, size = self.code, self.size
        count = part.samples * (part.rows[1] - part.rows[0]) * size["across"]
        ahead = self._ahead(part.group, panel, piece[1])
        with code.counted(self.zero, code.constant(INT64, PLACES)) as place:
            seen = code.at(self._seen, place * size["seen_place"], FLOAT)
            lines = code.at(panel.lines, place * size["panel_place"], FLOAT)
            goal = code.at(self._sums, place * size["sum_place"], FLOAT)
            begin = self.zero
            for height in self.heights:
                end = begin + (count - begin) / height * height
                with code.counted(begin, end, height) as square:
                    here = code.at(goal, square * (vectors * LANES), FLOAT)
                    seen_here = code.at(seen, square, FLOAT)
                    near = None
                    if height == self.heights[0]:
                        near = ahead(place * (count / height) + square / height)
                    self._tile(seen_here, lines, here, (height, vectors), piece, near)
                begin = end

    def _ahead(
        self, group: Value, panel: _Panel, begin: Value
    ) -> Callable[[Value], Callable[[Value], Value]]:
        """Where weights of the next piece lie, or of the next panel's first one, that are brought
        near meanwhile: for the n-th tile lines of memory of two channels, in turn."""
        code, size = self.code, self.size
        depth, is_last = size["inside"] * (WINDOW * WINDOW), begin.equals(size["inside"])
        beside = code.choose(self.backwards, -panel.left, panel.left)
        channel = group * size["made"] + panel.channel + code.choose(is_last, beside, 0)
        place = channel * depth + code.choose(is_last, 0, begin) * (WINDOW * WINDOW)
        base = code.at(self.at["weight"], place, FLOAT)

        def lines(tile: Value) -> Callable[[Value], Value]:
            rows = [code.lesser(tile * 2 + i, panel.left - 1) * depth for i in range(2)]
            one, other = (code.at(base, row, FLOAT) for row in rows)

            def line(k: Value) -> Value:
                row = code.choose((k & 1).equals(0), one, other)
                return code.at(row, (k >> 1) * LANES, FLOAT)

            return line

        return lines

    def _tile(
        self,
        seen: Value,
        lines: Value,
        goal: Value,
        shape: tuple[int, int],
        piece: tuple[Value, Value],
        ahead: Callable[[Value], Value] | None,
    ) -> None:
        """The sums of some squares, for some vectors of channels; memory is brought near that lies
        `ahead`."""
        code, size, (height, vectors) = self.code, self.size, shape
        goals = [
            [code.at(goal, (i * vectors + v) * LANES, FLOAT) for v in range(vectors)]
            for i in range(height)
        ]
        sums = [[code.variable(code.constant(FLOATS, 0.0)) for _ in row] for row in goals]
        with code.when(piece[0] > 0):
            for row, totals in zip(goals, sums, strict=True):
                for here, total in zip(row, totals, strict=True):
                    total.set(code.load(FLOATS, here))
        first, last = piece[0] / self.together, (piece[1] + (self.together - 1)) / self.together
        with code.counted(first, last) as k:
            if ahead is not None:
                for i in range(self.together):
                    code.prefetch(ahead((k - first) * self.together + i))
            line = code.at(lines, k * (vectors * LANES), FLOAT)
            weights = [code.load(FLOATS, code.at(line, v * LANES, FLOAT)) for v in range(vectors)]
            here = code.at(seen, k * size["line"], FLOAT)
            for i, totals in enumerate(sums):
                number = code.spread(code.load(FLOAT, code.at(here, i, FLOAT)))
                for weight, total in zip(weights, totals, strict=True):
                    total.set(self.multiply_add(number, weight, total.now))
        for row, totals in zip(goals, sums, strict=True):
            for here, total in zip(row, totals, strict=True):
                code.store(total.now, here)

    # ------------------------------------------------------------------------------- results

    def _finish(self, part: _Part, panel: _Panel, at: Value) -> None:
        """The results of 16 channels from one of the panel's on: pixel by pixel first, then as they
        lie in the end."""
        code, size, (begin, end) = self.code, self.size, part.rows
        left = panel.left - at
        channel = part.group * size["made"] + panel.channel + at
        with (
            code.counted(self.zero, part.samples) as sample,
            code.counted(begin, end) as row,
        ):
            square = (sample * (end - begin) + row - begin) * size["across"]
            sums = code.at(self._sums, square * panel.wide + at, FLOAT)
            is_finite = self._squares(sums, panel.wide)
            with code.when(is_finite.equals(0), rarely=True):
                x = code.at(part.x, sample * size["groups"] * size["inside"] * self._area, FLOAT)
                self._anew(x, (channel, left), row)
            plane = (part.sample + sample * size["groups"] - part.group) * size["made"] + channel
            first, far = self._first_of(row, "far_down"), size["far_down"]
            count = code.choose(first + far < size["high"], 2, self.zero + 1)
            is_near = far.equals(1)  # then both rows are one
            with code.counted(self.zero, code.choose(is_near, 1, count)) as number:
                rows = first + number * far, code.choose(is_near, count, 1)
                seen = code.at(self._results, number * size["result"], FLOAT)
                self._write(seen, plane, (channel, left), rows)

    def _squares(self, sums: Value, wide: Value) -> Value:
        """The results of a row of squares, and whether all are finite."""
        code, size = self.code, self.size
        zeros = code.variable(code.constant(FLOATS, 0.0))
        with code.counted(self.zero, size["across"]) as square:
            here = code.at(sums, square * wide, FLOAT)
            seen = [
                code.load(FLOATS, code.at(here, size["sum_place"] * place, FLOAT))
                for place in range(PLACES)
            ]
            columns = [_of_sums(seen[i::4]) for i in range(4)]
            results = [_of_sums(row) for row in zip(*columns, strict=True)]
            (one, beside), (below, last) = results
            zeros.set(zeros.now + ((one + beside) + (below + last)) * 0.0)
            self._store(results, square)
        return code.any_of(zeros.now.is_nan()).equals(0)

    def _store(self, results: Sequence[Sequence[Value]], square: Value) -> None:
        """Those of a square; of the second row's, what is too much is written over later on."""
        code, size = self.code, self.size
        column, far = self._first_of(square, "far_across"), size["far_across"]
        first = code.at(self._results, column * LANES, FLOAT)
        places = first, code.at(first, size["result"], FLOAT)
        code.store(results[0][0], places[0])
        with code.when(column + far < size["wide"]):
            code.store(results[0][1], code.at(places[0], far * LANES, FLOAT))
        for place, made in zip((self.zero, far), results[1], strict=True):
            code.store(made, code.at(places[1], place * LANES, FLOAT))

    def _write(
        self, seen: Value, plane: Value, channels: tuple[Value, Value], rows: tuple[Value, Value]
    ) -> None:
        """Results, from the first of so many rows on, to planes of 16 channels."""
        code, size, (channel, left) = self.code, self.size, channels
        most = code.lesser(left, code.constant(INT64, LANES))
        area, first = size["high"] * size["wide"], rows[0] * size["wide"]

        def write(places: list[Value], mask: Value | None) -> None:
            for at in places:
                here = code.at(seen, at * LANES, FLOAT)
                pixels = [code.load(FLOATS, code.at(here, i * LANES, FLOAT)) for i in range(LANES)]
                for i, made in enumerate(turned(code, pixels)):
                    code.store(made, code.at(self._turned, i * LANES, FLOAT))
                with code.counted(self.zero, most) as number:
                    of_channel = partial(self.number_of, channel + number)
                    place = (plane + number) * area + first + at
                    sums = code.load(FLOATS, code.at(self._turned, number * LANES, FLOAT))
                    sums = sums + of_channel("bias")
                    made = self.finished_at(sums, place, mask, of_channel)
                    self.written(made, place, mask)

        code.vectors(self.zero, rows[1] * size["wide"], 1, write)

    def _anew(self, x: Value, channels: tuple[Value, Value], row: Value) -> None:
        """The results of a row of squares for 16 channels, as chains over their windows."""
        code, size, (channel, left) = self.code, self.size, channels
        kind, depth = INT64.of_lanes(LANES), size["inside"] * (WINDOW * WINDOW)
        last = code.spread(code.lesser(left, code.constant(INT64, LANES)) - 1)
        lanes = code.order(kind)
        far = code.choose(lanes < last, lanes, last) * code.spread(depth * 4)
        weights = code.at(self.at["weight"], channel * depth, FLOAT)
        top = self._first_of(row, "far_down") - size["top"]
        with code.counted(self.zero, size["across"]) as square:
            sums = [code.variable(code.constant(FLOATS, 0.0)) for _ in range(4)]
            column = self._first_of(square, "far_across") - size["left"]
            with code.counted(self.zero, size["inside"]) as k:
                plane = code.at(x, k * self._area, FLOAT)
                places = [[size[far] * i for i in range(4)] for far in ("far_down", "far_across")]
                seen = [
                    [self._seen_at(plane, top + down, column + across) for across in places[1]]
                    for down in places[0]
                ]
                for i in range(WINDOW):
                    for j in range(WINDOW):
                        place = k * (WINDOW * WINDOW) + (i * WINDOW + j)
                        weight = code.gathered(FLOATS, code.at(weights, place, FLOAT), far, None)
                        for number, total in enumerate(sums):
                            down, across = divmod(number, 2)
                            number_seen = seen[i + down][j + across]
                            total.set(code.multiply_add(number_seen, weight, total.now))
            made = [total.now for total in sums]
            self._store([made[:2], made[2:]], square)

    def _seen_at(self, plane: Value, row: Value, column: Value) -> Value:
        """A vector of the number there, or of zeros outside."""
        code, size = self.code, self.size
        is_there = row.below(size["height"]) & column.below(size["width"])
        place = code.choose(is_there, row * size["width"] + column, 0)
        number = code.load(FLOAT, code.at(plane, place, FLOAT))
        return code.spread(code.choose(is_there, number, 0.0))


def _of_seen(seen: Sequence[Value]) -> list[Value]:
    """What four numbers become that two results depend on."""
    first, second, third, fourth = seen
    return [first - third, second + third, third - second, second - fourth]


def _of_weights(weights: Sequence[Value]) -> list[Value]:
    """What three weights become."""
    first, second, third = weights
    half, middle = (first + third) * 0.5, second * 0.5
    return [first, half + middle, half - middle, third]


def _of_sums(sums: Sequence[Value]) -> list[Value]:
    """The two results of four sums."""
    first, second, third, fourth = sums
    return [first + second + third, second - third - fourth]
