"""Groups of pointwise operators that are computed together, element by element.

A group is a run of operators without effects.  What it shall be for operands of some dtypes, sizes
and strides is not derived but seen: the first call with such operands goes operator by operator and
notes the dtype, sizes and strides of every result.  Of operators of one shape then becomes one
expression, whose intermediates are never stored; views and small tensors stay calls.  Formulas give
the bits of the forwards (see `ops/kernels/code`), so nobody sees the difference.

A group that cannot do a call gives None, and the plan does it line by line: while kernels are being
compiled (in a thread; at once where they are in the cache), and where anything is raised, so that
errors and their places are the plan's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np

from ...ops.kernels import family
from ...ops.memory.dtype import Array, Dtype, default_dtype
from ...ops.memory.storage import laid_out
from ...ops.table.direct import is_same, is_settled
from ...ops.table.formula import Formula, letter_of, meeting
from ...ops.table.record import Operator
from ..code.calls import PLAIN
from ..code.outside import comes_from_outside
from .compiling import Compiling

if TYPE_CHECKING:
    from ...ops.kernels.code.elementwise.arrays import Way as Layout
    from ...ops.kernels.code.elementwise.loops import Expression, Step

__all__ = ["Fact", "Group", "Task", "Way", "word"]

MOST_WAYS: Final = 32
"""Combinations of sizes and strides that a group remembers."""

_LONGEST: Final = 40
"""Steps of one expression."""

_LARGE: Final = 1 << 16
"""Elements from which on one operator alone is a kernel, beside others: two threads share it."""

_MOST_WORDS: Final = 23
"""Operands and results of one expression."""

ndarray: Final = np.ndarray

_Lies = tuple[Dtype, tuple[int, ...], tuple[int, ...]]
"""The dtype, the sizes and the strides, in bytes, of an array."""


class Task(NamedTuple):
    """An operator of a group.

    Operands are numbers of values: those from outside come first, then results of tasks; a negative
    one is that of a constant.
    """

    entry: Operator
    formula: Formula | None
    operands: tuple[int, ...]


class Fact(NamedTuple):
    """What was seen of a result: how it lies, the letter of its dtype, the letter of the one it was
    computed in if it may join others, whether that is so whatever the default dtype, and the value
    that it is, if it is not a new one."""

    dtype: Dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    letter: str | None
    joins: str
    is_settled: bool
    same_as: int | None


class Way(Protocol):
    """What a group does for operands that lie in some way, once its kernels are there."""

    def run(self, group: Group, given: Sequence[object]) -> list[object] | None:
        """The values, as far as they are needed; None if it could not be done."""

    def prospect(self) -> bool | None:
        """See `Group.prospect`."""


class _Called(NamedTuple):
    """An operator that is called."""

    task: Task
    number: int
    fact: Fact

    def run(self, group: Group, held: list[object]) -> bool:
        """Whether the result is as it was when it was seen."""
        result = held[self.number] = group.call(self.task, held)
        return _lies(result) == (self.fact.dtype, self.fact.shape, self.fact.strides)


class _Joined:
    """Operators that are one expression."""

    def __init__(
        self,
        expression: Expression,
        way: Layout,
        inputs: list[int],
        outputs: list[tuple[int, Fact]],
    ) -> None:
        self.expression = expression
        self.kernel: int | None = None
        self._way = way
        self._inputs = inputs
        self._outputs = outputs

    @property
    def wanted(self) -> tuple[Expression, str, int]:
        return self.expression, self._way.places, self._way.rank

    def run(self, group: Group, held: list[object]) -> bool:
        """Always done."""
        constants, way = group.constants, self._way
        operands = [constants[-1 - n] if n < 0 else word(held[n]) for n in self._inputs]
        results = []
        for number, fact in self._outputs:
            held[number] = made = laid_out(fact.shape, fact.dtype, fact.strides)
            results.append(made)
        arrays = family("elementwise.arrays")
        arrays.run(self.kernel, way.size, way.least, way.geometry, *operands, *results)
        return True


class _Undone(Exception):
    """What the plan's own lines have to do."""


