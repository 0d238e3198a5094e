"""Expressions over arrays: one pass over all operands, a vector at a time.

An `Expression` is a list of steps, each a formula of operands and of earlier steps.  Sizes and
strides are told when a kernel is called; what it is made for is how each operand lies along the
innermost dimension (`PLACES`) and how many dimensions are left where those are joined that lie in
one piece in all operands.  Results lie in one piece, in the order the kernel goes.

A kernel takes the address of 64-bit numbers: the sizes, innermost first, and the strides of each
array in bytes, in the same order; then the operands, numbers as such, and the results.  Its range
is one of elements, or of rows where an operand is `strided` in several dimensions: then blocks of
rows and columns are worked on together, so that what shares a line of the cache is near in time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from . import arithmetic, scalars  # noqa: F401  (which fill the table)
from .formulas import FORMULAS, KINDS, as_kind
from .objects import is_kept, kernel
from .target import Target
from .text import BYTE, DOUBLE, INT64, LANES, POINTER, Code, Kind, Value

__all__ = [
    *("NUMBER_LETTERS", "PLACES", "Expression", "Step", "expression_kernel", "goes_by_rows"),
    *("is_at_hand", "module_text", "shown"),
]

PLACES: Final = "csrk"
"""How an operand lies: in one piece along the innermost dimension, strided there, the same along a
row, the same everywhere."""

NUMBER_LETTERS: Final = {"D": DOUBLE, "L": INT64}
"""Operands that are numbers of Python's, given as such."""

_TILE_ROWS: Final = 16
_TILE_COLUMNS: Final = 2 * LANES
_SHORT: Final = 3
"""Steps of an expression of which two vectors are worked on side by side."""


class Step(NamedTuple):
    """A formula, the dtype it computes in, and the numbers of its operands: those of the
    expression come first, then the steps."""

    formula: str
    letter: str
    operands: tuple[int, ...]

    def letter_at(self, place: int) -> str:
        """The dtype in which an operand is taken."""
        return "?" if place in FORMULAS[self.formula].masks else self.letter


class Expression(NamedTuple):
    """The dtypes of operands, the steps, and the results: numbers of steps, and their dtypes."""

    operands: str
    steps: tuple[Step, ...]
    results: tuple[tuple[int, str], ...]


def goes_by_rows(places: str, rank: int) -> bool:
    """Whether a kernel's range is one of rows."""
    return rank > 1 and "s" in places


def expression_kernel(expression: Expression, places: str, rank: int) -> int:
    """The kernel of an expression; `places` has a letter for each operand."""
    parameters = (shown(expression), places, rank)
    return kernel(_NAME, parameters, lambda target: module_text(target, expression, places, rank))


def is_at_hand(expression: Expression, places: str, rank: int) -> bool:
    """Whether the kernel of an expression need not be compiled."""
    return is_kept(_NAME, (shown(expression), places, rank))


_NAME: Final = "expression"


def shown(expression: Expression) -> str:
    """An expression as a word that tells it from all others."""
    steps = (
        f"{step.formula}:{step.letter}({','.join(map(str, step.operands))})"
        for step in expression.steps
    )
    results = (f"{number}{letter}" for number, letter in expression.results)
    return f"{expression.operands} {';'.join(steps)} {','.join(results)}"


def module_text(target: Target, expression: Expression, places: str, rank: int) -> str:
    """What `expression_kernel` compiles."""
    return _Loops(target, expression, places, rank).text()


