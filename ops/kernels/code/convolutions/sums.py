"""The sums of convolutions over up to three dimensions, of any stride, dilation and groups.

A vector holds 16 channels of one output pixel.  The weights of some such vectors, a panel, are
turned around into memory of the thread's own, [depth, channels]; then the sums of some pixels stay
in registers while the depth goes by.  How far from a window's first number each of its others lies
is told by a table, so no matrix of columns is ever made, and one kernel serves all sizes.

Every sum is one chain: it starts with the bias and goes through the weights as they lie in memory.
Tiles, panels and threads do not enter.  Where a panel is larger than a near cache the depth is cut
into pieces, between which sums wait in memory as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ..functions.formulas import stored_as, taken_from
from ..language.target import Target
from ..language.text import BYTE, FLOAT, FLOATS, INT32, INT64, LANES, POINTER, Code, Value, Variable
from ..language.tiles import Tile, turned
from ..products.pairs import HALF, joined, seen_as_floats
from .frame import COPIED, PLAIN, After, Convolving

__all__ = [
    *("NAME", "SIZES", "channels_of_panel", "depth_of_piece", "panel_size", "pixels_of_tile"),
    *("renewed_piece", "sums_kept", "text"),
]

NAME: Final = "convolution_sums"

SIZES: Final = (
    *("items", "slot", "sample_step", "samples", "chunk_step", "chunks", "team_step", "teams"),
    *("blocks", "block", "panels", "made", "is_kept", "panel", "lines", "room"),
    *("depth", "weights", "window", "deep", "is_renewed"),
    *("pixels", "chunk", "width", "height", "next_column", "next_row", "next_plane"),
    *("x_row", "x_plane", "x_sample", "x_group"),
    *("is_filled", *COPIED, "planes_on", "rows_on", "columns_on"),
)
"""What the numbers are that the kernel is given.

The work is cut into `items`: `chunk` pixels of a sample for a team, which is a block of panels of a
group; the item, divided by a step, tells which of `samples`, `chunks` and `teams` it is.  A group
has `blocks` of `block` panels, `panels` in all, for the `made` channels, each with so many
`weights`, of which a `window` belongs to one channel of the input.  An output has `pixels` numbers,
rows of `width` in planes of `height`.  The next seven are distances in bytes: from a window to the
next one in its row, from the last in a row to the next row's first, from the last in a plane to the
next plane's first; from row to row of windows, and from plane to plane; of the input, from sample
to sample and from group to group.

A slot has `room` for sums that wait, then `lines` for panels of `panel` numbers, all those of a
team if they are kept, then what the windows of a chunk see, if that is filled (see `COPIED`): for
each chunk it begins so many planes, rows and columns further on.  All pixels of an item go through
a `deep` piece of the depth before the next one; where panels are renewed a slot has the lines of
one piece only.
"""
_DEEP: Final = 192
"""Lines of a panel of one vector that fill half of a cache of 32 KiB."""
_RENEWED: Final = 512
"""Lines, at most, of a piece whose weights are used once: with the next piece's they lie near."""
_FEW: Final = 4
"""Pixels that are taken together where a row of tall tiles has ended."""
_AHEAD: Final = 96
"""Weights of a row that are brought near before they are turned around."""


def pixels_of_tile(target: Target) -> int:
    """Pixels that are taken together, of which pieces of work hold whole tiles."""
    return Tile.of(target).rows


def channels_of_panel(target: Target) -> int:
    """Channels in a panel."""
    return LANES * Tile.of(target).vectors


def panel_size(depth: int, target: Target) -> int:
    """Numbers of a panel, filled up to whole squares."""
    return (depth + LANES) * channels_of_panel(target)


def depth_of_piece(depth: int, target: Target) -> int:
    """Weights that all pixels of an item go through before further ones, whose lines stay near."""
    return depth if target.has_scaling else min(depth, _DEEP)