class Group:
    """A run of operators: call it with the values from outside.

    The result is that of the tasks `results` (by the numbers of their values), a tuple if they are
    several; None if it could not be done.  `by_value` are the values from outside of which not only
    the type matters.  Where nearly all operands have new sizes, no more of them are looked at.

    Attributes:
        forward: what is called in the place of an operator that is called.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        outside: int,
        by_value: frozenset[int],
        results: tuple[int, ...],
        constants: Sequence[object],
    ) -> None:
        self.tasks = tasks
        self.outside = outside
        self.results = results
        self.forward: Callable[[Operator], Callable[..., Any]] = PLAIN.forward
        self.constants = [int(each) if type(each) is bool else each for each in constants]
        self._plain_constants = constants
        self._by_value = by_value
        self._ways: dict[object, Way] = {}
        self._balance = MOST_WAYS
        self._last = _last_uses(tasks, outside, results)

    def __call__(self, *given: object) -> object:
        mine = [each[...] if type(each) is ndarray else each for each in given]  # nobody else's
        try:
            key = self._key_of(mine)
            known = self._ways.get(key)
            if known is None:
                found = self._seen(key, mine) if self._balance > 0 else None
            else:
                self._balance = min(self._balance + 1, MOST_WAYS)
                found = known.run(self, mine)
        except (_Undone, MemoryError):
            return None
        return None if found is None else self._given_back(found, given)

    def prospect(self, given: Sequence[object]) -> bool | None:
        """Whether calls with such values, of which there have been some, run kernels alone, and the
        same ones whatever the default dtype; None while kernels are being compiled."""
        try:
            known = self._ways.get(self._key_of(given))
        except _Undone:
            return False
        return known is not None and known.prospect()

    def _key_of(self, given: Sequence[object]) -> object:
        kinds = (self._key(number, each) for number, each in enumerate(given))
        return (default_dtype.float, *kinds)

    def _key(self, number: int, value: object) -> object:
        if type(value) is ndarray:
            return value.dtype, value.shape, value.strides
        if isinstance(value, ndarray):
            raise _Undone
        if number not in self._by_value:
            return type(value)
        return type(value), tuple(value) if type(value) is list else value

    def call(self, task: Task, held: Sequence[object]) -> Array:
        """The result of a task's operator."""
        constants = self._plain_constants
        operands = [constants[-1 - n] if n < 0 else held[n] for n in task.operands]
        try:
            result: Array = self.forward(task.entry)(*operands)
        except Exception as error:  # which the plan's own lines raise again, at their places
            if comes_from_outside(error):
                raise
            raise _Undone from None
        return result

    def _seen(self, key: object, given: Sequence[object]) -> list[object] | None:
        """The values, operator by operator; what was seen is remembered."""
        arrays = family("elementwise.arrays")
        self._balance -= 1
        if arrays is None:
            return None
        held, facts = list(given), list[Fact]()
        for task, dying in zip(self.tasks, self._last, strict=True):
            result = self.call(task, held)
            facts.append(self._fact(arrays, task, held, result))
            held.append(result)
            for number in dying:
                held[number] = None
        if len(self._ways) >= MOST_WAYS:
            self._ways.clear()
        self._ways[key] = self._way(arrays, given, facts)
        return held

    def _way(self, arrays: ModuleType, given: Sequence[object], facts: Sequence[Fact]) -> Way:
        """What is done from now on for operands like these."""
        return _JoinedWay(_Joining(arrays, self, given, facts))

    def _given_back(self, held: Sequence[object], given: Sequence[object]) -> object:
        """What a call gives: values from outside are themselves."""
        found = []
        for number in self.results:
            value = held[number]
            same = (given[n] for n in range(len(given)) if held[n] is value)
            found.append(next(same, value))
        return found[0] if len(found) == 1 else tuple(found)

    def _fact(self, arrays: ModuleType, task: Task, held: list[object], result: Array) -> Fact:
        dtype, shape, strides = _lies(result)
        same = next((n for n in task.operands if n >= 0 and held[n] is result), None)
        letter = arrays.LETTERS[dtype]
        joins, settled = "", task.formula is None
        if task.formula is not None and letter and result.size:
            taken = [task.operands[place] for place in task.formula.operands]
            values = [self.constants[-1 - n] if n < 0 else held[n] for n in taken]
            joins = meeting(arrays, task.formula, values, letter)
            settled = is_settled(task.formula, joins, values)
            is_again = same is None and any(
                type(each) is ndarray and np.may_share_memory(each, result) for each in values
            )
            if is_again or not is_same(arrays, task.formula, joins, result):
                joins = ""
        return Fact(dtype, shape, strides, letter, joins, settled, same)


def word(value: object) -> object:
    """A value as kernels take it."""
    return int(value) if type(value) is bool else value


def _lies(array: Array) -> _Lies:
    return array.dtype, array.shape, array.strides


