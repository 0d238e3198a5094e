"""Direct forms of a plan's operators, which take over when it has run often.

A plan asks `warm0` whether to call `d0`, which knows calls beforehand (`ops/table/direct.py`), or
to do what it has written out; `warmh0` and `dh0` are those of a chain.  Operators whose operands
change their sizes all the time cool down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ...ops.table.direct import TRIALS, direct_calls, known_calls
from ...ops.table.record import Operator

__all__ = ["DirectCalls"]


class DirectCalls:
    """What a plan's operators are called by: `space` holds the names of its text."""

    def __init__(
        self,
        space: dict[str, Any],
        operators: Mapping[int, Operator],
        chains: Mapping[str, Callable[..., Any]],
    ) -> None:
        self._space = space
        self._operators = operators
        self._chains = chains
        self._left = TRIALS
        self._known: list[object] = []
        space.update(trial=True, tick=self._tick)
        space.update((f"warm{each}", False) for each in (*operators, *chains))

    def _tick(self) -> None:
        """The plan runs once more."""
        left = self._left = self._left - 1
        if left == 0:
            self._space["trial"] = False
            for number, entry in self._operators.items():
                self._warm(number, direct_calls(entry, self._cool(number)))
            for name, whole in self._chains.items():
                self._warm(name, known_calls(whole, self._cool(name)))

    def _cool(self, name: object) -> Callable[[], object]:
        return partial(self._space.update, {f"warm{name}": False})

    def _warm(self, name: object, known: Any) -> None:
        if known is not None:
            self._known.append(known)  # native code looks at it
            self._space.update({f"d{name}": known.call, f"warm{name}": True})
