"""Groups with folds of rows among them: means, sums and extremes over the last dimension, and what
is computed of them and of the rows, are one kernel (`kernels/code/rows/expressions.py`).

As for other groups, what is known of a call with operands of some sizes is what was seen of the
first one.  The kernel's first results are compared with those of the operators one by one; where
bits differ, or not all of a group is such a program, the plan does it by its lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from types import ModuleType
from typing import Any, Final

import numpy as np

from ...ops.kernels import family
from ...ops.memory.dtype import Array
from ...ops.memory.storage import laid_out
from ...ops.table.formula import letter_of
from ...ops.table.record import Operator
from .compiling import Compiling
from .fusing import Fact, Group, Task, Way, word

__all__ = ["RowGroup", "dims_place"]

_MOST_WORDS: Final = 22
"""Operands and results of a kernel."""
_MOST_STEPS: Final = 40
_MOST_FAILED: Final = 3
"""Calls with operands of new sizes that are no such program, before nobody asks any more."""

_ALLOWED: Final = {"x": "x w r k", "w": "w k", "r": "r k", "flat": "flat k"}
"""Of which kinds of values one is computed (see `_Writing`)."""

ndarray: Final = np.ndarray


def dims_place(entry: Operator) -> int:
    """Which argument of a fold its dimensions are."""
    return 2 if entry.row_fold == "length" else 1


class RowGroup(Group):
    """Such a group: call it as others."""

    _failed = 0
    _is_useful = False

    def __call__(self, *given: object) -> object:
        is_hopeless = self._failed >= _MOST_FAILED and not self._is_useful
        return None if is_hopeless else super().__call__(*given)

    def _way(self, arrays: ModuleType, given: Sequence[object], facts: Sequence[Fact]) -> Way:
        made = _Writing(arrays, self, given, facts)
        self._failed += not made.is_whole
        self._is_useful |= made.is_whole
        return _RowWay(made)

    def one_by_one(self, given: Sequence[object]) -> list[Any]:
        """The values, operator by operator."""
        held = list(given)
        for task in self.tasks:
            held.append(self.call(task, held))
        return held


class _RowWay:
    """What such a group does for operands that lie in some way."""

    def __init__(self, made: _Writing) -> None:
        self._made = made
        self._kernel: int | None = None
        self._is_checked = False
        self._compiling: Compiling | None = None
        if made.is_whole:
            rows, program = family("rows.expressions"), made.program

            def make() -> None:
                self._kernel = rows.row_program(program)

            self._compiling = Compiling([program], lambda: rows.is_at_hand(program), make)

    def prospect(self) -> bool:
        """Its calls are none that native code learns."""
        return False

    def run(self, group: Group, given: Sequence[object]) -> list[object] | None:
        """The values, as far as they are needed; None if it could not be done."""
        if self._compiling is None or not self._compiling.done():
            return None
        held = [*given, *[None] * len(group.tasks)]
        made = self._made
        operands = [group.constants[-1 - n] if n < 0 else word(held[n]) for n in made.inputs]
        results = []
        for number, fact in made.outputs:
            held[number] = result = laid_out(fact.shape, fact.dtype, fact.strides)
            results.append(result)
        words = *operands, *results
        family("rows.expressions").run_rows(self._kernel, made.rows, made.columns, *words)
        for number, same in made.same.items():
            held[number] = held[same]
        return held if self._is_checked else self._checked(group, given, held)

    def _checked(self, group: Group, given: Sequence[object], held: Sequence[Any]) -> list[object]:
        """The values, by the operators: the first time the kernel's bits are looked at."""
        assert isinstance(group, RowGroup)
        known = group.one_by_one(given)
        numbers = [number for number, _ in self._made.outputs]
        if all(known[n].tobytes() == held[n].tobytes() for n in numbers):
            self._is_checked = True
        else:
            self._compiling = None
        return known


