"""Convolutions of bytes: products of the patches of an image with packed weights.

An image lies with its channels last and with its borders, so that the bytes of a patch in one line
of the image follow each other (those of one place, where patches have holes): a *tap*.  The taps of
all patches lie at the same offsets from their beginnings, and the product reads them there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import BYTE, INT32, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel
from .integers import ROWS, TAKEN, PanelProduct, added_products, beside, in_blocks
from .results import PANEL, WHOLES, Columns

__all__ = [
    "SQUARE",
    "Channels",
    "bordered",
    "channel_product",
    "channel_weights",
    "patch_product",
    "run",
]


# --------------------------------------------------------------------------- images


def bordered(is_last: bool) -> int:
    """A kernel of `height, width, channels, depth, top, left, zero, image, goal` for all lines of
    uint8 [images, height + 2 top, width + 2 left, depth], in which images lie with borders.

    Those are uint8 [images, channels, height, width], or have their channels last.  Borders are
    `zero`.  What lies between the last channel and `depth`, a multiple of four, is anything.
    """
    form = "last" if is_last else "planes"
    move = _moved_pixels if is_last else _turned_planes
    return kernel("bordered", (form,), lambda target: _bordered(target, move))


_COUNTS: Final = ("height", "width", "channels", "depth", "top", "left", "zero")
Counts = dict[str, Value]


def _bordered(target: Target, move: Callable[[Code, Counts, Value, Value, Value], None]) -> str:
    code = Code(target)
    counts = {name: code.argument(INT64, name) for name in _COUNTS}
    goal = code.argument(POINTER, "goal")
    side = counts["left"] * counts["depth"]
    inner = counts["width"] * counts["depth"]
    border = code.spread((counts["zero"] * 0x01010101).converted("trunc", INT32))

    def fill(place: Value, size: Value) -> None:
        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                code.store_if(border, code.at(place, at, INT32), mask)

        code.vectors(code.constant(INT64, 0), size.unsigned_shift(2), 1, visit)

    with code.units() as turn:
        which, line = code.split(turn, counts["height"] + counts["top"] * 2)
        aim = code.at(goal, turn * (inner + side * 2), BYTE)
        row = line - counts["top"]
        is_inside = row.below(counts["height"])
        with code.when(is_inside.equals(0)):
            fill(aim, inner + side * 2)
        with code.when(is_inside):
            fill(aim, side)
            middle = code.at(aim, side, BYTE)
            fill(code.at(middle, inner, BYTE), side)
            move(code, counts, which, row, middle)
    arguments = [*((INT64, n) for n in _COUNTS), (POINTER, "image"), (POINTER, "goal")]
    return code.kernel("bordered", arguments)


def _moved_pixels(code: Code, counts: Counts, which: Value, row: Value, aim: Value) -> None:
    """A line of pixels: at once where the bytes of each are as many as there shall be."""
    width, channels, depth = counts["width"], counts["channels"], counts["depth"]
    image = code.argument(POINTER, "image")
    source = code.at(image, (which * counts["height"] + row) * width * channels, BYTE)
    none, is_same = code.constant(INT64, 0), depth.equals(channels)
    with code.when(is_same):
        code.vectors(none, (width * channels).unsigned_shift(2), 2, _copy(source, aim, WHOLES))
    has_colours = channels.equals(COLOURS) & (width > _WIDE)
    with code.when(has_colours):
        _moved_colours(code, width, source, aim)
    begun = code.choose(has_colours, width, none)
    with code.counted(begun, code.choose(is_same, none, width)) as pixel:
        begin, end = (code.at(p, pixel * n, BYTE) for p, n in ((source, channels), (aim, depth)))
        code.vectors(none, channels, 4, _copy(begin, end, _BYTES))


COLOURS: Final = 3
_WIDE: Final = 4 * LANES // COLOURS
"""More pixels than that have bytes for a vector of 64."""


def _moved_colours(code: Code, width: Value, source: Value, aim: Value) -> None:
    """A line of pixels of three bytes, as pixels of four."""
    bytes_ = Kind("i8", 4 * LANES)

    def move(pixel: Value, before: int) -> None:
        """16 pixels, out of 64 bytes of which the first ones are not theirs."""
        seen = code.load(bytes_, code.at(source, pixel * COLOURS - before, BYTE))
        places = [before + COLOURS * at + min(i, 2) for at in range(LANES) for i in range(TAKEN)]
        code.store(code.shuffled(seen, seen, places), code.at(aim, pixel * TAKEN, BYTE))

    move(code.constant(INT64, 0), 0)
    with code.counted(code.constant(INT64, LANES), width, LANES) as pixel:
        move(code.lesser(pixel, width - LANES), LANES)  # so nothing behind the line is read


def _copy(source: Value, aim: Value, kind: Kind) -> Callable[[list[Value], Value | None], None]:
    """What copies vectors of elements."""
    code, element = source.code, kind.of_lanes(0)

    def copy(places: list[Value], mask: Value | None) -> None:
        seen = [code.load_if(kind, code.at(source, at, element), mask) for at in places]
        for at, value in zip(places, seen, strict=True):
            code.store_if(value, code.at(aim, at, element), mask)

    return copy


def _turned_planes(code: Code, counts: Counts, which: Value, row: Value, aim: Value) -> None:
    """A line of pixels out of planes, four channels of 16 pixels at once."""
    height, width, depth = counts["height"], counts["width"], counts["depth"]
    channels, image = counts["channels"], code.argument(POINTER, "image")
    steps = code.order(WHOLES) * code.spread(depth.converted("trunc", INT32))
    last = channels - 1
    source = code.at(image, (which * channels * height + row) * width, BYTE)
    none = code.constant(INT64, 0)
    whole = code.choose(width > SQUARE - 1, channels & -LANES, none)
    with code.counted(none, whole, LANES) as channel:
        begin, end = code.at(source, channel * (height * width), BYTE), code.at(aim, channel, BYTE)
        with code.counted(none, width, LANES) as pixel:
            at = code.lesser(pixel, width - LANES)
            _turn_square(code, code.at(begin, at, BYTE), height * width, (end, at), depth)
    with code.counted(whole, channels, TAKEN) as channel:
        each = [code.lesser(channel + i, last) * (height * width) for i in range(TAKEN)]

        def move(places: list[Value], mask: Value | None) -> None:
            for at in places:
                words = None
                for i, place in enumerate(each):
                    seen = code.load_if(_BYTES, code.at(source, place + at, BYTE), mask)
                    wide = seen.converted("zext", WHOLES) << (8 * i)
                    words = wide if words is None else words | wide
                assert words is not None
                goal = code.at(aim, at * depth + channel, BYTE)
                with code.when(depth.equals(TAKEN)):
                    code.store_if(words, goal, mask)
                with code.when(depth.differs(TAKEN)):
                    code.scattered(words, goal, steps, mask)

        code.vectors(none, width, 1, move)


SQUARE: Final = LANES
"""Pixels of a line, at least, of which so many are turned at once."""


def _turn_square(
    code: Code, source: Value, plane: Value, goal: tuple[Value, Value], depth: Value
) -> None:
    """16 pixels of 16 planes as 16 pixels of 16 bytes, by words of four planes each."""
    quads, words = Kind("i8", 4 * LANES), []
    for first in range(0, LANES, TAKEN):
        starts = [code.at(source, plane * (first + i), BYTE) for i in range(TAKEN)]
        seen = joined(code, [code.load(_BYTES, each) for each in starts])
        pixels = [TAKEN * (at % TAKEN) + at // TAKEN for at in range(LANES)]
        places = [i * LANES + pixel for pixel in pixels for i in range(TAKEN)]
        words.append(code.shuffled(seen, seen, places).bits(WHOLES))
    halves = [_mixed(code, *words[at : at + 2]) for at in (0, 2)]
    pairs = [[each.bits(Kind("i64", 8)) for each in half] for half in zip(*halves, strict=True)]
    made = [each.bits(quads) for one, other in pairs for each in _mixed(code, one, other)]
    end, pixel = goal
    for at in range(LANES):
        four, part = divmod(at, TAKEN)
        lane = range(part * LANES, (part + 1) * LANES)
        one = code.shuffled(made[four], made[four], lane)
        code.store(one, code.at(end, (pixel + at) * depth, BYTE))


def joined(code: Code, parts: list[Value]) -> Value:
    """One vector of several."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [code.shuffled(*pair, range(2 * pair[0].kind.lanes)) for pair in pairs]
    return parts[0]


