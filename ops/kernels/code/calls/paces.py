"""When a function's calls are learned from: not all sizes come again, and none is given back."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..fronts.prepared_text import MOST_ENTRIES, SLOT_AT, SLOTS, STATE_WORDS

__all__ = ["FIRST", "FOR_EVER", "Pace", "Waits", "new_state"]

_SHORTEST: Final = 2
"""Calls before the next is learned from: every third one then, so that of two that alternate not
always the same."""
_LONGEST: Final = 1 << 12
FOR_EVER: Final = 1 << 62

FIRST: Final = 16
"""Entries that are learned as they come: the next must have come before."""

_MOST_LEARNED: Final = 2 * MOST_ENTRIES
_MOST_IN_ALL: Final = 10_000
"""Entries that a function learns, and all of them beyond the first: none is given back, since
another thread may be reading it, and each takes some 6 kB."""
_LEARNED: Final = itertools.count()
_FRUITLESS: Final = 500
"""Calls that had not come before, one after the other, after which sizes never will: those that
are looked at, one of three that are not known."""
_LARGE: Final = 1 << 16
"""Bytes of a result for which it takes several times as long as the call to find out what it does:
it must have come before."""


class Pace:
    """What a function's calls were that have not been learned from."""

    def __init__(self) -> None:
        self._met = set[object]()
        self._fruitless = 0

    def is_first(self, values: Sequence[object], result: object, known: int) -> bool:
        """Whether none like a call came before, where it has to: it makes much, or many are known;
        it is noted then."""
        are_many = known >= FIRST
        makes_much = type(result) is np.ndarray and result.nbytes >= _LARGE
        if not (are_many or makes_much):
            return False
        form = tuple((each.shape, each.strides) for each in values if type(each) is np.ndarray)
        is_first = form not in self._met
        if len(self._met) >= _MOST_LEARNED:
            self._met.clear()
        self._met.add(form)
        self._fruitless = self._fruitless + 1 if is_first and are_many else 0
        return is_first

    @property
    def is_fruitless(self) -> bool:
        """Whether nothing has come again for long."""
        return self._fruitless >= _FRUITLESS

    @staticmethod
    def is_over(known: int, learned: int) -> bool:
        """Whether an entry was the last: so many are known, and were learned in all."""
        is_full = known >= MOST_ENTRIES or learned >= _MOST_LEARNED
        return is_full or (known > FIRST and next(_LEARNED) >= _MOST_IN_ALL)


def new_state() -> Array:
    """What native code looks at: no entries, and no call that is waited for."""
    state = np.zeros(STATE_WORDS, np.int64)
    state[SLOT_AT + 1] = SLOTS - 1
    return state


class Waits:
    """How many calls pass until the next is learned from, for each of the slots that native code
    has them fall into: a call that cannot be learned makes few others wait."""

    def __init__(self, state: Array, *, is_one: bool, calls: int = 0) -> None:
        """Where `is_one` holds, all calls wait for each other; so many `calls` pass at first."""
        self._state, self._left = state, state[SLOT_AT + 2 :]
        self._next = [_SHORTEST] * SLOTS
        self.wait_all(calls)
        if is_one:
            state[SLOT_AT + 1] = 0

    @property
    def slot(self) -> int:
        """That of the call that is learned from now; of another thread's at worst, which waits
        then."""
        return int(self._state[SLOT_AT])

    def wait(self, slot: int, calls: int = _SHORTEST) -> None:
        """Have that many pass."""
        self._left[slot] = calls

    def wait_longer(self, slot: int) -> bool:
        """Have twice as many pass as the last time; whether these are the most."""
        calls = self._left[slot] = self._next[slot]
        self._next[slot] = min(2 * calls, _LONGEST)
        return calls >= _LONGEST // 2

    def begin_anew(self, slot: int) -> None:
        """Have few pass the next time."""
        self._next[slot] = _SHORTEST

    def wait_all(self, calls: int) -> None:
        """Have that many of each slot pass."""
        self._left[:] = calls
