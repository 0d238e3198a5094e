"""Formulas over arrays: one pass, a vector at a time, on a range of the elements.

A kernel takes operands and the result.  An operand is an array as large as the result, or one
number, in memory too.
"""

from __future__ import annotations

from .objects import kernel
from .scalars import FORMULAS
from .target import Target
from .text import BYTE, FLOAT, INT64, LANES, POINTER, Code, Value

__all__ = ["module_text", "pointwise_kernel"]


def pointwise_kernel(name: str, operands: str) -> int:
    """The kernel of a formula.

    `operands` has a letter for each: `a`, an array of float32; `m`, one of bool; `n`, a float32.
    """
    return kernel("pointwise", (name, operands), lambda target: module_text(target, name, operands))


class _Operand:
    """Where a formula takes an operand from."""

    def __init__(self, code: Code, form: str, index: int) -> None:
        self._code = code
        self._address = code.argument(POINTER, f"a{index}")
        self._element = BYTE if form == "m" else FLOAT
        self._number = code.spread(code.load(FLOAT, self._address)) if form == "n" else None

    def taken(self, at: Value, mask: Value | None) -> Value:
        """The vector that begins at an index."""
        if self._number is not None:
            return self._number
        code, kind = self._code, self._element.of_lanes(LANES)
        seen = code.load_if(kind, code.at(self._address, at, self._element), mask)
        if self._element is FLOAT:
            return seen
        text = f"icmp ne {kind} {seen.name}, zeroinitializer"
        return code.let(kind.of("i1"), text)


def module_text(target: Target, name: str, operands: str) -> str:
    """What `pointwise_kernel` compiles."""
    code = Code(target)
    given = [_Operand(code, form, index) for index, form in enumerate(operands)]
    result = code.argument(POINTER, "result")
    start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")

    def compute(places: list[Value], mask: Value | None) -> None:
        for at in places:
            made = FORMULAS[name](*(each.taken(at, mask) for each in given))
            code.store_if(made, code.at(result, at, FLOAT), mask)

    code.vectors(start, stop, 2, compute)
    places = [*(f"a{index}" for index in range(len(given))), "result"]
    return code.kernel("pointwise", [(POINTER, place) for place in places])
