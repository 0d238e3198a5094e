"""Chains: a convolution, or a normalisation of channels, and what is done to its result at once.

The first operator of a chain makes an array that is not filled yet.  Each of the others adds what
it does to that, as long as it is a formula of the elements, of arrays that lie like the result, of
numbers, or of one number a channel; the last one has all of it computed by one kernel.  Formulas
give the bits of the forwards (see `ops/kernels/code`), so nobody sees the difference.

Whatever does not fit ends the chain early: the array is filled, and the operators are called.  So
it is while a kernel is being compiled.

A chain whose operators stand one right after the other is one call (`whole`), which native code
knows beforehand once the plan has run often (`direct_calls`).  Of others the operands are collected
once the chain has run often, as long as they are like those of the last call, and the last operator
makes one such call with all of them (`collecting`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np

from ...ops.kernels import family
from ...ops.memory.dtype import Array
from ...ops.table.formula import Formula
from ...ops.table.record import Later, Operator
from ..code.calls import PLAIN
from ..code.outside import comes_from_outside
from .collecting import Collected, Collector
from .compiling import Compiling

__all__ = ["Chain", "Link"]

_LETTERS: Final = {float: "D", int: "L"}

ndarray: Final = np.ndarray
_FLOAT32: Final = np.dtype(np.float32)


class Link(NamedTuple):
    """An operator of a chain, and what its result's elements are; without a formula it scales."""

    entry: Operator
    formula: Formula | None


class _Work:
    """An array that is not filled yet, and what will be done to it.

    `steps` are formulas with their operands, of which 0 is the array as it is by then, all others
    those of `operands`, counted from 1.
    """

    __slots__ = ("calls", "given", "later", "letter", "letters", "operands", "places", "steps")

    def __init__(self, later: Later, given: Sequence[object]) -> None:
        self.later = later
        self.given = [given]
        self.letter: str = family("elementwise.arrays").LETTERS[later.out.dtype]
        self.places, self.letters = "o", self.letter
        self.operands: list[object] = []
        self.steps: list[tuple[str, list[int]]] = []
        self.calls: list[tuple[Operator, tuple[object, ...]]] = []

    def take(self, place: str, letter: str, operand: object) -> int:
        """The number of an operand."""
        self.places += place
        self.letters += letter
        self.operands.append(operand)
        return len(self.operands)

    def scale(self, factor: object, term: object) -> None:
        """Take a product with one number a channel, and the sum with another."""
        numbers = [self.take("v", "f", each) for each in (factor, term)]
        self.steps.append(("multiply_add", [0, *numbers]))

    def takes(self, formula: Formula, given: Sequence[object]) -> bool:
        """Whether a formula can be computed along; it is taken then."""
        out, found = self.later.out, list[tuple[str, str, object]]()
        if self.letter not in family("functions.formulas").FORMULAS[formula.name].of:
            return False
        for place in formula.operands:
            each = given[place]
            if each is out:
                found.append(("o", "", None))
            elif type(each) in _LETTERS:
                found.append(("k", _LETTERS[type(each)], each))
            elif type(each) is ndarray and _lies_like(seen := each[...], out):
                found.append(("a", self.letter, seen))  # which no other thread can change
            else:
                return False
        numbers = [0 if each[0] == "o" else self.take(*each) for each in found]
        self.steps.append((formula.name, numbers))
        return True

    def whole(self) -> object:
        """All of it, as kernels are told."""
        frame, arrays = family("convolutions.frame"), family("elementwise.arrays")
        count, letter, steps = len(self.places), self.letter, list[object]()
        for name, numbers in self.steps:
            now = count + len(steps) - 1 if steps else 0
            steps.append(arrays.Step(name, letter, tuple(number or now for number in numbers)))
        results = ((len(steps) - 1, letter),)
        return frame.After(arrays.Expression(self.letters, tuple(steps), results), self.places)

    def fill_by_calls(self) -> None:
        """Fill the array, operator by operator."""
        self.later.fill()
        out = value = self.later.out
        for entry, given in self.calls:
            value = entry.forward(*[value if each is out else each for each in given])
        if value is not out:
            np.copyto(out, value)


def _lies_like(value: Array, out: Array) -> bool:
    if value.dtype is not out.dtype or value.shape != out.shape:
        return False
    lies_so = value.flags.c_contiguous if out.flags.c_contiguous else value.strides == out.strides
    return bool(lies_so and value.flags.aligned)


def _count_others(places: Sequence[bool]) -> int:
    return len(places) - sum(places)


