"""Direct forms of a plan's operators, which take over when it has run often, or for a while.

A plan asks `warm0` whether to call `d0`, which knows calls beforehand (`ops/table/direct.py`), or
to do what it has written out; `warmh0` and `dh0` are those of a chain, `warmg0` and `dg0` those of
a group on small operands, `warms0` and `ds0` those of a stretch.  Operators whose operands change
their sizes all the time cool down.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from time import thread_time
from typing import Any, Final

from ...ops.kernels import TRIALS
from ...ops.table.direct import direct_calls, known_calls, knows_calls
from ...ops.table.record import Operator
from .fusing import Group
from .replaying import Replay

__all__ = ["DirectCalls"]

SOON: Final = 0.02
FEWEST: Final = 4
"""Seconds of a thread's time after which operators are taken over in a plan that ran so often."""

BETWEEN: Final = 32
"""Calls between two by which it is found out whether the kernels of a group are there."""

MOST_TRIED: Final = 2000
"""Such calls before nobody asks any more."""

FRUITLESS: Final = 8
"""Such calls whose operators do not join, or whose operands lie as none did before."""


def _nothing(*given: object) -> None:
    """What is known of a call that native code does not know: the plan does it, line by line."""


class _Trying:
    """A group's calls on small operands until there is something to learn from them.

    A call costs more than its lines do as long as native code does not know it, so most are left to
    the plan.
    """

    def __init__(self, group: Group, learn: Callable[[], None], cool: Callable[[], object]) -> None:
        self._group, self._learn, self._cool = group, learn, cool
        self._calls = self._fruitless = 0

    def __call__(self, *given: object) -> object:
        self._calls += 1
        if self._calls % BETWEEN:
            return None
        found = self._group(*given)
        prospect = self._group.prospect(given)
        if prospect:
            self._learn()
        elif prospect is False:
            self._fruitless += 1
        if self._fruitless >= FRUITLESS or self._calls >= BETWEEN * MOST_TRIED:
            self._cool()
        return found


class DirectCalls:
    """What a plan's operators are called by: `space` holds the names of its text."""

    def __init__(
        self,
        space: dict[str, object],
        operators: Mapping[int, Operator],
        chains: Mapping[str, Callable[..., object]],
        groups: Mapping[str, Group],
        replays: Mapping[str, Replay],
        within: Mapping[int, Collection[str]],
    ) -> None:
        """`within` says in which stretches operators lie."""
        self._space = space
        self._operators = operators
        self._chains = chains
        self._groups = groups
        self._replays, self._within = replays, within
        self._left = TRIALS
        self._since = thread_time()
        self._known: list[object] = []
        space.update(trial=True, tick=self._tick)
        space.update((f"warm{each}", False) for each in (*operators, *chains, *groups, *replays))

    def _tick(self) -> None:
        """The plan runs once more."""
        left = self._left = self._left - 1
        if not left or (left <= TRIALS - FEWEST and thread_time() - self._since > SOON):
            self._left = 0
            self._space["trial"] = False
            for number in self._operators:
                if "" in self._within[number]:
                    self._take_over(number)
            for name, whole in self._chains.items():
                self._warm(name, known_calls(whole, self._cool(name)))
            for name, group in self._groups.items():
                if knows_calls():
                    trying = _Trying(group, partial(self._learn, name), self._cool(name))
                    self._space.update({f"d{name}": trying, f"warm{name}": True})

            for name, replay in self._replays.items():
                self._begin(name, replay)

    def _begin(self, name: str, replay: Replay) -> None:
        """Have native code learn the calls of a stretch, or go on with it."""
        replay.cool = partial(self._give_up, name)
        replay.drag = partial(self._take_over_within, name)
        if replay.known is None:
            look, cool = replay.look, replay.cooled
            replay.known = known_calls(_nothing, cool, waiting=_nothing, look=look)
        self._warm(name, replay.known)

    def _give_up(self, name: str) -> None:
        """Leave a stretch to its operators."""
        self._cool(name)()
        self._take_over_within(name)

    def _take_over_within(self, name: str) -> None:
        """Have native code learn the calls of the operators in a stretch, which it does not know,
        or not soon: what is learned of them would be of no use where it does."""
        for number, names in self._within.items():
            if name in names and not self._space[f"warm{number}"]:
                self._take_over(number)

    def _take_over(self, number: int) -> None:
        self._warm(number, direct_calls(self._operators[number], self._cool(number)))

    def _learn(self, name: str) -> None:
        """Have native code learn the calls of a group, whose kernels are there."""
        self._warm(name, known_calls(self._groups[name], self._cool(name), waiting=_nothing))

    def _cool(self, name: object) -> Callable[[], object]:
        return partial(self._space.update, {f"warm{name}": False})

    def _warm(self, name: object, known: Any) -> None:
        if known is not None:
            self._known.append(known)  # native code looks at it
            self._space.update({f"d{name}": known.call, f"warm{name}": True})
