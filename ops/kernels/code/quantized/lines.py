"""Convolutions of bytes channel by channel whose windows move by one: two lines of results at once.

Both lines see the same bytes but for the first and the last line of theirs.  So four lines of the
image are laid beside each other, as words of four bytes, and a word is multiplied by the weights of
either line, which are zero where it does not see one.  Words of a stretch of columns lie in memory
of the thread's own, in the order in which windows go through them: they are made once, and every
column of a window reads them where they are.  There borders are put in, too, so images have none.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import BYTE, INT32, INT64, LANES, Code, Kind, Value
from ..loading.objects import kernel
from .integers import TAKEN, added_products
from .patches import Channels, channel_weights
from .results import PANEL, WHOLES, Columns

__all__ = [
    "LEAST_WIDTH",
    "MOST_LINES",
    "MOST_REACH",
    "line_product",
    "line_weights",
    "run",
    "stretch",
]

LEAST_WIDTH: Final = 4
"""Results of a line that are worked on together where there is one panel."""
MOST_LINES: Final = 7
"""Lines of a window."""
MOST_REACH: Final = 16
"""Columns of a window."""
_PART: Final = 40
"""Results of a stretch, at most."""
_PLACES: Final = _PART + MOST_REACH + LEAST_WIDTH
_WORDS: Final = TAKEN * LANES * TAKEN
"""Bytes of the words of 64 bytes of four lines."""
_SLOTS: Final = 2
"""Times 64 results of either line that are worked on together."""


def line_product(form: str) -> int:
    """A kernel for pairs of lines of all results, uint8 or int32 [images, height, width, columns]:

    `height, width, lines, places, across, fours, part, columns, step, top, left, numbers, weights,
    sums, found, scales, bias, out`.  `lines` and `places` are an image's, without borders, of which
    there are `top` and `left`; a window is `across` columns wide, `fours` times four lines cover it
    and one line more, and a pixel is `step` bytes.  `part` says how many columns of results are
    worked on together, which `stretch` tells.  The others are those of `panel_product`.
    """
    return kernel("line_product", (form,), lambda target: _line_product(target, form))


def line_weights(weights: Array) -> Array:
    """int8 [channels, lines, columns] for `line_product`: int32 [panels, columns, fours, 2, 64].

    For each panel what `channel_weights` makes of it and of those that are worked on with it.
    """
    channels, lines, across = weights.shape
    fours = lines // TAKEN + 1
    made = []
    for line in range(2):
        spread = np.zeros((channels, across, fours * TAKEN), np.int8)
        spread[..., line : line + lines] = weights.transpose(0, 2, 1)
        words, _ = channel_weights(spread.reshape(channels, -1))
        made.append(words.reshape(len(words), across, fours, -1))
    return np.stack(made, 3)


def stretch(width: int) -> int:
    """How many results of a line are worked on together."""
    return -(-width // -(-width // _PART))


class _Lines(Channels):
    counts = (
        *("height", "width", "lines", "places", "across", "fours", "part", "columns"),
        *("step", "top", "left"),
    )
    places = ("numbers", "weights", "sums", "found", "scales", "bias", "out")

    def __init__(self, target: Target, form: str) -> None:
        super().__init__(target, form)
        code = self.code
        self.words = code.room(BYTE, _PLACES * (MOST_LINES // TAKEN + 1) * _WORDS)
        self.border = code.room(Kind("i8", PANEL * TAKEN))
        zero = code.alone(self.results.zero).converted("trunc", BYTE)
        code.store(code.spread(zero, PANEL * TAKEN), self.border)

    # -- words

    def make_words(
        self, image: Value, above: Value, begun: Value, count: Value, columns: Columns
    ) -> None:
        """The words of so many columns of an image, the first of which may lie before it."""
        code, pixels, none = self.code, columns.pixels, self.code.constant(INT64, 0)
        places = self.count["places"]
        with code.counted(none, self.count["fours"]) as four:
            rows = [self._line(image, above + four * TAKEN + at) for at in range(TAKEN)]
            low = _within(code, -begun, none, count)
            high = _within(code, places - (pixels - 1) - begun, low, count)
            self._make_part(rows, four, begun, (low, high), columns, is_inside=True)
            with code.counted(none, none + 2) as side:
                is_left = side.equals(0)
                part = code.choose(is_left, none, high), code.choose(is_left, low, count)
                self._make_part(rows, four, begun, part, columns, is_inside=False)

    def _line(self, image: Value, line: Value) -> tuple[Value, Value]:
        """Where a line of the image begins, and the bytes to its next pixel: none in borders."""
        code, step = self.code, self.count["step"]
        is_there = line.below(self.count["lines"])
        place = code.at(image, line * (self.count["places"] * step), BYTE)
        return code.choose(is_there, place, self.border), code.choose(is_there, step, 0)

    def _make_part(
        self,
        rows: list[tuple[Value, Value]],
        four: Value,
        begun: Value,
        part: tuple[Value, Value],
        columns: Columns,
        *,
        is_inside: bool,
    ) -> None:
        code = self.code
        with code.counted(*part) as at:
            taken = []
            for row, step in rows:
                starts = []
                for pixel in range(columns.pixels):
                    place = begun + at + pixel
                    offset = code.choose(step.differs(0), columns.first, 0)
                    start = code.at(row, place * step + offset, BYTE)
                    if not is_inside:
                        is_there = place.below(self.count["places"])
                        start = code.choose(is_there, start, self.border)
                    starts.append(start)
                taken.append(self.joined(starts, columns.count))
            goal = code.at(self.words, (at * self.count["fours"] + four) * _WORDS, BYTE)
            for number, words in enumerate(self.fours(taken)):
                code.store(words, code.at(goal, number * LANES, INT32))

    # -- results

    def results_of(
        self, places: list[Value], goals: tuple[Value, Value], begun: Value, columns: Columns
    ) -> None:
        """The results of both lines at some places of a stretch that begins with `begun`."""
        code, count = self.code, self.count
        taps = count["across"] * count["fours"]
        sums = [self.sums(columns, len(places)) for _ in goals]
        weights = code.at(self.at["weights"], columns.panel * taps * (2 * _WORDS), BYTE)
        starts = [code.at(self.words, at * count["fours"] * _WORDS, BYTE) for at in places]
        with code.counted(code.constant(INT64, 0), taps) as tap:
            here = code.at(weights, tap * (2 * _WORDS), BYTE)
            for slot, start in enumerate(starts):
                seen = code.at(start, tap * _WORDS, BYTE)
                for at in range(TAKEN):
                    words = code.load(WHOLES, code.at(seen, at * LANES, INT32))
                    for line, totals in enumerate(sums):
                        weight = code.at(here, (line * TAKEN + at) * LANES, INT32)
                        total = totals[slot, at]
                        made = added_products(code, total.now, words, code.load(WHOLES, weight))
                        total.set(made)
        for goal, totals in list(zip(goals, sums, strict=True))[::-1]:
            for slot, place in enumerate(places):
                results = [totals[slot, at].now for at in range(TAKEN)]
                lines = [goal + begun + place + i for i in range(columns.pixels)]
                columns.finish(results, [each * count["columns"] for each in lines])

    def part_of(self, count: Value, goals: tuple[Value, Value], begun: Value, c: Columns) -> None:
        """The results of both lines in a stretch."""
        code, size = self.code, c.pixels * _SLOTS
        none = code.constant(INT64, 0)
        many = count / code.constant(INT64, size) * size
        with code.counted(none, many, size) as at:
            self.results_of([at + i * c.pixels for i in range(_SLOTS)], goals, begun, c)
        with code.counted(many, count, c.pixels) as at:  # the last ones may be done again
            self.results_of([code.lesser(at, count - c.pixels)], goals, begun, c)


def _within(code: Code, value: Value, low: Value, high: Value) -> Value:
    return code.lesser(code.choose(value < low, low, value), high)


def _line_product(target: Target, form: str) -> str:
    made = _Lines(target, form)
    code, count = made.code, made.count
    height, width, part = count["height"], count["width"], count["part"]
    last, none = height - 1, code.constant(INT64, 0)
    for columns in made.all_columns(is_turned=True):
        with code.units() as turn:
            which, pair = code.split(turn, (height + 1).unsigned_shift(1))
            row = code.choose(height > 1, code.lesser(pair * 2, last - 1), none)
            lines = (which * height + each for each in (row, code.lesser(row + 1, last)))
            first, second = (each * width for each in lines)
            size = count["lines"] * count["places"] * count["step"]
            image = code.at(made.at["numbers"], which * size, BYTE)
            stretches = (width + part - 1) / part
            with code.counted(none, stretches) as number:
                begun = code.lesser(number * part, width - part)
                seen = part + count["across"] - 1
                made.make_words(image, row - count["top"], begun - count["left"], seen, columns)
                made.part_of(part, (first, second), begun, columns)
    return made.text("line_product")
