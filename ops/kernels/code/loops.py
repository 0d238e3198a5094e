"""Formulas over arrays: one pass, a vector at a time, on a range of the elements.

A kernel is called as `kernel(start, stop, operands..., result)`, arrays by address.  An operand is
an array as large as the result, or one number.
"""

from __future__ import annotations

from ctypes import c_int64, c_void_p
from typing import Any, Final

from .objects import native_function
from .scalars import FORMULAS
from .target import Target
from .text import BYTE, FLOAT, FLOATS, INT64, LANES, POINTER, Code, Kind, Value

__all__ = ["module_text", "pointwise_kernel"]

_STEP: Final = 2 * LANES


def pointwise_kernel(name: str, operands: str) -> Any:
    """The kernel of a formula.  `operands` has a letter for each: `a`, an array of float32; `m`, an
    array of bool; `n`, a float32.  None without native code.
    """
    signature = (c_int64, c_int64, *[c_void_p] * (len(operands) + 1))
    return native_function(
        "pointwise", (name, operands), signature, lambda target: module_text(target, name, operands)
    )


class _Operand:
    """Where a formula takes an operand from."""

    def __init__(self, code: Code, form: str, index: int) -> None:
        self._code = code
        self.address = code.argument(POINTER, f"a{index}")
        self.element: Kind = BYTE if form == "m" else FLOAT
        self.is_number = form == "n"
        if self.is_number:
            self._number = code.spread(code.load(FLOAT, self.address))
        self.few = self.address if self.is_number else code.room(self.element.of_lanes(LANES))

    def taken(self, address: Value) -> Value:
        """A vector that begins at an address."""
        if self.is_number:
            return self._number
        seen = self._code.load(self.element.of_lanes(LANES), address)
        return seen if self.element is FLOAT else self._is_true(seen)

    def _is_true(self, seen: Value) -> Value:
        zeros = self._code.constant(seen.kind, 0)
        text = f"icmp ne {seen.kind} {seen.name}, {zeros.name}"
        return self._code.let(seen.kind.of("i1"), text)


def module_text(target: Target, name: str, operands: str) -> str:
    """What `pointwise_kernel` compiles."""
    code = Code(target)
    given = [_Operand(code, form, index) for index, form in enumerate(operands)]
    result = code.argument(POINTER, "result")
    start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
    compute = FORMULAS[name]

    def one(at: Value) -> None:
        made = compute(*(each.taken(code.at(each.address, at, each.element)) for each in given))
        code.store(made, code.at(result, at, FLOAT))

    whole = _floored(stop - start, _STEP) + start
    with code.counted(start, whole, _STEP) as at:
        one(at)
        one(at + LANES)
    nearly = _floored(stop - whole, LANES) + whole
    with code.counted(whole, nearly, LANES) as at:
        one(at)
    _few(code, given, result, nearly, stop, name)
    places = [*(f"a{index}" for index in range(len(given))), "result"]
    arguments = [(INT64, "start"), (INT64, "stop"), *((POINTER, place) for place in places)]
    return code.function("pointwise", arguments)


def _floored(count: Value, step: int) -> Value:
    return count & -step


def _few(
    code: Code, given: list[_Operand], result: Value, start: Value, stop: Value, name: str
) -> None:
    """The last elements, fewer than a vector has: by way of a vector in memory of our own."""
    zero = code.constant(INT64, 0)
    rooms = [each for each in given if not each.is_number]
    for each in rooms:
        kind = each.element.of_lanes(LANES)
        code.store(code.constant(kind, 0), each.few)
    with code.counted(zero, stop - start) as at:
        for each in rooms:
            seen = code.load(each.element, code.at(each.address, start + at, each.element))
            code.store(seen, code.at(each.few, at, each.element))
    made = code.room(FLOATS)
    code.store(FORMULAS[name](*(each.taken(each.few) for each in given)), made)
    with code.counted(zero, stop - start) as at:
        code.store(code.load(FLOAT, code.at(made, at, FLOAT)), code.at(result, start + at, FLOAT))
