"""Running sums, products, extremes and logarithms of sums of exponentials along one dimension of
contiguous arrays.

Each row is gone through in its order.  Rows of floats are worked on some at a time, turned so that
a vector holds an element of each; they are summed and multiplied in float64, 16-bit ones in
float32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array, Dtype
from ..calls.run import run
from ..elementwise.arrays import LETTERS
from ..functions.doubles import logaddexp
from ..functions.formulas import HALVES, rounded, stored_as, stored_kind, taken_from
from ..language.target import Target
from ..language.text import FLOAT, INT32, INT64, LANES, POINTER, Code, Kind, Value
from ..language.tiles import turned
from ..loading.objects import kernel
from .along import ELEMENTS, STRIP, parts_of, strip_count, strips

__all__ = ["running", "running_extreme"]

_PER_THREAD: Final = 1 << 14
"""Elements that are worth another thread."""
_ALONE: Final = 4
"""Fewer rows than that are gone through one by one."""
_MOST: Final = 1 << 31

_WIDE: Final = {"float": "double", "double": "double", "i64": "i64"}
_ENDS: Final = {"i64": 2**63 - 1, "float": float("inf"), "double": float("inf")}


def running(x: Array, axis: int, operation: str) -> Array | None:
    """Sums ("sum"), products ("product") or logarithms of sums of exponentials ("exponentials") so
    far of a contiguous array.

    In its dtype, which is one of floats or int64, of exponentials one of 32 bits or more; None for
    others.
    """
    x = x[...]  # which no other thread can change
    element = _element(x.dtype)
    if element is None or (operation == "exponentials" and element in HALVES):
        return None
    out = np.empty_like(x)
    _scan(operation, element, x, axis, out)
    return out


def running_extreme(x: Array, axis: int, operation: str) -> tuple[object, object] | None:
    """Maxima ("max") or minima ("min") so far and their places, the last ones among equals."""
    x = x[...]
    element = _element(x.dtype)
    if element is None or x.shape[axis] >= _MOST:
        return None
    out, places = np.empty_like(x), np.empty(x.shape, np.int64)
    _scan(operation, element, x, axis, out, places)
    return out, places


def _element(dtype: Dtype) -> str | None:
    """The name of a dtype that is gone through: a letter of 16-bit floats."""
    letter = LETTERS[dtype]
    return letter if letter and letter in HALVES else ELEMENTS.get(dtype.str[1:])


def _scan(operation: str, element: str, x: Array, axis: int, *out: object) -> None:
    outer, size, inner = parts_of(x.shape, axis)
    form = "rows" if inner == 1 else "strips"
    count = outer if inner == 1 else strip_count(outer, inner)
    scan = _kernel(operation, element, form)
    run(scan, count, _PER_THREAD * count // max(1, x.size) + 1, size, inner, x, *out)


@cache
def _kernel(*key: str) -> int:
    return kernel("scan", key, lambda target: scan_text(target, *key))


class _Scan:
    """What one kind of scan does with elements: numbers or vectors of them."""

    def __init__(self, code: Code, operation: str, element: str) -> None:
        self.code, self.operation = code, operation
        self._half = element if element in HALVES else ""
        self.element = FLOAT if self._half else Kind(element)
        self.is_extreme = operation in ("max", "min")
        self.names = ("x", "out", *(("places",) if self.is_extreme else ()))

    @property
    def kinds(self) -> list[Kind]:
        """Those of what is carried along."""
        if self.is_extreme:
            return [self.element, INT32]
        return [FLOAT if self._half else Kind(_WIDE[self.element.element])]

    @property
    def starts(self) -> list[float]:
        """What is carried before the first element."""
        if self.operation == "exponentials":
            return [-_ENDS[self.element.element]]
        if not self.is_extreme:
            return [float(self.operation == "product")]
        end = _ENDS[self.element.element]
        return [-end - (self.element == INT64) if self.operation == "max" else end, 0]

    def step(self, carried: list[Value], seen: Value, index: Value) -> list[Value]:
        """What is carried past an element."""
        if not self.is_extreme:
            (total,) = carried
            wide = self.kinds[0].of_lanes(seen.kind.lanes)
            if wide != seen.kind:
                seen = seen.converted("fpext", wide)
            if self.operation == "exponentials":
                return [logaddexp(total, seen)]
            return [total + seen if self.operation == "sum" else total * seen]
        taken, choose = self.taken(carried[0], seen), self.code.choose
        return [choose(taken, new, old) for new, old in zip((seen, index), carried, strict=True)]

    def taken(self, best: Value, seen: Value) -> Value:
        """Whether an element is the extreme from now on; NaN is for ever."""
        is_as_good = seen >= best if self.operation == "max" else best >= seen
        return is_as_good | seen.is_nan()

    def narrow(self, carried: list[Value]) -> list[Value]:
        """What is written of what is carried, in the sizes it is turned in."""
        first, *rest = carried
        kind = self.element.of_lanes(first.kind.lanes)
        return [first if first.kind == kind else first.converted("fptrunc", kind), *rest]

    def store(self, values: list[Value], index: Value, mask: Value | None = None) -> None:
        """Write what `narrow` made."""
        for name, value in zip(self.names[1:], values, strict=True):
            wide = value
            if name == "places":
                wide = value.converted("zext", INT64.of_lanes(value.kind.lanes))
            elif self._half:
                wide = stored_as(self._half, rounded(self._half, value))
            self.code.store_if(wide, self.address(name, index), mask)

    def address(self, name: str, index: Value) -> Value:
        """Where an element of an array is."""
        kind = INT64 if name == "places" else self._stored
        return self.code.at(self.code.argument(POINTER, name), index, kind)

    @property
    def _stored(self) -> Kind:
        return stored_kind(self._half) if self._half else self.element

    def seen(self, index: Value, lanes: int = 0, mask: Value | None = None) -> Value:
        """An element of the array, or a vector of them."""
        kind = self._stored.of_lanes(lanes)
        value = self.code.load_if(kind, self.address("x", index), mask)
        return taken_from(self._half, value) if self._half else value

    def begun(self, lanes: int) -> list[Value]:
        """`starts` as values."""
        pairs = zip(self.kinds, self.starts, strict=True)
        return [self.code.constant(kind.of_lanes(lanes), start) for kind, start in pairs]


def scan_text(target: Target, operation: str, element: str, form: str) -> str:
    """The module of a scan along rows, or down strips of columns."""
    code = Code(target)
    scan = _Scan(code, operation, element)
    if form == "rows":
        _along_rows(scan)
    else:
        _down_strips(scan)
    places = [(POINTER, name) for name in scan.names]
    return code.kernel("scan", [(INT64, "size"), (INT64, "inner"), *places])


def _along_rows(scan: _Scan) -> None:
    code = scan.code
    start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
    many = start
    if scan.element.is_real:  # sums of whole numbers need not wait for each other
        many = code.choose((stop - start) < _ALONE, start, stop)
        together = LANES if code.target.has_scaling else LANES // 2
        with code.counted(start, many, together) as row:
            _several_rows(scan, row, stop, together)
    with code.counted(many, stop) as row:
        _one_row(scan, row)


def _one_row(scan: _Scan, row: Value) -> None:
    code, size = scan.code, scan.code.argument(INT64, "size")
    state = [code.variable(each) for each in scan.begun(0)]
    with code.counted(code.constant(INT64, 0), size) as at:
        place = row * size + at
        seen = scan.seen(place)
        index = at.converted("trunc", INT32)
        if scan.is_extreme:  # a branch that is foreseen is quicker than waiting for the choice
            with code.when(scan.taken(state[0].now, seen), rarely=True):
                state[0].set(seen)
                state[1].set(index)
        else:
            (total,) = scan.step([state[0].now], seen, index)
            state[0].set(total)
        scan.store(scan.narrow([each.now for each in state]), place)


def _several_rows(scan: _Scan, row: Value, stop: Value, count: int) -> None:
    """So many rows from one on; where there are fewer the last one stands for those that lack.

    A turned vector holds an element of all of them, and one or more that are `count` further on.
    """
    code, size = scan.code, scan.code.argument(INT64, "size")
    last = stop - 1
    rows = [code.choose(row + each < last, row + each, last) * size for each in range(count)]
    state = [code.variable(each) for each in scan.begun(count)]
    parts = [range(first, first + count) for first in range(0, LANES, count)]

    def visit(columns: list[Value], mask: Value | None) -> None:
        (at,) = columns
        lines = [scan.seen(each + at, LANES, mask) for each in rows]
        carried, made = [each.now for each in state], []
        found = turned(code, lines)
        for part in parts:
            for place, several in enumerate(found):
                index = code.spread((at + (part.start + place)).converted("trunc", INT32), count)
                carried = scan.step(carried, code.shuffled(several, several, part), index)
                made.append(scan.narrow(carried))
        for variable, value in zip(state, carried, strict=True):
            variable.set(value)
        lying = [turned(code, _put_together(values, count)) for values in zip(*made, strict=True)]
        for each, values in zip(rows, zip(*lying, strict=True), strict=True):
            scan.store(list(values), each + at, mask)

    code.vectors(code.constant(INT64, 0), size, 1, visit)


def _put_together(values: Sequence[Value], count: int) -> list[Value]:
    """Vectors of so many elements in as many of `LANES`, as `turned` gives them."""
    if count == LANES:
        return list(values)
    code, both = values[0].code, range(LANES)
    return [code.shuffled(*pair, both) for pair in zip(values[:count], values[count:], strict=True)]


def _down_strips(scan: _Scan) -> None:
    code = scan.code
    size, inner = code.argument(INT64, "size"), code.argument(INT64, "inner")
    rooms = [code.room(kind.of_lanes(STRIP)) for kind in scan.kinds]
    zero = code.constant(INT64, 0)

    def along(first: Value, end: Value, visit: Callable[[Value, Value | None], None]) -> None:
        def visit_all(places: list[Value], mask: Value | None) -> None:
            for at in places:
                visit(at, mask)

        code.vectors(zero, end - first, 2, visit_all)

    def state(at: Value) -> list[tuple[Kind, Value]]:
        pairs = zip(scan.kinds, rooms, strict=True)
        return [(kind.of_lanes(LANES), code.at(room, at, kind)) for kind, room in pairs]

    def begin(at: Value, mask: Value | None) -> None:
        for value, (_, address) in zip(scan.begun(LANES), state(at), strict=True):
            code.store(value, address)

    with strips(code, inner) as (outer, first, end):
        along(first, end, begin)
        with code.counted(zero, size) as i:
            line = (outer * size + i) * inner + first
            index = code.spread(i.converted("trunc", INT32))

            def step(at: Value, mask: Value | None, line: Value = line, i: Value = index) -> None:
                seen = scan.seen(line + at, LANES, mask)
                carried = scan.step([code.load(*each) for each in state(at)], seen, i)
                for value, (_, address) in zip(carried, state(at), strict=True):
                    code.store(value, address)
                scan.store(scan.narrow(carried), line + at, mask)

            along(first, end, step)