class _Loops:
    """The writing of one kernel."""

    def __init__(self, target: Target, expression: Expression, places: str, rank: int) -> None:
        self.code = code = Code(target)
        self._expression, self._places, self._rank = expression, places, rank
        self._start, self._stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
        self._zero = code.constant(INT64, 0)
        self._words: list[tuple[Kind, str]] = [(POINTER, "geometry")]
        self._words += [
            (NUMBER_LETTERS.get(letter, POINTER), f"a{index}")
            for index, letter in enumerate(expression.operands)
        ]
        self._words += [(POINTER, f"r{index}") for index in range(len(expression.results))]
        self._same: dict[tuple[int, str], Value] = {}

    def text(self) -> str:
        self._find_sizes()
        self._spread("k", {})
        if goes_by_rows(self._places, self._rank):
            self._by_tiles()
        elif self._rank == 1:
            self._row(self._addresses(self._zero), self._zero, self._start, self._stop)
        else:
            self._by_elements()
        return self.code.kernel(_NAME, self._words)

    # ---------------------------------------------------------------------------------- the way

    def _find_sizes(self) -> None:
        """The sizes, and the strides of what has a place."""
        code = self.code
        geometry = code.argument(POINTER, "geometry")
        words = (code.load(INT64, code.at(geometry, i, INT64)) for i in range(1 << 30))
        self._sizes = [next(words) for _ in range(self._rank)]
        self._strides = {
            index: [next(words) for _ in range(self._rank)]
            for index, place in enumerate(self._places)
            if place != "k"
        }

    def _addresses(self, row: Value) -> dict[int, Value]:
        """Where a row of each operand begins."""
        code, places = self.code, []
        for size in self._sizes[1:-1]:
            places.append(code.let(INT64, f"urem i64 {row.name}, {size.name}"))
            row = code.let(INT64, f"udiv i64 {row.name}, {size.name}")
        places.append(row)
        found = {}
        for index, strides in self._strides.items():
            address = code.argument(POINTER, f"a{index}")
            for place, stride in zip(places, strides[1:], strict=False):
                address = code.at(address, place * stride, BYTE)
            found[index] = address
        return found

    def _by_elements(self) -> None:
        code, size = self.code, self._sizes[0]
        first = code.let(INT64, f"udiv i64 {self._start.name}, {size.name}")
        beyond = code.let(INT64, f"udiv i64 {(self._stop + (size - 1)).name}, {size.name}")
        with code.counted(first, beyond) as row:
            begins = row * size
            low, high = self._start - begins, self._stop - begins
            low = code.choose(low < 0, self._zero, low)
            high = code.choose(high < size, high, size)
            self._row(self._addresses(row), begins, low, high)

    def _by_tiles(self) -> None:
        code, size = self.code, self._sizes[0]
        with code.counted(self._start, self._stop, _TILE_ROWS) as first:
            beyond = _smaller(first + _TILE_ROWS, self._stop)
            with (
                code.counted(self._zero, size, _TILE_COLUMNS) as low,
                code.counted(first, beyond) as row,
            ):
                high = _smaller(low + _TILE_COLUMNS, size)
                self._row(self._addresses(row), row * size, low, high)

    def _row(self, addresses: dict[int, Value], begins: Value, low: Value, high: Value) -> None:
        """A part of a row, whose first element has the number `begins` in the results."""
        code = self.code
        with self._kept():
            self._spread("r", addresses)

            def visit(columns: list[Value], mask: Value | None) -> None:
                for at in columns:
                    self._compute(addresses, begins, at, mask)

            code.vectors(low, high, 2 if len(self._expression.steps) <= _SHORT else 1, visit)

    # ------------------------------------------------------------------------------ one vector

    @contextmanager
    def _kept(self) -> Iterator[None]:
        before = dict(self._same)
        yield
        self._same = before

    def _spread(self, place: str, addresses: dict[int, Value]) -> None:
        """Take the operands that are the same from here on, in the dtypes that are wanted."""
        code = self.code
        for index, letter in self._wanted():
            if self._places[index] != place:
                continue
            own = self._expression.operands[index]
            if own in NUMBER_LETTERS:
                one = code.argument(NUMBER_LETTERS[own], f"a{index}")
            else:
                address = addresses.get(index, code.argument(POINTER, f"a{index}"))
                one = self._seen(own, code.load(_stored(KINDS[own]), address))
            self._same[index, letter] = code.spread(as_kind(one, KINDS[letter]))

    def _wanted(self) -> list[tuple[int, str]]:
        count = len(self._expression.operands)
        found = {
            (number, step.letter_at(place)): None
            for step in self._expression.steps
            for place, number in enumerate(step.operands)
            if number < count
        }
        return list(found)

    def _compute(
        self, addresses: dict[int, Value], begins: Value, at: Value, mask: Value | None
    ) -> None:
        code, count = self.code, len(self._expression.operands)
        taken, made = dict(self._same), list[Value]()

        def operand(number: int, letter: str) -> Value:
            if (number, letter) not in taken:
                kind = KINDS[letter].of_lanes(LANES)
                if number >= count:
                    value = made[number - count]
                elif (number, "") in taken:
                    value = taken[number, ""]
                else:
                    value = taken[number, ""] = self._loaded(number, addresses[number], at, mask)
                taken[number, letter] = as_kind(value, kind)
            return taken[number, letter]

        for step in self._expression.steps:
            given = (operand(n, step.letter_at(place)) for place, n in enumerate(step.operands))
            made.append(FORMULAS[step.formula].compute(*given))
        for index, (number, letter) in enumerate(self._expression.results):
            value = as_kind(made[number], KINDS[letter].of_lanes(LANES))
            if value.kind.element == "i1":
                value = value.converted("zext", BYTE.of_lanes(LANES))
            element = value.kind.of_lanes(0)
            result = code.at(code.argument(POINTER, f"r{index}"), begins + at, element)
            code.store_if(value, result, mask)

    def _loaded(self, index: int, row: Value, at: Value, mask: Value | None) -> Value:
        """The vector of an operand that begins at a column."""
        code, letter = self.code, self._expression.operands[index]
        stored = _stored(KINDS[letter])
        kind = stored.of_lanes(LANES)
        if self._places[index] == "c":
            return self._seen(letter, code.load_if(kind, code.at(row, at, stored), mask))
        stride = self._strides[index][0]
        steps = code.order(INT64.of_lanes(LANES)) * code.spread(stride)
        first = code.at(row, at * stride, BYTE)
        return self._seen(letter, code.gathered(kind, first, steps, mask))

    def _seen(self, letter: str, stored: Value) -> Value:
        """What a stored value means: bools are bytes in memory."""
        return stored.differs(0) if letter == "?" else stored


def _stored(kind: Kind) -> Kind:
    return BYTE if kind.element == "i1" else kind


def _smaller(one: Value, other: Value) -> Value:
    return one.code.choose(one < other, one, other)
