"""Expressions over arrays: one pass over all operands, a vector at a time.

An `Expression` is a list of steps, each a formula of operands and of earlier steps.  Sizes and
strides are told when a kernel is called; what it is made for is how each operand lies along the
innermost dimension (`PLACES`) and how many dimensions are left where those are joined that lie in
one piece in all operands.  Results lie in one piece, in the order the kernel goes; a single one
may lie otherwise, and has a place then, behind those of the operands.

A kernel takes the address of 64-bit numbers: the sizes, innermost first, and the strides of each
array in bytes, in the same order; then the operands, numbers as such, and the results.  Its range
is one of elements, or of rows where an operand is `strided` in several dimensions: then blocks of
rows and columns are worked on together, so that what shares a line of the cache is near in time.

Where rows are short (`short`) two dimensions are gone through as one row, and a range is one of
short rows.  Their length stands behind the sizes then; operands that do not lie there as in one
dimension are `folded`, and have a stride more: that of the elements of a short row before the one
of short rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from ..functions import (  # noqa: F401  (which fill the table)
    angles,
    arithmetic,
    divisions,
    gammas,
    nearest,
    powers,
    scalars,
    slopes,
)
from ..functions.formulas import (
    FORMULAS,
    HALVES,
    KINDS,
    as_kind,
    rounded,
    stored_as,
    stored_kind,
    taken_from,
)
from ..language.target import Target
from ..language.text import BYTE, DOUBLE, INT64, LANES, POINTER, Code, Kind, Value
from ..language.tiles import turned
from ..loading.objects import is_kept, kernel
from .long_ones import is_long, lines_of, visited

__all__ = [
    *("NUMBER_LETTERS", "PLACES", "Expression", "Step", "expression_kernel", "goes_by_rows"),
    *("EVERY", "FOLDED", "SIZES", "TURNED", "is_at_hand", "is_folded", "module_text", "shown"),
]

PLACES: Final = "csrkbdtqmpf248xyz"
"""How an operand lies: in one piece along the innermost dimension, strided there, the same along a
row, the same everywhere; backwards, in one piece; every second, third or fourth element; strided,
but in one piece along the dimension around, so that squares of it are turned.  Folded
ones: each short row the same, of so many elements that a vector has whole ones; in any way; in
short rows of 2, 4 or 8 in one piece, or in so many rows of the other dimension in one piece."""

FOLDED: Final = "pf248xyz"
SIZES: Final = {"2": 2, "4": 4, "8": 8}
TURNED: Final = {"x": 2, "y": 4, "z": 8}
"""The elements of a short row of what lies so."""
EVERY: Final = {"d": 2, "t": 3, "q": 4}
"""The elements from one to the next of what lies so."""

_STRIDED: Final = frozenset("sdtqm")

NUMBER_LETTERS: Final = {"D": DOUBLE, "L": INT64}
"""Operands that are numbers of Python's, given as such."""

_TILE_ROWS: Final = 16
_TILE_COLUMNS: Final = 2 * LANES
_LINE: Final = 64
"""Bytes of a line of memory."""
_SHIFTS: Final = {"i16": 1, "float": 2, "i32": 2, "double": 3, "i64": 3}
"""Of what has several bytes, their number as a power of two."""
_LONG: Final = 1 << 10
"""Elements that are worth beginning where a line does."""
_SHORT: Final = 3
"""Steps of an expression of which two vectors are worked on side by side."""


class Step(NamedTuple):
    """A formula, the dtype it computes in, and the numbers of its operands: those of the
    expression come first, then the steps."""

    formula: str
    letter: str
    operands: tuple[int, ...]

    def letter_at(self, place: int, operands: str) -> str:
        """The dtype in which an operand is taken; `operands` are the dtypes of the expression's."""
        number = self.operands[place]
        is_number = number < len(operands) and operands[number] in NUMBER_LETTERS
        return FORMULAS[self.formula].letter_at(place, self.letter, is_number=is_number)

    def letters(self, operands: str) -> tuple[str, ...]:
        """The same of all operands."""
        return tuple([self.letter_at(place, operands) for place in range(len(self.operands))])


class Expression(NamedTuple):
    """The dtypes of operands, the steps, and the results: numbers of steps, and their dtypes."""

    operands: str
    steps: tuple[Step, ...]
    results: tuple[tuple[int, str], ...]


