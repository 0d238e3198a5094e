"""What becomes of exact sums of products of bytes: whole numbers, floats, bytes of another scale.

Four vectors may lie *turned*: the first one holds the first quarters of all four, the next one the
second quarters.  That is how instructions put them that pack vectors, as they work on each quarter
alone; so sums are added up in that order where 64 bytes are packed at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

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
)

__all__ = ["FORMS", "PANEL", "WHOLES", "Columns", "Results", "nearest", "turned"]

PANEL: Final = 16
"""Columns of a panel."""
WHOLES: Final = Kind("i32", LANES)
FORMS: Final = {"wholes": INT32, "floats": FLOAT, "bias": FLOAT, "bytes": BYTE, "bytes-bias": BYTE}
"""What the results of each form are."""
_BYTES: Final = Kind("i8", LANES)
_QUARTER: Final = LANES // 4


def turned(code: Code, vectors: Sequence[Value]) -> list[Value]:
    """Four vectors with their quarters exchanged, as elements of a matrix that is transposed."""
    made = []
    for first in range(0, LANES, _QUARTER):
        places = [*range(first, first + _QUARTER), *range(LANES + first, LANES + first + _QUARTER)]
        low, high = (code.shuffled(vectors[at], vectors[at + 1], places) for at in (0, 2))
        made.append(code.shuffled(low, high, range(LANES)))
    return made


def nearest(x: Value) -> Value:
    """The nearest whole numbers; what is too large for them becomes the lowest one on some CPUs."""
    code = x.code
    if code.target.has_byte_products:
        given = [x, code.constant(WHOLES, 0), code.constant(Kind("i16"), -1)]
        rounding = code.constant(INT32, 4)
        return code.call("llvm.x86.avx512.mask.cvtps2dq.512", WHOLES, [*given, rounding])
    return code.call(f"llvm.roundeven.{x.kind.suffix}", x.kind, [x]).converted("fptosi", WHOLES)


class Results:
    """A kernel's arguments that say what becomes of sums; `form` is one of `FORMS`.

    It has `columns`, `sums`, `found`, `scales`, `bias` and `out` as `panel_product` says.
    """

    def __init__(self, code: Code, form: str) -> None:
        self.code, self.form = code, form
        self.made = FORMS[form]
        self.columns = code.argument(INT64, "columns")
        zero = code.load(DOUBLE, self._found(1)).converted("fptosi", INT32)
        self.scale, self.zero = self._float(0), code.spread(zero)
        if self.made is BYTE:
            self.inverse, self.zero_made, self.low = (self._float(place) for place in (2, 3, 4))

    def _found(self, place: int) -> Value:
        return self.code.at(self.at("found"), place, DOUBLE)

    def _float(self, place: int) -> Value:
        code = self.code
        return code.spread(code.load(DOUBLE, self._found(place)).converted("fptrunc", FLOAT))

    def at(self, name: str) -> Value:
        """The address that an argument gives."""
        return self.code.argument(POINTER, name)


class Columns:
    """Some panels that are worked on together: four, or two or one that may have fewer columns.

    Sums are four turned vectors for `pixels` results in a line, or one vector for each panel; they
    begin with `begun`.
    """

    def __init__(self, results: Results, panel: Value, count: int, *, is_turned: bool) -> None:
        self.results, self.count, self.is_turned = results, count, is_turned
        self.panel = panel
        self.pixels = 4 // count if is_turned else 1
        self.first = panel * PANEL
        self.begun = self._arranged([-(each * results.zero) for each in self._taken("sums", INT32)])
        self.factors, self.bias = list[Value](), list[Value]()
        if results.form not in ("wholes", "bytes", "bytes-bias"):
            self.factors = [each * results.scale for each in self._taken("scales", FLOAT)]
        elif results.made is BYTE:
            self.factors = self._arranged(self._taken("scales", FLOAT))
        if results.form.endswith("bias"):
            bias = self._taken("bias", FLOAT)
            self.bias = self._arranged(bias) if results.made is BYTE else bias

    def _taken(self, name: str, element: Kind) -> list[Value]:
        code, address = self.results.code, self.results.at(name)
        made = []
        for at in range(self.count):
            mask = self._mask(at) if name == "bias" else None  # the others have room behind them
            place = code.at(address, self.first + at * PANEL, element)
            made.append(code.load_if(element.of_lanes(LANES), place, mask))
        return made

    def _mask(self, panel: int, panels: int = 1) -> Value | None:
        """Which columns of some panels there are; None where all are."""
        if self.count == 4:
            return None
        left = self.results.columns - self.first - panel * PANEL
        return self.results.code.first(left, panels * PANEL)

    def _arranged(self, vectors: list[Value]) -> list[Value]:
        """Numbers of each column where its sums lie."""
        if not self.is_turned:
            return vectors
        return turned(self.results.code, [vectors[at % self.count] for at in range(4)])

    def finish(self, totals: list[Value], goals: list[Value]) -> None:
        """Write results; each of `goals` counts those that lie before a pixel's."""
        if self.results.made is BYTE:
            self._write_bytes(self._requantized(totals), goals)
            return
        if self.is_turned:
            totals = turned(self.results.code, totals)
        for at, total in enumerate(totals):
            pixel, panel = divmod(at, self.count)
            made = total
            if self.factors:
                made = made.converted("sitofp", FLOATS) * self.factors[panel]
            if self.bias:
                made = made + self.bias[panel]
            self._store(made, goals[pixel], panel)

    def _store(self, made: Value, goal: Value, panel: int) -> None:
        results = self.results
        place = results.code.at(results.at("out"), goal + self.first + panel * PANEL, results.made)
        mask = self._mask(panel, made.kind.lanes // PANEL)
        results.code.store_if(made, place, mask)

    def _requantized(self, totals: list[Value]) -> list[Value]:
        """Numbers as `requantize` has them before they are rounded; products and sums are rounded
        once."""
        code, results = self.results.code, self.results
        made = []
        for at, total in enumerate(totals):
            whole, factor = total.converted("sitofp", FLOATS), self.factors[at]
            real = code.multiply_add(whole, factor, self.bias[at]) if self.bias else whole * factor
            made.append(code.multiply_add(real, results.inverse, results.zero_made))
        return made

    def _write_bytes(self, scaled: list[Value], goals: list[Value]) -> None:
        code, low = self.results.code, self.results.low
        if not self.is_turned or not code.target.has_byte_products:
            above = [code.choose(each > low, each, low) for each in scaled]
            within = [nearest(code.choose(each > 255.0, 255.0, each)) for each in above]
            if self.is_turned:
                within = turned(code, within)
            for at, each in enumerate(within):
                pixel, panel = divmod(at, self.count)
                self._store(each.converted("trunc", _BYTES), goals[pixel], panel)
            return
        made = self._packed(scaled)
        size = self.count * PANEL
        for pixel, goal in enumerate(goals):
            part = range(pixel * size, (pixel + 1) * size)
            self._store(code.shuffled(made, made, part), goal, 0)

    def _packed(self, scaled: list[Value]) -> Value:
        """64 bytes of four turned vectors; what packs them keeps them from 0 to 255."""
        code, words, bytes_ = self.results.code, Kind("i16", 32), Kind("i8", 64, unsigned=True)
        wholes = [nearest(code.choose(each > 255.0, 255.0, each)) for each in scaled]
        pairs = [
            code.call("llvm.x86.avx512.packssdw.512", words, wholes[at : at + 2]) for at in (0, 2)
        ]
        made = code.call("llvm.x86.avx512.packuswb.512", Kind("i8", 64), pairs)
        least = code.alone(self.results.low).converted("fptoui", BYTE)
        made, least = (Value(code, bytes_, each.name) for each in (made, code.spread(least, 64)))
        return Value(code, Kind("i8", 64), code.choose(made > least, made, least).name)
