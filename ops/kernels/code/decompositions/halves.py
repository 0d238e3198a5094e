"""What lies between LAPACK and results: halves of matrices with zeros beside them, what exchanges
of rows amount to, and complex vectors of real parts."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array, Dtype
from ...flags import new_flag
from ..calls.run import run
from ..functions import doubles, scalars
from ..language.named_counts import counts_of, named_counts
from ..language.target import Target
from ..language.text import INT32, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = [
    "checked",
    "determinants",
    "half",
    "log_determinants",
    "mirrored",
    "order",
    "order_matrices",
    "paired",
    "permuted",
]

_ELEMENTS: Final = {"f4": "float", "f8": "double"}
_PER_THREAD: Final = 1 << 15
"""Elements that are worth another thread."""
_COUNTS: Final = ("lines", "size", "apart", "next", "first", "unit")


def half(a: Array, lines: int, size: int, *, first: bool, unit: bool = False) -> Array:
    """Halves of matrices [matrices, lines, elements] of float32 or float64, in one piece each line.

    Args:
        lines: how many lines the results have, of so many elements (`size`).
        first: whether elements up to the diagonal are kept, else those from it on.
        unit: whether ones are put on the diagonal.
    """
    a = a[...]  # which no other thread can change
    out = np.empty((len(a), lines, size), a.dtype)
    steps = [step // a.itemsize for step in a.strides[:2]]
    numbers = counts_of(lines, size, *steps, first, unit)
    address = _half_kernel(_ELEMENTS[a.dtype.str[1:]])
    run(address, len(a) * lines, _PER_THREAD // size + 1, numbers, a, out)
    return out


@cache
def _half_kernel(element: str) -> int:
    return kernel("halves", (element,), lambda target: halves_text(target, Kind(element)))


def halves_text(target: Target, element: Kind) -> str:
    """The module of halves; a range is one of lines."""
    code, wide = Code(target), element.of_lanes(LANES)
    counts, a, out = (code.argument(POINTER, name) for name in ("counts", "a", "out"))
    count = named_counts(code, counts, _COUNTS)
    zero, is_first = code.constant(INT64, 0), code.spread(count["first"].differs(0))
    with code.units() as line:
        matrix, own = code.split(line, count["lines"])
        begin = code.at(a, matrix * count["apart"] + own * count["next"], element)
        goal = code.at(out, line * count["size"], element)
        diagonal = code.spread(own.converted("trunc", INT32))

        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                here = code.order(INT32.of_lanes(LANES)) + code.spread(at.converted("trunc", INT32))
                kept = code.choose(is_first, here <= diagonal, here >= diagonal)
                inside = kept if mask is None else kept & mask
                seen = code.load_if(wide, code.at(begin, at, element), inside)
                code.store_if(seen, code.at(goal, at, element), mask)

        code.vectors(zero, count["size"], 1, visit)
        with code.when(count["unit"].differs(0) & (own < count["size"])):
            code.store(code.constant(element, 1.0), code.at(goal, own, element))
    return code.kernel("halves", [(POINTER, name) for name in ("counts", "a", "out")])


def mirrored(a: Array) -> None:
    """Put the elements on one side of the diagonal, of matrices by columns the lower one, on the
    other side as well."""
    address = _mirror_kernel(_ELEMENTS[a.dtype.str[1:]])
    size = a.shape[-1]
    run(address, len(a), _PER_THREAD // (size * size) + 1, size, a)


@cache
def _mirror_kernel(element: str) -> int:
    return kernel("mirror", (element,), lambda target: _mirror_text(target, Kind(element)))


def _mirror_text(target: Target, element: Kind) -> str:
    code = Code(target)
    size, a = code.argument(INT64, "size"), code.argument(POINTER, "a")
    zero = code.constant(INT64, 0)
    with code.units() as matrix:
        begin = code.at(a, matrix * size * size, element)
        with code.counted(zero, size) as line, code.counted(zero, line) as place:
            seen = code.load(element, code.at(begin, place * size + line, element))
            code.store(seen, code.at(begin, line * size + place, element))
    return code.kernel("mirror", [(INT64, "size"), (POINTER, "a")])


def checked(pivots: Array, rows: int) -> tuple[Array, bool]:
    """Rows, from 1, of int32 as int64, and whether all of them are rows of matrices."""
    pivots = pivots[...]  # which no other thread can change
    out, flag = np.empty(pivots.shape, np.int64), new_flag()
    run(_check_kernel(), pivots.size, _PER_THREAD, rows, pivots, out, flag)
    return out, not flag[0]


@cache
def _check_kernel() -> int:
    return kernel("checked_rows", (), _check_text)


def _check_text(target: Target) -> str:
    code = Code(target)
    rows = code.argument(INT64, "rows")
    pivots, out, flag = (code.argument(POINTER, name) for name in ("pivots", "out", "flag"))
    with code.units() as place:
        row = code.load(INT32, code.at(pivots, place, INT32)).converted("sext", INT64)
        is_one = (row - 1).below(rows)
        code.store(code.choose(is_one, row, 1), code.at(out, place, INT64))
        with code.when(is_one.equals(0), rarely=True):
            code.store(code.constant(INT64, 1), flag)
    return code.kernel(
        "checked_rows",
        [(INT64, "rows"), (POINTER, "pivots"), (POINTER, "out"), (POINTER, "flag")],
    )


def order(pivots: Array, rows: int) -> Array:
    """The rows, from 0, of matrices after the exchanges [matrices, steps], from 1, which are rows
    of theirs."""
    pivots = pivots[...]  # which no other thread can change
    out = np.empty((len(pivots), rows), np.int64)
    address, least = _order_kernel(), _PER_THREAD // rows + 1
    run(address, len(pivots), least, pivots.shape[1], rows, pivots, out)
    return out


@cache
def _order_kernel() -> int:
    return kernel("row_order", (), _order_text)


def _order_text(target: Target) -> str:
    code = Code(target)
    steps, rows = code.argument(INT64, "steps"), code.argument(INT64, "rows")
    pivots, out = code.argument(POINTER, "pivots"), code.argument(POINTER, "out")
    zero = code.constant(INT64, 0)
    with code.units() as matrix:
        own = code.at(out, matrix * rows, INT64)
        with code.counted(zero, rows) as row:
            code.store(row, code.at(own, row, INT64))
        with code.counted(zero, steps) as step:
            pivot = code.load(INT64, code.at(pivots, matrix * steps + step, INT64))
            ends = [code.at(own, each, INT64) for each in (step, pivot - 1)]
            seen = [code.load(INT64, end) for end in ends]
            for value, end in zip(seen, reversed(ends), strict=True):
                code.store(value, end)
    words = [(INT64, "steps"), (INT64, "rows"), (POINTER, "pivots"), (POINTER, "out")]
    return code.kernel("row_order", words)


def permuted(b: Array, rows: Array, back: bool) -> Array:
    """Matrices [matrices, rows, columns], by columns, with the rows from these places [matrices,
    rows], or put back to them."""
    b = b[...]  # which no other thread can change
    count, size, columns = b.shape
    out = np.empty((count, columns, size), b.dtype)
    steps = [step // b.itemsize for step in b.strides]
    numbers = counts_of(size, columns, *steps, back)
    address = _permuting_kernel(_ELEMENTS[b.dtype.str[1:]])
    run(address, count, _PER_THREAD // (size * columns) + 1, numbers, b, rows, out)
    return out


@cache
def _permuting_kernel(element: str) -> int:
    return kernel("permuted", (element,), lambda target: _permuting_text(target, Kind(element)))


def _permuting_text(target: Target, element: Kind) -> str:
    code = Code(target)
    numbers, b, rows, out = (
        code.argument(POINTER, name) for name in ("numbers", "b", "rows", "out")
    )
    size, columns, apart, down, across, back = (
        code.load(INT64, code.at(numbers, place, INT64)) for place in range(6)
    )
    zero, is_back = code.constant(INT64, 0), back.differs(0)
    with code.units() as matrix:
        begin = code.at(b, matrix * apart, element)
        goal = code.at(out, matrix * size * columns, element)
        with code.counted(zero, size) as row:
            place = code.load(INT64, code.at(rows, matrix * size + row, INT64))
            source, to = code.choose(is_back, row, place), code.choose(is_back, place, row)
            with code.counted(zero, columns) as column:
                seen = code.load(element, code.at(begin, source * down + column * across, element))
                code.store(seen, code.at(goal, column * size + to, element))
    return code.kernel("permuted", [(POINTER, name) for name in ("numbers", "b", "rows", "out")])


def order_matrices(places: Array, dtype: Dtype) -> Array:
    """Matrices of zeros and ones, whose products have rows in these places [matrices, rows]."""
    count, rows = places.shape
    out = np.empty((count, rows, rows), dtype)
    address = _matrix_kernel(_ELEMENTS[out.dtype.str[1:]])
    run(address, count, _PER_THREAD // (rows * rows) + 1, rows, places, out)
    return out


@cache
def _matrix_kernel(element: str) -> int:
    return kernel("order_matrix", (element,), lambda target: _matrix_text(target, Kind(element)))


def _matrix_text(target: Target, element: Kind) -> str:
    code, wide = Code(target), element.of_lanes(LANES)
    rows, zero = code.argument(INT64, "rows"), code.constant(INT64, 0)
    places, out = code.argument(POINTER, "places"), code.argument(POINTER, "out")
    with code.units() as matrix:
        own = code.at(out, matrix * rows * rows, element)

        def visit(starts: list[Value], mask: Value | None) -> None:
            for at in starts:
                code.store_if(code.constant(wide, 0.0), code.at(own, at, element), mask)

        code.vectors(zero, rows * rows, 2, visit)
        with code.counted(zero, rows) as column:
            row = code.load(INT64, code.at(places, matrix * rows + column, INT64))
            code.store(code.constant(element, 1.0), code.at(own, row * rows + column, element))
    words = [(INT64, "rows"), (POINTER, "places"), (POINTER, "out")]
    return code.kernel("order_matrix", words)


_COMPLEX: Final = {np.dtype(np.float32): np.complex64, np.dtype(np.float64): np.complex128}


def paired(real: Array, other: Array, vectors: Array | None = None) -> tuple[Array, Array]:
    """Complex eigenvalues, and their vectors by columns, of real and imaginary parts.

    Of two that are conjugates the first has the positive imaginary part, and their vectors are the
    real and the imaginary part of the first one's.
    """
    values: Array = np.empty(real.shape, _COMPLEX[real.dtype])
    size = real.shape[1]
    lines = 0 if vectors is None else size
    pairs = values if vectors is None else np.empty(vectors.shape, values.dtype)
    address = _pair_kernel(_ELEMENTS[real.dtype.str[1:]])
    given = real, other, real if vectors is None else vectors, values, pairs
    run(address, real.size, _PER_THREAD // size + 1, size, lines, *given)
    return values, pairs


@cache
def _pair_kernel(element: str) -> int:
    return kernel("pairs_of_vectors", (element,), lambda target: _pair_text(target, Kind(element)))


def _pair_text(target: Target, element: Kind) -> str:
    code = Code(target)
    size, lines = code.argument(INT64, "size"), code.argument(INT64, "lines")
    names = ("real", "other", "vectors", "values", "pairs")
    real, other, vectors, values, pairs = (code.argument(POINTER, name) for name in names)
    zero = code.constant(INT64, 0)
    with code.units() as column:
        part = code.load(element, code.at(other, column, element))
        code.store(
            code.load(element, code.at(real, column, element)), code.at(values, 2 * column, element)
        )
        code.store(part, code.at(values, 2 * column + 1, element))
        is_second, is_alone = part < 0.0, part.equals(0.0)
        first = code.choose(is_second, column - 1, column)
        second = code.choose(is_alone, first, first + 1)
        sign = code.choose(is_alone, 0.0, code.choose(is_second, -1.0, code.constant(element, 1.0)))
        with code.counted(zero, lines) as row:
            one, two = (
                code.load(element, code.at(vectors, each * size + row, element))
                for each in (first, second)
            )
            goal = code.at(pairs, (column * size + row) * 2, element)
            code.store(one, goal)
            code.store(code.choose(is_alone, 0.0, two * sign), code.at(goal, 1, element))
    words = [(INT64, "size"), (INT64, "lines"), *((POINTER, name) for name in names)]
    return code.kernel("pairs_of_vectors", words)


def determinants(factors: Array, pivots: Array) -> Array:
    """The determinants of matrices of L and U, and rows that were exchanged, from 1."""
    out = np.empty(len(factors), factors.dtype)
    _determine("determinant", factors, pivots, out, out)
    return out


def log_determinants(factors: Array, pivots: Array) -> tuple[Array, Array] | None:
    """The signs of determinants, and the logarithms of their sizes; None if one is 0 or none."""
    signs, out = (np.empty(len(factors), factors.dtype) for _ in range(2))
    return (signs, out) if _determine("logarithm", factors, pivots, signs, out) else None


def _determine(what: str, factors: Array, pivots: Array, signs: Array, out: Array) -> bool:
    size, flag = factors.shape[-1], new_flag()
    address = _determinant_kernel(what, _ELEMENTS[factors.dtype.str[1:]])
    least = _PER_THREAD // (4 * size) + 1
    run(address, len(factors), least, size, factors, pivots, signs, out, flag)
    return not flag[0]


@cache
def _determinant_kernel(what: str, element: str) -> int:
    return kernel(what, (element,), lambda target: _determinant_text(target, what, Kind(element)))


def _determinant_text(target: Target, what: str, element: Kind) -> str:
    """One number after the other: a product of parts might leave the range of numbers."""
    code = Code(target)
    size = code.argument(INT64, "size")
    names = ("factors", "pivots", "signs", "out", "flag")
    factors, pivots, signs, out, flag = (code.argument(POINTER, name) for name in names)
    logarithm = scalars.log if element.element == "float" else doubles.natural_log
    zero = code.constant(INT64, 0)
    with code.units() as matrix:
        made = code.variable(code.constant(element, 1.0 if what == "determinant" else 0.0))
        sign = code.variable(code.constant(element, 1.0))
        begin = code.at(factors, matrix * size * size, element)
        with code.counted(zero, size) as step:
            own = code.load(element, code.at(begin, step * (size + 1), element))
            pivot = code.load(INT64, code.at(pivots, matrix * size + step, INT64))
            sign.set(code.choose(pivot.equals(step + 1), sign.now, -sign.now))
            if what == "determinant":
                made.set(made.now * own)
            else:
                sign.set(code.choose(own < 0.0, -sign.now, sign.now))
                wide = logarithm(code.spread(code.absolute(own), 1))
                made.set(made.now + code.alone(wide))
                with code.when((code.absolute(own) > 0.0).equals(0), rarely=True):
                    code.store(code.constant(INT64, 1), flag)
        if what == "determinant":
            code.store(made.now * sign.now, code.at(out, matrix, element))
        else:
            code.store(sign.now, code.at(signs, matrix, element))
            code.store(made.now, code.at(out, matrix, element))
    words = [(INT64, "size"), *((POINTER, name) for name in names)]
    return code.kernel(what, words)
