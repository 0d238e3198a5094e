"""Functions of LAPACK, called by their addresses for each matrix of a batch.

Such a function takes addresses alone.  A kernel has a letter for each argument: `n` for a number
and `c` for a character, which lie in a table, `a` for an array, of which each matrix has a part of
its own, or all have the same for work, and `i` for what says whether it went well.  Matrices with
elements that are not finite may be left alone: some functions never come to an end with them.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from ..language.target import Target
from ..language.text import BYTE, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = ["batch_kernel"]


_ELEMENTS: Final = {"s": "float", "d": "double"}


@cache
def batch_kernel(form: str, letter: str) -> int:
    """The kernel of functions whose arguments are of these letters, on elements that LAPACK calls
    by a letter; a range is one of matrices.

    It takes the function's address, the table (a number, a character or the bytes from a matrix's
    part to the next one's for each argument, then how many elements of the first array must be
    finite before and after), a flag that becomes 1 where something has not gone well, and the
    arrays in their order.
    """
    return kernel("lapack", (form, letter), lambda target: _text(target, form, letter))


def _text(target: Target, form: str, letter: str) -> str:
    code, element = Code(target), Kind(_ELEMENTS[letter])
    function, table = code.argument(POINTER, "function"), code.argument(POINTER, "table")
    names = [f"array{place}" for place, sort in enumerate(form) if sort == "a"]
    outcome = code.room(INT64)
    before, after = (
        code.load(INT64, code.at(table, len(form) + place, INT64)) for place in range(2)
    )
    with code.units() as unit:
        given, arrays = list[Value](), iter(names)
        for place, sort in enumerate(form):
            word = code.at(table, place, INT64)
            if sort == "a":
                step = code.load(INT64, word)
                word = code.at(code.argument(POINTER, next(arrays)), unit * step, BYTE)
            given.append(outcome if sort == "i" else word)
        first = given[form.index("a")]
        is_finite = _is_finite(code, element, first, before)
        code.store(code.constant(INT64, 1), outcome)
        with code.when(is_finite):
            code.store(code.constant(INT64, 0), outcome)
            lengths = ["i64 1"] * form.count("c")  # of characters, which Fortran passes last
            listed = ", ".join([*(f"ptr {each.name}" for each in given), *lengths])
            code.say(f"call void {function.name}({listed})")
        is_good = code.load(INT64, outcome).equals(0) & _is_finite(code, element, first, after)
        with code.when(is_good.equals(0), rarely=True):
            code.store(code.constant(INT64, 1), code.argument(POINTER, "flag"))
    words = ("function", "table", "flag", *names)
    return code.kernel("lapack", [(POINTER, name) for name in words])


def _is_finite(code: Code, element: Kind, begin: Value, count: Value) -> Value:
    """Whether so many elements are finite: what is not leaves something other than 0 of itself."""
    wide = element.of_lanes(LANES)
    left = code.variable(code.constant(wide, 0.0))

    def visit(places: list[Value], mask: Value | None) -> None:
        for at in places:
            left.set(left.now + code.load_if(wide, code.at(begin, at, element), mask) * 0.0)

    code.vectors(code.constant(INT64, 0), count, 1, visit)
    return code.any_of(left.now.is_nan()).equals(0)