_BYTES: Final = Kind("i8", LANES)


# --------------------------------------------------------------------------- products


def patch_product(form: str) -> int:
    """A kernel for lines of all results, uint8 or int32 [images, height, width, ...]:

    `height, width, taps, depth, columns, image, skip, step, pitch, numbers, offsets, weights, sums,
    found, scales, bias, out`.  `depth` counts fours of bytes of a tap; `image`, `skip` and `step`
    are the bytes from an image, a line and a result to the next one's patch, `pitch` is how many
    results lie between those of two places.  The others are those of `panel_product`.
    """
    return kernel("patch_product", (form,), lambda target: _patch_product(target, form))


class Channels(PanelProduct):
    """The parts of products that go through all panels of some lines."""

    def all_columns(self, *, is_turned: bool = False) -> Iterator[Columns]:
        """Loops over all panels."""
        panels = (self.count["columns"] + (PANEL - 1)).unsigned_shift(4)
        return self.columns(self.code.constant(INT64, 0), panels, is_turned=is_turned)

    def joined(self, starts: list[Value], panels: int) -> Value:
        """64 bytes: those of so many panels at each place."""
        kind = Kind("i8", panels * PANEL)
        return joined(self.code, [self.code.load(kind, start) for start in starts])

    def fours(self, taps: list[Value]) -> list[Value]:
        """Four vectors of 64 bytes as words of four bytes, one of each; they lie turned."""
        code = self.code
        halves = [_mixed(code, *taps[at : at + 2]) for at in (0, 2)]
        words = Kind("i16", 32)
        pairs = [[each.bits(words) for each in half] for half in zip(*halves, strict=True)]
        return [each.bits(WHOLES) for one, other in pairs for each in _mixed(code, one, other)]


