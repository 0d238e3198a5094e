"""Sums, products, extremes and sums of squares over neighbouring dimensions of contiguous arrays.

Floats are multiplied in their own dtype.  A row is folded in 64 lanes, or in 32 of numbers of 64
bits, that meet in a fixed order; one of more than `PIECE` elements in pieces, whose results are
folded in turn.  Rows of up to 16 elements are folded a vector of rows at a time, in the same order.
Columns are folded from the first row to the last; where there are fewer of them than lanes, 16 rows
at a time, in pieces of `PIECE_ROWS`.  So a result depends on nothing but its elements and the
sizes.

Floats of 32 bits and less are added up in float32, but in short runs, whose sums are added up in
float64: at most `RUN_STEPS` numbers in a lane come after each other there, `RUN_ROWS` in a column.
Squares, and rows of up to 16 elements, are in float64 from the first one on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import cycle
from math import nan, prod
from operator import add as add_up
from typing import Final

import numpy as np

from ....memory.dtype import Array, Dtype
from ..calls.run import run
from ..elementwise.arrays import LETTERS
from ..functions.formulas import (
    HALVES,
    KINDS,
    as_kind,
    rounded,
    stored_as,
    stored_kind,
    taken_from,
    width_of,
)
from ..language.columns import columns
from ..language.lanes import DOUBLES, WIDE_BESIDE, begun, folded, together
from ..language.target import Target
from ..language.text import DOUBLE, FLOATS, INT64, LANES, POINTER, Code, Value, Variable
from ..loading.objects import kernel
from .along import strip_count, strips

__all__ = [
    *("PIECE", "PIECE_ROWS", "Joining", "dot", "fold", "fold_lines", "folds_of_row"),
    *("folds_text", "rows_added"),
]

PIECE: Final = 1 << 15
PIECE_ROWS: Final = 1 << 11
RUN_STEPS: Final = 8
RUN_ROWS: Final = 16
_PER_THREAD: Final = 1 << 15
"""Elements that are worth another thread."""
_BESIDE: Final = 4
"""Vectors of 32-bit lanes that are worked on side by side."""
_DTYPES: Final = {
    **{"f": np.float32, "d": np.float64, "l": np.int64, "i": np.int32},
    **{"h": np.int16, "b": np.int8, "B": np.uint8},
}
_BYTES: Final = {"f": 4, "d": 8, "l": 8, "i": 4, "b": 1, "B": 1, "?": 1}
_LYING: Final = ("lines", "pitch", "far")
_FLOATS: Final = "fdeE"
_WHOLE: Final = "bhilB?"
_SUMS: Final = ("sum", "present", "total", "products")
_ADDED: Final = (*_SUMS, "squares")
_EXTREMES: Final = ("max", "min")


def fold(
    x: Array,
    first: int,
    last: int,
    operation: str,
    number: float = 0.0,
    *,
    wide: bool = False,
    flag: Array | None = None,
) -> Array | None:
    """A contiguous array without its dimensions from `first` to before `last`, none of them empty.

    The operations: "sum", "product", "max", "min" (NaN if there is one), in the dtype of x, sums
    and products of whole numbers and bools in int64, of 16-bit floats in float32 if `wide`;
    "present", the sum of floats but for NaN; in float64 "total", the sum of floats, and "squares",
    that of squared distances from a number.
    None for dtypes that there is no such thing of.  A single sum in int64 may be a `flag`.
    """
    x = x[...]  # which no other thread can change
    letter = LETTERS[x.dtype]
    shape = x.shape
    outer, count, inner = prod(shape[:first]), prod(shape[first:last]), prod(shape[last:])
    made = _result(operation, letter, wide=wide)
    if not made or not count:
        return None
    out = flag
    if out is None:
        out = np.empty(shape[:first] + shape[last:], _DTYPES.get(made, x.dtype))
    if not out.size:  # another dimension is empty: there is nothing to write to
        return out
    form = operation, letter, made
    if inner >= LANES:
        _fold_columns(form, x, out, (outer, count, inner), number)
    elif inner > 1:
        _fold_few_columns(form, x, out, (outer, count, inner), number)
    else:
        _fold_rows(form, (number, x), out, (outer, count))
    return out


def fold_lines(x: Array, operation: str, *, wide: bool = False) -> Array | None:
    """The same of each row of matrices, whose rows lie in one piece, but neither rows nor matrices
    beside each other."""
    x = x[...]  # which no other thread can change
    letter, (outer, lines, count) = LETTERS[x.dtype], x.shape
    made = _result(operation, letter, wide=wide)
    if not made or count <= LANES or not outer * lines or x.strides[2] != x.itemsize:
        return None
    out = np.empty(outer * lines, _DTYPES.get(made, x.dtype))
    far, pitch = (step // x.itemsize for step in x.strides[:2])
    form = operation, letter, made
    _fold_rows(form, (0.0, x), out, (outer * lines, count), (lines, pitch, far))
    return out


def dot(x: Array, y: Array) -> Array | None:
    """The sum of the products of two contiguous vectors of one size, 0-d; None where they are of
    dtypes, or one of them of another one, that there is no such thing of."""
    x, y = x[...], y[...]  # which no other thread can change
    letter = LETTERS[x.dtype]
    if not letter or letter not in _FLOATS or LETTERS[y.dtype] != letter or not x.size:
        return None
    out = np.empty((), x.dtype)
    _fold_rows(("products", letter, letter), (0.0, x, y), out, (1, x.size))
    return out


def rows_added(x: Array, dtype: Dtype) -> Array | None:
    """The sum of the rows of a matrix of float32 or that dtype from the first one to the last,
    rounded to 16 bits after each; None where the dtype has no letter."""
    x = x[...]
    own, letter = LETTERS[x.dtype], LETTERS[dtype]
    fits = letter and letter in HALVES and own in ("f", letter)
    if not fits or not x.size or not x.flags.c_contiguous:
        return None
    rows, inner = x.shape
    out = np.empty(inner, dtype)
    _fold_columns(("stepwise", own, letter), x, out, (1, rows, inner), 0.0)
    return out


_Form = tuple[str, str, str]
"""An operation, the letters of what is folded and of what is made."""


def _fold_columns(
    form: _Form, x: Array, out: object, sizes: tuple[int, int, int], number: float
) -> None:
    outer, count, inner = sizes
    units = strip_count(outer, inner)
    least = _PER_THREAD * units // max(1, x.size) + 1
    run(_kernel("columns", *form), units, least, count, inner, number, x, out)


def _fold_few_columns(
    form: _Form, x: object, out: Array, sizes: tuple[int, int, int], number: float
) -> None:
    outer, count, inner = sizes
    each = -(-count // PIECE_ROWS)
    operation, letter, made = form
    if each > 1:
        between = _wide(operation, letter)
        parts: Array = np.empty((outer, each, inner), _DTYPES[between])
    else:
        between, parts = made, out
    folding = _kernel("few", operation, letter, between, inner)
    least = _PER_THREAD // (min(count, PIECE_ROWS) * inner) + 1
    run(folding, outer * each, least, count, each, number, x, parts)
    if each > 1:
        again = "sum" if operation in _ADDED else operation
        _fold_few_columns((again, between, made), parts, out, (outer, each, inner), 0.0)


def _fold_rows(
    form: _Form,
    given: tuple[object, ...],
    out: Array,
    sizes: tuple[int, int],
    lying: tuple[int, int, int] | None = None,
) -> None:
    """Fold rows; a number and arrays are given.

    Where rows do not follow each other it is told how many lines a matrix has, how far one is
    behind the other, and how far matrices are.
    """
    outer, count = sizes
    lines, pitch, far = lying or (outer, count, 0)
    operation, letter, made = form
    if count <= LANES and operation != "products":
        folding = _kernel("short", *form, count)
        run(folding, outer, _PER_THREAD // count + 1, count, 1, *given, out)
        return
    each = -(-count // PIECE)
    if each > 1:
        between = _wide(operation, letter)
        parts: Array = np.empty((outer, each), _DTYPES[between])
    else:
        between, parts = made, out
    units = outer * each
    folding = _kernel("rows", operation, letter, between)
    least = _PER_THREAD // min(count, PIECE) + 1
    run(folding, units, least, count, each, lines, pitch, far, *given, parts)
    if each > 1:
        again = "sum" if operation in _ADDED else operation
        folding = _kernel("rows", again, between, made)
        run(folding, outer, outer + 1, each, 1, outer, each, 0, 0.0, parts, out)


def _wide(operation: str, letter: str) -> str:
    """The letter of the dtype that is folded in."""
    if letter in _WHOLE:
        return letter if operation in _EXTREMES and letter != "?" else "l"
    if letter == "d":
        return "d"
    return "d" if operation in _ADDED else "f"


def _result(operation: str, letter: str, *, wide: bool) -> str:
    """The letter of what is made; none if there is no such thing."""
    if letter and letter in _FLOATS:
        if operation in ("total", "squares"):
            return "d"
        return "f" if wide and letter in HALVES else letter
    if not letter or operation in ("present", "squares"):
        return ""
    if operation in _EXTREMES and letter != "?":
        return letter
    return "l" if letter == "l" or operation in ("sum", "total", "product") else ""


@cache
def _kernel(form: str, operation: str, letter: str, made: str, size: int = 0) -> int:
    key = (form, operation, letter, made, size)
    return kernel("fold", key, lambda target: folds_text(target, *key))


def folds_text(
    target: Target, form: str, operation: str, letter: str, made: str, size: int = 0
) -> str:
    """The module of a kernel over the pieces of rows or of few columns, the strips of columns, or
    rows of a size."""
    folding = _Fold(target, operation, letter, made, short=form == "short")
    if form == "rows":
        folding.rows()
    elif form == "short":
        folding.short_rows(size)
    elif form == "few":
        folding.few_columns(size)
    else:
        folding.columns()
    second = "inner" if form == "columns" else "each"
    places = [(POINTER, name) for name in ("x", *("y" * (operation == "products")), "out")]
    counts = ["count", second, *(_LYING if form == "rows" else ())]
    words = [*((INT64, name) for name in counts), (DOUBLE, "number"), *places]
    return folding.code.kernel("fold", words)


class _Extreme(Variable):
    """The lanes of an extreme of floats: the best number, and NaN where there was one."""

    def __init__(self, joining: Joining) -> None:
        code = joining.code
        self.best, self.odd = (
            code.variable(code.constant(joining.wide, start)) for start in (joining.start, 0.0)
        )
        self._joining = joining

    @property
    def now(self) -> Value:
        odd = self.odd.now
        return self._joining.code.choose(odd.is_nan(), odd, self.best.now)

    def take(self, seen: Value) -> None:
        """Compare with a vector more."""
        self.best.set(self._joining.better(self.best.now, seen))
        self.odd.set(self._joining.code.choose(seen.is_nan(), seen, self.odd.now))


class Joining:
    """How an operation folds numbers of a dtype: in lanes of a kind that begin with `start`, so
    many vectors of them `beside` each other; what is `in_runs` begins anew after a few steps, and
    the sums of these are added up in `totals`.  Short rows are not."""

    def __init__(self, code: Code, operation: str, letter: str, *, short: bool = False) -> None:
        self.code, self.operation, self.letter = code, operation, letter
        made = _wide(operation, letter)
        self.in_runs = operation in _SUMS and made == "d" != letter and not short
        self.wide = wide = FLOATS if self.in_runs else KINDS[made].of_lanes(LANES)
        low, high = -float("inf"), float("inf")
        if not wide.is_real:
            bits = width_of(wide) - (not wide.unsigned)
            low, high = 0 if wide.unsigned else -(1 << bits), (1 << bits) - 1
        self.start = {"product": 1, "max": low, "min": high}.get(operation, 0)
        self.beside = WIDE_BESIDE if wide.element in ("double", "i64") else _BESIDE

    @property
    def run(self) -> int:
        """How many elements of a row are a run."""
        return RUN_STEPS * self.beside * LANES

    def begun(self, count: int = 0) -> list[Variable]:
        """The lanes: so many vectors, or those that are side by side."""
        if self.operation in _EXTREMES and self.wide.is_real:
            return [_Extreme(self) for _ in range(count or self.beside)]
        return begun(self.code, self.wide, self.start, count or self.beside)

    def take(self, lane: Variable, seen: Value) -> None:
        """Fold a vector of the lanes' kind into one of them."""
        if isinstance(lane, _Extreme):
            lane.take(seen)
        else:
            lane.set(self.joined(lane.now, seen))

    def totals(self, count: int) -> list[Variable]:
        """What so many vectors of sums of runs are added to; none if there are no runs."""
        return begun(self.code, DOUBLES, 0.0, count) if self.in_runs else []

    def ends_run(self, lanes: Sequence[Variable], totals: Sequence[Variable]) -> None:
        """Add what is in the lanes to the totals, and begin anew: all lanes to the only total, or
        each to its own."""
        if not totals:
            return
        runs = [each.now for each in lanes]
        if len(totals) < len(runs):
            runs = [together(lanes, self.joined)]
        for run_sum, total in zip(runs, totals, strict=True):
            total.set(total.now + as_kind(run_sum, DOUBLES))
        for lane in lanes:
            lane.set(self.code.constant(self.wide, self.start))

    def result(self, lanes: Sequence[Variable]) -> Value:
        """All lanes as one number."""
        extremes = [each for each in lanes if isinstance(each, _Extreme)]
        if not extremes:
            return folded(lanes, self.joined)
        best = folded([each.best for each in extremes], self.better)
        odd = together([each.odd for each in extremes], add_up)
        return self.code.choose(self.code.any_of(odd.is_nan()), nan, best)

    def better(self, one: Value, other: Value) -> Value:
        """The larger, or the smaller, of numbers; what comes first of equal ones."""
        return self.code.choose(other > one if self.operation == "max" else other < one, other, one)

    def joined(self, one: Value, other: Value) -> Value:
        """Two results as one."""
        if self.operation in _ADDED:
            return one + other
        if self.operation == "product":
            return one * other
        return self.code.choose(other.is_nan(), other, self.better(one, other))


