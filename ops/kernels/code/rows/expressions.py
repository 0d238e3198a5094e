"""Expressions that fold rows and go on with what comes of it: one pass over memory for each row.

A program is a list of steps over matrices of float32 in one piece: formulas of whole rows, folds of
these, and formulas of one number a row.  A row is gone through as often as folds wait for each
other; it stays in the nearest cache meanwhile.  Folds have the lanes and the order of those that
are done by themselves (`folds`), so the bits are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import cycle
from typing import Final, NamedTuple

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..elementwise.loops import NUMBER_LETTERS
from ..functions.formulas import FORMULAS, KINDS, as_kind, stored_as, stored_kind, taken_from
from ..language.target import Target
from ..language.text import FLOAT, INT64, LANES, POINTER, Code, Kind, Value, Variable
from ..loading.objects import is_kept, kernel
from .folds import PIECE, Joining, folds_of_row

__all__ = [
    *("FOLDS", "RowProgram", "RowStep", "cosines", "is_at_hand", "row_program"),
    *("row_text", "run_rows", "takes_rows"),
]

FOLDS: Final = ("sum", "mean", "max", "min", "squares", "length")
_OF_SQUARES: Final = ("squares", "length")
_ALIKE: Final = {"mean": "sum", "length": "squares"}
"""What is folded in the same lanes."""
_NAME: Final = "row_expression"
_BESIDE: Final = 2
"""Vectors of results that are worked on side by side."""


class RowStep(NamedTuple):
    """A step that gives rows ("rows") or one number a row ("row"), by a formula that computes in a
    dtype; or a fold ("fold"), by one of `FOLDS`: "squares" is the sum of them, in float64, and
    "length" the root of that.

    Operands of the program have the first numbers, then come steps.
    """

    kind: str
    name: str
    letter: str
    operands: tuple[int, ...]


class RowProgram(NamedTuple):
    """What a kernel does.

    An operand is the letter of a dtype and how it lies: a matrix ("x"), a row for all rows ("w"), a
    number for each row ("r"), one for all ("k"); or the letter of a number of Python's.  Results
    are numbers of steps, with the letters of their dtypes.
    """

    operands: tuple[str, ...]
    steps: tuple[RowStep, ...]
    results: tuple[tuple[int, str], ...]

    @property
    def word(self) -> str:
        """A word that tells it from all others."""
        steps = (f"{s.kind}:{s.name}:{s.letter}{s.operands}" for s in self.steps)
        return f"{','.join(self.operands)} {';'.join(steps)} {self.results}"


def row_program(program: RowProgram) -> int:
    """A kernel of `size`, the operands and the results, for a range of rows."""
    return kernel(_NAME, (program.word,), lambda target: row_text(target, program))


def takes_rows(columns: int) -> bool:
    """Whether rows of so many elements are folded by lanes, in one piece."""
    return LANES < columns <= PIECE


def run_rows(program: int, rows: int, columns: int, *words: object) -> None:
    """Run a kernel of `row_program` on so many rows, with its operands and results."""
    run(program, rows, _PER_THREAD // columns + 1, columns, *words)


def row_text(target: Target, program: RowProgram) -> str:
    """What `row_program` compiles."""
    return _Text(target, program).text()


def cosines(x: Array, other: Array, eps: float) -> Array | None:
    """The cosines of the angles between rows of two matrices of float32 in one piece, whose lengths
    count as at least `eps`; None for rows that are folded otherwise."""
    x, other = x[...], other[...]  # which no other thread can change
    columns = x.shape[-1]
    if not takes_rows(columns) or x.shape != other.shape:
        return None
    out = np.empty(x.shape[:-1], np.float32)
    run_rows(row_program(_COSINES), out.size, columns, x, other, float(eps), out)
    return out


_PER_THREAD: Final = 1 << 14
"""Elements that are worth another thread."""
_LENGTHS: Final = tuple(
    RowStep(*each)
    for place, at in ((0, 3), (1, 7))
    for each in (
        ("fold", "squares", "f", (place,)),
        ("row", "sqrt", "f", (at,)),
        ("row", "maximum", "f", (at + 1, 2)),
        ("rows", "divide", "f", (place, at + 2)),
    )
)
_COSINES: Final = RowProgram(
    ("fx", "fx", "D"),
    (*_LENGTHS, RowStep("rows", "multiply", "f", (6, 10)), RowStep("fold", "sum", "f", (11,))),
    ((9, "f"),),
)


def is_at_hand(program: RowProgram) -> bool:
    """Whether the kernel of a program need not be compiled."""
    return is_kept(_NAME, (program.word,))


class _Text:
    """The writing of one kernel."""

    def __init__(self, target: Target, program: RowProgram) -> None:
        self.code = code = Code(target)
        self._program, self._steps = program, program.steps
        self._first = len(program.operands)
        self._size = code.argument(INT64, "size")
        self._zero = code.constant(INT64, 0)
        self._same: dict[int, Value] = {}
        """What is the same in a whole row, as vectors."""
        self._rows: dict[int, Value] = {}
        """Where the rows of matrices begin."""
        self._kept: dict[int, Value] = {}
        """Where rows of steps are kept that have been computed."""

    def text(self) -> str:
        code, words = self.code, [(INT64, "size")]
        for index, lies in enumerate(self._program.operands):
            words.append((NUMBER_LETTERS.get(lies, POINTER), f"a{index}"))
            if lies in NUMBER_LETTERS:
                self._same[index] = code.spread(code.argument(NUMBER_LETTERS[lies], f"a{index}"))
            elif lies[1] == "k":
                self._same[index] = self._one(index, self._zero)
        words += [(POINTER, f"r{index}") for index in range(len(self._program.results))]
        with code.units() as row:
            before = dict(self._same), dict(self._rows), dict(self._kept)
            self._row(row)
            self._same, self._rows, self._kept = before
        return code.kernel(_NAME, words)

    def _one(self, index: int, at: Value) -> Value:
        """An element of an operand, in all lanes."""
        letter = self._program.operands[index][0]
        place = self.code.at(self.code.argument(POINTER, f"a{index}"), at, stored_kind(letter))
        return self.code.spread(taken_from(letter, self.code.load(stored_kind(letter), place)))

    # ----------------------------------------------------------------------------------- a row

    def _row(self, row: Value) -> None:
        code = self.code
        begin = row * self._size
        for index, lies in enumerate(self._program.operands):
            if lies in NUMBER_LETTERS or lies[1] == "k":
                continue
            if lies[1] == "r":
                self._same[index] = self._one(index, row)
            else:
                first = begin if lies[1] == "x" else self._zero
                place = code.argument(POINTER, f"a{index}")
                self._rows[index] = code.at(place, first, stored_kind(lies[0]))
        keeping = self._keeping(begin)
        self._compute_numbers()
        for folds in self._loops():
            self._fold(folds, keeping)
            self._compute_numbers()
        self._write(row, begin)

    def _compute_numbers(self) -> None:
        """Compute the numbers of this row that only wait for what there is."""
        for index, step in enumerate(self._steps):
            number = self._first + index
            is_left = step.kind == "row" and number not in self._same
            if is_left and all(n in self._same for n in step.operands):
                self._same[number] = self._formula(step, [self._same[n] for n in step.operands])

    def _loops(self) -> Iterator[list[int]]:
        """Folds that are done in one loop each: those that wait for nothing any more, and are as
        wide as each other."""
        left = [i for i, step in enumerate(self._steps) if step.kind == "fold"]
        while left:
            ready = [i for i in left if self._is_ready(self._steps[i].operands[0])]
            for beside in sorted({self._joining[i].beside for i in ready}):
                yield [i for i in ready if self._joining[i].beside == beside]
            left = [i for i in left if i not in ready]

    def _is_ready(self, number: int) -> bool:
        """Whether rows of a value can be computed."""
        if number in self._same or number < self._first:
            return True
        step = self._steps[number - self._first]
        return step.kind == "rows" and all(map(self._is_ready, step.operands))

    @cached_property
    def _joining(self) -> dict[int, Joining]:
        """How each fold folds."""
        return {
            i: Joining(self.code, _ALIKE.get(step.name, step.name), step.letter)
            for i, step in enumerate(self._steps)
            if step.kind == "fold"
        }

    def _fold(self, folds: Sequence[int], keeping: dict[int, Value]) -> None:
        """One loop over the row."""
        code, joining = self.code, self._joining
        beside = joining[folds[0]].beside
        lanes = {i: joining[i].begun() for i in folds}
        order = cycle(range(beside))
        made_here = set[int]()

        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                place, known = next(order), dict[int, Value]()
                for i in folds:
                    seen = self._vector(self._steps[i].operands[0], at, mask, known)
                    seen = as_kind(seen, joining[i].wide)
                    if mask is not None:
                        seen = code.choose(mask, seen, joining[i].start)
                    self._take(i, lanes[i][place], seen)
                for number, address in keeping.items():
                    value = known.get(number)
                    if (
                        value is not None
                        and value.kind.element == "float"
                        and number not in self._kept
                    ):
                        code.store_if(value, code.at(address, at, FLOAT), mask)
                        made_here.add(number)

        both = [(joining[i], lanes[i]) for i in folds]
        found = folds_of_row(both, self._size, visit)
        self._kept.update((number, keeping[number]) for number in made_here)
        for i, made in zip(folds, found, strict=True):
            name = self._steps[i].name
            if name != "squares":
                made = as_kind(made, KINDS[self._steps[i].letter])
            if name == "mean":
                made = made / self._size.converted("sitofp", made.kind)
            if name == "length":
                made = code.call(f"llvm.sqrt.{made.kind.suffix}", made.kind, [made])
            self._same[self._first + i] = code.spread(made)

    def _take(self, fold: int, lane: Variable, seen: Value) -> None:
        """A vector folded into another."""
        if self._steps[fold].name in _OF_SQUARES:
            lane.set(self.code.multiply_add(seen, seen, lane.now))
        else:
            self._joining[fold].take(lane, seen)

    def _write(self, row: Value, begin: Value) -> None:
        """Write what is to come of the row."""
        code, whole = self.code, list[tuple[int, int, str]]()
        for index, (step, letter) in enumerate(self._program.results):
            if self._steps[step].kind == "rows":
                whole.append((index, step, letter))
                continue
            value = code.alone(self._same[self._first + step])
            place = code.at(code.argument(POINTER, f"r{index}"), row, stored_kind(letter))
            code.store(stored_as(letter, as_kind(value, KINDS[letter])), place)
        if not whole:
            return

        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                known = dict[int, Value]()
                made = [self._vector(self._first + step, at, mask, known) for _, step, _ in whole]
                for (index, _, letter), value in zip(whole, made, strict=True):
                    wide = as_kind(value, KINDS[letter].of_lanes(LANES))
                    line = code.argument(POINTER, f"r{index}")
                    goal = code.at(line, begin + at, stored_kind(letter))
                    code.store_if(stored_as(letter, wide), goal, mask)

        code.vectors(self._zero, self._size, _BESIDE, visit)

    # ---------------------------------------------------------------------------------- vectors

    def _vector(self, number: int, at: Value, mask: Value | None, known: dict[int, Value]) -> Value:
        """A vector of a value; `known` are those that begin there."""
        if number in self._same:
            return self._same[number]
        if number not in known:
            known[number] = self._made(number, at, mask, known)
        return known[number]

    def _made(self, number: int, at: Value, mask: Value | None, known: dict[int, Value]) -> Value:
        if number in self._rows:
            letter = self._program.operands[number][0]
            return self._loaded(self._rows[number], letter, at, mask)
        if number in self._kept:
            return self._loaded(self._kept[number], "f", at, mask)
        step = self._steps[number - self._first]
        return self._formula(step, [self._vector(n, at, mask, known) for n in step.operands])

    def _loaded(self, row: Value, letter: str, at: Value, mask: Value | None) -> Value:
        kind = stored_kind(letter)
        wide: Kind = kind.of_lanes(LANES)
        return taken_from(letter, self.code.load_if(wide, self.code.at(row, at, kind), mask))

    def _formula(self, step: RowStep, operands: Sequence[Value]) -> Value:
        """What the formula of a step gives."""
        formula = FORMULAS[step.name]
        letters = (formula.letter_at(i, step.letter, is_number=False) for i in range(len(operands)))
        kinds = (KINDS[letter].of_lanes(LANES) for letter in letters)
        return formula.compute(*map(as_kind, operands, kinds))

    # ---------------------------------------------------------------------------------- keeping

    def _keeping(self, begin: Value) -> dict[int, Value]:
        """The step whose rows are kept where a result will lie, and where that is: one that takes
        long, and is needed in several loops."""
        goals = (
            index
            for index, (step, letter) in enumerate(self._program.results)
            if self._steps[step].kind == "rows" and letter == "f"
        )
        goal = next(goals, None)
        if goal is None:
            return {}
        needed = [self._needed(step.operands[0]) for step in self._steps if step.kind == "fold"]
        after = set[int]().union(
            *(
                self._needed(self._first + step)
                for step, _ in self._program.results
                if self._steps[step].kind == "rows"
            )
        )
        for index, step in reversed(list(enumerate(self._steps))):
            number = self._first + index
            takes_long = step.kind == "rows" and step.letter == "f" and self._takes_long(number)
            if takes_long and number in after and any(number in each for each in needed):
                place = self.code.argument(POINTER, f"r{goal}")
                return {number: self.code.at(place, begin, FLOAT)}
        return {}

    def _needed(self, number: int) -> set[int]:
        """The values of which rows are needed for those of one."""
        if number < self._first or self._steps[number - self._first].kind != "rows":
            return set()
        operands = self._steps[number - self._first].operands
        return {number}.union(*map(self._needed, operands))

    def _takes_long(self, number: int) -> bool:
        """Whether there is a function among what a row is computed by."""
        needed = self._needed(number)
        return any(not FORMULAS[self._steps[n - self._first].name].is_exact for n in needed)