class _Patches(Channels):
    counts = (
        *("height", "width", "taps", "depth", "columns"),
        *("image", "skip", "step", "pitch"),
    )
    places = ("numbers", "offsets", "weights", "sums", "found", "scales", "bias", "out")

    def lines(self) -> Iterator[tuple[Value, Value]]:
        """A loop over the lines of a range: where the first patch begins, and the results before
        the line's."""
        code, count = self.code, self.count
        with code.units() as turn:
            which, row = code.split(turn, count["height"])
            place = which * count["image"] + row * count["skip"]
            yield code.at(self.at["numbers"], place, BYTE), turn * count["width"]

    def patches(self, line: Value, at: Value, count: int, goal: Value, columns: Columns) -> None:
        """A block of results: those of some patches of a line, in some panels."""
        code, taps, depth = self.code, self.count["taps"], self.count["depth"]
        step = self.count["step"]
        sums = self.sums(columns, count)
        begun = [code.at(line, (at + i) * step, BYTE) for i in range(count)]
        panels = self.panels(columns, depth * taps)
        size = depth * (PANEL * TAKEN)
        with code.counted(code.constant(INT64, 0), taps) as tap:
            offset = code.load(INT64, code.at(self.at["offsets"], tap, INT64))
            lines = [code.at(each, offset, BYTE) for each in begun]
            self.add(sums, lines, [code.at(each, tap * size, BYTE) for each in panels], depth)
        for i in range(count):
            totals = [sums[i, j].now for j in range(columns.count)]
            columns.finish(totals, [(goal + at + i) * self.count["pitch"]])

    def channels(self, line: Value, places: list[Value], goal: Value, columns: Columns) -> None:
        """The results of some channels at some places of a line, each of its own patch alone."""
        code, count, address = self.code, self.count, self.at
        each = columns.pixels
        slots = [places[at : at + each] for at in range(0, len(places), each)]
        sums = self.sums(columns, len(slots))
        begun = [
            [code.at(line, place * count["step"] + columns.first, BYTE) for place in slot]
            for slot in slots
        ]
        weights = code.at(address["weights"], columns.panel * count["taps"] * PANEL, INT32)
        with code.counted(code.constant(INT64, 0), count["taps"], TAKEN) as tap:
            offsets = [
                code.load(INT64, code.at(address["offsets"], tap + at, INT64))
                for at in range(TAKEN)
            ]
            here = code.at(weights, tap * PANEL, INT32)
            words = [code.load(WHOLES, code.at(here, at * LANES, INT32)) for at in range(TAKEN)]
            for slot, starts in enumerate(begun):
                taps = [
                    self.joined([code.at(each, offset, BYTE) for each in starts], columns.count)
                    for offset in offsets
                ]
                for at, four in enumerate(self.fours(taps)):
                    total = sums[slot, at]
                    total.set(added_products(code, total.now, four, words[at]))
        for slot, starts in enumerate(slots):
            totals = [sums[slot, at].now for at in range(TAKEN)]
            columns.finish(totals, [(goal + place) * count["columns"] for place in starts])


