"""Pointwise operators on arrays of one shape and dtype, computed by one kernel.

The kernel is compiled in a thread unless the cache has it, and takes over if it gives the bits of
the operators one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...kernels import ALWAYS, LARGE, family
from ...memory.dtype import Array
from ...table.direct import direct_form, is_there, knows_calls
from .symbols import Symbol, Task

if TYPE_CHECKING:
    from ...kernels.code.calls.prepared import Known

__all__ = ["LONGEST", "MOST_WORDS", "Fused", "Learnt"]

LONGEST: Final = 40
"""Operators of one kernel."""

MOST_WORDS: Final = 23
"""Operands and results of one kernel."""


class Learnt:
    """A function of arrays whose calls native code learns: `call`."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._known: Known | None = None
        self.call = function
        if knows_calls():
            self._known = family("calls.prepared").Known(function, None)
            self.call = self._known.call


class _Place(NamedTuple):
    """The value of that number: operands come first, then results."""

    number: int


class Fused:
    """Operators in order: `call` takes arrays for the symbols `given` and gives those of `wanted`,
    as a tuple if they are several."""

    def __init__(
        self, tasks: Sequence[Task], given: Sequence[Symbol], wanted: Sequence[Symbol]
    ) -> None:
        self._count = len(given)
        numbers = {id(symbol): at for at, symbol in enumerate(given)}
        self._calls: list[tuple[Callable[..., object], list[Any]]] = []
        self._formulas = [task.formula for task in tasks]
        for task in tasks:
            args = [_Place(numbers[id(a)]) if type(a) is Symbol else a for a in task.args]
            self._calls.append((direct_form(task.entry), args))
            numbers[id(task.result)] = len(numbers)
        self._wanted = [numbers[id(symbol)] for symbol in wanted]
        self._known: Known | None = None
        self.call: Callable[..., object] = self._one_by_one
        if knows_calls():
            self._known = family("calls.prepared").Known(self._one_by_one, self._explained)
            self.call = self._known.call

    def _one_by_one(self, *arrays: Array) -> object:
        held: list[object] = [*arrays]
        for call, args in self._calls:
            held.append(call(*[held[a.number] if type(a) is _Place else a for a in args]))
        found = [held[number] for number in self._wanted]
        return found[0] if len(found) == 1 else tuple(found)

    def _explained(
        self, values: Sequence[Array], result: object
    ) -> list[tuple[object, ...]] | None:
        """The run of the kernel; None if there is none, or not yet."""
        arrays, results = (
            family("elementwise.arrays"),
            result if type(result) is tuple else (result,),
        )
        first = results[0]
        letter = None if arrays is None else arrays.LETTERS.get(first.dtype)
        if letter not in _FLOATS or not first.size:
            return None
        if any(each.strides != first.strides or each.dtype != first.dtype for each in results):
            return None
        if any(each.shape != first.shape for each in (*values, *results)):
            return None
        for formula in self._formulas:
            known = arrays.FORMULAS[formula.name]
            if not (known.is_exact or formula.name in ALWAYS or first.size >= LARGE):
                return None
        steps, numbers = self._steps(len(values))
        taken = [*values, *numbers]
        letters = "".join(arrays.LETTERS.get(each.dtype, "") for each in values)
        if len(letters) < len(values) or not set(letters) <= {letter, "?"}:
            return None
        letters += "D" * len(numbers)
        begin = len(taken)
        written = tuple(
            arrays.Step(formula.name, letter, operands)
            for formula, operands in zip(self._formulas, steps, strict=True)
        )
        places = [self._shifted(n, len(numbers)) - begin for n in self._wanted]
        expression = arrays.Expression(letters, written, tuple((p, letter) for p in places))
        lies = (*((each.itemsize, each.strides) for each in values), *[None] * len(numbers))
        way = arrays.way_of(first.shape, first.strides, lies)
        if not way.is_quick or not is_there(arrays, (expression, way.places, way.rank)):
            return None
        kernel = arrays.expression_kernel(expression, way.places, way.rank)
        return [(kernel, way.size, way.least, way.geometry, *taken, *results)]

    def _shifted(self, number: int, numbers: int) -> int:
        return number if number < self._count else number + numbers

    def _steps(self, count: int) -> tuple[list[tuple[int, ...]], list[float]]:
        """The operands of each formula, and the numbers that follow the arrays."""
        numbers: list[float] = []
        found: list[list[int | _Place]] = []
        for formula, (_, args) in zip(self._formulas, self._calls, strict=True):
            taken: list[int | _Place] = []
            for place in formula.operands:
                value = args[place]
                if type(value) is not _Place:
                    numbers.append(float(value))
                    taken.append(count + len(numbers) - 1)
                else:
                    taken.append(value)
            found.append(taken)
        steps = [
            tuple(
                self._shifted(a.number, len(numbers)) if isinstance(a, _Place) else a for a in each
            )
            for each in found
        ]
        return steps, numbers


_FLOATS: Final = ("f", "d")
