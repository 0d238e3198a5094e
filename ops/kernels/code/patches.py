"""Convolutions of bytes: products of the patches of an image with packed weights.

An image lies with its channels last and with its borders, so that the bytes of a patch in one line
of the image follow each other (those of one place, where patches have holes): a *tap*.  The taps of
all patches lie at the same offsets from their beginnings, and the product reads them there.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Final

from .integers import PANEL, PANELS, TAKEN, WHOLES, PanelProduct, beside
from .objects import kernel
from .run import run
from .target import Target
from .text import BYTE, INT32, INT64, LANES, POINTER, Code, Kind, Value

__all__ = ["bordered", "channel_product", "patch_product", "run"]


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
    border = code.spread(counts["zero"].converted("trunc", BYTE))

    def fill(place: Value, size: Value) -> None:
        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                code.store_if(border, code.at(place, at, BYTE), mask)

        code.vectors(code.constant(INT64, 0), size, 1, visit)

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
    is_same = depth.equals(channels)
    count = code.choose(is_same, code.constant(INT64, 1), width)
    size = code.choose(is_same, width * channels, channels)
    with code.counted(code.constant(INT64, 0), count) as pixel:
        begin, end = (code.at(p, pixel * n, BYTE) for p, n in ((source, channels), (aim, depth)))

        def copy(places: list[Value], mask: Value | None) -> None:
            seen = [code.load_if(_BYTES, code.at(begin, at, BYTE), mask) for at in places]
            for at, value in zip(places, seen, strict=True):
                code.store_if(value, code.at(end, at, BYTE), mask)

        code.vectors(code.constant(INT64, 0), size, 4, copy)


def _turned_planes(code: Code, counts: Counts, which: Value, row: Value, aim: Value) -> None:
    """A line of pixels out of planes, four channels of 16 pixels at once."""
    height, width, depth = counts["height"], counts["width"], counts["depth"]
    channels, image = counts["channels"], code.argument(POINTER, "image")
    steps = code.order(WHOLES) * code.spread(depth.converted("trunc", INT32))
    last = channels - 1
    source = code.at(image, (which * channels * height + row) * width, BYTE)
    with code.counted(code.constant(INT64, 0), channels, TAKEN) as channel:
        each = [code.lesser(channel + i, last) * (height * width) for i in range(TAKEN)]

        def move(places: list[Value], mask: Value | None) -> None:
            for at in places:
                words = None
                for i, place in enumerate(each):
                    seen = code.load_if(_BYTES, code.at(source, place + at, BYTE), mask)
                    wide = seen.converted("zext", WHOLES) << (8 * i)
                    words = wide if words is None else words | wide
                assert words is not None
                code.scattered(words, code.at(aim, at * depth + channel, BYTE), steps, mask)

        code.vectors(code.constant(INT64, 0), width, 1, move)


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


class _Patches(PanelProduct):
    counts = (
        *("height", "width", "taps", "depth", "columns"),
        *("image", "skip", "step", "pitch"),
    )
    places = ("numbers", "offsets", "weights", "sums", "found", "scales", "bias", "out")

    def patches(
        self, line: Value, at: Value, count: int, goal: Value, panel: Value, panels: int
    ) -> None:
        """A block of results: those of some patches of a line, in some panels."""
        code, taps, depth = self.code, self.count["taps"], self.count["depth"]
        step = self.count["step"]
        sums = {
            place: code.variable(code.constant(WHOLES, 0))
            for place in product(range(count), range(panels))
        }
        begun = [code.at(line, (at + i) * step, BYTE) for i in range(count)]
        size = depth * (PANEL * TAKEN)
        columns = [
            code.at(self.at["weights"], (panel + i) * size * taps, BYTE) for i in range(panels)
        ]
        with code.counted(code.constant(INT64, 0), taps) as tap:
            offset = code.load(INT64, code.at(self.at["offsets"], tap, INT64))
            lines = [code.at(each, offset, BYTE) for each in begun]
            self.add(sums, lines, [code.at(each, tap * size, BYTE) for each in columns], depth)
        for (i, j), total in sums.items():
            self.finish((goal + at + i) * self.count["pitch"], panel + j, total.now)

    def channels(
        self, line: Value, at: Value, count: int, goal: Value, panel: Value, filled: Value
    ) -> None:
        """The results of some channels, each of its own patch alone."""
        code, place = self.code, self.at
        column = panel * PANEL
        sums = [code.variable(code.constant(WHOLES, 0)) for _ in range(count)]
        begun = [code.at(line, (at + i) * self.count["step"] + column, BYTE) for i in range(count)]
        with code.counted(code.constant(INT64, 0), self.count["taps"]) as tap:
            offset = code.load(INT64, code.at(place["offsets"], tap, INT64))
            weights = code.load(WHOLES, code.at(place["weights"], tap * filled + column, INT32))
            for each, total in zip(begun, sums, strict=True):
                seen = code.load(_BYTES, code.at(each, offset, BYTE)).converted("zext", WHOLES)
                total.set(total.now + seen * weights)
        for i, total in enumerate(sums):
            self.finish((goal + at + i) * self.count["columns"], panel, total.now)


def _patch_product(target: Target, form: str) -> str:
    made = _Patches(target, form)
    code, count = made.code, made.count
    start, stop, width = code.argument(INT64, "start"), code.argument(INT64, "stop"), count["width"]
    panels = (count["columns"] + (PANEL - 1)) / code.constant(INT64, PANEL)
    none, whole_panels = code.constant(INT64, 0), panels & -PANELS
    with code.counted(start, stop) as turn:
        which, row = code.split(turn, count["height"])
        line = code.at(made.at["numbers"], which * count["image"] + row * count["skip"], BYTE)
        goal = turn * width
        for first, last, taken in ((none, whole_panels, PANELS), (whole_panels, panels, 1)):
            with code.counted(first, last, taken) as panel:
                for at, pixels in beside(code, width):
                    made.patches(line, at, pixels, goal, panel, taken)
    arguments = [*((INT64, n) for n in made.counts), *((POINTER, n) for n in made.places)]
    return code.kernel("patch_product", arguments)


# --------------------------------------------------------------------------- channel by channel


def channel_product(form: str) -> int:
    """A kernel as `patch_product`, where each channel has one result, of its own patch alone.

    `weights` are int32 [taps, columns], a multiple of 16 of them; images have as many bytes a
    pixel.  `depth` and `pitch` are not asked for.
    """
    return kernel("channel_product", (form,), lambda target: _channel_product(target, form))


def _channel_product(target: Target, form: str) -> str:
    made = _Patches(target, form)
    code, count, place = made.code, made.count, made.at
    start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
    none, width = code.constant(INT64, 0), count["width"]
    panels = (count["columns"] + (PANEL - 1)) / code.constant(INT64, PANEL)
    filled = panels * PANEL
    with code.counted(start, stop) as turn:
        which, row = code.split(turn, count["height"])
        line = code.at(place["numbers"], which * count["image"] + row * count["skip"], BYTE)
        with code.counted(none, panels) as panel:
            for at, pixels in beside(code, width):
                made.channels(line, at, pixels, turn * width, panel, filled)
    arguments = [*((INT64, n) for n in made.counts), *((POINTER, n) for n in made.places)]
    return code.kernel("channel_product", arguments)
