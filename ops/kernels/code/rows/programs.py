"""Kernels that go along the rows of contiguous matrices of float32 or float64.

Sums are taken in double precision, in 32 lanes which are added up in a fixed order, so that they
depend on nothing but the row.  A kernel takes the size of a row, a number and arrays; its range is
one of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import cycle
from math import inf
from operator import add as add_up
from typing import Final

from ..functions.formulas import KINDS, as_kind, rounded, stored_as, stored_kind, taken_from
from ..functions.scalars import exp, log
from ..language.lanes import DOUBLES, WIDE_BESIDE, begun, folded
from ..language.target import Target
from ..language.text import DOUBLE, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel
from .folds import Joining, folds_of_row

__all__ = ["Rows", "kernel_of_rows", "level_of", "powers_of", "row_kernel", "squares_of"]

_BESIDE: Final = 4
"""Vectors that are worked on side by side."""


class Rows:
    """A kernel's code: what all of them do; `places` are the arrays that it takes, `letter` is that
    of their dtype, `counts` are sizes that it takes behind them.

    Of 16-bit floats rows are float32 while they are worked on, and so are other arrays.
    """

    def __init__(
        self,
        target: Target,
        places: tuple[str, ...],
        letter: str = "f",
        counts: tuple[str, ...] = (),
    ) -> None:
        self.code = code = Code(target)
        self.places, self.counts, self.letter = places, counts, letter
        self.element = KINDS[letter]
        self.stored, self.vector = stored_kind(letter), self.element.of_lanes(LANES)
        self.is_short = self.stored != self.element
        self.size = code.argument(INT64, "size")
        self.zero = code.constant(INT64, 0)
        self.number = code.argument(DOUBLE, "number")

    def place(self, name: str, index: Value, element: Kind | None = None) -> Value:
        """The address of an element of an array."""
        return self.code.at(self.code.argument(POINTER, name), index, element or self.element)

    def line(self, name: str, index: Value) -> Value:
        """Where a row of an array of the rows' dtype begins."""
        return self.place(name, index * self.size, self.stored)

    def narrow(self, number: Value) -> Value:
        """A float64 as an element."""
        return as_kind(number, self.element)

    @contextmanager
    def rows(self) -> Iterator[tuple[Value, Value]]:
        """Each row, and where it begins in x."""
        with self.code.units() as row:
            yield row, self.line("x", row)

    def each(
        self,
        visit: Callable[[int, Value, Value | None], None],
        beside: int = _BESIDE,
        size: Value | None = None,
    ) -> None:
        """Visit the vectors of a row, or of so much of one: the one of some side by side it is, the
        index it begins at, and a mask if the row ends within."""
        order = cycle(range(beside))

        def visit_all(places: list[Value], mask: Value | None) -> None:
            for at in places:
                visit(next(order), at, mask)

        self.code.vectors(self.zero, self.size if size is None else size, beside, visit_all)

    def seen(self, row: Value, at: Value, mask: Value | None, otherwise: float = 0.0) -> Value:
        """A vector of a row."""
        place = self.code.at(row, at, self.stored)
        if self.is_short:
            seen = self.code.load_if(self.stored.of_lanes(LANES), place, mask)
            return taken_from(self.letter, seen)
        return self.code.load_if(self.vector, place, mask, otherwise)

    def keep(self, made: Value, row: Value, at: Value, mask: Value | None) -> None:
        """Write a vector of a row."""
        if self.is_short:
            made = stored_as(self.letter, rounded(self.letter, made))
        self.code.store_if(made, self.code.at(row, at, self.stored), mask)

    def mapped(self, goal: Value, compute: Callable[[Value, Value | None], Value]) -> None:
        """Write what is computed of each vector to a row."""
        self.each(lambda place, at, mask: self.keep(compute(at, mask), goal, at, mask))

    def total(
        self,
        compute: Callable[[Value, Value | None], Value],
        *,
        squared: bool = False,
        beside: int = WIDE_BESIDE,
        wide: bool = False,
        size: Value | None = None,
    ) -> Value:
        """The sum of what is computed of each vector of a row, or of so much of one, or of its
        squares, as float64; what is of 16-bit floats is added up as `folds` does it, if not as that
        of others, `wide`."""
        code = self.code
        if self.is_short and not wide:
            return self._total_in_runs(compute, squared=squared)
        sums = begun(code, DOUBLES, 0.0, WIDE_BESIDE)

        def add(place: int, at: Value, mask: Value | None) -> None:
            made = compute(at, mask)
            if mask is not None:
                made = code.choose(mask, made, 0.0)
            made = as_kind(made, DOUBLES)
            total = sums[place % WIDE_BESIDE]
            total.set(code.multiply_add(made, made, total.now) if squared else total.now + made)

        self.each(add, beside, size)
        return folded(sums, add_up)

    def _total_in_runs(
        self, compute: Callable[[Value, Value | None], Value], *, squared: bool
    ) -> Value:
        code, joining = self.code, Joining(self.code, "total", self.letter)
        lanes, order = joining.begun(), cycle(range(joining.beside))

        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                made, lane = compute(at, mask), lanes[next(order)]
                made = made if mask is None else code.choose(mask, made, 0.0)
                more = code.multiply_add(made, made, lane.now) if squared else lane.now + made
                lane.set(more)

        (total,) = folds_of_row([(joining, lanes)], self.size, visit)
        return total

    def largest(self, row: Value) -> Value:
        """The largest of a row but for NaN."""
        best = begun(self.code, self.vector, -inf, _BESIDE)

        def compare(place: int, at: Value, mask: Value | None) -> None:
            best[place].set(_larger(best[place].now, self.seen(row, at, mask, -inf)))

        self.each(compare)
        return folded(best, _larger)

    def text(self) -> str:
        """The text of the kernel."""
        places = [(POINTER, name) for name in self.places]
        counts = [(INT64, name) for name in self.counts]
        return self.code.kernel("rows", [(INT64, "size"), (DOUBLE, "number"), *places, *counts])


