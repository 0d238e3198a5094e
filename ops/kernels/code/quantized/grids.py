"""Values rounded to a grid of whole numbers, and the grids that ranges of values ask for.

`observe` goes through rows of values, moves the ends of their ranges, and spreads each range over
the numbers of its grid, step by step as `scale_for` does; `rounded` puts values on their grids.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run, unforeseen
from ..language.target import Target
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
from ..loading.objects import kernel

__all__ = ["observe", "rounded"]

_PER_THREAD: Final = 1 << 14
_PIECE: Final = 1 << 12
"""Values of a row that one thread takes at a time."""

Range = tuple[Array, Array]


def observe(
    x: Array, ends: Range, chosen: Range, share: float, low: int, high: int, symmetric: bool,
    sees: bool, floor: float,
) -> bool:  # fmt: skip
    """Move the ends of ranges towards those of rows where it `sees` them, and choose the grids.

    Args:
        x: float32 in one piece, as many rows as there are ranges.
        ends: the least and the largest value so far, float32, infinite at first; written.
        chosen: scales of float32 and zero points of int32; written.
        floor: no scale is below this.

    Returns:
        Whether all grids were chosen; not where a range is none, or no scale a usual number.
    """
    unforeseen()
    rows = ends[0].size
    strange = new_flag()
    run(
        _observing(), rows, _PER_THREAD * rows // max(1, x.size) + 1, x.size // rows, low, high,
        int(symmetric), int(sees), share, floor, x, *ends, *chosen, strange,
    )  # fmt: skip
    return not strange[0]


def rounded(x: Array, scale: Array, zero: Array, low: int, high: int) -> Range:
    """The values of rows on their grids, and where they lay within the range.

    Args:
        x: float32 in one piece, as many rows as there are scales.
        scale: float32, and zero: int32.
    """
    unforeseen()
    out, inside = np.empty(x.shape, np.float32), np.empty(x.shape, np.bool_)
    rows = scale.size
    length = x.size // rows
    pieces = -(-length // _PIECE)
    least = _PER_THREAD // max(1, min(length, _PIECE)) + 1
    run(_rounding(), rows * pieces, least, length, pieces, low, high, x, scale, zero, out, inside)
    return out, inside


# --------------------------------------------------------------------------- texts


@cache
def _observing() -> int:
    return kernel("observed", (), observed_text)


@cache
def _rounding() -> int:
    return kernel("gridded", (), rounded_text)


def observed_text(target: Target) -> str:
    """The module of ranges and grids; its range is one of rows."""
    code = Code(target)
    words = [(INT64, name) for name in ("length", "low", "high", "symmetric", "sees")]
    words += [(DOUBLE, "share"), (DOUBLE, "floor")]
    places = ("x", "least", "most", "scale", "zero", "strange")
    with code.units() as row:
        least, most = (code.at(code.argument(POINTER, n), row, FLOAT) for n in ("least", "most"))
        with code.when(code.argument(INT64, "sees").differs(0)):
            length = code.argument(INT64, "length")
            here = code.at(code.argument(POINTER, "x"), row * length, FLOAT)
            _move(code, _ends(code, here, length), least, most)
        _choose(code, row, code.load(FLOAT, least), code.load(FLOAT, most))
    return code.kernel("observed", [*words, *((POINTER, name) for name in places)])


def _ends(code: Code, here: Value, length: Value) -> tuple[Value, Value]:
    """The least and the largest of values; NaN if one is."""
    first = code.load(FLOAT, here)
    kept = [code.variable(code.spread(first)) for _ in range(2)]
    beyond = [float("inf"), float("-inf")]

    def visit(places: list[Value], mask: Value | None) -> None:
        for place in places:
            for at, (end, none) in enumerate(zip(kept, beyond, strict=True)):
                x = code.load_if(FLOATS, code.at(here, place, FLOAT), mask, none)
                end.set(_further(code, at, end.now, x))

    code.vectors(code.constant(INT64, 0), length, 1, visit)
    found = []
    for at, end in enumerate(kept):
        lanes, now = LANES, end.now
        while lanes > 1:
            lanes //= 2
            halves = [code.shuffled(now, now, range(s, s + lanes)) for s in (0, lanes)]
            now = _further(code, at, *halves)
        found.append(code.alone(now))
    return found[0], found[1]


def _further(code: Code, at: int, one: Value, other: Value) -> Value:
    """The lesser of two, or the larger; NaN if one is."""
    known = one < other if at == 0 else one > other
    return code.choose(known, one, code.choose(one.is_nan(), one, other))


def _move(code: Code, seen: tuple[Value, Value], *running: Value) -> None:
    """Move running ends towards those that were seen, which they become at first."""
    share = code.argument(DOUBLE, "share").converted("fptrunc", FLOAT)
    for end, place in zip(seen, running, strict=True):
        before = code.load(FLOAT, place)
        moved = before + share * (end - before)
        is_first = code.absolute(before).equals(float("inf"))
        code.store(code.choose(is_first, end, moved), place)


def _choose(code: Code, row: Value, least: Value, most: Value) -> None:
    """The scale and the zero point of a range."""
    low, high = (code.argument(INT64, n).converted("sitofp", DOUBLE) for n in ("low", "high"))
    asked = code.argument(INT64, "symmetric").differs(0)
    half = (code.argument(INT64, "high") - code.argument(INT64, "low")) >> 1
    above = (half + 1).converted("sitofp", DOUBLE)
    both = asked & ((least < 0.0) & (most > 0.0))
    parts = (least, above), (most, half.converted("sitofp", DOUBLE))
    steps = [code.absolute(end / size.converted("fptrunc", FLOAT)) for end, size in parts]
    largest = code.choose(steps[1] > steps[0], steps[1], steps[0]).converted("fpext", DOUBLE)
    wide = (-(largest * above), largest * parts[1][1])
    ends = [
        code.choose(both, each.converted("fptrunc", FLOAT), end)
        for each, end in zip(wide, (least, most), strict=True)
    ]
    ends = [code.choose(ends[0] > 0.0, 0.0, ends[0]), code.choose(ends[1] < 0.0, 0.0, ends[1])]
    doubles = [end.converted("fpext", DOUBLE) for end in ends]
    scale = ((doubles[1] - doubles[0]) / (high - low)).converted("fptrunc", FLOAT)
    floor = code.argument(DOUBLE, "floor").converted("fptrunc", FLOAT)
    is_usual = (scale >= floor) & (scale < float("inf")) & (least <= most)
    with code.when(is_usual.equals(0), rarely=True):
        code.store(code.constant(INT64, 1), code.argument(POINTER, "strange"))
    with code.when(is_usual):
        step = scale.converted("fpext", DOUBLE)
        below, beyond = (end / step for end in doubles)
        errors = [
            code.absolute(end) + code.absolute(off) for end, off in ((low, below), (high, beyond))
        ]
        zero = code.choose(errors[0] < errors[1], low - below, high - beyond)
        is_middle = asked & ((ends[0] < 0.0) & (ends[1] > 0.0))
        zero = code.choose(is_middle, (low + high) / 2.0, zero)
        zero = code.call("llvm.roundeven.f64", DOUBLE, [zero])
        zero = code.choose(zero < low, low, zero)
        zero = code.choose(zero > high, high, zero).converted("fptosi", INT32)
        code.store(scale, code.at(code.argument(POINTER, "scale"), row, FLOAT))
        code.store(zero, code.at(code.argument(POINTER, "zero"), row, INT32))


def rounded_text(target: Target) -> str:
    """The module of values on grids; its range is one of pieces of rows."""
    code = Code(target)
    words = [(INT64, name) for name in ("length", "pieces", "low", "high")]
    places = ("x", "scale", "zero", "out", "inside")
    length = code.argument(INT64, "length")
    with code.units() as unit:
        row, piece = code.split(unit, code.argument(INT64, "pieces"))
        begin = piece * _PIECE
        count = code.lesser(length - begin, code.constant(INT64, _PIECE))
        first = row * length + begin
        x, out = (code.at(code.argument(POINTER, n), first, FLOAT) for n in ("x", "out"))
        inside = code.at(code.argument(POINTER, "inside"), first, BYTE)
        scale = code.load(FLOAT, code.at(code.argument(POINTER, "scale"), row, FLOAT))
        zero = code.load(INT32, code.at(code.argument(POINTER, "zero"), row, INT32))
        _round(code, x, out, inside, count, scale, zero.converted("sitofp", FLOAT))
    return code.kernel("gridded", [*words, *((POINTER, name) for name in places)])


def _round(
    code: Code, x: Value, out: Value, inside: Value, count: Value, scale: Value, zero: Value
) -> None:
    inverse = code.spread(1.0 / scale)
    factor, shift = code.spread(scale), code.spread(zero)
    low, high = (
        code.spread(code.argument(INT64, n).converted("sitofp", FLOAT)) for n in ("low", "high")
    )
    bytes_ = Kind("i8", LANES)

    def visit(places: list[Value], mask: Value | None) -> None:
        for at in places:
            value = code.load_if(FLOATS, code.at(x, at, FLOAT), mask)
            whole = code.call(f"llvm.rint.{FLOATS.suffix}", FLOATS, [value * inverse])
            place = whole + shift
            held = code.choose(place < low, low, place)
            held = code.choose(held > high, high, held)
            code.store_if((held - shift) * factor, code.at(out, at, FLOAT), mask)
            known = held.equals(place).converted("zext", bytes_)
            code.store_if(known, code.at(inside, at, BYTE), mask)

    code.vectors(code.constant(INT64, 0), count, 1, visit)