def folds_of_row(
    folds: Sequence[tuple[Joining, Sequence[Variable]]],
    size: Value,
    visit: Callable[[list[Value], Value | None], None],
) -> list[Value]:
    """Go through the vectors of a row of a size, which are visited as `Code.vectors` does; what
    folds with their lanes come to, which all are as many."""
    first, code = folds[0][0], size.code
    zero, totals = code.constant(INT64, 0), [joining.totals(1) for joining, _ in folds]
    if any(totals):
        with code.counted(zero, size, first.run) as at:
            code.vectors(at, code.lesser(at + first.run, size), first.beside, visit)
            for (joining, lanes), total in zip(folds, totals, strict=True):
                joining.ends_run(lanes, total)
    else:
        code.vectors(zero, size, first.beside, visit)
    return [
        joining.result(total or lanes)
        for (joining, lanes), total in zip(folds, totals, strict=True)
    ]


class _Fold(Joining):
    """The code of a kernel."""

    def __init__(
        self, target: Target, operation: str, letter: str, made: str, *, short: bool
    ) -> None:
        super().__init__(Code(target), operation, letter, short=short)
        code = self.code
        self.made = made
        self.count = code.argument(INT64, "count")
        self.zero = code.constant(INT64, 0)
        if operation == "squares":
            self.middle = code.spread(code.argument(DOUBLE, "number"))

    def address(self, name: str, index: Value) -> Value:
        """Where an element of an array is."""
        element = stored_kind(self.made if name == "out" else self.letter)
        return self.code.at(self.code.argument(POINTER, name), index, element)

    def step(self, total: Variable, index: Value, mask: Value | None) -> None:
        """Fold in the vector that begins at an index."""
        seen = self.seen("x", index, mask)
        if self.operation == "products":
            one, other = as_kind(seen, self.wide), as_kind(self.seen("y", index, mask), self.wide)
            total.set(self.code.multiply_add(one, other, total.now))
        elif self.operation in _EXTREMES:
            self.take(total, as_kind(seen, self.wide))
        else:
            total.set(self.with_seen(total.now, seen, mask))

    def seen(self, name: str, index: Value, mask: Value | None) -> Value:
        """The vector of an array that begins at an index; where it is masked out, what a fold
        begins with."""
        code, kind = self.code, stored_kind(self.letter).of_lanes(LANES)
        value = taken_from(self.letter, code.load_if(kind, self.address(name, index), mask))
        return value if mask is None else self.held(value, mask)

    def held(self, value: Value, mask: Value) -> Value:
        """A vector where a mask is true, else what a fold begins with."""
        made = as_kind(value, self.wide)
        return self.code.choose(mask, made, self.start)

    def with_seen(self, total: Value, seen: Value, mask: Value | None) -> Value:
        """A vector of the array folded into another."""
        code = self.code
        seen = as_kind(seen, self.wide)
        if self.operation == "present":
            seen = code.choose(seen.is_nan(), 0.0, seen)
        if self.operation == "stepwise":
            return rounded(self.made, total + seen)
        if self.operation != "squares":
            return self.joined(total, seen)
        apart = seen - self.middle
        if mask is not None:
            apart = code.choose(mask, apart, 0.0)
        return code.multiply_add(apart, apart, total)

    def narrow(self, value: Value) -> Value:
        """As it is kept."""
        made = as_kind(value, KINDS[self.made].of_lanes(value.kind.lanes))
        return stored_as(self.made, rounded(self.made, made) if self.made in HALVES else made)

    def rows(self) -> None:
        """Fold each piece."""
        code, each = self.code, self.code.argument(INT64, "each")
        lines, pitch, far = (code.argument(INT64, name) for name in _LYING)
        with code.units() as piece:
            row = piece / each
            begin = (piece - row * each) * PIECE
            left = self.count - begin
            matrix, within = code.split(row, lines)
            line = matrix * far + within * pitch + begin
            lanes, order = self.begun(), cycle(range(self.beside))

            def visit(columns: list[Value], mask: Value | None, line: Value = line) -> None:
                for at in columns:
                    self.step(lanes[next(order)], line + at, mask)

            size = code.choose(left > PIECE, PIECE, left)
            (made,) = folds_of_row([(self, lanes)], size, visit)
            code.store(self.narrow(made), self.address("out", piece))

    def short_rows(self, size: int) -> None:
        """Fold rows of so many elements, each in a lane of its own."""
        code, half = self.code, LANES // 2
        start = code.constant(self.wide, self.start)

        def visit(rows: list[Value], mask: Value | None) -> None:
            for row in rows:
                seen = self.elements(row, size, mask)
                left = [self.with_seen(start, each, None) for each in seen]
                step = half
                while step:
                    pairs = zip(left, left[step:], strict=False)
                    left[: max(0, len(left) - step)] = [self.joined(*pair) for pair in pairs]
                    left, step = left[:step], step // 2
                code.store_if(self.narrow(left[0]), self.address("out", row), mask)

        code.vectors(code.argument(INT64, "start"), code.argument(INT64, "stop"), 1, visit)

    def elements(self, row: Value, size: int, mask: Value | None) -> list[Value]:
        """The first elements of rows from one on, their second ones, and so on."""
        code, element = self.code, stored_kind(self.letter)
        kind, first = element.of_lanes(LANES), self.address("x", row * size)
        if mask is None:
            found = columns(code, kind, first, size)
        else:
            steps = code.order(INT64.of_lanes(LANES)) * (size * _BYTES.get(self.letter, 2))
            places = (code.at(first, place, element) for place in range(size))
            found = [code.gathered(kind, place, steps, mask) for place in places]
        return [taken_from(self.letter, each) for each in found]

    def few_columns(self, size: int) -> None:
        """Fold the columns of each piece of rows of so many elements.

        Vectors go through so many rows as there are lanes, then the elements of one column are
        folded one after the other.
        """
        code, each = self.code, self.code.argument(INT64, "each")
        kind = DOUBLES if self.in_runs else self.wide
        first_lane, kept = kind.of_lanes(0), code.room(kind, size)
        with code.units() as piece:
            outer = piece / each
            begin = (piece - outer * each) * PIECE_ROWS
            left = self.count - begin
            rows = code.choose(left > PIECE_ROWS, PIECE_ROWS, left)
            line, end = (outer * self.count + begin) * size, rows * size
            lanes = self.begun(size)
            totals = self.totals(size)
            run = RUN_ROWS * LANES * size

            def fold(first: Value, whole: Value, line: Value = line) -> None:
                with code.counted(first, whole, LANES * size) as at:
                    for place, lane in enumerate(lanes):
                        self.step(lane, line + at + place * LANES, None)
                self.ends_run(lanes, totals)

            whole = (rows & -LANES) * size
            if totals:
                with code.counted(self.zero, whole, run) as at:
                    fold(at, code.lesser(at + run, whole))
            else:
                fold(self.zero, whole)
            with code.when(whole < end):
                for place, lane in enumerate(lanes):
                    at = whole + place * LANES
                    self.step(lane, line + at, code.first(end - at))
                self.ends_run(lanes, totals)
            for place, total in enumerate(totals or lanes):
                code.store(total.now, code.at(kept, place * LANES, first_lane))
            for column in range(size):
                made = code.load(first_lane, code.at(kept, column, first_lane))
                for row in range(1, LANES):
                    other = code.at(kept, row * size + column, first_lane)
                    made = self.joined(made, code.load(first_lane, other))
                code.store(self.narrow(made), self.address("out", piece * size + column))

    def columns(self) -> None:
        """Fold the columns of each strip."""
        code, inner = self.code, self.code.argument(INT64, "inner")
        with strips(code, inner) as (outer, first, end):

            def visit(columns: list[Value], mask: Value | None) -> None:
                lanes, totals = self.begun(len(columns)), self.totals(len(columns))

                def fold(first: Value, stop: Value) -> None:
                    with code.counted(first, stop) as i:
                        line = (outer * self.count + i) * inner
                        for at, lane in zip(columns, lanes, strict=True):
                            self.step(lane, line + at, mask)
                    self.ends_run(lanes, totals)

                if totals:
                    with code.counted(self.zero, self.count, RUN_ROWS) as i:
                        fold(i, code.lesser(i + RUN_ROWS, self.count))
                else:
                    fold(self.zero, self.count)
                for at, total in zip(columns, totals or lanes, strict=True):
                    goal = self.address("out", outer * inner + at)
                    code.store_if(self.narrow(total.now), goal, mask)

            code.vectors(first, end, self.beside, visit)