def _mixed(code: Code, one: Value, other: Value) -> list[Value]:
    """Elements of two vectors in turn, in each quarter alone: of its first half, of its second."""
    lanes = one.kind.lanes
    half = lanes // 8
    made = []
    for first in (0, half):
        begun = [start + first + at for start in range(0, lanes, 2 * half) for at in range(half)]
        places = [place + side for place in begun for side in (0, lanes)]
        made.append(code.shuffled(one, other, places))
    return made


def _patch_product(target: Target, form: str) -> str:
    made = _Patches(target, form)
    for columns in made.all_columns():
        for line, goal in made.lines():
            for at, pixels in beside(made.code, made.count["width"], ROWS[columns.count]):
                made.patches(line, at, pixels, goal, columns)
    return made.text("patch_product")


# --------------------------------------------------------------------------- channel by channel


def channel_product(form: str) -> int:
    """A kernel as `patch_product`, where each channel has one result, of its own patch alone.

    `weights` are int32 [panels, taps / 4, 4, 16]: for each panel what `channel_weights` makes of it
    and of those that are worked on with it.  Images have as many bytes a pixel as the panels have
    columns.  `depth` and `pitch` are not asked for.
    """
    return kernel("channel_product", (form,), lambda target: _channel_product(target, form))


def channel_weights(weights: Array) -> tuple[Array, Array]:
    """int8 [channels, taps] for `channel_product`, and the sum of each channel's, int32."""
    channels, taps = weights.shape
    panels = -(-channels // PANEL)
    filled = np.zeros((panels * PANEL, -(-taps // TAKEN) * TAKEN), np.int8)
    filled[:channels, :taps] = weights
    words = filled.view(np.int32).reshape(panels, PANEL, -1)
    made = np.zeros((panels, words.shape[2], TAKEN, 4, PANEL // 4), np.int32)
    for count, begun, last in in_blocks(0, channels // PANEL, panels):
        for panel in range(begun, last, count):
            for lane in range(4):
                quarters = words[panel + lane % count].reshape(4, PANEL // 4, -1)
                made[panel, :, :, lane] = quarters.transpose(2, 0, 1)
    return made, filled.sum(1, dtype=np.int32)


def _channel_product(target: Target, form: str) -> str:
    made = _Patches(target, form)
    code, width = made.code, made.count["width"]
    none, last = code.constant(INT64, 0), width - 1
    for columns in made.all_columns(is_turned=True):
        size = columns.pixels * _SLOTS
        many = width / code.constant(INT64, size) * size
        for line, goal in made.lines():
            with code.counted(none, many, size) as at:
                made.channels(line, [at + i for i in range(size)], goal, columns)
            with code.counted(many, width, columns.pixels) as at:
                places = [code.lesser(at + i, last) for i in range(columns.pixels)]
                made.channels(line, places, goal, columns)  # the last one may be done again
    return made.text("channel_product")


_SLOTS: Final = 4
"""Times 64 results that are worked on together."""
