"""The most frequent elements of rows: of a short one each element is compared with all of its row,
of others the longest run in their order is looked for."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run, unforeseen
from ..language.target import Target
from ..language.text import INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = ["LONGEST", "modes", "modes_in_order"]

LONGEST: Final = 512
"""Elements of a row that are compared sooner than they are sorted."""
_PER_THREAD: Final = 1 << 16
"""Comparisons that are worth another thread."""
_PLACES: Final = ("x", "values", "places", "flag")
_ELEMENTS: Final = {"f4": "float", "f8": "double", "i8": "i64", "i4": "i32"}


def modes(x: Array) -> tuple[Array, Array] | None:
    """Of every row of a contiguous array the element that most are equal to, the least of several,
    and where the last of them is.

    None for rows that are empty or longer than `LONGEST`, for unusual dtypes, and if something is
    no number.
    """
    x = x[...]  # which no other thread can change
    element, size = _ELEMENTS.get(x.dtype.str[1:]), x.shape[-1]
    if element is None or not x.size or size > LONGEST:
        return None
    values, places = np.empty(x.shape[:-1], x.dtype), np.empty(x.shape[:-1], np.int64)
    flag = new_flag()
    least = _PER_THREAD // (size * (size + LANES)) + 1
    run(_kernel(element), prod(x.shape[:-1]), least, size, x, values, places, flag)
    return None if flag[0] else (values, places)


def modes_in_order(x: Array, ordered: Array) -> tuple[Array, Array] | None:
    """The same of rows of any length, by what they are in order; None if all of a row is no number.

    Raises:
        ValueError: both are not of one form.
    """
    x, ordered = x[...], ordered[...]
    element, size = _ELEMENTS.get(x.dtype.str[1:]), x.shape[-1]
    if x.shape != ordered.shape or x.dtype != ordered.dtype or not ordered.flags.c_contiguous:
        raise ValueError("these are not the same rows")
    if element is None or not x.size:
        return None
    unforeseen()
    values, places = np.empty(x.shape[:-1], x.dtype), np.empty(x.shape[:-1], np.int64)
    flag = new_flag()
    to_run = kernel("modes", (element, "ordered"), lambda t: _ordered_text(t, Kind(element)))
    least = _PER_THREAD // (8 * size) + 1
    run(to_run, prod(x.shape[:-1]), least, size, x, values, places, flag, ordered)
    return None if flag[0] else (values, places)


def _ordered_text(target: Target, element: Kind) -> str:
    """For rows from `start` to `stop`."""
    code = Code(target)
    size, zero = code.argument(INT64, "size"), code.constant(INT64, 0)
    at = {name: code.argument(POINTER, name) for name in (*_PLACES, "ordered")}
    with code.units() as row:
        begin = code.at(at["ordered"], row * size, element)
        most, length = code.variable(zero), code.variable(zero)
        value = code.variable(code.load(element, begin))
        before = code.variable(value.now)
        with code.counted(zero, size) as place:
            seen = code.load(element, code.at(begin, place, element))
            length.set(code.choose(seen.equals(before.now), length.now + 1, 1))
            is_more = length.now > most.now
            most.set(code.choose(is_more, length.now, most.now))
            value.set(code.choose(is_more, seen, value.now))
            before.set(seen)
        number, given = code.variable(size), code.at(at["x"], row * size, element)
        found = code.variable(value.now)

        def is_further() -> Value:
            here = code.lesser(size - 1, code.choose(number.now < 1, 0, number.now - 1))
            found.set(code.load(element, code.at(given, here, element)))
            return found.now.differs(value.now) & (number.now > 0)

        with code.repeated(is_further):
            number.set(number.now - 1)
        with code.when(number.now.equals(0)):
            code.store(code.constant(INT64, 1), at["flag"])
        code.store(found.now, code.at(at["values"], row, element))
        code.store(number.now - 1, code.at(at["places"], row, INT64))
    names = [*_PLACES, "ordered"]
    return code.kernel("modes", [(INT64, "size"), *((POINTER, name) for name in names)])


@cache
def _kernel(element: str) -> int:
    return kernel("modes", (element,), lambda target: _text(target, Kind(element)))


def _text(target: Target, element: Kind) -> str:
    """For rows from `start` to `stop`."""
    code = Code(target)
    size, zero = code.argument(INT64, "size"), code.constant(INT64, 0)
    at = {name: code.argument(POINTER, name) for name in _PLACES}
    with code.units() as row:
        begin = code.at(at["x"], row * size, element)
        most, best = code.variable(zero), code.variable(zero)
        value = code.variable(code.load(element, begin))
        with code.counted(zero, size) as place:
            seen = code.load(element, code.at(begin, place, element))
            equals = _equals(code, begin, size, seen)
            with code.when(equals.equals(0)):  # not even itself
                code.store(code.constant(INT64, 1), at["flag"])
            is_less = code.choose(seen > value.now, 0, equals.equals(most.now))
            better = (equals > most.now) | is_less
            most.set(code.choose(better, equals, most.now))
            best.set(code.choose(better, place, best.now))
            value.set(code.choose(better, seen, value.now))
        code.store(value.now, code.at(at["values"], row, element))
        code.store(best.now, code.at(at["places"], row, INT64))
    return code.kernel("modes", [(INT64, "size"), *((POINTER, name) for name in _PLACES)])


def _equals(code: Code, begin: Value, size: Value, seen: Value) -> Value:
    """How many elements of a row are equal to one."""
    kind = seen.kind.of_lanes(LANES)
    count, one = code.variable(code.constant(INT64, 0)), code.spread(seen)

    def visit(places: list[Value], mask: Value | None) -> None:
        (at,) = places
        is_it = code.load_if(kind, code.at(begin, at, seen.kind), mask).equals(one)
        is_it = is_it if mask is None else is_it & mask
        bits = is_it.bits(Kind("i16"))
        found = code.call("llvm.ctpop.i16", Kind("i16"), [bits]).converted("zext", INT64)
        count.set(count.now + found)

    code.vectors(code.constant(INT64, 0), size, 1, visit)
    return count.now
