"""Convolutions as products of weights and pixels, where windows are single numbers side by side, or
there are so few pixels that it is better to gather what their windows see than to turn weights.

A vector holds 16 neighbouring pixels, of one number of their windows.  Some vectors of all such
numbers are read from where they lie, or packed into memory of the thread's own where caches do not
take them so; the sums of some channels made stay in registers while the depth goes by, and are
written as they lie.  Weights are read from where they are.

Sums are chains as in `convolution_sums`.  Where the depth is large it is cut into pieces, between
which sums wait in the result, or in a thread's memory where that is bfloat16.  The last pixels of a
sample, where one or two are left beyond whole vectors, are summed differently: in a vector, by the
place in a piece modulo 16, which is added up in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from ..language.target import Target
from ..language.text import BYTE, FLOAT, FLOATS, INT32, INT64, LANES, Code, Value
from ..language.tiles import Tile
from ..products.pairs import HALF, beside, joined
from .frame import COPIED, PLAIN, After, Convolving

__all__ = [
    *("NAME", "ODD", "SIZES", "WIDE"),
    *(
        "BEYOND",
        "MOST_GATHERED",
        "MOST_ROWS",
        "depth_of_piece",
        "line_size",
        "pixels_of_tile",
        "slot_size",
    ),
    "text",
]

NAME: Final = "convolution_points"

SIZES: Final = (
    *("items", "planes", "plane_step", "chunks", "chunk_step", "tiles", "most"),
    *("blocks", "block_step", "block"),
    *("groups", "made", "inside", "depth", "deep", "pieces", "line", "is_packed"),
    *("slot", "piece", "is_cut", "pixels", "odd", "x_plane", "x_sample", "x_group"),
    *("waiting", "is_kept", "words", "sums"),
    *("is_gathered", "width", "next_row", "is_second", "gathered", "copied", *COPIED),
)
"""What the numbers are that the kernel is given.

The work is cut into `items`: a part, one of `chunks`, of the `tiles` that the `pixels` of a sample
fill, for a `block` of the channels that are `made` of one of `groups`, of which all samples have so
many `planes`; the number of an item, divided by a step, tells which it is; `most` pixels are taken
at once.  There are `pieces` of the `depth`, `deep` each but for the last; of pairs it counts words
of two of the `inside` numbers of a window.  Pixels that are read lie in lines, so many bytes apart:
they are packed, if that `is_packed`, or else the planes themselves.  A slot has all pieces of the
pixels that are packed at once, `piece` numbers apart, or, if it `is_cut`, one.  The `odd` pixels
are summed by themselves; their sums are kept in the place `waiting` of a slot.  Planes, samples and
groups of the input lie so many bytes apart.

Words that weights are made to go to the place `words` of a slot: those of a block if that `is_kept`
for more pixels, or else those of a tile.  Of a result of bfloat16 the sums of a block wait from the
place `sums` on, `most` for each channel.

