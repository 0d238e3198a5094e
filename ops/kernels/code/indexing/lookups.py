"""Rows of tables of floats that indices name: taken, or summed in bags.

Each index is looked at once, where it is used, so that no other thread can change it in between.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run
from ..language.target import Target
from ..language.text import DOUBLE, FLOAT, FLOATS, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = ["bags", "rows"]

_LEAST: Final = 1 << 15
"""Elements that are worth another thread."""
_MORE: Final = {"sums": ("zeros",), "shared": ("zeros", "shares"), "maxima": ("rows",)}
_BAGS: Final = ("table", "index", "starts", "out", "bag_of", "sizes", "wrong")
_AHEAD: Final = 16
"""How many rows further on memory is asked for."""
_PLACES: Final = INT64.of_lanes(LANES)
_BESIDE: Final = 4
"""Vectors of a row that are worked on side by side."""


def rows(table: Array, index: Array) -> Array | None:
    """The rows [count, width] of a table that int64 [count] names; None if one is not there."""
    table, index = table[...], index[...]  # which no other thread can change
    height, width = table.shape
    out, outside = np.empty((index.size, width), np.float32), new_flag()
    least = _LEAST // max(1, width) + 1
    run(_taking(), index.size, least, height, width, table, index, out, outside)
    return None if outside[0] else out


def bags(
    table: Array,
    index: Array,
    starts: Array,
    form: str,
    extra: bool = False,
    shares: Array | None = None,
) -> tuple[object, ...] | None:
    """The "means" or "maxima" of bags of rows, the bag of each index, and how many each bag has; or
    "sums", of "shared" ones each row times its share: nothing, and for each start zeros, follow.

    `index` and `starts` are int64; bag b holds the indices from `starts[b]` on, the last one all
    that are left.  An `extra` start is looked at, but begins no bag.  Of maxima the rows that they
    come from follow: the first that has it; what is no number is one only as a bag's first.
    None if an index is no row, or if bags do not begin at 0 one after the other.
    """
    table, index, starts = table[...], index[...], starts[...]
    height, width = table.shape
    count = starts.size - extra
    out = np.empty((count, width), table.dtype)
    wrong, is_sum = new_flag(), form in ("sums", "shared")
    bag_of = np.empty(0 if is_sum else index.size, np.int64)
    sizes = np.empty(starts.size if is_sum else count, np.int64)
    each = max(1, index.size * width // max(1, len(out)))
    more = [np.empty(sizes.shape, np.int64)] if is_sum else []
    if form == "shared":
        assert shares is not None
        more.append(shares[...])
    if form == "maxima":
        more.append(np.empty(out.shape, np.int64))
    run(
        *(_bags_of(form, table.dtype.char), count, _LEAST // each + 1),
        *(height, width, index.size, count, int(extra)),
        *(table, index, starts, out, sizes if is_sum else bag_of, sizes, wrong, *more),
    )
    if wrong[0]:
        return None
    return (out, bag_of, sizes, sizes if form == "means" else more[0])


@cache
def _taking() -> int:
    return kernel("take_rows", (), _take_rows)


@cache
def _bags_of(form: str, letter: str) -> int:
    real = FLOAT if letter == "f" else DOUBLE
    return kernel("bags", (form, letter), lambda target: bags_text(target, form, real))


def _take_rows(target: Target) -> str:
    code = Code(target)
    height, width = code.argument(INT64, "height"), code.argument(INT64, "width")
    table, index, out, outside = (
        code.argument(POINTER, name) for name in ("table", "index", "out", "outside")
    )
    with code.units() as i:
        place = code.load(INT64, code.at(index, i, INT64))
        is_there = place.below(height)
        with code.when(is_there):
            row, goal = code.at(table, place * width, FLOAT), code.at(out, i * width, FLOAT)

            def copy(places: list[Value], mask: Value | None) -> None:
                for at in places:
                    seen = code.load_if(FLOATS, code.at(row, at, FLOAT), mask)
                    code.store_if(seen, code.at(goal, at, FLOAT), mask)

            code.vectors(code.constant(INT64, 0), width, _BESIDE, copy)
        with code.when(is_there.equals(0)):
            code.store(code.constant(INT64, 1), outside)
    counts = [(INT64, name) for name in ("height", "width")]
    places = [(POINTER, name) for name in ("table", "index", "out", "outside")]
    return code.kernel("take_rows", [*counts, *places])


def _ends_of_bag(code: Code, bag: Value, is_last: Value) -> tuple[Value, Value]:
    """Where a bag's indices begin and end; both 0, with a note that something is wrong, if the
    starts do not fit each other."""
    count, extra = (code.argument(INT64, name) for name in ("count", "extra"))
    starts, wrong = (code.argument(POINTER, name) for name in ("starts", "wrong"))
    zero = code.constant(INT64, 0)
    first = code.load(INT64, code.at(starts, bag, INT64))
    is_open = is_last & extra.equals(0)
    after = code.load(INT64, code.at(starts, code.choose(is_open, bag, bag + 1), INT64))
    last = code.choose(is_last, count, after)
    begins = code.choose(bag.equals(0), first.equals(0), first >= 0)
    fits = begins & (first <= last) & (last <= count) & (after <= count)
    with code.when(fits.equals(0)):
        code.store(code.constant(INT64, 1), wrong)
    return code.choose(fits, first, zero), code.choose(fits, last, zero)


def _check_places(
    code: Code, first: Value, last: Value, note: Callable[[Value, Value | None], None] | None
) -> None:
    """Look whether all indices between two are those of rows, and note something for each."""
    index, wrong = code.argument(POINTER, "index"), code.argument(POINTER, "wrong")
    height = code.argument(INT64, "height")

    def check(places: list[Value], mask: Value | None) -> None:
        seen = code.load_if(_PLACES, code.at(index, places[0], INT64), mask)
        if note is not None:
            note(places[0], mask)
        # indices that are masked are 0, which is there if anything is
        with code.when(code.any_of(seen.below(code.spread(height)).equals(0)), rarely=True):
            code.store(code.constant(INT64, 1), wrong)

    code.vectors(first, last, 1, check)


def bags_text(target: Target, form: str, real: Kind) -> str:
    """The module of a kernel for tables of float or double; its range is one of bags."""
    code, reals = Code(target), real.of_lanes(LANES)
    counts = [(INT64, name) for name in ("height", "width", "count", "bags", "extra")]
    places = [(POINTER, name) for name in _BAGS]
    height, width, count, bags, extra = (code.argument(*each) for each in counts)
    table, index, _, out, bag_of, sizes, _ = (code.argument(*each) for each in places)
    more = [(POINTER, name) for name in _MORE.get(form, ())]
    is_sum = form in ("sums", "shared")
    with code.units() as bag:
        is_last = (bag + 1).equals(bags)
        first, last = _ends_of_bag(code, bag, is_last)
        size = last - first
        if is_sum:
            _clear(code, sizes, bag, is_last & extra.differs(0))
        else:
            code.store(size, code.at(sizes, bag, INT64))

        def note(place: Value, mask: Value | None) -> None:
            code.store_if(code.spread(bag), code.at(bag_of, place, INT64), mask)

        _check_places(code, first, last, None if is_sum else note)

        def row_of(i: Value) -> Value:
            place = code.load(INT64, code.at(index, i, INT64))
            return code.choose(place.below(height), place, 0)

        def part(columns: list[Value], masks: list[Value | None]) -> None:
            totals = [code.variable(code.constant(reals, 0.0)) for _ in columns]
            rows = [code.variable(code.constant(_PLACES, 0)) for _ in columns]
            with code.counted(first, last) as i:
                place = row_of(i)
                row = code.at(table, place * width, real)
                later = row_of(code.lesser(i + _AHEAD, count - 1)) * width
                for column in columns:
                    code.prefetch(code.at(table, later + column, real))
                share = code.spread(_share(code, i, real)) if form == "shared" else None
                for column, mask, total, found in zip(columns, masks, totals, rows, strict=True):
                    seen = code.load_if(reals, code.at(row, column, real), mask)
                    if form == "maxima":
                        better = (seen > total.now) | code.spread(i.equals(first))
                        found.set(code.choose(better, code.spread(place), found.now))
                        total.set(code.choose(better, seen, total.now))
                    elif share is not None:
                        total.set(code.multiply_add(seen, share, total.now))
                    else:
                        total.set(total.now + seen)
            divisor = code.choose(size > 0, size, 1).converted("sitofp", real)
            for column, mask, total, found in zip(columns, masks, totals, rows, strict=True):
                at = bag * width + column
                made = total.now / code.spread(divisor) if form == "means" else total.now
                code.store_if(made, code.at(out, at, real), mask)
                if form == "maxima":
                    goal = code.at(code.argument(POINTER, "rows"), at, INT64)
                    code.store_if(found.now, goal, mask)

        _strips(code, width, part)
    return code.kernel("bags", [*counts, *places, *more])


def _strips(
    code: Code, width: Value, part: Callable[[list[Value], list[Value | None]], None]
) -> None:
    """Visit the columns of a row, some vectors at a time, and what is left of these at once."""
    step = _BESIDE * LANES
    whole = width & -step

    def columns(first: Value, count: int) -> list[Value]:
        return [first + place * LANES for place in range(count)]

    with code.counted(code.constant(INT64, 0), whole, step) as at:
        part(columns(at, _BESIDE), [None] * _BESIDE)
    left, count = width - whole, 1
    while count <= _BESIDE:
        with code.when((left > count // 2 * LANES) & (left <= count * LANES)):
            places = columns(whole, count)
            part(places, [code.first(width - place) for place in places])
        count *= 2


def _clear(code: Code, sizes: Value, bag: Value, has_more: Value) -> None:
    """Write the zeros of a bag, and of the start that is none, which comes behind the last."""
    nothing = code.constant(INT64, 0)
    for place in (sizes, code.argument(POINTER, "zeros")):
        code.store(nothing, code.at(place, bag, INT64))
        with code.when(has_more):
            code.store(nothing, code.at(place, bag + 1, INT64))


def _share(code: Code, i: Value, real: Kind) -> Value:
    return code.load(real, code.at(code.argument(POINTER, "shares"), i, real))