def renewed_piece(depth: int, target: Target) -> int:
    """The same where weights are used once: pieces as even as whole squares let them be."""
    most = _RENEWED if target.has_scaling else _DEEP
    return -(-depth // (-(-depth // most) * LANES)) * LANES


def sums_kept(chunk: int, target: Target) -> int:
    """Numbers for the sums of so many pixels, and of those that small tiles have beyond."""
    return (chunk + _FEW) * channels_of_panel(target)


def text(target: Target, after: After = PLAIN, pairs: str = "", column: int = 0) -> str:
    """A kernel of `turn, sizes, offsets, x, weight, bias, out, slots` for a range of slots.

    - turn: uint64 [1], 0 before the call, the next item that nobody has taken;
    - sizes: int64, as `SIZES` says;
    - offsets: int64 [depth], in bytes;
    - x: float32, with all windows in it;
    - weight, bias: float32 [groups * made, weights] and [groups * made];
    - out: float32 [samples, groups * made, pixels];
    - slots: float32, `slot` of them for each slot.

    The operands of what comes `after` follow.  Where there are `pairs` x has words of bfloat16 of
    two channels (see `pairs`), which is what weights are made to: those given are float32, or
    bfloat16 where `pairs` are "halves".
    """
    return _Sums(target, after, pairs, column).text(NAME)


_COUNTED: Final = (("sample_step", "samples"), ("chunk_step", "chunks"), ("team_step", "teams"))


class _Sums(Convolving):
    """The parts of the kernel."""

    def __init__(self, target: Target, after: After, pairs: str, column: int) -> None:
        super().__init__(target, SIZES, after)
        if column:
            self.size["next_column"] = self.code.constant(INT64, column)
        self.pairs = pairs if pairs != "alone" else ""
        self.multiply_add = self.code.add_pairs if self.pairs else self.code.multiply_add
        tile = Tile.of(target)
        self.vectors, self.tall = tile.vectors, tile.rows
        rows, numbers = (kind.of_lanes(self.vectors * LANES) for kind in (INT64, FLOAT))
        self.biases = self.code.room(numbers)
        self.rows = {
            number: (array, self.code.room(rows))
            for number, array in ((0, self.at["out"]), *self._given("a"))
        }
        self.numbers = {
            number: (array, self.code.room(numbers)) for number, array in self._given("v")
        }

    def _given(self, place: str) -> list[tuple[int, Value]]:
        return [(number, self.given[number]) for number in self.operands(place)]

    def work(self, slot: Value) -> None:
        """Items, as long as there are some."""
        code, size = self.code, self.size
        lines = code.at(slot, size["room"], FLOAT)
        local = code.at(lines, size["lines"], FLOAT)
        is_filled, is_kept = (size[name].differs(0) for name in ("is_filled", "is_kept"))
        packed, filled = (code.variable(code.constant(INT64, -1)) for _ in range(2))
        with self.handed_out(size["items"]) as item:
            sample, chunk, team = (self._counted(item, *each) for each in _COUNTED)
            group, block = code.split(team, size["blocks"])
            source = sample * size["x_sample"] + group * size["x_group"]
            x = code.at(self.at["x"], source, BYTE)
            seen = (sample * size["chunks"] + chunk) * size["teams"] + group
            with code.when(is_filled & filled.now.differs(seen)):
                filled.set(seen)
                ways = ("planes_on", "front"), ("rows_on", "top"), ("columns_on", "left")
                self.fill(local, x, [chunk * size[on] - size[pad] for on, pad in ways])
            part = chunk * size["chunk"]
            count = code.lesser(size["chunk"], size["pixels"] - part)
            start = code.choose(is_filled, 0, part)
            x = code.choose(is_filled, local, x)
            first = block * size["block"]
            stop = code.lesser(first + size["block"], size["panels"])
            key = code.variable(team)
            with code.counted(first, stop) as panel:
                key.set(code.choose(is_kept, team, group * size["panels"] + panel))
                begin, end = (self.first_channel(each) for each in (panel, panel + 1))
                left = code.lesser(end, size["made"]) - begin
                channel = begin + group * size["made"]
                self._find_rows(sample, channel, left, part - start)
                here = code.at(lines, (panel - first) * size["panel"], FLOAT)
                weights = _Weights(here, channel, left, packed.now.differs(key.now))
                self._chunk((start, start + count), x, slot, weights)
            packed.set(key.now)

    def _counted(self, item: Value, step: str, count: str) -> Value:
        """Which of several an item is for."""
        _, place = self.code.split(item / self.size[step], self.size[count])
        return place

    def _find_rows(self, sample: Value, channel: Value, left: Value, begin: Value) -> None:
        """Where each channel of a panel goes, of pixels that are counted from `begin` on; what is
        too many, where the last one goes."""
        code, size = self.code, self.size
        channels = size["teams"] / size["blocks"]
        line = sample * channels * size["made"] + channel
        vectors = [(self.at["bias"], self.biases), *self.numbers.values()]
        with code.counted(self.zero, code.constant(INT64, self.vectors * LANES)) as i:
            place = code.lesser(i, left - 1)
            for array, room in self.rows.values():
                row = code.at(array, (line + place) * size["pixels"] + begin, self.made)
                code.store(row, code.at(room, i, INT64))
            for array, room in vectors:
                number = code.load(FLOAT, code.at(array, channel + place, FLOAT))
                code.store(number, code.at(room, i, FLOAT))

    # ------------------------------------------------------------------------------- weights

    def _pack(self, weights: _Weights, piece: tuple[Value, Value], wide: Value) -> None:
        """Turn weights of a panel around; the last channel stands in for what is too many."""
        code, last = self.code, weights.left - 1
        given = HALF if self.pairs == "halves" else FLOAT
        with code.counted(self.zero, weights.left, LANES) as first:
            places = [weights.channel + code.lesser(first + i, last) for i in range(LANES)]
            lines = [
                code.at(self.at["weight"], place * self.size["weights"], given) for place in places
            ]
            goal = code.at(weights.lines, first, FLOAT)

            def turn(places: list[Value], mask: Value | None) -> None:
                for at in places:
                    for each in lines:
                        code.prefetch(code.at(each, at + _AHEAD, given))
                    here = (code.at(each, at, given) for each in lines)
                    seen = [seen_as_floats(code, given, each, mask) for each in here]
                    for i, vector in enumerate(turned(code, seen)):
                        code.store(vector, code.at(goal, (at + i) * wide, FLOAT))

            code.vectors(*piece, 1, turn)

    def _pair(self, slot: Value, wide: Value) -> None:
        """Join the weights of a panel for two channels of the input, from the first on."""
        code, size = self.code, self.size
        with code.counted(self.zero, size["depth"]) as word:
            channel, place = code.split(word, size["window"])
            first = channel * 2 * size["window"] + place
            other = first + size["window"]
            is_there = other < size["weights"]
            lines = [first, code.choose(is_there, other, first), word]
            low, high, goal = (code.at(slot, line * wide, FLOAT) for line in lines)
            with code.counted(self.zero, wide, LANES) as at:
                one, more = (code.load(FLOATS, code.at(each, at, FLOAT)) for each in (low, high))
                made = joined(code, one, code.choose(is_there, more, 0.0))
                code.store(made, code.at(goal, at, INT32))

    # ---------------------------------------------------------------------------------- tiles

    def _chunk(self, pixels: tuple[Value, Value], x: Value, room: Value, weights: _Weights) -> None:
        """Pixels of a range, a piece of the depth after the other; there is `room` for their sums
        of earlier pieces."""
        code, size = self.code, self.size
        here = self._first_window(pixels[0], x)
        is_renewed = size["is_renewed"].differs(0)
        vectors = code.lesser((weights.left + (LANES - 1)) / LANES, self.zero + self.vectors)
        wide = vectors * LANES
        begin = code.variable(self.zero)
        with code.repeated(lambda: begin.now < size["depth"]):
            piece = begin.now, code.lesser(begin.now + size["deep"], size["depth"])
            back = code.choose(is_renewed, self.zero - piece[0] * wide, 0)
            lines = weights._replace(lines=code.at(weights.lines, back, FLOAT))
            self._renew(lines, piece, wide, is_renewed)
            for count in range(1, self.vectors + 1):
                with code.when(vectors.equals(count)):
                    tiles = _Tiles(self, (room, lines.lines), piece, pixels[0], count)
                    self._sum(pixels, _Window(self, *here), tiles, weights)
            begin.set(piece[1])

    def _first_window(self, start: Value, x: Value) -> tuple[Value, Value, Value]:
        """Where the window of a pixel begins, and the pixel's column and row."""
        code, size = self.code, self.size
        line, column = code.split(start, size["width"])
        plane, row = code.split(line, size["height"])
        first = plane * size["x_plane"] + row * size["x_row"] + column * size["next_column"]
        return code.at(x, first, BYTE), column, row

    def _sum(
        self, pixels: tuple[Value, Value], window: _Window, tiles: _Tiles, weights: _Weights
    ) -> None:
        """The sums of pixels over a piece of the depth, tile by tile."""
        code, (start, stop) = self.code, pixels
        whole = start + (stop - start) / self.tall * self.tall
        with code.counted(start, whole, self.tall) as pixel:
            is_row = window.holds(self.tall)
            ahead = self._ahead(weights, tiles.piece, (pixel - start) * (LANES // self.tall))
            sums = self._begun(tiles, pixel, self.tall)
            with code.when(is_row):
                self._add(tiles, sums, window.row(self.tall), ahead)
            with code.when(is_row.equals(0)):
                self._add(tiles, sums, window.places(self.tall), ahead)
            self._end(tiles, sums, pixel, None)
        with code.counted(whole, stop, _FEW) as pixel:
            sums = self._begun(tiles, pixel, _FEW)
            self._add(tiles, sums, window.places(_FEW, stop - pixel))
            self._end(tiles, sums, pixel, stop)

    def _renew(
        self, weights: _Weights, piece: tuple[Value, Value], wide: Value, is_renewed: Value
    ) -> None:
        """Have the lines of a piece in their place; those of pairs are made all at once."""
        code = self.code
        if not self.pairs:
            with code.when(is_renewed | weights.is_new):
                self._pack(weights, piece, wide)
            return
        with code.when(weights.is_new & piece[0].equals(0)):
            self._pack(weights, (self.zero, self.size["weights"]), wide)
            self._pair(weights.lines, wide)

    def _ahead(
        self, weights: _Weights, piece: tuple[Value, Value], rows: Value
    ) -> Callable[[Value], Value]:
        """Where weights of the next piece lie, or of a panel beside, that are brought near while
        tiles of this one are summed: for the n-th step of a tile the n-th line of 16 rows."""
        code, size, (begin, end) = self.code, self.size, piece
        is_last = end.equals(size["depth"])
        beside = code.choose(self.backwards, -weights.left, weights.left)
        channel = weights.channel + code.choose(is_last, beside, 0)
        far = channel * size["weights"] + code.choose(is_last, 0, end)
        base = code.at(self.at["weight"], far, FLOAT)
        row = code.lesser(rows, weights.left - LANES)
        base = code.at(base, code.choose(row < 0, 0, row) * size["weights"], FLOAT)
        step = code.choose(size["is_renewed"].differs(0), size["weights"], 0)

        def place(k: Value) -> Value:
            here = k - begin
            return code.at(code.at(base, (here & (LANES - 1)) * step, FLOAT), here & -LANES, FLOAT)

        return place

    def _begun(self, tiles: _Tiles, pixel: Value, count: int) -> list[list[Variable]]:
        """The sums of some pixels, as they are before this piece of the depth."""
        code = self.code
        starts = tiles.starts(tiles.kept(pixel, count))
        return [[code.variable(code.load(FLOATS, each)) for each in row] for row in starts]

    def _add(
        self,
        tiles: _Tiles,
        sums: list[list[Variable]],
        places: Callable[[Value], list[Value]],
        ahead: Callable[[Value], Value] | None = None,
    ) -> None:
        """Add a piece of the depth; `places` tells where the numbers of windows lie that are so far
        from the first."""
        code, vectors = self.code, range(tiles.vectors)
        with code.counted(*tiles.piece) as k:
            if ahead is not None and not self.pairs:
                code.prefetch(ahead(k))
            offset = code.load(INT64, code.at(self.at["offsets"], k, INT64))
            line = code.at(tiles.lines, k * (tiles.vectors * LANES), FLOAT)
            weights = [code.load(FLOATS, code.at(line, v * LANES, FLOAT)) for v in vectors]
            for place, row in zip(places(offset), sums, strict=True):
                number = code.spread(code.load(FLOAT, place))
                for weight, total in zip(weights, row, strict=True):
                    total.set(self.multiply_add(number, weight, total.now))

    def _end(
        self, tiles: _Tiles, sums: list[list[Variable]], pixel: Value, stop: Value | None
    ) -> None:
        """Give the sums to whom they belong; those of pixels from `stop` on go nowhere."""
        code = self.code
        is_last = tiles.piece[1].equals(self.size["depth"])
        with code.when(is_last):
            mask = None if stop is None else code.first(stop - pixel, len(sums))
            for v in range(tiles.vectors):
                self._write(v, [row[v].now for row in sums], pixel, mask)
        with code.when(is_last.equals(0)):
            for row, goals in zip(sums, tiles.kept(pixel, len(sums)), strict=True):
                for total, goal in zip(row, goals, strict=True):
                    code.store(total.now, goal)

    def _write(self, v: int, sums: list[Value], pixel: Value, mask: Value | None) -> None:
        """Sums [pixels, 16 channels] into the rows of those channels."""
        code, tall = self.code, len(sums)
        whole = 1 << (tall - 1).bit_length()
        for i, line in enumerate(turned(code, sums + sums[-1:] * (whole - tall))):
            places = [run * whole + i for run in range(LANES // whole)]

            def rows(number: int, places: list[int] = places) -> list[Value]:
                _, room = self.rows[number]
                found = (code.at(room, v * LANES + place, INT64) for place in places)
                return [code.at(code.load(POINTER, each), pixel, self.made) for each in found]

            def seen(
                number: int, places: list[int] = places, rows: Callable[[int], list[Value]] = rows
            ) -> Value:
                if number in self.rows:
                    runs = [self._run(row, tall, mask) for row in rows(number)]
                    return taken_from(self.after.letter, _joined(code, runs))
                _, room = self.numbers[number]
                numbers = code.load(FLOATS, code.at(room, v * LANES, FLOAT))
                lanes = [place for place in places for _ in range(whole)]
                return code.shuffled(numbers, numbers, lanes)

            made = stored_as(self.after.letter, self.finished(line, seen))
            for run, row in enumerate(rows(0)):
                for first, count in _parts(tall):
                    begin = run * whole + first
                    some = code.shuffled(made, made, range(begin, begin + count))
                    code.store_if(some, code.at(row, first, self.made), mask)

    def _run(self, row: Value, tall: int, mask: Value | None) -> Value:
        """So many numbers of a row, and others behind them up to a power of two."""
        code, whole = self.code, 1 << (tall - 1).bit_length()
        if mask is not None or whole == tall:
            return code.load_if(self.made.of_lanes(tall), row, mask)
        (_, low), (at, high) = _parts(tall)
        one = code.load(self.made.of_lanes(low), row)
        more = code.load(self.made.of_lanes(high), code.at(row, at, self.made))
        filled = code.shuffled(more, more, [lane % high for lane in range(low)])
        return code.shuffled(one, filled, range(2 * low))


def _parts(count: int) -> list[tuple[int, int]]:
    """Powers of two that make up a count, the largest first, each behind those before: stores of
    whole vectors are quicker than those under a mask."""
    found: list[tuple[int, int]] = []
    first = 0
    while first < count:
        part = 1 << ((count - first).bit_length() - 1)
        found.append((first, part))
        first += part
    return found


class _Weights(NamedTuple):
    """A panel: where its lines lie, its first channel and how many there are, and whether its lines
    are still to be made."""

    lines: Value
    channel: Value
    left: Value
    is_new: Value


class _Tiles:
    """What the tiles of a chunk have in common while a piece of the depth goes by."""

    def __init__(
        self,
        sums: _Sums,
        slot: tuple[Value, Value],
        piece: tuple[Value, Value],
        start: Value,
        vectors: int,
    ) -> None:
        self._code, self._start, self._biases = sums.code, start, sums.biases
        self._sums, self.lines = slot
        self.piece, self.vectors = piece, vectors
        self._is_first = piece[0].equals(0)

    def kept(self, pixel: Value, count: int) -> list[list[Value]]:
        """Where the sums of so many pixels wait for the next piece."""
        code, wide = self._code, self.vectors * LANES
        first = code.at(self._sums, (pixel - self._start) * wide, FLOAT)
        return [
            [code.at(first, row * wide + v * LANES, FLOAT) for v in range(self.vectors)]
            for row in range(count)
        ]

    def starts(self, kept: list[list[Value]]) -> list[list[Value]]:
        """Where the numbers lie that sums begin with."""
        code = self._code
        biases = [code.at(self._biases, v * LANES, FLOAT) for v in range(self.vectors)]
        return [
            [code.choose(self._is_first, *pair) for pair in zip(biases, row, strict=True)]
            for row in kept
        ]


def _joined(code: Code, parts: list[Value]) -> Value:
    """The elements of vectors, one vector after the other."""
    while len(parts) > 1:
        lanes = range(2 * parts[0].kind.lanes)
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [code.shuffled(one, other, lanes) for one, other in pairs]
    return parts[0]


class _Window:
    """Where the window of a pixel begins, from pixel to pixel."""

    def __init__(self, sums: _Sums, place: Value, column: Value, row: Value) -> None:
        self._code, self._size = sums.code, sums.size
        self.place = self._code.variable(place)
        self._column, self._row = (self._code.variable(each) for each in (column, row))

    def holds(self, count: int) -> Value:
        """Whether the next ones are in a row."""
        return self._column.now + count < self._size["width"] + 1

    def row(self, count: int) -> Callable[[Value], list[Value]]:
        """The next ones, which are in a row: where their numbers lie."""
        code, far = self._code, self._size["next_column"]
        first = self.place.now
        self._column.set(self._column.now + (count - 1))
        self.place.set(code.at(first, far * (count - 1), BYTE))
        self._step(None)

        def places(offset: Value) -> list[Value]:
            here = code.at(first, offset, BYTE)
            return [code.at(here, far * i, BYTE) for i in range(count)]

        return places

    def places(self, count: int, left: Value | None = None) -> Callable[[Value], list[Value]]:
        """The next ones, wherever: the last stands in for those that are missing if there are but
        so many `left`."""
        code, found = self._code, list[Value]()
        for i in range(count):
            found.append(self.place.now)
            self._step(None if left is None else left > i + 1)
        return lambda offset: [code.at(each, offset, BYTE) for each in found]

    def _step(self, more: Value | None) -> None:
        """On to the next; not where there is none, if that is told."""
        code, size = self._code, self._size
        column, row = self._column.now + 1, self._row.now + 1
        is_row = column.equals(size["width"])
        is_plane = is_row & row.equals(size["height"])
        down = code.choose(is_plane, size["next_plane"], size["next_row"])
        far = code.choose(is_row, down, size["next_column"])
        self._column.set(code.choose(is_row, 0, column))
        self._row.set(code.choose(is_plane, 0, code.choose(is_row, row, self._row.now)))
        if more is not None:
            far = code.choose(more, far, 0)
        self.place.set(code.at(self.place.now, far, BYTE))
