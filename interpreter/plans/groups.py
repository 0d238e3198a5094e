"""Finding runs of pointwise operators in register code, which plans call as groups (`fusing`), and
of such runs with folds of rows among them (`row_groups`)."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, Final, NamedTuple

from ...ops.table.formula import Formula
from ...ops.table.record import Operator
from ...typecheck.types.types import BOOL, FLOAT, INT, NUMBER, TENSOR
from ..code.code import Code, Region, Step
from ..code.instructions import read_numbers, row
from .fusing import Group, Task
from .row_groups import RowGroup, dims_place

__all__ = ["Run", "find_runs"]

_TAKEN: Final = (TENSOR, INT, FLOAT, BOOL, NUMBER)
_LIGHT: Final = (INT, FLOAT, BOOL)
_CALLS: Final = frozenset({"call1", "call2", "call3", "call"})


_Operand = tuple[str, int]
"""Where a value comes from (`constant`, `given`, `task`), and which one of those it is."""


class Run(NamedTuple):
    """The steps of a region up to `stop`, as a group.

    It takes what `given` says: registers, or results of steps of the region that cannot fail and
    read nothing which the run writes.  It is worth asking if one of the registers `tested` is
    large.  Its results go to the registers `results`; the registers `passed` hold what steps give
    at its end, and the registers `emptied` nothing.
    """

    stop: int
    group: Group
    given: tuple[int | Step, ...]
    tested: tuple[int, ...]
    results: tuple[int, ...]
    passed: tuple[tuple[int, Step], ...]
    emptied: tuple[int, ...]


def find_runs(
    code: Code, region: Region, others: Container[int] = (), *, folds: bool = False
) -> dict[int, Run]:
    """The runs of a region that are worth a group, by where they begin; those with `folds` of rows
    among them, or those without.

    What stands at the positions `others` belongs to none.
    """
    found: dict[int, Run] = {}
    if not _has_some(code, folds):
        return found
    position = 0
    while position < len(region):
        if not _may_begin(region[position]):
            position += 1
            continue
        building = _Building(code, folds=folds)
        stop = position
        while stop < len(region) and stop not in others and building.takes(region[stop]):
            stop += 1
        if building.is_worth_it:
            found[position] = building.run(stop)
        position = max(stop, position + 1)
    return found


def _has_some(code: Code, folds: bool) -> bool:
    """Whether a code has operators that runs are made of."""
    return any(each.row_fold if folds else each.formula for each in code.operators)


def _may_begin(part: object) -> bool:
    """Whether a run may begin with a part of a region."""
    return isinstance(part, Step) and row(part.instruction).name in _CALLS


class _Building:
    """A run as far as it goes."""

    def __init__(self, code: Code, *, folds: bool) -> None:
        self._code = code
        self._takes_folds, self._folds = folds, 0
        self._pointwise = 0
        self._given: list[int | Step] = []
        self._tasks: list[tuple[Operator, Formula | None, list[_Operand]]] = []
        self._now: dict[int, _Operand | None] = {}
        self._read: dict[int, _Operand] = {}
        self._by_value: set[int] = set()
        self._tested: list[int] = []
        self._viewed: list[int] = []

    @property
    def is_worth_it(self) -> bool:
        """Whether there are operators to join, and a tensor that tells their size."""
        if self._takes_folds:
            return self._folds > 0 and self._folds + self._pointwise > 1 and bool(self._tested)
        return self._pointwise > 1 and bool(self._tested or self._viewed)

    def takes(self, part: object) -> bool:
        """Whether the next part of the region belongs to the run; it is added then."""
        if not isinstance(part, Step):
            return False
        name = row(part.instruction).name
        if name in _CALLS and self._takes_call(part):
            return True
        if name == "free" and self._tasks:
            registers: Any = part.instruction[1]
            self._now.update(dict.fromkeys(registers))
            return True
        return bool(self._tasks) and self._takes_given(part, name)

    def _takes_given(self, step: Step, name: str) -> bool:
        """What cannot fail, and reads nothing that the run writes, is as good as from outside."""
        is_dims = self._takes_folds and name == "list" and _is_of_numbers(step)
        if name != "get_tensor" and not is_dims and not self._is_safe_call(step, name):
            return False
        if any(number in self._now for number in read_numbers(step.instruction)):
            return False
        register = step.instruction[1]
        assert isinstance(register, int)
        self._now[register] = "given", len(self._given)
        self._given.append(step)
        return True

    def _is_safe_call(self, step: Step, name: str) -> bool:
        """Whether a step is an operator of numbers that has a value for all of them."""
        if name not in _CALLS or any(v.type not in _LIGHT for v in step.node.inputs):
            return False
        entry = self._code.called(step)
        assert entry is not None
        is_partial = any(form.given or form.then for form in entry.native)
        return bool(entry.native) and not is_partial and not any(f.wraps for f in entry.inline)

    def _takes_call(self, step: Step) -> bool:
        numbers, types = read_numbers(step.instruction), [v.type for v in step.node.inputs]
        register, entry = step.instruction[1], self._code.called(step)
        assert isinstance(register, int)
        assert entry is not None
        if len(numbers) != len(types) or step.node.output.type != TENSOR:
            return False
        is_fold = self._is_fold(entry, numbers)
        dims = dims_place(entry) if is_fold else -1
        places = [i for i in range(len(numbers)) if i != dims]
        if any(numbers[i] >= 0 and types[i] not in _TAKEN for i in places):
            return False
        formula = self._formula(entry, numbers)
        if formula is None and not is_fold and not (entry.is_view and self._tasks):
            return False
        if any(n >= 0 and n in self._now and self._now[n] is None for n in numbers):
            return False
        if formula is None and any(numbers[i] >= 0 and types[i] != TENSOR for i in places):
            return False  # where a view lies depends on numbers, which loops change
        operands = [self._operand(n) for n in numbers]
        for place, (where, index) in enumerate(operands):
            if where != "given":
                continue
            if types[place] == TENSOR:
                is_taken = is_fold or (formula is not None and place in formula.operands)
                if numbers[place] not in self._now:
                    (self._tested if is_taken else self._viewed).append(numbers[place])
            elif is_fold or formula is None or formula.checks or place not in formula.operands:
                self._by_value.add(index)
        self._pointwise += formula is not None
        self._folds += is_fold
        self._now[register] = "task", len(self._tasks)
        self._tasks.append((entry, formula, operands))
        return True

    def _is_fold(self, entry: Operator, numbers: Sequence[int]) -> bool:
        """Whether it is a fold of dimensions, in the tensor's dtype, if folds are taken."""
        if not (self._takes_folds and entry.row_fold):
            return False
        dims = dims_place(entry)
        order, behind = numbers[1:dims], numbers[dims + 1 :]
        if any(n >= 0 for n in (*order, *behind)):
            return False
        known = self._code.constants
        return all(known[-1 - n] == 2 for n in order) and all(
            known[-1 - n] is None for n in behind[1:]
        )

    def _formula(self, entry: Operator, numbers: Sequence[int]) -> Formula | None:
        """The formula that stands for an operator here, if it makes a new tensor."""
        for each in () if entry.is_in_place else entry.formula:
            if all(self._is(numbers[place], wanted) for place, wanted in each.at.items()):
                return each
        return None

    def _is(self, number: int, wanted: object) -> bool:
        if number >= 0:
            return False
        constant = self._code.constants[-1 - number]
        return type(constant) is type(wanted) and constant == wanted

    def _operand(self, number: int) -> _Operand:
        if number < 0:
            return "constant", number
        known = self._now.get(number) or self._read.get(number)
        if known is None:
            known = self._read[number] = "given", len(self._given)
            self._given.append(number)
        return known

    def run(self, stop: int) -> Run:
        """The run, as it is now."""
        outside = len(self._given)
        begin = {"constant": 0, "given": 0, "task": outside}
        tasks = [
            Task(entry, formula, tuple(begin[where] + index for where, index in operands))
            for entry, formula, operands in self._tasks
        ]
        held, passed = dict[int, int](), list[tuple[int, Step]]()
        for register, each in self._now.items():
            given = None if each is None or each[0] == "task" else self._given[each[1]]
            if isinstance(given, Step):
                passed.append((register, given))
            elif each is not None:
                held[register] = begin[each[0]] + each[1]
        kind = RowGroup if self._takes_folds else Group
        group = kind(
            tasks,
            outside,
            frozenset(self._by_value),
            tuple(held.values()),
            self._code.constants,
        )
        return Run(
            stop,
            group,
            tuple(self._given),
            tuple(dict.fromkeys(self._tested))[:2] or (self._viewed[0],),
            tuple(held),
            tuple(passed),
            tuple(register for register, each in self._now.items() if each is None),
        )


def _is_of_numbers(step: Step) -> bool:
    """Whether a step makes a list of numbers."""
    return all(each.type in _LIGHT for each in step.node.inputs)
