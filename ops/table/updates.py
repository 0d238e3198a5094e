"""Several arrays written by one kernel, as steps of optimizers do.

An update is a program of formulas over arrays of one dtype that lie alike, and numbers; its results
are written over some of the arrays.  Each formula rounds as the operator of that name does, so one
kernel gives the bits of the operators one by one.  The kernel is compiled in a thread unless the
cache has it, and meanwhile there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from ..kernels import family
from ..memory.dtype import Array
from ..memory.versions import owner_of, written
from .direct import is_dense, is_there

__all__ = ["Program", "Update", "Value"]

Value = int
"""The number of an operand or a step."""


class Program:
    """The steps of an update while they are written: `program("multiply", x, y)` gives a value."""

    def __init__(self, arrays: int, numbers: int) -> None:
        self.arrays, self.numbers = arrays, numbers
        self.steps: list[tuple[str, tuple[Value, ...]]] = []

    def __call__(self, formula: str, *operands: Value) -> Value:
        self.steps.append((formula, operands))
        return self.arrays + self.numbers + len(self.steps) - 1


Write = Callable[[Program], Iterable[tuple[int, Value, int]]]
"""Writes a program; gives which arrays are written, with what value, and how often that counts."""

Known = tuple[int, int, int, int | Array]
"""A kernel, its count, the least of it that a thread gets, and the word that it is given first."""


class Update:
    """An update of so many arrays with so many numbers, which `write` says.

    `results` are the arrays that are written, with what value, and how often that counts.
    """

    def __init__(self, arrays: int, numbers: int, write: Write) -> None:
        self._program = Program(arrays, numbers)
        self.numbers = numbers
        self.results = [*write(self._program)]
        self._ready: dict[tuple[object, ...], Known] = {}

    def __call__(self, arrays: Sequence[Array], *numbers: float) -> bool:
        """Do it; False, with nothing done, if there is no kernel for such arrays (yet)."""
        arrays = [each[...] for each in arrays]  # which no other thread can change
        known = self.known(arrays)
        if known is None or len({id(owner_of(each)) for each in arrays}) < len(arrays):
            return False  # they may overlap
        run = family("elementwise.arrays").run
        run(*known, *arrays, *map(float, numbers), *[arrays[r[0]] for r in self.results])
        for place, _, times in self.results:
            written(arrays[place], times)
        return True

    def known(self, arrays: Sequence[Array]) -> Known | None:
        """The kernel for such arrays; None if there is none (yet)."""
        first = arrays[0]
        kind, strides, shape = first.dtype, first.strides, first.shape
        for each in arrays:
            if (
                each.dtype is not kind
                or each.strides != strides
                or each.shape != shape
                or not each.flags.writeable
            ):
                return None
        key = kind, shape, strides
        known = self._ready.get(key)
        if known is None:
            known = self._prepared(arrays)
            if known is not None and len(self._ready) < _MOST:
                self._ready[key] = known
        return known

    def _prepared(self, given: Sequence[Array]) -> Known | None:
        arrays, first = family("elementwise.arrays"), given[0]
        letter = "" if arrays is None else arrays.LETTERS[first.dtype]
        if letter not in _FLOATS or not first.size or not is_dense(first):
            return None
        lies = tuple((each.itemsize, each.strides) for each in given)
        way = arrays.way_of(first.shape, first.strides, (*lies, *[None] * self.numbers))
        program = self._program
        letters = letter * program.arrays + "D" * program.numbers
        steps = tuple(arrays.Step(name, letter, operands) for name, operands in program.steps)
        begin = len(letters)
        results = tuple((value - begin, letter) for _, value, _ in self.results)
        wanted = arrays.Expression(letters, steps, results), way.places, way.rank
        if way.rank != 1 or not is_there(arrays, wanted):
            return None
        kernel = arrays.expression_kernel(*wanted)
        return kernel, way.size, way.least, way.geometry


_MOST: Final = 1000
"""Sizes that an update keeps in mind."""

_FLOATS: Final = ("f", "d")
