"""Systems of equations with triangular matrices; a range is one of systems."""

from __future__ import annotations

from functools import cache
from typing import Final

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = ["solve"]

_ELEMENTS: Final = {"f4": "float", "f8": "double"}
_PER_THREAD: Final = 1 << 14
"""Products that are worth another thread."""


def solve(factors: object, x: Array, upper: bool, unit: bool) -> None:
    """Put X of A X = B in the place of B.

    Args:
        factors: A (batch, n, n); elements on the other side of the diagonal are not read, nor the
            diagonal itself where it is `unit`.
        x: B (batch, n, columns).  Both are contiguous, of float32 or float64.
        upper: the side on which the elements of A are.
        unit: whether the diagonal is taken as ones.
    """
    batch, size, columns = x.shape
    address = _kernel(_ELEMENTS[x.dtype.str[1:]])
    least = _PER_THREAD // max(1, size * size * columns) + 1
    run(address, batch, least, size, columns, int(upper), int(unit), factors, x)


@cache
def _kernel(element: str) -> int:
    return kernel("triangle", (element,), lambda target: triangle_text(target, Kind(element)))


def triangle_text(target: Target, element: Kind) -> str:
    """The module of triangular systems: rows are taken in the order in which they become known, and
    each loses its products with those before."""
    code = Code(target)
    size, columns = code.argument(INT64, "size"), code.argument(INT64, "columns")
    upper, unit = code.argument(INT64, "upper"), code.argument(INT64, "unit")
    a, x = code.argument(POINTER, "a"), code.argument(POINTER, "x")
    zero = code.constant(INT64, 0)

    def row(step: Value) -> Value:
        return code.choose(upper.equals(0), step, size - 1 - step)

    with code.units() as system:
        matrix = code.at(a, system * size * size, element)
        sides = code.at(x, system * size * columns, element)
        with code.counted(zero, size) as step:
            own = code.at(sides, row(step) * columns, element)
            factors = code.at(matrix, row(step) * size, element)
            with code.counted(zero, step) as earlier:
                known = code.at(sides, row(earlier) * columns, element)
                factor = code.load(element, code.at(factors, row(earlier), element))
                _less(code, element, own, known, factor, columns)
            with code.when(unit.equals(0)):
                pivot = code.load(element, code.at(factors, row(step), element))
                with code.counted(zero, columns) as column:
                    place = code.at(own, column, element)
                    code.store(code.load(element, place) / pivot, place)
    words = [(INT64, "size"), (INT64, "columns"), (INT64, "upper"), (INT64, "unit")]
    return code.kernel("triangle", [*words, (POINTER, "a"), (POINTER, "x")])


def _less(
    code: Code, element: Kind, own: Value, known: Value, factor: Value, columns: Value
) -> None:
    """Take `factor` times one row from another, a vector of columns at a time."""
    wide = element.of_lanes(LANES)
    factors = code.spread(factor)

    def visit(places: list[Value], mask: Value | None) -> None:
        for place in places:
            here, there = code.at(own, place, element), code.at(known, place, element)
            now, part = code.load_if(wide, here, mask), code.load_if(wide, there, mask)
            code.store_if(now - part * factors, here, mask)

    code.vectors(code.constant(INT64, 0), columns, 1, visit)