def _larger(known: Value, seen: Value) -> Value:
    return seen.code.choose(seen > known, seen, known)


def powers_of(rows: Rows, row: Value, top: Value, goal: Value | None = None) -> Value:
    """The sum of `e ** (x - top)`, each of which is kept in another row if there is one.

    A NaN makes all of it NaN, so the top need not.
    """
    shift = rows.code.spread(top)

    def power(at: Value, mask: Value | None) -> Value:
        made = exp(rows.seen(row, at, mask) - shift)
        if goal is not None:
            rows.keep(made, goal, at, mask)
        return made

    return rows.total(power, beside=_BESIDE)  # which hides how long each takes


def _softmax(rows: Rows) -> None:
    with rows.rows() as (index, row):
        out = rows.place("out", index * rows.size)
        total = powers_of(rows, row, rows.largest(row), out)
        scale = rows.code.spread(rows.narrow(1.0 / total))
        rows.mapped(out, lambda at, mask: rows.seen(out, at, mask) * scale)


def _log_softmax(rows: Rows) -> None:
    code = rows.code
    with rows.rows() as (index, row):
        top = rows.largest(row)
        total = powers_of(rows, row, top)
        shift, above = code.spread(log(rows.narrow(total))), code.spread(top)
        out = rows.place("out", index * rows.size)
        rows.mapped(out, lambda at, mask: rows.seen(row, at, mask) - above - shift)


def _logsumexp(rows: Rows) -> None:
    code = rows.code
    with rows.rows() as (index, row):
        top = rows.largest(row)
        shift = code.choose(code.absolute(top).equals(inf), 0.0, top)
        total = powers_of(rows, row, shift)
        made = log(rows.narrow(total)) + shift
        code.store(made, rows.place("out", index))


def squares_of(rows: Rows, row: Value, mean: Value) -> Value:
    """The sum of squared distances from a mean."""
    middle = rows.code.spread(rows.narrow(mean) if rows.is_short else mean)

    return rows.total(
        lambda at, mask: as_kind(rows.seen(row, at, mask), middle.kind) - middle,
        squared=True,
    )


def _moments(rows: Rows) -> None:
    with rows.rows() as (index, row):
        mean = mean_of(rows, row)
        rows.code.store(mean, rows.place("mean", index, DOUBLE))
        rows.code.store(squares_of(rows, row, mean), rows.place("squares", index, DOUBLE))


def _variance(rows: Rows, *, of_root: bool) -> None:
    """The number that rows are given is what sums of squares are divided by."""
    code = rows.code
    with rows.rows() as (index, row):
        made = squares_of(rows, row, mean_of(rows, row)) / rows.number
        if of_root:
            made = code.call("llvm.sqrt.f64", DOUBLE, [made])
        code.store(rows.narrow(made), rows.place("out", index))


def mean_of(rows: Rows, row: Value) -> Value:
    """The mean of a row, as float64."""
    count = rows.size.converted("sitofp", DOUBLE)
    return rows.total(lambda at, mask: rows.seen(row, at, mask)) / count


def level_of(rows: Rows, row: Value) -> tuple[Value, Value]:
    """The mean of a row, and the factor that brings its variance and the number to 1."""
    count = rows.size.converted("sitofp", DOUBLE)
    mean = mean_of(rows, row)
    spread = squares_of(rows, row, mean) / count + rows.number
    factor = 1.0 / rows.code.call("llvm.sqrt.f64", DOUBLE, [spread])
    return rows.narrow(mean), rows.narrow(factor)


