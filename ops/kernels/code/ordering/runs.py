"""Runs of equal neighbours in a line of elements.

What is no number differs from itself, and zeros of both signs are equal.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run, unforeseen
from ..language.target import Target
from ..language.text import INT32, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = ["runs"]

_READ: Final = {
    **{"f4": "float", "f8": "double", "i8": "i64", "i4": "i32", "i2": "i16"},
    **{"b1": "i8", "u1": "i8", "i1": "i8"},
}
_ALONE: Final = 1 << 62
"""A line is one piece of work."""
_PLACES: Final = ("x", "values", "sizes", "found", "inverse")
_WIDE: Final = INT64.of_lanes(LANES)
_NOTHING: Final = np.empty(0, np.int64)
_NOTHING.setflags(write=False)


def runs(x: Array, order: Array | None, *, with_inverse: bool) -> tuple[Array, Array, Array] | None:
    """The first element of every run of a contiguous line that is not empty, which run each element
    belongs to, if that is asked for, and how many there are of each.

    Where there is an order, an element stood at that place before: so it is told of its run.  None
    for unusual dtypes.

    Raises:
        ValueError: the order is not as long.
    """
    x = x[...]  # which no other thread can change
    element = _READ.get(x.dtype.str[1:])
    if element is None:
        return None
    unforeseen()
    values, sizes = np.empty(x.size, x.dtype), np.empty(x.size, np.int64)
    inverse, found = np.empty(x.size, np.int64) if with_inverse else _NOTHING, np.empty(1, np.int64)
    form = "inverse" if with_inverse else "plain"
    more = []
    if order is not None and with_inverse:
        form, more = "ordered", [order[...]]
        if order.dtype != np.int64 or order.shape != x.shape or not order.flags.c_contiguous:
            raise ValueError("the order is not that of the line")
    run(_kernel(element, form), 1, _ALONE, x.size, x, values, sizes, found, inverse, *more)
    count = int(found[0])
    values, sizes = values[:count], sizes[:count]
    if count <= x.size // 2:  # memory that is mostly empty is not kept
        values, sizes = values.copy(), sizes.copy()
    return values, inverse, sizes


@cache
def _kernel(element: str, form: str) -> int:
    return kernel("runs", (element, form), lambda target: _text(target, Kind(element), form))


def _text(target: Target, element: Kind, form: str) -> str:
    code = Code(target)
    made = _Runs(code, element, form)
    with code.units():
        made.line()
    names = [*_PLACES, *["order"] * (form == "ordered")]
    return code.kernel("runs", [(INT64, "size"), *((POINTER, name) for name in names)])


class _Runs:
    """The parts of the kernel: elements are compared with those before them, 16 at a time."""

    def __init__(self, code: Code, element: Kind, form: str) -> None:
        self.code, self.element, self.form = code, element, form
        self.kind = element.of_lanes(LANES)
        self.size, self.zero = code.argument(INT64, "size"), code.constant(INT64, 0)
        self.found = code.variable(self.zero)

    def _at(self, name: str, index: Value) -> Value:
        kind = self.element if name in ("x", "values") else INT64
        return self.code.at(self.code.argument(POINTER, name), index, kind)

    def line(self) -> None:
        code = self.code
        self._begin_run(self.zero)
        if self.form != "plain":
            self._tell(self.zero, self.zero)

        def visit(places: list[Value], mask: Value | None) -> None:
            (at,) = places
            now, before = (
                code.load_if(self.kind, self._at("x", place), mask) for place in (at, at - 1)
            )
            differs = now.differs(before)
            differs = differs if mask is None else differs & mask
            bits = differs.bits(Kind("i16")).converted("zext", INT64)
            if self.form != "plain":
                self._tell_several(at, bits, mask)
            is_each = bits.equals((1 << LANES) - 1)
            with code.when(is_each):
                number = self.found.now
                code.store(now, self._at("values", number))
                code.store(code.order(_WIDE) + code.spread(at), self._at("sizes", number))
                self.found.set(number + LANES)
            left = code.variable(code.choose(is_each, 0, bits))
            with code.repeated(lambda: left.now.differs(0)):
                bit = left.now
                one = code.constant(Kind("i1"), 1)
                self._begin_run(at + code.call("llvm.cttz.i64", INT64, [bit, one]))
                left.set(bit & (bit - 1))

        code.vectors(self.zero + 1, self.size, 1, visit)
        code.store(self.found.now, code.argument(POINTER, "found"))
        self._measure()

    def _begin_run(self, place: Value) -> None:
        code, number = self.code, self.found.now
        code.store(code.load(self.element, self._at("x", place)), self._at("values", number))
        code.store(place, self._at("sizes", number))
        self.found.set(number + 1)

    def _tell_several(self, at: Value, bits: Value, mask: Value | None) -> None:
        """Tell elements from a place on of their runs, by the bits of those that begin some."""
        code = self.code
        until = [(2 << lane) - 1 for lane in range(LANES)]
        words = INT32.of_lanes(LANES)
        text = ", ".join(f"i32 {word}" for word in until)
        begun = code.spread(bits.converted("trunc", INT32)) & Value(code, words, f"<{text}>")
        before = code.call(f"llvm.ctpop.{words.suffix}", words, [begun])
        runs = before.converted("zext", _WIDE) + code.spread(self.found.now - 1)
        if self.form == "inverse":
            code.store_if(runs, self._at("inverse", at), mask)
            return
        offsets = code.load_if(_WIDE, self._at("order", at), mask)
        safe = offsets.below(code.spread(self.size))
        safe = safe if mask is None else safe & mask
        code.scattered(runs, code.argument(POINTER, "inverse"), offsets << 3, safe)

    def _tell(self, place: Value, number: Value) -> None:
        code = self.code
        if self.form == "ordered":
            place = code.load(INT64, self._at("order", place))
        with code.when(place.below(self.size)):
            code.store(number, self._at("inverse", place))

    def _measure(self) -> None:
        """Make sizes of where runs begin."""
        code, last = self.code, self.found.now - 1

        def visit(places: list[Value], mask: Value | None) -> None:
            (at,) = places
            begin, end = (
                code.load_if(_WIDE, self._at("sizes", place), mask) for place in (at, at + 1)
            )
            code.store_if(end - begin, self._at("sizes", at), mask)

        code.vectors(self.zero, last, 1, visit)
        place = self._at("sizes", last)
        code.store(self.size - code.load(INT64, place), place)