def _last_uses(
    tasks: Sequence[Task], outside: int, results: Sequence[int]
) -> list[tuple[int, ...]]:
    """For each task the results of tasks that nobody needs after it."""
    seen, found = set(results), list[tuple[int, ...]]()
    for task in reversed(tasks):
        last = {n for n in task.operands if n >= outside} - seen
        seen |= last
        found.append(tuple(last))
    return found[::-1]


# ---------------------------------------------------------------------------- joining operators


class _Joining:
    """Making the actions of a group for operands of which everything was seen."""

    def __init__(
        self, arrays: ModuleType, group: Group, given: Sequence[object], facts: Sequence[Fact]
    ) -> None:
        self._arrays = arrays
        self._group = group
        self._given = list(map(self._seen, given))
        self._facts = facts
        self._first = len(given)
        self.same: dict[int, int] = {}
        self._twins: dict[int, int] = {}
        views: dict[tuple[Operator, tuple[int, ...]], int] = {}
        for index, (task, fact) in enumerate(zip(group.tasks, facts, strict=True)):
            number = self._first + index
            if fact.same_as is not None:
                self.same[number] = self._of(fact.same_as)
            elif task.formula is None:  # the same view once more
                self._twins[number] = views.setdefault(
                    (task.entry, tuple(self._operands(index))), number
                )

    def _of(self, number: int) -> int:
        """The value that a value is."""
        return self.same.get(number, number)

    def actions(self) -> list[_Called | _Joined]:
        """What there is to do; nothing if no operators join."""
        parts = self._parts()
        needed = {id(part): self._needed_of(part, parts) for part in parts}
        actions: list[_Called | _Joined] = []
        pays = False
        for part in parts:
            several, first = len(part) > 1, self._facts[part[0]]
            is_large = bool(first.joins) and math.prod(first.shape) >= _LARGE
            joined = self._joined_by_order(part, needed[id(part)]) if several or is_large else []
            pays = pays or (several and bool(joined))
            actions += joined or map(self._called, part)
        return actions if pays else []

    def is_native(self, actions: Sequence[_Called | _Joined]) -> bool:
        """Whether actions run kernels alone, beside views, whatever the default dtype."""
        computes = (isinstance(a, _Called) and a.task.formula is not None for a in actions)
        return all(fact.is_settled for fact in self._facts) and not any(computes)

    def _called(self, index: int) -> _Called:
        task = self._group.tasks[index]._replace(operands=tuple(self._operands(index)))
        return _Called(task, self._first + index, self._facts[index])

    def _operands(self, index: int) -> list[int]:
        return [n if n < 0 else self._of(n) for n in self._group.tasks[index].operands]

    def _parts(self) -> list[list[int]]:
        """The tasks in parts, each of which comes after what it needs."""
        parts, last = list[list[int]](), list[int]()
        for index, fact in enumerate(self._facts):
            if fact.same_as is not None:
                continue
            if fact.joins:
                if last and (self._facts[last[0]].shape != fact.shape or len(last) >= _LONGEST):
                    parts.append(last)
                    last = []
                last.append(index)
                continue
            if any(n - self._first in last for n in self._operands(index)):
                parts.append(last)
                last = []
            parts.append([index])
        return [*parts, last] if last else parts

    def _needed_of(self, part: list[int], parts: list[list[int]]) -> set[int]:
        """The tasks of a part whose results others need."""
        needed = {self._of(number) for number in self._group.results}
        for other in parts:
            if other is not part:
                needed.update(n for index in other for n in self._operands(index))
        return {index for index in part if self._first + index in needed}

    def _joined_by_order(self, part: list[int], needed: set[int]) -> list[_Joined]:
        """A part as expressions, one for each order in which results lie; nothing if one cannot be.

        What several need is computed in each of them.
        """
        orders: dict[tuple[int, ...] | None, list[int]] = {}
        for index in part:
            if index in needed:
                orders.setdefault(_order(self._facts[index]), []).append(index)
        joined = [self._joined(part, outputs) for outputs in orders.values()]
        return [] if None in orders or None in joined else joined  # type: ignore[return-value]

    def _joined(self, part: list[int], outputs: list[int]) -> _Joined | None:
        """A part as one expression; None if it has too many operands, or too short rows."""
        facts = self._facts
        used = self._used(part, outputs)
        taken = {index: self._taken(index) for index in used}
        inputs = list(
            dict.fromkeys(
                n for index in used for n in taken[index] if n - self._first not in taken or n < 0
            )
        )
        if len(inputs) + len(outputs) > _MOST_WORDS:
            return None
        places = {n: place for place, n in enumerate(inputs)}
        places.update((self._first + i, len(inputs) + place) for place, i in enumerate(used))
        steps = tuple(self._step(index, taken[index], places) for index in used)
        results = tuple((used.index(index), str(facts[index].letter)) for index in outputs)
        letters = "".join(self._letter(n) for n in inputs)
        shape, result = facts[outputs[0]].shape, facts[outputs[0]]
        strides = tuple(step // result.dtype.itemsize for step in result.strides)
        way = self._arrays.way_of(shape, strides, tuple(self._way(n, shape) for n in inputs))
        if not way.is_quick:
            return None
        expression = self._arrays.Expression(letters, steps, results)
        made = [(self._first + index, facts[index]) for index in outputs]
        return _Joined(expression, way, inputs, made)

    def _taken(self, index: int) -> list[int]:
        """What the formula of a task takes."""
        formula, operands = self._group.tasks[index].formula, self._operands(index)
        assert formula is not None
        taken = (operands[place] for place in formula.operands)
        return [self._twins.get(number, number) for number in taken]

    def _used(self, part: list[int], outputs: list[int]) -> list[int]:
        """The tasks of a part that its results need."""
        found = set(outputs)
        for index in reversed(part):
            if index in found:
                found.update(n - self._first for n in self._taken(index) if n >= self._first)
        return [index for index in part if index in found]

    def _step(self, index: int, taken: list[int], places: Mapping[int, int]) -> Step:
        formula = self._group.tasks[index].formula
        assert formula is not None
        places_taken = tuple(places[n] for n in taken)
        step: Step = self._arrays.Step(formula.name, self._facts[index].joins, places_taken)
        return step

    def _lies(self, number: int) -> _Lies | str:
        """How a value lies; of a number its letter."""
        if number >= self._first:
            return self._facts[number - self._first][:3]
        return (
            self._given[number] if number >= 0 else self._seen(self._group.constants[-1 - number])
        )

    def _seen(self, value: object) -> _Lies | str:
        return _lies(value) if type(value) is ndarray else letter_of(self._arrays, value)

    def _letter(self, number: int) -> str:
        lies = self._lies(number)
        return lies if isinstance(lies, str) else str(self._arrays.LETTERS[lies[0]])

    def _way(self, number: int, shape: tuple[int, ...]) -> tuple[int, tuple[int, ...]] | None:
        """How an operand lies, as `way_of` is told."""
        lies = self._lies(number)
        if isinstance(lies, str):
            return None
        dtype, sizes, strides = lies
        return dtype.itemsize, self._arrays.spread_strides(sizes, strides, shape)


def _order(fact: Fact) -> tuple[int, ...] | None:
    """The dimensions of a result, innermost first; None if it does not lie in one piece."""
    dims = [dim for dim in range(len(fact.shape)) if fact.shape[dim] > 1]
    dims.sort(key=lambda dim: fact.strides[dim])
    step = fact.dtype.itemsize
    for dim in dims:
        if fact.strides[dim] != step:
            return None
        step *= fact.shape[dim]
    return tuple(dims)


# ------------------------------------------------------------------------------------- kernels


class _JoinedWay:
    """The way of a group whose operators become expressions."""

    def __init__(self, joining: _Joining) -> None:
        self._joining: _Joining | None = joining
        self._actions: list[_Called | _Joined] = []
        self._same = joining.same
        self._compiling: Compiling | None = None
        self._is_native = False

    def run(self, group: Group, given: Sequence[object]) -> list[object] | None:
        """The values, as far as they are needed; None if it could not be done."""
        if self._joining is not None:
            self._find_actions(self._joining)
        if self._compiling is None or not self._compiling.done():
            return None
        held = [*given, *[None] * len(group.tasks)]
        for action in self._actions:
            if not action.run(group, held):
                return None
        for number, same in self._same.items():
            held[number] = held[same]
        return held

    def prospect(self) -> bool | None:
        """See `Group.prospect`."""
        if self._joining is not None or self._compiling is None or not self._is_native:
            return False
        return None if not self._compiling.is_done else True

    def _find_actions(self, joining: _Joining) -> None:
        self._joining, self._actions = None, joining.actions()
        self._is_native = bool(self._actions) and joining.is_native(self._actions)
        joined = [action for action in self._actions if isinstance(action, _Joined)]
        arrays = family("elementwise.arrays")

        def make() -> None:
            for action in joined:
                action.kernel = arrays.expression_kernel(*action.wanted)

        if joined:
            self._compiling = Compiling(
                (action.wanted for action in joined),
                lambda: all(arrays.is_at_hand(*action.wanted) for action in joined),
                make,
            )