def goes_by_rows(places: str, rank: int) -> bool:
    """Whether a kernel's range is one of rows."""
    return rank > 1 and not _STRIDED.isdisjoint(places) and not is_folded(places)


def is_folded(places: str) -> bool:
    """Whether a kernel's range is one of short rows."""
    return any(place in FOLDED for place in places)


def expression_kernel(expression: Expression, places: str, rank: int) -> int:
    """The kernel of an expression; `places` has a letter for each operand, and one for a result
    that does not lie in one piece."""
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
        self._folds = is_folded(places)
        self._folding: dict[int, _Folded] = {}
        self._rooms = {
            index: code.room(stored_kind(expression.operands[index]), _TILE_ROWS * _TILE_COLUMNS)
            for index, place in enumerate(places)
            if place == "m"
        }

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
        self._short = next(words) if self._folds else self._zero
        self._strides, inner = dict[int, list[Value]](), dict[int, Value]()
        for index, place in enumerate(self._places):
            if place in FOLDED:
                inner[index] = next(words)
            if place != "k":
                self._strides[index] = [next(words) for _ in range(self._rank)]
        if self._folds:
            self._start, self._stop = self._start * self._short, self._stop * self._short
            self._lanes = lanes = _Lanes(code, self._short)
            steps = {index: self._strides[index][0] for index in inner}
            self._folding = {i: _Folded(lanes, inner[i], steps[i]) for i in inner}

    def _addresses(self, row: Value) -> dict[int, Value]:
        """Where a row of each operand begins."""
        code, places = self.code, []
        for size in self._sizes[1:-1]:
            places.append(code.let(INT64, f"urem i64 {row.name}, {size.name}"))
            row = code.let(INT64, f"udiv i64 {row.name}, {size.name}")
        places.append(row)
        found = {}
        for index, strides in self._strides.items():
            address = self._begin(index)
            for place, stride in zip(places, strides[1:], strict=False):
                address = code.at(address, place * stride, BYTE)
            found[index] = address
        return found

    def _begin(self, index: int) -> Value:
        """The address of the first element of what has a place."""
        count = len(self._expression.operands)
        name = f"a{index}" if index < count else f"r{index - count}"
        return self.code.argument(POINTER, name)

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
        code, first = self.code, self.code.variable(self._start)
        with code.repeated(lambda: first.now < self._stop):
            begin = first.now
            beyond = code.lesser(begin + _TILE_ROWS, self._stop)
            if self._rooms:  # whose squares reach no further than the dimension around
                rows, (_, row) = self._sizes[1], code.split(begin, self._sizes[1])
                beyond = code.lesser(beyond, begin + (rows - row))
            with code.counted(self._zero, self._sizes[0], _TILE_COLUMNS) as low:
                self._tile(begin, beyond, low)
            first.set(beyond)

    def _tile(self, first: Value, beyond: Value, low: Value) -> None:
        """Some rows from a column on."""
        code, size = self.code, self._sizes[0]
        high = code.lesser(low + _TILE_COLUMNS, size)
        if self._rooms:
            begins, count = self._addresses(first), beyond - first
            with code.counted(low, high, LANES) as at:
                for is_whole in (True, False):
                    with code.when(count.equals(_TILE_ROWS) if is_whole else count < _TILE_ROWS):
                        mask = None if is_whole else code.first(count)
                        for index in self._rooms:
                            self._turn(index, begins[index], (low, at, high), mask)
        with code.counted(first, beyond) as row:
            addresses = self._addresses(row)
            for index, room in self._rooms.items():
                kind = stored_kind(self._expression.operands[index])
                addresses[index] = code.at(room, (row - first) * _TILE_COLUMNS, kind)
            self._row(addresses, row * size, low, high)

    def _turn(
        self, index: int, begin: Value, columns: tuple[Value, Value, Value], mask: Value | None
    ) -> None:
        """Write a square of an operand by rows; the last column stands in for what is too many."""
        code, (low, at, high) = self.code, columns
        stored, stride = stored_kind(self._expression.operands[index]), self._strides[index][0]
        places = [code.lesser(at + lane, high - 1) for lane in range(LANES)]
        kind = stored.of_lanes(LANES)
        seen = [code.load_if(kind, code.at(begin, place * stride, BYTE), mask) for place in places]
        for number, line in enumerate(turned(code, seen)):
            goal = (at - low) + number * _TILE_COLUMNS
            code.store(line, code.at(self._rooms[index], goal, stored))

    def _row(self, addresses: dict[int, Value], begins: Value, low: Value, high: Value) -> None:
        """A part of a row, whose first element has the number `begins` in the results."""
        code = self.code
        if self._folds:
            addresses = self._of_short_rows(addresses, low)
        with self._kept():
            self._spread("r", addresses)
            self._spread("p", addresses)

            def visit(columns: list[Value], mask: Value | None) -> None:
                for at in columns:
                    self._compute(addresses, begins, at, low, mask)
                    if self._folds:
                        self._lanes.advance(self._folding.values())

            is_short = len(self._expression.steps) <= _SHORT
            if is_short and is_long(lines := self._lines()):
                return visited(code, low, high, lines, visit)
            is_whole = self._rank == 1 and not self._folds
            if is_short and is_whole and len(self._places) == len(self._expression.operands):
                low = self._lined_up(begins, low, high, visit)
            code.vectors(low, high, 2 if is_short else 1, visit)

    def _lines(self) -> int:
        """How many lines the longest formula takes."""
        target, operands = self.code.target, self._expression.operands
        steps = self._expression.steps
        return max(lines_of(target, step.formula, step.letters(operands)) for step in steps)

    def _lined_up(
        self,
        begins: Value,
        low: Value,
        high: Value,
        visit: Callable[[list[Value], Value | None], None],
    ) -> Value:
        """Where vectors of the first result begin that lie in no two lines of memory, with what is
        before visited: storing such ones takes twice as long."""
        code, kind = self.code, stored_kind(self._expression.results[0][1])
        shift = _SHIFTS.get(kind.element)
        if shift is None:  # memory begins where vectors of bytes do
            return low
        begin = code.at(code.argument(POINTER, "r0"), begins + low, kind)
        place = code.let(INT64, f"ptrtoint ptr {begin.name} to i64")
        before = (-place & (min(_LINE, LANES << shift) - 1)) >> shift
        first = code.variable(low)
        with code.when(high - low >= _LONG):
            visit([low], code.first(before))
            first.set(low + before)
        return first.now

    def _of_short_rows(self, addresses: dict[int, Value], low: Value) -> dict[int, Value]:
        """Where a range of a row begins in folded operands; in others the row does."""
        code = self.code
        self._lanes.begin(self._folding.values())
        rows = code.let(INT64, f"udiv i64 {low.name}, {self._short.name}")
        begun = {
            index: code.at(addresses[index], rows * self._strides[index][0], BYTE)
            for index in self._folding
        }
        return addresses | begun

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
            elif place == "p":
                kind = stored_kind(own).of_lanes(LANES)
                offsets = self._folding[index].first
                many = code.gathered(kind, addresses[index], offsets, None)
                self._same[index, letter] = _as_letter(taken_from(own, many), own, letter)
                continue
            else:
                address = addresses.get(index, code.argument(POINTER, f"a{index}"))
                one = taken_from(own, code.load(stored_kind(own), address))
            self._same[index, letter] = code.spread(_as_letter(one, own, letter))

    def _wanted(self) -> list[tuple[int, str]]:
        count = len(self._expression.operands)
        found = {
            pair: None
            for step in self._expression.steps
            for pair in zip(step.operands, step.letters(self._expression.operands), strict=True)
            if pair[0] < count
        }
        return list(found)

    def _compute(
        self,
        addresses: dict[int, Value],
        begins: Value,
        at: Value,
        low: Value,
        mask: Value | None,
    ) -> None:
        code, given_letters = self.code, self._expression.operands
        count, steps = len(given_letters), self._expression.steps
        taken, made = dict(self._same), list[Value]()

        def operand(number: int, letter: str) -> Value:
            if (number, letter) not in taken:
                if number >= count:
                    own, value = self._letter_of(number - count), made[number - count]
                    taken[number, letter] = _as_letter(value, own, letter)
                    return taken[number, letter]
                own = given_letters[number]
                if (number, "") in taken:
                    value = taken[number, ""]
                else:
                    row = addresses[number]
                    value = taken[number, ""] = self._loaded(number, row, at, low, mask)
                taken[number, letter] = _as_letter(value, own, letter)
            return taken[number, letter]

        for step in steps:
            given = map(operand, step.operands, step.letters(given_letters))
            formula = FORMULAS[step.formula]
            value = formula.compute(*given)
            is_rough = step.letter in HALVES and value.kind.is_real and not formula.keeps
            made.append(rounded(step.letter, value) if is_rough else value)
        for index, (number, letter) in enumerate(self._expression.results):
            value = stored_as(letter, _as_letter(made[number], self._letter_of(number), letter))
            if count + index < len(self._places):
                self._scatter(value, count + index, addresses[count + index], at, mask)
                continue
            element = value.kind.of_lanes(0)
            result = code.at(code.argument(POINTER, f"r{index}"), begins + at, element)
            code.store_if(value, result, mask)

    def _letter_of(self, number: int) -> str:
        """The dtype of what a step gives: bools of tests, else what it computes in."""
        return self._expression.steps[number].letter

    def _scatter(self, value: Value, index: int, row: Value, at: Value, mask: Value | None) -> None:
        """Write a vector of a result that has a place."""
        if self._places[index] == "c":
            element = value.kind.of_lanes(0)
            return self.code.store_if(value, self.code.at(row, at, element), mask)
        if self._places[index] in EVERY and mask is None:
            return self._spread_out(value, row, at, EVERY[self._places[index]])
        first, offsets = self._spots(index, row, at)
        self.code.scattered(value, first, offsets, mask)

    def _spread_out(self, value: Value, row: Value, at: Value, every: int) -> None:
        """Write a vector to every second (third, fourth) element, and to no other."""
        code, element = self.code, value.kind.of_lanes(0)
        for first in range(0, every * LANES, LANES):
            spots = range(first, first + LANES)
            moved = code.shuffled(value, value, [spot // every for spot in spots])
            mask = code.chosen([not spot % every for spot in spots])
            code.store_if(moved, code.at(row, at * every + first, element), mask)

    def _spots(self, index: int, row: Value, at: Value) -> tuple[Value, Value]:
        """The address that a vector of what is strided begins at, and how far behind it each of its
        elements lies."""
        code = self.code
        if index in self._folding:
            return row, self._folding[index].now
        stride = self._strides[index][0]
        steps = code.order(INT64.of_lanes(LANES)) * code.spread(stride)
        return code.at(row, at * stride, BYTE), steps

    def _loaded(self, index: int, row: Value, at: Value, low: Value, mask: Value | None) -> Value:
        """The vector of an operand that begins at a column of a range that begins at `low`."""
        code, letter, place = self.code, self._expression.operands[index], self._places[index]
        stride = self._strides[index][0]
        stored = stored_kind(letter)
        kind = stored.of_lanes(LANES)
        if place == "c":
            return taken_from(letter, code.load_if(kind, code.at(row, at, stored), mask))
        if place == "m":
            return taken_from(letter, code.load_if(kind, code.at(row, at - low, stored), mask))
        if place == "b":
            first = code.at(row, 1 - LANES - at, stored)
            turned = mask and code.backwards(mask)
            return taken_from(letter, code.backwards(code.load_if(kind, first, turned)))
        if place in EVERY and mask is None:
            return taken_from(letter, self._every(kind, row, at, EVERY[place]))
        if place == "s" and mask is None:
            return taken_from(letter, self._one_by_one(kind, row, at * stride, stride))
        if place in SIZES and mask is None:
            return taken_from(letter, self._short_rows(index, row, at - low))
        if place in TURNED and mask is None:
            return taken_from(letter, self._turned_rows(index, row, at - low))
        return taken_from(letter, code.gathered(kind, *self._spots(index, row, at), mask))

    def _every(self, kind: Kind, row: Value, at: Value, every: int) -> Value:
        """Every second (third, fourth) element, of vectors that end with the last one of them."""
        code, element, last = self.code, kind.of_lanes(0), every * (LANES - 1)
        made: Value | None = None
        for first in range(0, last + 1, LANES):
            begin = min(first, last + 1 - LANES)
            part = code.load(kind, code.at(row, at * every + begin, element))
            places = range(0, last + 1, every)
            chosen = [
                LANES + place - begin if first <= place < first + LANES else lane
                for lane, place in enumerate(places)
            ]
            made = code.shuffled(part if made is None else made, part, chosen)
        assert made is not None
        return made

    def _one_by_one(self, kind: Kind, row: Value, first: Value, stride: Value) -> Value:
        """A vector of strided elements: loads of one each look further ahead than one of all."""
        code, made = self.code, self.code.constant(kind, 0)
        address = code.at(row, first, BYTE)
        for lane in range(LANES):
            one = code.load(kind.of_lanes(0), code.at(address, stride * lane, BYTE))
            made = code.replaced(made, lane, one)
        return made

    def _short_rows(self, index: int, row: Value, at: Value) -> Value:
        """A vector of short rows, each of which lies in one piece."""
        code, length = self.code, SIZES[self._places[index]]
        kind = stored_kind(self._expression.operands[index]).of_lanes(length)
        stride = self._strides[index][0]
        first = code.at(row, (at >> (length.bit_length() - 1)) * stride, BYTE)
        return self._joined(
            code.load(kind, code.at(first, stride * number, BYTE))
            for number in range(LANES // length)
        )

    def _turned_rows(self, index: int, row: Value, at: Value) -> Value:
        """A vector of short rows whose first elements lie in one piece, as do the second ones."""
        code, length = self.code, TURNED[self._places[index]]
        kind = stored_kind(self._expression.operands[index]).of_lanes(LANES // length)
        stride = self._folding[index].inner
        first = code.at(row, at >> (length.bit_length() - 1), kind.of_lanes(0))
        whole = self._joined(
            code.load(kind, code.at(first, stride * number, BYTE)) for number in range(length)
        )
        lanes = range(LANES)
        places = [lane % length * kind.lanes + lane // length for lane in lanes]
        return code.shuffled(whole, whole, places)

    def _joined(self, vectors: Iterable[Value]) -> Value:
        """Vectors one behind the other."""
        parts = list(vectors)
        while len(parts) > 1:
            every = range(2 * parts[0].kind.lanes)
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self.code.shuffled(one, other, every) for one, other in pairs]
        return parts[0]


class _Lanes:
    """Where the elements of a vector stand in short rows, while a kernel goes along these."""

    def __init__(self, code: Code, short: Value) -> None:
        self.code, self.short, self._wide = code, short, code.spread(short)
        order = code.order(INT64.of_lanes(LANES))
        self.row = code.let(order.kind, f"udiv {order.kind} {order.name}, {self._wide.name}")
        self.column = order - self.row * self._wide
        self.rows, self.columns = code.split(code.constant(INT64, LANES), short)
        self._now = code.variable(self.column)

    def begin(self, folded: Iterable[_Folded]) -> None:
        """At the beginning of a short row."""
        self._now.set(self.column)
        for each in folded:
            each.begin()

    def advance(self, folded: Iterable[_Folded]) -> None:
        """A vector further."""
        moved = self._now.now + self.code.spread(self.columns)
        over = moved >= self._wide
        self._now.set(self.code.choose(over, moved - self._wide, moved))
        for each in folded:
            each.advance(over)


class _Folded:
    """How far the elements of a vector lie behind where a range begins."""

    def __init__(self, lanes: _Lanes, inner: Value, outer: Value) -> None:
        code = self._code = lanes.code
        self.inner = inner
        self.first = lanes.column * code.spread(inner) + lanes.row * code.spread(outer)
        step = lanes.columns * inner + lanes.rows * outer
        self._step = code.spread(step)
        self._step_over = code.spread(step + outer - lanes.short * inner)
        self._now = code.variable(self.first)

    @property
    def now(self) -> Value:
        return self._now.now

    def begin(self) -> None:
        self._now.set(self.first)

    def advance(self, over: Value) -> None:
        """A vector further; where that is a short row more, `over` is true."""
        self._now.set(self._now.now + self._code.choose(over, self._step_over, self._step))


def _as_letter(value: Value, own: str, letter: str) -> Value:
    """A number or vector of one dtype in another."""
    made = as_kind(value, KINDS[letter].of_lanes(value.kind.lanes))
    is_bool = value.kind.element == "i1"
    return made if letter not in HALVES or own == letter or is_bool else rounded(letter, made)
