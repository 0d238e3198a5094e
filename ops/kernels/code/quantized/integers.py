"""Matrix products of bytes: float32 rows quantized by their own range, times packed weights.

Weights lie in panels of 16 columns; in a panel four bytes of each column follow each other, as the
instructions take them that multiply four bytes and add up the products (VNNI's `vpdpbusd`).  All
sums are of whole numbers, so their order does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeVar

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..language.lanes import begun, folded
from ..language.target import Target, host
from ..language.text import (
    BYTE,
    DOUBLE,
    FLOAT,
    FLOATS,
    INT32,
    INT64,
    LANES,
    POINTER,
    Code,
    Kind,
    Value,
    Variable,
)
from ..loading.objects import kernel
from .results import PANEL, WHOLES, Columns, Results

__all__ = [
    "PANEL",
    "STRETCH",
    "PANELS",
    "ROWS",
    "TAKEN",
    "beside",
    "in_blocks",
    "PanelProduct",
    "added_products",
    "extremes",
    "packed_columns",
    "panel_product",
    "requantizes",
    "row_quantizer",
    "run",
]

TAKEN: Final = 4
"""Bytes of a column that one instruction takes."""
_BYTES: Final = Kind("i8", LANES)
PANELS: Final = 4
"""Panels that are worked on together."""
BESIDE: Final = (6, 4, 3, 2, 1)
"""Rows of the blocks of a product."""
ROWS: Final = {PANELS: BESIDE, 2: (8, 4, 2, 1), 1: (8, 4, 2, 1)}
"""Rows or pixels of blocks that have so many panels."""


def requantizes() -> bool:
    """Whether kernels give bytes as `requantize` does, which takes products rounded with sums."""
    return host().has_fma


def packed_columns(weights: Array) -> Array:
    """int8 [columns, depth] as panels [columns / 16, depth / 4, 16, 4], filled up by zeros.

    Fours of panels whose columns are all there lie turned (see `byte_results`).
    """
    columns, depth = weights.shape
    filled = np.zeros((-(-columns // PANEL) * PANEL, -(-depth // TAKEN) * TAKEN), np.int8)
    filled[:columns, :depth] = weights
    whole = filled[: columns & -(PANELS * PANEL)]
    whole[...] = whole.reshape(-1, 4, 4, 4, whole.shape[1]).swapaxes(1, 2).reshape(whole.shape)
    panels = filled.reshape(-1, PANEL, filled.shape[1] // TAKEN, TAKEN)
    return np.ascontiguousarray(panels.transpose(0, 2, 1, 3))


# ------------------------------------------------------------------------------- rows to bytes


STRETCH: Final = 1 << 14
"""Elements whose least and largest are found together."""


def extremes() -> int:
    """A kernel of `size, x, ends` for stretches of float32 x: the least and the largest element of
    each, and 0, float64 [stretches, 2]; NaN where there is one."""
    return kernel("extremes", (), _stretches)


def _stretches(target: Target) -> str:
    code = Code(target)
    size = code.argument(INT64, "size")
    x, ends = code.argument(POINTER, "x"), code.argument(POINTER, "ends")
    with code.units() as turn:
        start = turn * STRETCH
        count = code.lesser(size - start, code.constant(INT64, STRETCH))
        for place, end in enumerate(_extremes(code, code.at(x, start, FLOAT), count)):
            code.store(end, code.at(ends, turn * 2 + place, DOUBLE))
    return code.kernel("extremes", [(INT64, "size"), (POINTER, "x"), (POINTER, "ends")])


def row_quantizer() -> int | None:
    """A kernel of `stretches, depth, stride, most, x, ends, numbers, found, wrong` for rows of
    float32 [rows, depth].

    The range of all elements, which `extremes` has left in `ends`, decides scale and zero point for
    numbers from 0 to `most`, by the rule of `scale_for`; they are left in `found`, float64 [2].
    The numbers are written to uint8 [rows, stride], and 0 behind them.  None if the CPU has no
    instructions for it.  `wrong` becomes 1 if there is a NaN in x.
    """
    if not host().has_fma:
        return None
    return kernel("quantize_rows", (), _quantize_rows)


def _quantize_rows(target: Target) -> str:
    code = Code(target)
    counts = [(INT64, name) for name in ("stretches", "depth", "stride", "most")]
    places = [(POINTER, name) for name in ("x", "ends", "numbers", "found", "wrong")]
    stretches, depth, stride, most = (code.argument(*each) for each in counts)
    x, ends, numbers, found, wrong = (code.argument(*each) for each in places)
    zero = code.constant(INT64, 0)
    range_ = [code.variable(code.constant(DOUBLE, 0.0)) for _ in range(2)]
    with code.counted(zero, stretches) as turn:
        for place, end in enumerate(range_):
            seen = code.load(DOUBLE, code.at(ends, turn * 2 + place, DOUBLE))
            end.set(_further(end.now, seen, is_least=not place))
    least, largest = (end.now for end in range_)
    scale, zero_point = _quantizer(code, least, largest, most.converted("sitofp", DOUBLE))
    with code.when(code.argument(INT64, "start").equals(0)):
        code.store(scale, found)
        code.store(zero_point, code.at(found, 1, DOUBLE))
        with code.when(scale.is_nan()):
            code.store(code.constant(INT64, 1), wrong)
    inverse = 1.0 / scale.converted("fptrunc", FLOAT)
    given = (inverse, zero_point.converted("fptrunc", FLOAT))
    factor, offset = (code.spread(each) for each in given)
    with code.units() as row:
        source = code.at(x, row * depth, FLOAT)
        goal = code.at(numbers, row * stride, BYTE)

        def quantize(places: list[Value], mask: Value | None) -> None:
            for at in places:
                seen = code.load_if(FLOATS, code.at(source, at, FLOAT), mask)
                code.store_if(_numbers(seen, factor, offset), code.at(goal, at, BYTE), mask)

        code.vectors(zero, depth, 1, quantize)
        with code.counted(depth, stride) as behind:
            code.store(code.constant(BYTE, 0), code.at(goal, behind, BYTE))
    return code.kernel("quantize_rows", [*counts, *places])


def _numbers(x: Value, factor: Value, offset: Value) -> Value:
    """The nearest bytes; product and sum are rounded once, NaN is 0."""
    scaled = x.code.multiply_add(x, factor, offset)
    nearest = x.code.call(f"llvm.roundeven.{x.kind.suffix}", x.kind, [scaled])
    above = x.code.choose(nearest > 0.0, nearest, 0.0)
    within = x.code.choose(above > 255.0, 255.0, above)
    return within.converted("fptosi", WHOLES).converted("trunc", _BYTES)


def _extremes(code: Code, x: Value, count: Value) -> tuple[Value, Value]:
    """The least and the largest of all elements and 0, as float64; NaN if there is one."""
    lows, highs = (begun(code, FLOATS, 0.0, 4) for _ in range(2))

    def compare(places: list[Value], mask: Value | None) -> None:
        for at, low, high in zip(places, lows, highs, strict=False):
            seen = code.load_if(FLOATS, code.at(x, at, FLOAT), mask)
            low.set(_further(low.now, seen, is_least=True))
            high.set(_further(high.now, seen, is_least=False))

    code.vectors(code.constant(INT64, 0), count, 4, compare)
    least = folded(lows, lambda one, other: _further(one, other, is_least=True))
    largest = folded(highs, lambda one, other: _further(one, other, is_least=False))
    return least.converted("fpext", DOUBLE), largest.converted("fpext", DOUBLE)


def _further(known: Value, seen: Value, is_least: bool) -> Value:
    """The one of both that lies further out, or NaN."""
    out = seen < known if is_least else seen > known
    return seen.code.choose(out | seen.is_nan(), seen, known)


_SMALLEST: Final = float(np.float32(6.1e-5))


def _quantizer(code: Code, least: Value, largest: Value, most: Value) -> tuple[Value, Value]:
    """Scale and zero point of a range, by the rule of `scale_for` over 0 to `most`."""
    wide = (largest - least) / most
    short = wide.converted("fptrunc", FLOAT)
    tiny = short.equals(0.0) | (1.0 / short).equals(float("inf"))
    scale = code.choose(tiny, 0.1, wide)
    small = scale < _SMALLEST
    grown = _SMALLEST / scale.converted("fptrunc", FLOAT)

    def stretched(end: Value) -> Value:
        wider = (end.converted("fptrunc", FLOAT) * grown).converted("fpext", DOUBLE)
        return code.choose(small, wider, end)

    least, largest = stretched(least), stretched(largest)
    scale = code.choose(small, _SMALLEST, scale)
    below, above = least / scale, largest / scale
    from_low, from_high = -below + 0.0, most - above
    nearer = code.absolute(below) < most + code.absolute(above)
    zero = code.choose(nearer, from_low, from_high)
    zero = code.call("llvm.roundeven.f64", DOUBLE, [zero])
    zero = code.choose(zero < 0.0, 0.0, zero)
    return scale, code.choose(zero > most, most, zero)


# ------------------------------------------------------------------------------------- product


def panel_product(form: str) -> int:
    """A kernel of `rows, depth, columns, numbers, weights, sums, found, scales, bias, out` for a
    range of fours of panels, into [rows, columns].

    `depth` counts fours of bytes; `sums` holds the sum of each column's weights, `found` what
    `row_quantizer` left.  The forms: "wholes", sums as int32; "floats", scaled; "bias", with a
    bias too, float32 [columns].  "bytes" and "bytes-bias" give uint8 for another scale and zero
    point: `scales` holds what sums are multiplied by, `found` goes on with the inverse of the scale
    of the result, its zero point and the least number.
    """
    return kernel("panel_product", (form,), lambda target: _product(target, form))


_COUNTS: Final = ("rows", "depth", "columns")
_PLACES: Final = ("numbers", "weights", "sums", "found", "scales", "bias", "out")


_Place = TypeVar("_Place", int, Value)


def in_blocks(start: _Place, whole: _Place, stop: _Place) -> Iterator[tuple[int, _Place, _Place]]:
    """How many panels are worked on together, and from which one to which: fours have all of their
    columns, as those before `whole` have."""
    first = start
    for count in (PANELS, 2, 1):
        last = first + (((whole if count == PANELS else stop) - first) & -count)
        yield count, first, last
        first = last


class PanelProduct:
    """The parts of a product that its blocks share."""

    counts: tuple[str, ...] = _COUNTS
    places: tuple[str, ...] = _PLACES

    def __init__(self, target: Target, form: str) -> None:
        self.code = code = Code(target)
        self.results = Results(code, form)
        self.at = {name: code.argument(POINTER, name) for name in self.places}
        self.count = {name: code.argument(INT64, name) for name in self.counts}

    def text(self, name: str) -> str:
        """The text of the kernel whose body has been written."""
        counts, places = ((INT64, each) for each in self.counts), self.places
        return self.code.kernel(name, [*counts, *((POINTER, each) for each in places)])

    def columns(self, start: Value, stop: Value, *, is_turned: bool = False) -> Iterator[Columns]:
        """Loops over panels, as many at once as there are; fours have all of their columns."""
        whole = self.code.lesser(stop, self.count["columns"].unsigned_shift(4))
        for count, first, last in in_blocks(start, whole, stop):
            with self.code.counted(first, last, count) as panel:
                taken = is_turned or count == PANELS
                yield Columns(self.results, panel, count, is_turned=taken)

    def sums(self, columns: Columns, rows: int) -> dict[tuple[int, int], Variable]:
        """Sums that begin for so many rows, and the vectors of each."""
        return {
            (row, at): self.code.variable(begun)
            for row in range(rows)
            for at, begun in enumerate(columns.begun)
        }

    def block(self, row: Value, rows: int, columns: Columns) -> None:
        """A block of the result."""
        code, depth = self.code, self.count["depth"]
        sums = self.sums(columns, rows)
        lines = [code.at(self.at["numbers"], (row + i) * depth, INT32) for i in range(rows)]
        self.add(sums, lines, self.panels(columns, depth), depth)
        for i in range(rows):
            totals = [sums[i, at].now for at in range(columns.count)]
            columns.finish(totals, [(row + i) * self.count["columns"]])

    def panels(self, columns: Columns, depth: Value) -> list[Value]:
        """Where the weights of panels begin, of so many fours of bytes a column."""
        size = depth * (PANEL * TAKEN)
        return [
            self.code.at(self.at["weights"], (columns.panel + at) * size, BYTE)
            for at in range(columns.count)
        ]

    def add(
        self,
        sums: dict[tuple[int, int], Variable],
        lines: list[Value],
        columns: list[Value],
        depth: Value,
    ) -> None:
        """Add the products of so many fours of bytes of each line and panel."""
        code = self.code
        with code.counted(code.constant(INT64, 0), depth) as at:
            place = at * (PANEL * TAKEN)
            seen = [code.load(WHOLES, code.at(column, place, BYTE)) for column in columns]
            for i, line in enumerate(lines):
                four = code.spread(code.load(INT32, code.at(line, at, INT32)))
                for j, weights in enumerate(seen):
                    sums[i, j].set(added_products(code, sums[i, j].now, four, weights))


def added_products(code: Code, sums: Value, four: Value, weights: Value) -> Value:
    """Sums and the products of four bytes, without sign and with one, each."""
    if code.target.has_byte_products:
        return code.call("llvm.x86.avx512.vpdpbusd.512", WHOLES, [sums, four, weights])
    for place in range(TAKEN):  # the others are shifted out at the left, or at the right
        one = (four << (24 - 8 * place)).unsigned_shift(24)
        sums = sums + one * ((weights << (24 - 8 * place)) >> 24)
    return sums


def beside(
    code: Code, count: Value, sizes: tuple[int, ...] = BESIDE
) -> Iterator[tuple[Value, int]]:
    """Loops over blocks of rows or pixels: first row, and how many.

    They are as large as there are, but that none of a single row is left where several could share
    its weights: seven are four and three, five are three and two.
    """
    begun = code.constant(INT64, 0)
    for size in sizes:
        left = count - begun
        times = left / code.constant(INT64, size)
        if 3 in sizes and size > 3:
            is_one_left = (left - times * size).equals(1) & (left > 1)
            times = code.choose(is_one_left, times - 1, times)
        ended = begun + times * size
        with code.counted(begun, ended, size) as at:
            yield at, size
        begun = ended


def _product(target: Target, form: str) -> str:
    made = PanelProduct(target, form)
    code, count = made.code, made.count
    start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
    panels = (count["columns"] + (PANEL - 1)).unsigned_shift(4)
    for columns in made.columns(start * PANELS, code.lesser(stop * PANELS, panels)):
        for row, rows in beside(code, count["rows"], ROWS[columns.count]):
            made.block(row, rows, columns)
    return made.text("panel_product")