def _normal(rows: Rows, index: Value, row: Value) -> tuple[Value, Value]:
    """The mean of a row and the factor that brings its variance to 1, in all lanes; they are kept
    as well."""
    code = rows.code
    near, factor = level_of(rows, row)
    code.store(near, rows.place("mean", index))
    code.store(factor, rows.place("scale", index))
    return code.spread(near), code.spread(factor)


def _group_norm(rows: Rows) -> None:
    """A row is some channels of so much `space`; there are so many `groups` of them."""
    code = rows.code
    space, groups = (code.argument(INT64, name) for name in ("space", "groups"))
    with rows.rows() as (index, row):
        middle, factors = _normal(rows, index, row)
        _, group = code.split(index, groups)
        out, count = rows.place("out", index * rows.size), rows.size / space
        with code.counted(rows.zero, count) as channel:
            weight, bias = (
                code.spread(code.load(rows.element, rows.place(name, group * count + channel)))
                for name in ("weight", "bias")
            )
            first = channel * space

            def visit(places: list[Value], mask: Value | None, first: Value = first) -> None:
                for at in places:
                    made = (rows.seen(row, first + at, mask) - middle) * factors
                    rows.keep(made * weight + bias, out, first + at, mask)

            code.vectors(rows.zero, space, _BESIDE, visit)


def _layer_norm(rows: Rows, *, scaled: bool) -> None:
    """Of 16-bit floats products and sums are fused, as PyTorch has them."""
    code = rows.code
    with rows.rows() as (index, row):
        middle, factors = _normal(rows, index, row)
        shift = -(middle * factors) if rows.is_short else middle

        def normal(at: Value, mask: Value | None) -> Value:
            seen = rows.seen(row, at, mask)
            if rows.is_short:
                made = code.multiply_add(seen, factors, shift)
            else:
                made = (seen - middle) * factors
            if not scaled:
                return made
            places = (rows.place(name, at) for name in ("weight", "bias"))
            weight, bias = (code.load_if(rows.vector, place, mask) for place in places)
            if rows.is_short:
                return code.multiply_add(made, weight, bias)
            return made * weight + bias

        rows.mapped(rows.line("out", index), normal)


def _rms_norm(rows: Rows) -> None:
    code = rows.code
    with rows.rows() as (index, row):
        count = rows.size.converted("sitofp", DOUBLE)
        mean = squares_of(rows, row, code.constant(DOUBLE, 0.0)) / count
        square = rows.narrow(mean) + rows.narrow(rows.number)
        factor = 1.0 / code.call(f"llvm.sqrt.{square.kind.suffix}", square.kind, [square])
        code.store(factor, rows.place("scale", index))
        factors, weight = code.spread(factor), rows.place("weight", rows.zero)

        def scaled(at: Value, mask: Value | None) -> Value:
            return rows.seen(row, at, mask) * factors * rows.seen(weight, at, mask)

        rows.mapped(rows.place("out", index * rows.size), scaled)


_PROGRAMS: Final[dict[str, tuple[Callable[[Rows], None], tuple[str, ...]]]] = {
    "softmax": (_softmax, ("x", "out")),
    "log_softmax": (_log_softmax, ("x", "out")),
    "logsumexp": (_logsumexp, ("x", "out")),
    "moments": (_moments, ("x", "mean", "squares")),
    "variance": (lambda rows: _variance(rows, of_root=False), ("x", "out")),
    "deviation": (lambda rows: _variance(rows, of_root=True), ("x", "out")),
    "rms_norm": (_rms_norm, ("x", "out", "scale", "weight")),
    "group_norm": (_group_norm, ("x", "out", "mean", "scale", "weight", "bias")),
    "normalized": (
        lambda rows: _layer_norm(rows, scaled=False),
        ("x", "out", "mean", "scale"),
    ),
    "layer_norm": (
        lambda rows: _layer_norm(rows, scaled=True),
        ("x", "out", "mean", "scale", "weight", "bias"),
    ),
}
"""What each kernel does, and the arrays it takes."""
_COUNTS: Final = {"group_norm": ("space", "groups")}
"""The sizes that some take as well."""


@cache
def row_kernel(name: str, letter: str = "f") -> int:
    """A kernel, of float32 or float64 (`d`), layer norms of 16-bit floats too; it takes a number as
    well: the epsilon of norms."""
    return kernel_of_rows(name, *_PROGRAMS[name], letter, _COUNTS.get(name, ()))


def kernel_of_rows(
    name: str,
    program: Callable[[Rows], None],
    places: tuple[str, ...],
    letter: str = "f",
    counts: tuple[str, ...] = (),
) -> int:
    """The kernel of a program that takes some arrays, and sizes; it takes a number too."""

    def text(target: Target) -> str:
        rows = Rows(target, places, letter, counts)
        program(rows)
        return rows.text()

    return kernel("rows", (name,) if letter == "f" else (name, letter), text)
