"""Convolutions of bytes: products of the patches of an image with packed weights.

An image lies with its channels last and with its borders, so that the bytes of a patch in one line
of the image follow each other (those of one place, where patches have holes): a *tap*.  The taps of
all patches lie at the same offsets from their beginnings, and the product reads them there.
"""

from __future__ import annotations

from itertools import product
from typing import Final

from .integers import PANEL, TAKEN, WHOLES, PanelProduct
from .objects import kernel
from .run import run
from .target import Target
from .text import BYTE, INT32, INT64, LANES, POINTER, Code, Kind, Value

__all__ = ["channel_product", "channels_last", "patch_product", "run"]

_PIXELS, _PANELS = 4, 4
"""What a block of the product has, where so much is left."""


# --------------------------------------------------------------------------- images


def channels_last() -> int:
    """A kernel of `height, width, channels, depth, line, image, planes, goal` for all lines of
    images uint8 [images, channels, height, width].

    It writes them with their channels last, `depth` bytes a pixel, a multiple of four; lines begin
    `line` and images `image` bytes behind each other.  What lies between the last channel and
    `depth` holds copies of it.
    """
    return kernel("channels_last", (), _channels_last)


def _channels_last(target: Target) -> str:
    code = Code(target)
    names = ("height", "width", "channels", "depth", "line", "image")
    height, width, channels, depth, line, image = (code.argument(INT64, n) for n in names)
    start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
    planes, goal = code.argument(POINTER, "planes"), code.argument(POINTER, "goal")
    steps = code.order(WHOLES) * code.spread(depth.converted("trunc", INT32))
    last = channels - 1
    with code.counted(start, stop) as turn:
        which, row = code.split(turn, height)
        source = code.at(planes, (which * channels * height + row) * width, BYTE)
        aim = code.at(goal, which * image + row * line, BYTE)
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
    arguments = [*((INT64, n) for n in names), (POINTER, "planes"), (POINTER, "goal")]
    return code.kernel("channels_last", arguments)


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
    whole, whole_panels = width & -_PIXELS, panels & -_PANELS
    none = code.constant(INT64, 0)
    with code.counted(start, stop) as turn:
        which, row = code.split(turn, count["height"])
        line = code.at(made.at["numbers"], which * count["image"] + row * count["skip"], BYTE)
        goal = turn * width
        for first, last, taken in ((none, whole_panels, _PANELS), (whole_panels, panels, 1)):
            with code.counted(first, last, taken) as panel:
                with code.counted(none, whole, _PIXELS) as at:
                    made.patches(line, at, _PIXELS, goal, panel, taken)
                with code.counted(whole, width) as at:
                    made.patches(line, at, 1, goal, panel, taken)
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
        whole = width & -_PIXELS
        with code.counted(none, panels) as panel:
            for first, last, beside in ((none, whole, _PIXELS), (whole, width, 1)):
                with code.counted(first, last, beside) as at:
                    made.channels(line, at, beside, turn * width, panel, filled)
    arguments = [*((INT64, n) for n in made.counts), *((POINTER, n) for n in made.places)]
    return code.kernel("channel_product", arguments)