class Chain:
    """Operators that follow each other: `begin`, then `join` for each of the `links`.

    Both give a result, and what is still to be done to that: None if nothing is, as after the last
    of them.  `finish` does it before.

    Attributes:
        forward: what is called in the place of an operator that is not done later.
    """

    def __init__(self, head: Operator, links: Sequence[Link]) -> None:
        self._head = head
        self._links = links
        self.forward: Callable[[Operator], Callable[..., object]] = PLAIN.forward
        self._ways: dict[object, tuple[object, Compiling]] = {}
        self._passed: set[int] = set()
        self._collector = Collector(self._filled)

    def begin(self, *given: object) -> tuple[object, _Work | Collected | None]:
        """Check the operands of the first operator, and make its result without filling it."""
        collected = self._collector.begun(given)
        if collected is not None:
            return collected.out, collected
        work = self._begun(given)
        if work is None:
            return self.forward(self._head)(*given), None
        return work.later.out, work

    def _begun(self, given: Sequence[object]) -> _Work | None:
        head = self._head
        if head.scales is not None:
            is_whole = type(x := given[0]) is ndarray and x.dtype is _FLOAT32
            scales = head.scales(*given) if is_whole else None
            if scales is not None:
                work = _Work(family("convolutions.batch_norms").Elements(given[0]), given)
                work.scale(*scales)
                work.calls.append((head, tuple(given)))
                return work
        elif head.later is not None:
            later = head.later(*given)
            if later is not None:
                return _Work(later, given)
        return None

    def whole(self, own: Sequence[Sequence[bool]], *given: object) -> object:
        """All of a chain at once, of the operands that come from outside: those of the first
        operator, then those of each link but where `own` says that it takes what there is by then.

        None if the plan's lines have to do it.
        """
        try:
            return self._whole(own, given)
        except Exception as error:  # which they raise again, at their places
            if comes_from_outside(error):
                raise
            return None

    def _whole(self, own: Sequence[Sequence[bool]], given: Sequence[object]) -> object:
        others = iter(given)
        work = self._begun(list(islice(others, len(given) - sum(map(_count_others, own)))))
        if work is None:
            return None
        for index, places in enumerate(own):
            operands = tuple([work.later.out if is_own else next(others) for is_own in places])
            if not self._takes(index, work, operands):
                return None
            work.calls.append((self._links[index].entry, operands))
        self.finish(work)
        return work.later.out

    def join(
        self, index: int, work: _Work | Collected, *given: object
    ) -> tuple[object, _Work | Collected | None]:
        """Do what a link does, if it can be done later, else now."""
        if isinstance(work, Collected):
            if work.takes(index, given):
                return work.out, None if work.is_done else work
        elif self._takes(index, work, given):
            work.calls.append((self._links[index].entry, given))
            work.given.append(given)
            if index + 1 < len(self._links):
                return work.later.out, work
            self.finish(work)
            self._collector.learn(work.later.out, work.given)
            return work.later.out, None
        self.finish(work)
        result = self.forward(self._links[index].entry)(*given)
        self._passed.add(index)
        return result, None

    def _takes(self, index: int, work: _Work, given: Sequence[object]) -> bool:
        entry, formula = self._links[index]
        if formula is not None:
            # whose numbers are constants: the forward refuses them at once, or never
            return (not formula.checks or index in self._passed) and work.takes(formula, given)
        scales = entry.scales and entry.scales(*given)
        if scales is not None:
            work.scale(*scales)
        return scales is not None

    def _filled(self, out: Array, given: Sequence[Sequence[object]]) -> None:
        """Compute `out`, of operands that could be taken along before."""
        work = self._begun(given[0])
        if work is not None and work.later.out.shape == out.shape:
            work.later.out = out
            for link, each in zip(self._links, given[1:], strict=False):
                work.calls.append((link.entry, tuple(each)))
            if all(self._takes(i, work, each) for i, each in enumerate(given[1:])):
                return self.finish(work)
        value: Any = self._head.forward(*given[0])
        for link, each in zip(self._links, given[1:], strict=False):
            value = link.entry.forward(*[value if operand is out else operand for operand in each])
        np.copyto(out, value)

    def finish(self, work: _Work | Collected) -> None:
        """Fill the array."""
        if isinstance(work, Collected):
            return self._filled(work.out, work.given)
        if not work.steps:
            work.later.fill()
            return
        key = len(work.steps), work.places, work.letters
        known = self._ways.get(key)
        if known is None:
            known = self._ways[key] = self._way(work)
        whole, compiling = known
        if compiling.done():
            work.later.fill(whole, work.operands)
        else:
            work.fill_by_calls()

    @staticmethod
    def _way(work: _Work) -> tuple[object, Compiling]:
        whole, later, operands = work.whole(), work.later, work.operands
        return whole, Compiling(
            [(type(later), whole)],
            lambda: later.is_at_hand(whole, operands),
            lambda: later.prepare(whole, operands),
            lambda: not later.is_alone_at_hand,
        )