class _Writing:
    """The program of a group for operands of which everything was seen; `is_whole` says whether all
    of the group is one.

    Values are matrices ("x"), rows for all rows ("w"), numbers for each row that keep the dimension
    ("r") or do not ("flat"), or the same everywhere ("k").
    """

    def __init__(
        self, arrays: ModuleType, group: Group, given: Sequence[object], facts: Sequence[Fact]
    ) -> None:
        self._arrays, self._group, self._given, self._facts = arrays, group, given, facts
        self._first = len(given)
        self.same: dict[int, int] = {}
        self.inputs: list[int] = []
        self.outputs: list[tuple[int, Fact]] = []
        self._kinds: dict[int, str] = {}
        self._steps: list[tuple[str, str, str, tuple[int, ...]]] = []
        self._number_of: dict[int, int] = {}
        self.is_whole = self._finds_sizes() and self._writes()
        self._given = ()

    def _finds_sizes(self) -> bool:
        """Find out what the matrices are like: what is folded is."""
        folds = [i for i, task in enumerate(self._group.tasks) if task.entry.row_fold]
        shapes = {self._shape(self._group.tasks[i].operands[0]) for i in folds}
        if len(shapes) != 1:
            return False
        (self._whole,) = shapes
        if len(self._whole) < 2:
            return False
        self.rows, self.columns = prod(self._whole[:-1]), self._whole[-1]
        takes: bool = family("rows.expressions").takes_rows(self.columns)
        return self.rows > 1 and takes

    def _shape(self, number: int) -> tuple[int, ...]:
        shape: tuple[int, ...] = getattr(self._value(number), "shape", ())
        return shape

    def _value(self, number: int) -> Any:
        """A value from outside, or what was seen of a result."""
        if number < 0:
            return self._group.constants[-1 - number]
        return self._given[number] if number < self._first else self._facts[number - self._first]

    def _writes(self) -> bool:
        """Write all steps; False if one cannot be."""
        tasks = self._group.tasks
        if len(tasks) > _MOST_STEPS or not all(map(self._writes_task, range(len(tasks)))):
            return False
        for number in self._group.results:
            own = self.same.get(number, number)
            if own < self._first:
                continue
            fact = self._facts[own - self._first]
            if self._kinds.get(own) not in ("x", "r", "flat") or not _is_dense(fact):
                return False
            if own not in [known for known, _ in self.outputs]:
                self.outputs.append((own, fact))
        if not self.outputs or len(self.inputs) + len(self.outputs) > _MOST_WORDS:
            return False
        self.program = self._program()
        return True

    def _writes_task(self, index: int) -> bool:
        task, fact, number = self._group.tasks[index], self._facts[index], self._first + index
        if fact.same_as is not None:
            self.same[number] = self.same.get(fact.same_as, fact.same_as)
            return True
        if task.entry.row_fold:
            return self._writes_fold(task, fact, number)
        if task.formula is None:
            return self._writes_view(task.operands, fact, number)
        taken = [self.same.get(task.operands[i], task.operands[i]) for i in task.formula.operands]
        kind = self._kind_of_shape(fact.shape)
        if kind == "w" and any(self._kinds.get(n) == "flat" for n in taken):
            kind = "flat"  # as many rows as columns
        is_known = fact.joins in ("f", "?") and fact.letter in ("f", "?")
        allowed = _ALLOWED.get(kind, "")
        if not allowed or not is_known:
            return False
        if not all(self._takes(n) and self._kinds[n] in allowed.split() for n in taken):
            return False
        form = "rows" if kind in ("x", "w") else "row"
        self._adds(number, kind, (form, task.formula.name, fact.joins), taken)
        return True

    def _writes_fold(self, task: Task, fact: Fact, number: int) -> bool:
        """A fold of the last dimension of a matrix of float32."""
        operand = self.same.get(task.operands[0], task.operands[0])
        dims = self._value(task.operands[dims_place(task.entry)])
        dims = [dims] if type(dims) is int else dims
        if type(dims) is not list or dims not in ([-1], [len(self._whole) - 1]):
            return False
        if not self._takes(operand) or self._kinds[operand] != "x" or fact.letter != "f":
            return False
        if self._letter(operand) != "f":
            return False
        keeps = len(fact.shape) == len(self._whole)
        self._adds(number, "r" if keeps else "flat", ("fold", task.entry.row_fold, "f"), [operand])
        return True

    def _writes_view(self, operands: Sequence[int], fact: Fact, number: int) -> bool:
        """Numbers of rows that get or lose a dimension, or stand for all of a row."""
        (operand, *_) = operands
        operand = self.same.get(operand, operand)
        kind = self._kind_of_shape(fact.shape)
        if kind == "x" and self._kinds.get(operand) == "r" and operand >= self._first:
            self._kinds[number], self._number_of[number] = "r", self._number_of[operand]
            return number not in self._group.results
        if self._kinds.get(operand) not in ("r", "flat") or kind not in ("r", "flat"):
            return False
        if operand < self._first or not _is_dense(fact):
            return False
        self._kinds[number] = kind
        self._number_of[number] = self._number_of[operand]
        return number not in self._group.results

    def _adds(
        self, number: int, kind: str, step: tuple[str, str, str], taken: Sequence[int]
    ) -> None:
        self._kinds[number] = kind
        self._number_of[number] = len(self._steps)
        self._steps.append((*step, tuple(taken)))

    # -------------------------------------------------------------------------------- operands

    def _takes(self, number: int) -> bool:
        """Whether a value is one of the program's; one from outside becomes an operand."""
        if number in self._kinds:
            return True
        if number >= self._first:
            return False
        value = self._value(number)
        if type(value) is ndarray:
            kind = self._kind_of_array(value)
        else:
            kind = "k" if letter_of(self._arrays, value) in ("D", "L") else ""
        if not kind:
            return False
        self._kinds[number] = kind
        self.inputs.append(number)
        return True

    def _kind_of_array(self, array: Array) -> str:
        if not array.flags.c_contiguous or not array.flags.aligned:
            return ""
        if self._arrays.LETTERS[array.dtype] not in tuple("fdl?"):
            return ""
        return "k" if array.size == 1 else self._kind_of_shape(array.shape)

    def _kind_of_shape(self, shape: tuple[int, ...]) -> str:
        whole = self._whole
        if shape == whole:
            return "x"
        if shape == (*whole[:-1], 1):
            return "r"
        if shape and shape[-1] == whole[-1] and prod(shape) == whole[-1]:
            return "w"
        return "flat" if shape == whole[:-1] else ""

    def _letter(self, number: int) -> str:
        value = self._value(number)
        if number >= self._first:
            return str(value.letter)
        if type(value) is ndarray:
            return str(self._arrays.LETTERS[value.dtype])
        return str(letter_of(self._arrays, value))

    def _program(self) -> object:
        rows = family("rows.expressions")
        count = len(self.inputs)
        place = {number: i for i, number in enumerate(self.inputs)}
        place.update((number, count + step) for number, step in self._number_of.items())
        words = []
        for number in self.inputs:
            letter, kind = self._letter(number), self._kinds[number]
            words.append(letter if letter in ("D", "L") else letter + kind)
        steps = tuple(
            rows.RowStep(form, name, letter, tuple(place[n] for n in taken))
            for form, name, letter, taken in self._steps
        )
        results = tuple((self._number_of[n], str(fact.letter)) for n, fact in self.outputs)
        return rows.RowProgram(tuple(words), steps, results)


def _is_dense(fact: Fact) -> bool:
    """Whether a result lies in one piece, the last dimension innermost."""
    step = fact.dtype.itemsize
    for size, stride in zip(reversed(fact.shape), reversed(fact.strides), strict=True):
        if size > 1 and stride != step:
            return False
        step *= size
    return True