Where windows are gathered the input is copied first (see `COPIED`), to the place `copied` of a
slot; to `gathered` go the numbers of a piece, a line of `x_plane` bytes for each, which is `width`
neighbours, or every second one, of each row; rows lie so many bytes apart.
"""

BEYOND: Final = 2 * LANES
"""Numbers behind a copy that may be read, but not used."""
MOST_GATHERED: Final = 256
"""Pixels, at most, whose windows are gathered."""
ODD: Final = 2
"""Pixels, at most, beyond whole vectors that are summed by themselves."""
WIDE: Final = 64
"""Pixels, at most, that are packed at once, unless they have few numbers."""
_DEEP: Final = 192
"""Lines that are packed at once: with those of the weights they fill a near cache."""
_AHEAD: Final = 8
"""Lines that are packed, from those that are brought near meanwhile."""
_LINES: Final = 8
"""Lines of weights, a power of two, that are brought near while those above are used."""
_ALONE: Final = 4
"""Tiles of pixels that are taken together where there is one channel alone."""
_FEW: Final = 4
"""Channels that are taken together where no more are left for a tall tile."""
MOST_ROWS: Final = 8
"""Channels of a tile, at most."""


def pixels_of_tile(target: Target) -> int:
    """Pixels that are taken together."""
    return Tile.of(target).vectors * LANES


def depth_of_piece(depth: int) -> int:
    """Lines of a piece; pieces are as even as they can be."""
    return -(-depth // -(-depth // _DEEP))


def line_size(pixels: int) -> int:
    """Numbers of a gathered line, and of vectors that reach beyond."""
    return -(-pixels // LANES) * LANES + LANES


def slot_size(deep: int, most: int) -> int:
    """Numbers of so many pixels that are packed at once, those of odd ones behind the others."""
    return deep * most + ODD * _whole(deep)


def _whole(deep: int) -> int:
    """Numbers of a line of an odd pixel."""
    return -(-deep // LANES) * LANES


def text(target: Target, after: After = PLAIN, pairs: str = "") -> str:
    """A kernel of `turn, sizes, offsets, x, weight, bias, out, slots` for a range of slots.

    - turn: uint64 [1], 0 before the call, the next item that nobody has taken;
    - sizes: int64, as `SIZES` says;
    - offsets: int64 [depth], in bytes within what is copied, or none;
    - x: float32, with all planes in it;
    - weight, bias: float32 [groups * made, inside] and [groups * made];
    - out: float32 [samples, groups * made, pixels];
    - slots: float32, `slot` of them for each slot.

    The operands of what comes `after` follow.  Where there are `pairs` what is packed is made to
    words of two bfloat16 (see `pairs`), and so are weights.  Where these are "halves" x and weight
    are bfloat16, with an even number `inside`: weights are words as they lie then.
    """
    return _Points(target, after, pairs).text(NAME)


class _Panel(NamedTuple):
    """Packed pixels: where they lie, the first one, and which of the last are there."""

    lines: Value
    pixel: Value
    vectors: int
    mask: Value | None


class _Points(Convolving):
    """The parts of the kernel."""

    def __init__(self, target: Target, after: After, pairs: str) -> None:
        super().__init__(target, SIZES, after)
        in_pairs = pairs in ("halves", "numbers")
        self.multiply_add = self.code.add_pairs if in_pairs else self.code.multiply_add
        self.together = 2 if in_pairs else 1
        self.rounds = pairs == "numbers"
        """Whether weights have to be made to words."""
        self.kind = HALF if pairs == "halves" else FLOAT
        self.tile = Tile.of(target)
        self.width = pixels_of_tile(target)

    def work(self, slot: Value) -> None:
        """Items, as long as there are some."""
        code, size = self.code, self.size
        packed, copied, known = (code.variable(code.constant(INT64, -1)) for _ in range(3))
        is_gathered, is_packed = (size[name].differs(0) for name in ("is_gathered", "is_packed"))
        is_kept = size["is_kept"].differs(0)
        places = "copied", "gathered", "waiting", "words", "sums"
        self._local, self._gathered, self._waiting, self._words_at, self._sums = (
            code.at(slot, size[name], FLOAT) for name in places
        )
        with self.handed_out(size["items"]) as item:
            plane, chunk, block = (
                code.split(item / size[f"{name}_step"], size[f"{name}s"])[1]
                for name in ("plane", "chunk", "block")
            )
            rest = plane * size["chunks"] + chunk
            sample, group = code.split(plane, size["groups"])
            source = sample * size["x_sample"] + group * size["x_group"]
            x = code.at(self.at["x"], source, BYTE)
            with code.when(is_gathered & copied.now.differs(plane)):
                copied.set(plane)
                self.fill(self._local, x, [-size[name] for name in ("front", "top", "left")])
            row = block * size["block"]
            rows = row, code.lesser(row + size["block"], size["made"])
            self._channel = group * size["made"]
            which = group * size["blocks"] + block
            is_known = is_kept & known.now.equals(which)
            self._is_new = code.variable(code.choose(is_known, self.zero, 1))
            self._sample = sample * size["groups"] * size["made"]
            start, end = (
                each * size["tiles"] / size["chunks"] * self.width for each in (chunk, chunk + 1)
            )
            even = size["pixels"] - size["odd"]
            stop = code.lesser(end, even)
            part = code.variable(start)
            with (
                code.repeated(lambda: part.now < stop),
                code.counted(self.zero, size["pieces"]) as number,
            ):
                begin = self._begin = part.now
                first = number * size["deep"]
                piece = first, code.lesser(first + size["deep"], size["depth"])
                end = code.lesser(begin + size["most"], stop)
                here = (rest * size["pieces"] + number * size["is_cut"]) * size["pixels"] + begin
                goal = code.at(slot, number * size["piece"], FLOAT)
                seen = code.at(x, first * self.together * size["x_plane"], BYTE)
                seen = code.choose(is_gathered, self._gathered, seen)
                has_odd = end.equals(even) & (size["odd"] > 0)
                with code.when(packed.now.differs(here)):
                    self._make_panels((x, seen), (begin, end), piece, goal, has_odd)
                    with code.when(size["is_cut"].differs(0) | piece[1].equals(size["depth"])):
                        packed.set(here)
                self._panels = code.choose(is_packed, goal, code.at(seen, begin, FLOAT))
                self._beside = code.choose(is_packed, size["deep"], 1)
                self._rows(rows, (begin, end), piece, goal, has_odd)
                with code.when(piece[1].equals(size["depth"])):
                    part.set(end)
                    known.set(which)
                    self._is_new.set(code.choose(is_kept, 0, self._is_new.now))

    def _make_panels(
        self,
        planes: tuple[Value, Value],
        pixels: tuple[Value, Value],
        piece: tuple[Value, Value],
        goal: Value,
        has_odd: Value,
    ) -> None:
        """Gather and pack what there is to be, of planes and of those that a piece begins with."""
        code, size, (x, seen) = self.code, self.size, planes
        with code.when(size["is_gathered"].differs(0)):
            self._gather(self._local, self._numbers(piece), self._gathered)
        with code.when(size["is_packed"].differs(0)):
            self._pack(seen, *pixels, piece, goal)
        with code.when(has_odd):
            if self.together == 1:
                self._pack_odd(x, self._local, piece, goal)
            else:
                self._pair_odd(seen, piece, goal)

    def _numbers(self, piece: tuple[Value, Value]) -> tuple[Value, Value]:
        """The numbers of windows that a piece of the depth is of."""
        first, end = (each * self.together for each in piece)
        return first, end if self.together == 1 else self.code.lesser(end, self.size["inside"])

    def _gather(self, local: Value, piece: tuple[Value, Value], lines: Value) -> None:
        """What the windows of all pixels see, a line for each of their numbers in a piece."""
        code, size = self.code, self.size
        height = size["pixels"] / size["width"]
        for step in (1, 2):
            with code.when(size["is_second"].equals(step - 1)), code.counted(*piece) as k:
                offset = code.load(INT64, code.at(self.at["offsets"], k, INT64))
                begin = code.at(local, offset, BYTE)
                line = code.at(lines, (k - piece[0]) * size["x_plane"], BYTE)
                with code.counted(self.zero, height) as row:
                    seen = code.at(begin, row * size["next_row"], BYTE)
                    goal = code.at(line, row * size["width"], FLOAT)
                    with code.counted(self.zero, size["width"], LANES) as at:
                        here = code.at(seen, at * step, FLOAT)
                        made = code.load(FLOATS, here)
                        if step == 2:
                            more = code.load(FLOATS, code.at(here, LANES, FLOAT))
                            made = code.shuffled(made, more, range(0, 2 * LANES, 2))
                        code.store(made, code.at(goal, at, FLOAT))

    def _pack(
        self, x: Value, begin: Value, end: Value, piece: tuple[Value, Value], slot: Value
    ) -> None:
        """Pixels of planes of a piece, as many as a tile is wide beside each other."""
        code, size, width = self.code, self.size, self.width
        whole = begin + (end - begin) / width * width
        masks = [code.first(end - whole - j * LANES) for j in range(self.tile.vectors)]
        vectors = self.kind.of_lanes(LANES)
        with code.counted(self.zero, piece[1] - piece[0]) as k:
            lines = self._planes(x, k, piece, begin)
            goal = code.at(slot, k * width, FLOAT)

            def pack(far: Value, masks: Sequence[Value | None]) -> None:
                seen = [code.at(line, far, self.kind) for line in lines]
                to = code.at(goal, far * size["deep"], FLOAT)
                for each in seen:
                    code.prefetch(code.at(each, size["x_plane"] * _AHEAD, BYTE))
                for j, mask in enumerate(masks):
                    here = [code.at(each, j * LANES, self.kind) for each in seen]
                    numbers = [code.load_if(vectors, each, mask) for each in here]
                    code.store(self._together(numbers, k, piece), code.at(to, j * LANES, FLOAT))

            with code.counted(self.zero, whole - begin, width) as far:
                pack(far, [None] * self.tile.vectors)
            with code.when(whole < end):
                pack(whole - begin, masks)

    def _planes(self, x: Value, k: Value, piece: tuple[Value, Value], pixel: Value) -> list[Value]:
        """Where a pixel lies in the plane, or in those two, that a line is of; the last one stands
        in for one that is missing."""
        code, size = self.code, self.size
        plane = k * self.together * size["x_plane"]
        steps = [code.choose(self._is_there(k, piece), size["x_plane"], 0)]
        places = [plane, *(plane + step for step in steps[: self.together - 1])]
        return [code.at(code.at(x, place, BYTE), pixel, self.kind) for place in places]

    def _is_there(self, k: Value, piece: tuple[Value, Value]) -> Value:
        """Whether a line of a piece is of two channels."""
        return (piece[0] + k) * 2 + 1 < self.size["inside"]

    def _together(self, numbers: list[Value], k: Value, piece: tuple[Value, Value]) -> Value:
        """The numbers of one channel, or the words of two."""
        if self.together == 1:
            return numbers[0]
        other = self.code.choose(self._is_there(k, piece), numbers[1], 0)
        return joined(self.code, numbers[0], other)

    def _pair_odd(self, x: Value, piece: tuple[Value, Value], slot: Value) -> None:
        """The odd pixels of a piece in words of two channels, each by itself."""
        code, size = self.code, self.size
        far = code.order(INT64.of_lanes(LANES)) * code.spread(size["x_plane"] * 2)
        first = size["pixels"] - size["odd"]
        with code.counted(self.zero, size["odd"]) as number:
            line = self._odd_line(slot, number)

            def pack(places: list[Value], mask: Value | None) -> None:
                for at in places:
                    here = code.at(x, at * 2 * size["x_plane"], BYTE)
                    here = code.at(here, first + number, self.kind)
                    low = self._apart(here, far, mask)
                    is_pair = code.first(size["inside"] / 2 - piece[0] - at)
                    other = code.at(here, size["x_plane"], BYTE)
                    high = self._apart(other, far, is_pair)
                    code.store(joined(code, low, high), code.at(line, at, FLOAT))

            code.vectors(self.zero, piece[1] - piece[0], 1, pack)

    def _apart(self, address: Value, far: Value, mask: Value | None) -> Value:
        """A vector of float32 from numbers so many bytes behind an address; a half is taken from
        the even word that it is in."""
        code = self.code
        if self.kind == FLOAT:
            return code.gathered(FLOATS, address, far, mask)
        place = code.let(INT64, f"ptrtoint ptr {address.name} to i64")
        beyond = (code.spread(place) + far) & 2
        words = INT32.of_lanes(LANES)
        seen = code.gathered(words, address, far - beyond, mask)
        up = (beyond << 3).converted("trunc", words) ^ 16
        return ((seen << up) & -65536).bits(FLOATS)

    def _odd_line(self, slot: Value, number: Value) -> Value:
        """Where the packed numbers of an odd pixel lie."""
        deep = self.size["deep"]
        place = deep * self.size["most"] + number * ((deep + LANES - 1) & -LANES)
        return self.code.at(slot, place, FLOAT)

    def _pack_odd(self, x: Value, local: Value, piece: tuple[Value, Value], slot: Value) -> None:
        """The odd pixels of a piece, each by itself."""
        code, size = self.code, self.size
        first = (size["pixels"] - size["odd"]) * 4
        back = (size["odd"] - size["width"]) * (size["is_second"] + 1) * 4
        last = size["next_row"] * (size["pixels"] / size["width"] - 1) - back
        is_gathered = size["is_gathered"].differs(0)
        step = code.choose(is_gathered, (size["is_second"] + 1) * 4, 4)
        with code.counted(self.zero, size["odd"]) as number, code.counted(*piece) as k:
            place = code.variable(k * size["x_plane"] + first)
            with code.when(is_gathered):
                offset = code.load(INT64, code.at(self.at["offsets"], k, INT64))
                place.set(offset + last)
            seen = code.choose(is_gathered, local, x)
            seen = code.at(seen, place.now + number * step, BYTE)
            goal = code.at(self._odd_line(slot, number), k - piece[0], FLOAT)
            code.store(code.load(FLOAT, seen), goal)

    def _odd(
        self, channels: list[Value], row: Value, piece: tuple[Value, Value], slot: Value
    ) -> None:
        """The sums of odd pixels over a piece; those of channels from a row of a block on wait in
        the slot, as vectors."""
        code, size, (first, end) = self.code, self.size, piece
        mask = code.first(code.constant(INT64, 1))
        with code.counted(self.zero, size["odd"]) as number:
            line = self._odd_line(slot, number)
            rooms = [
                code.at(self._waiting, (row + i) * ODD * LANES + number * LANES, FLOAT)
                for i in range(len(channels))
            ]
            sums = [code.variable(code.constant(FLOATS, 0.0)) for _ in channels]
            with code.when(first > 0):
                for room, total in zip(rooms, sums, strict=True):
                    total.set(code.load(FLOATS, room))
            lines = self._lines(channels, row, first)

            def add(places: list[Value], mask: Value | None) -> None:
                for at in places:
                    seen = code.load_if(FLOATS, code.at(line, at, FLOAT), mask)
                    for each, total in zip(lines, sums, strict=True):
                        weights = code.load_if(FLOATS, code.at(each, at, FLOAT), mask)
                        total.set(self.multiply_add(seen, weights, total.now))

            code.vectors(self.zero, end - first, 1, add)
            is_last = end.equals(size["depth"])
            with code.when(is_last.equals(0)):
                for room, total in zip(rooms, sums, strict=True):
                    code.store(total.now, room)
            with code.when(is_last):
                for channel, total in zip(channels, sums, strict=True):
                    pixel = size["pixels"] - size["odd"] + number
                    place = (self._sample + channel) * size["pixels"] + pixel
                    seen = partial(self.number_of, channel)
                    whole = seen("bias") + _added(code, total.now)
                    made = self.finished_at(whole, place, mask, seen)
                    self.written(code.shuffled(made, made, [0]), place, None)

    def _rows(
        self,
        rows: tuple[Value, Value],
        pixels: tuple[Value, Value],
        piece: tuple[Value, Value],
        slot: Value,
        has_odd: Value,
    ) -> None:
        """All channels of a block, in tall tiles and then in small ones, of which the last may
        have the last channel several times."""
        code, tall = self.code, self.tile.rows
        (row, last), (begin, end) = rows, pixels
        after = begin if self.together > 1 else self._only(rows, pixels, piece)
        _, rest = code.split(last - row, code.constant(row.kind, tall))
        until = last - rest
        is_short = (rest > 0) & (rest < 2 * _FEW - tall + 1) & (until > row)
        until = code.choose(rest > _FEW, until + tall, code.choose(is_short, until - tall, until))
        for count, start, stop in ((tall, row, until), (_FEW, until, last)):
            with code.counted(start, stop, count) as here:
                channels = [code.lesser(here + i, last - 1) + self._channel for i in range(count)]
                if self.rounds:
                    with code.when(self._is_new.now.differs(0)):
                        self._round(here - row, (here, code.lesser(here + count, last)), piece)
                with code.counted(after, end, self.width) as pixel:
                    panel = code.at(self._panels, (pixel - begin) * self._beside, FLOAT)
                    self._panel(channels, here - row, panel, pixel, end - pixel, piece)
                with code.when(has_odd):
                    self._odd(channels, here - row, piece, slot)

    def _only(
        self, rows: tuple[Value, Value], pixels: tuple[Value, Value], piece: tuple[Value, Value]
    ) -> Value:
        """Where a block has one channel alone, and pixels are read as they lie, many of them at a
        time; the first pixel that is left."""
        code, vectors = self.code, _ALONE * self.tile.vectors
        (row, last), (begin, end) = rows, pixels
        is_alone = (last - row).equals(1) & self.size["is_packed"].equals(0)
        count = code.choose(is_alone, (end - begin) / (vectors * LANES), 0)
        stop = begin + count * (vectors * LANES)
        with code.counted(begin, stop, vectors * LANES) as pixel:
            panel = code.at(self._panels, pixel - begin, FLOAT)
            here = _Panel(panel, pixel, vectors, None)
            self._tile([row + self._channel], self.zero, here, piece)
        return stop

    def _panel(
        self,
        channels: list[Value],
        row: Value,
        panel: Value,
        pixel: Value,
        left: Value,
        piece: tuple[Value, Value],
    ) -> None:
        """Channels of the pixels that a tile has, or of those that are left, vector by vector."""
        code, vectors = self.code, self.tile.vectors
        with code.when(left > self.width - 1):
            self._tile(channels, row, _Panel(panel, pixel, vectors, None), piece)
        with code.when(left < self.width), code.counted(self.zero, left, LANES) as at:
            mask = code.first(left - at)
            here = _Panel(code.at(panel, at, FLOAT), pixel + at, 1, mask)
            self._tile(channels, row, here, piece)

    def _tile(
        self, channels: list[Value], row: Value, panel: _Panel, piece: tuple[Value, Value]
    ) -> None:
        """The sums of channels, of a block those from a row on, over a piece of the depth."""
        code, size, (first, end) = self.code, self.size, piece
        vectors = range(panel.vectors)
        places = [(self._sample + channel) * size["pixels"] + panel.pixel for channel in channels]
        rooms = [code.at(self.at["out"], place, self.made) for place in places]
        for room in rooms:
            code.prefetch(room)
        if self.made != FLOAT:
            here = [
                (row + i) * size["most"] + (panel.pixel - self._begin) for i in range(len(rooms))
            ]
            rooms = [code.at(self._sums, place, FLOAT) for place in here]
        goals = [[code.at(room, v * LANES, FLOAT) for v in vectors] for room in rooms]
        sums = [[code.variable(self.number_of(each, "bias")) for _ in vectors] for each in channels]
        with code.when(first > 0):
            for written, totals in zip(goals, sums, strict=True):
                for goal, total in zip(written, totals, strict=True):
                    total.set(code.load_if(FLOATS, goal, panel.mask))
        lines = self._lines(channels, row, first)
        ahead = self._ahead(channels[0] + len(channels), lines, first)
        with code.counted(self.zero, end - first) as k:
            code.prefetch(ahead(k))
            at = code.at(panel.lines, k * size["line"], BYTE)
            numbers = [
                code.load_if(FLOATS, code.at(at, v * LANES, FLOAT), panel.mask) for v in vectors
            ]
            for line, totals in zip(lines, sums, strict=True):
                weight = code.spread(code.load(FLOAT, code.at(line, k, FLOAT)))
                for number, total in zip(numbers, totals, strict=True):
                    total.set(self.multiply_add(number, weight, total.now))
        is_last = end.equals(size["depth"])
        for channel, place, written, totals in zip(channels, places, goals, sums, strict=True):
            seen = partial(self.number_of, channel)
            with code.when(is_last):
                for v, total in zip(vectors, totals, strict=True):
                    made = self.finished_at(total.now, place + v * LANES, panel.mask, seen)
                    self.written(made, place + v * LANES, panel.mask)
            with code.when(is_last.equals(0)):
                for goal, total in zip(written, totals, strict=True):
                    code.store_if(total.now, goal, panel.mask)

    # ------------------------------------------------------------------------------- weights

    def _round(self, row: Value, rows: tuple[Value, Value], piece: tuple[Value, Value]) -> None:
        """Make words of the weights of a piece, for the channels of a tile that begins with a row
        of a block."""
        code, size, numbers = self.code, self.size, self._numbers(piece)
        left = numbers[1] - numbers[0]
        with code.counted(*rows) as channel:
            goal = self._made_words(row, channel - rows[0], piece[0])
            line = (self._channel + channel) * size["inside"] + numbers[0]
            source = code.at(self.at["weight"], line, FLOAT)

            def make(places: list[Value], mask: Value | None) -> None:
                for at in places:
                    halves = [at * 2, at * 2 + LANES]
                    masks = [None if mask is None else code.first(left - each) for each in halves]
                    low, high = (
                        code.load_if(FLOATS, code.at(source, each, FLOAT), some)
                        for each, some in zip(halves, masks, strict=True)
                    )
                    code.store_if(beside(code, low, high), code.at(goal, at, INT32), mask)

            code.vectors(self.zero, left >> 1, 2, make)
            with code.when((left & 1).differs(0)):
                last = code.first(self.zero + 1)
                number = code.load_if(FLOATS, code.at(source, left - 1, FLOAT), last)
                word = joined(code, number, code.constant(FLOATS, 0.0))
                code.store_if(word, code.at(goal, left >> 1, INT32), last)

    def _made_words(self, row: Value, beyond: Value, first: Value) -> Value:
        """Where words lie that weights are made to, of a row so far beyond one of a block, from a
        depth on."""
        place = (row * self.size["is_kept"] + beyond) * self.size["depth"] + first
        return self.code.at(self._words_at, place, FLOAT)

    def _lines(self, channels: list[Value], row: Value, first: Value) -> list[Value]:
        """Where the weights lie of channels, which begin with a row of a block, from a depth on."""
        if self.rounds:
            return [self._made_words(row, channel - channels[0], first) for channel in channels]
        places = (channel * self.size["depth"] + first for channel in channels)
        return [self.code.at(self.at["weight"], place, FLOAT) for place in places]

    def _ahead(self, channel: Value, lines: list[Value], first: Value) -> Callable[[Value], Value]:
        """Where weights lie that are brought near while a tile is summed: for the n-th step the
        n-th of some lines of the channels below."""
        code, size = self.code, self.size
        below = code.at(lines[0], size["depth"] * len(lines), FLOAT)
        step, wide, block = size["depth"], self.zero + 1, LANES
        if self.rounds:
            is_new, block = self._is_new.now.differs(0), LANES // 2
            far = channel * size["inside"] + first * 2
            below = code.choose(is_new, code.at(self.at["weight"], far, FLOAT), below)
            step = code.choose(is_new, size["inside"], step)
            wide = code.choose(is_new, 2, wide)

        def place(k: Value) -> Value:
            line = code.at(below, (k & (_LINES - 1)) * step, FLOAT)
            return code.at(line, (k & -block) * wide, FLOAT)

        return place


def _added(code: Code, numbers: Value) -> Value:
    """A vector whose elements are the sum of those of another: of halves, quarters and so on."""
    half = LANES // 2
    while half:
        numbers = numbers + code.shuffled(
            numbers, numbers, [(lane + half) % LANES for lane in range(LANES)]
        )
        half //= 2
    return numbers
