"""Chains as one call of native code, where other things stand between their operators.

What the operators do is known by now: the operands are like those of a call before, so none of them
can be refused, and nothing is done until the last of them are there.  Then one call that native
code knows beforehand (`ops/table/direct.py`) computes all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...ops.kernels import TRIALS, family, unfilled
from ...ops.memory.dtype import Array
from ...ops.memory.storage import contiguous_strides, strides_of
from ...ops.table.direct import known_calls, knows_calls

if TYPE_CHECKING:
    from ...ops.kernels.code.calls.prepared import Alike

__all__ = ["Collected", "Collector"]

ndarray: Final = np.ndarray


def _alike(given: Sequence[object]) -> Alike | None:
    """What tells natively whether operands are like these; None if nothing does."""
    if not knows_calls():
        return None
    module: ModuleType = family("calls.prepared")
    try:
        alike: Alike = module.Alike(given)
    except module.Unknown:
        return None
    return alike


Fill = Callable[[Array, Sequence[Sequence[object]]], None]
"""What computes an array, of the operands of each operator."""


class _Form:
    """What the operands of an operator are like; numbers' types are looked at by native code."""

    __slots__ = ("_alike", "_arrays", "_others", "_own", "_rest", "_tail", "own")

    def __init__(self, given: Sequence[Any], out: object) -> None:
        """`out` is the result of the chain, which an operator may take where it is `own`."""
        self.own = [each is out for each in given]
        places = [i for i, each in enumerate(given) if type(each) is ndarray]
        self._arrays = [
            (i, None if self.own[i] else (given[i].shape, given[i].strides, given[i].dtype))
            for i in places
        ]
        self._rest = rest = places[-1] + 1
        self._others = [(i, given[i]) for i in range(rest) if i not in places]
        self._tail = tuple([each[:] if type(each) is list else each for each in given[rest:]])
        self._own = [i for i in places if self.own[i]]
        self._alike = _alike(given)

    def fits(self, given: tuple[object, ...], out: object) -> bool:
        """Whether operands are like these."""
        alike = self._alike
        if alike is not None:
            for place in self._own:
                if given[place] is not out:
                    return False
            return alike.call(*given) is not None
        for place, form in self._arrays:
            each = given[place]
            if form is None:
                if each is not out:
                    return False
            elif type(each) is not ndarray or (each.shape, each.strides, each.dtype) != form:
                return False
        for place, other in self._others:
            if given[place] is not other:
                return False
        return given[self._rest :] == self._tail


class Collector:
    """What collects the operands of a chain's calls.

    `fill` computes `out` of those of each operator in ordinary ways.
    """

    def __init__(self, fill: Fill) -> None:
        self._fill = fill
        self._left = self._trials = TRIALS
        self._last: _Last | None = None

    def begun(self, given: tuple[object, ...]) -> Collected | None:
        """A call with these operands of the first operator; None if it is not like the last."""
        last = self._last
        return Collected(last, given) if last is not None and last.first.fits(given, None) else None

    def learn(self, out: Array, given: Sequence[Sequence[object]]) -> None:
        """A call was done in ordinary ways, with these operands of each operator."""
        self._left -= 1
        if self._left or not knows_calls():
            return
        self._left = self._trials = 2 * self._trials  # sizes may change all the time
        self._last = _Last(out, given, self._fill, self._cool)

    def _cool(self) -> None:
        self._last, self._left = None, 0  # and never again


class _Last:
    """What a call was like; `known` has native code do those that are like it."""

    def __init__(
        self,
        out: Array,
        given: Sequence[Sequence[object]],
        fill: Fill,
        cool: Callable[[], None],
    ) -> None:
        self.first, *self.others = [_Form(operands, out) for operands in given]
        self.shape, self.dtype = out.shape, out.dtype
        self.is_last = strides_of(out) != contiguous_strides(out.shape)
        self._fill = fill
        known = known_calls(self._filled, cool, writes=True)
        assert known is not None  # there are deferred calls only where native code knows calls
        self.known = known

    def _filled(self, out: Array, *given: object) -> object:
        others = iter(given)
        forms = (self.first, *self.others)
        self._fill(out, [[out if own else next(others) for own in form.own] for form in forms])
        return out


class Collected:
    """A call so far: `out` is what it will write to, which nobody has read.

    `given` are the operands of the operators; the call is done when they all are there.
    """

    __slots__ = ("_last", "given", "is_done", "out")

    def __init__(self, last: _Last, given: tuple[object, ...]) -> None:
        self._last = last
        self.given = [given]
        self.out = unfilled(last.shape, last.dtype, is_last=last.is_last)
        self.is_done = False

    def takes(self, index: int, given: tuple[object, ...]) -> bool:
        """Take the operands of another operator, if they are like those of the last call."""
        others, out = self._last.others, self.out
        if not others[index].fits(given, out):
            return False
        self.given.append(given)
        if index + 1 == len(others):
            flat = [each for operands in self.given for each in operands if each is not out]
            self._last.known.call(out, *flat)
            self.is_done = True
        return True
