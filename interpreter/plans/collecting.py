"""Chains as one call of native code, where other things stand between their operators.

What the operators do is known by now: the operands are like those of a call before, so none of them
can be refused, and nothing is done until the last of them are there.  Then one call that native
code knows beforehand (`ops/table/direct.py`) computes all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...ops.table.direct import known_calls

__all__ = ["Collected", "Collector"]

_TRIALS: Final = 50
"""Calls of a chain after which it pays to learn what they do."""
_OWN: Final = object()
"""The form of an operand that is the result of the chain so far."""

ndarray: Final = np.ndarray


def _form(operand: Any, out: Any) -> Any:
    if operand is out:
        return _OWN
    if type(operand) is ndarray:
        return operand.shape, operand.strides, operand.dtype
    return operand.copy() if type(operand) is list else operand


def _is_like(given: Sequence[Any], forms: Sequence[Any], out: Any) -> bool:
    """Whether operands have forms; the types of numbers are looked at by native code."""
    for each, form in zip(given, forms, strict=True):
        if type(each) is ndarray:
            if form is _OWN:
                if each is not out:
                    return False
            elif (each.shape, each.strides, each.dtype) != form:
                return False
        elif each is not form and each != form:
            return False
    return True


class Collector:
    """What collects the operands of a chain's calls.

    `fill` computes `out` of those of each operator in ordinary ways.
    """

    def __init__(self, fill: Callable[[Any, Sequence[Sequence[Any]]], None]) -> None:
        self._fill = fill
        self._left = _TRIALS
        self._last: _Last | None = None

    def begun(self, given: Sequence[Any]) -> Collected | None:
        """A call with these operands of the first operator; None if it is not like the last."""
        last = self._last
        if last is None or not _is_like(given, last.forms[0], None):
            return None
        return Collected(last, given)

    def learn(self, out: Any, given: Sequence[Sequence[Any]]) -> None:
        """A call was done in ordinary ways, with these operands of each operator."""
        self._left -= 1
        if self._left:
            return
        self._left = _TRIALS
        self._last = _Last(out, given, self._fill, self._cool)

    def _cool(self) -> None:
        self._last, self._left = None, 0  # and never again


class _Last:
    """What a call was like; `known` has native code do those that are like it."""

    def __init__(
        self,
        out: Any,
        given: Sequence[Sequence[Any]],
        fill: Callable[[Any, Sequence[Sequence[Any]]], None],
        cool: Callable[[], None],
    ) -> None:
        self.forms = [[_form(each, out) for each in operands] for operands in given]
        self.shape, self.dtype = out.shape, out.dtype
        self._fill = fill
        self.known = known_calls(self._filled, cool, writes=True)

    def _filled(self, out: Any, *given: Any) -> Any:
        others = iter(given)
        own = [[out if each is _OWN else next(others) for each in forms] for forms in self.forms]
        self._fill(out, own)
        return out


class Collected:
    """A call so far: `out` is what it will write to, which nobody has read.

    `given` are the operands of the operators.
    """

    __slots__ = ("_last", "given", "out")

    def __init__(self, last: _Last, given: Sequence[Any]) -> None:
        self._last = last
        self.given = [given]
        self.out = np.empty(last.shape, last.dtype)

    def takes(self, given: Sequence[Any]) -> bool:
        """Take the operands of the next operator, if they are like those of the last call."""
        out, last, own = self.out, self._last, self.given
        if not _is_like(given, last.forms[len(own)], out):
            return False
        own.append(given)
        if len(own) == len(last.forms):
            flat = [each for operands in own for each in operands if each is not out]
            last.known.call(out, *flat)
        return True

    @property
    def is_done(self) -> bool:
        """Whether that was the last, so that `out` is filled."""
        return len(self.given) == len(self._last.forms)
