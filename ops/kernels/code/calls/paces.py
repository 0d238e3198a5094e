"""When a function's calls are learned from: not all sizes come again, and none is given back."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..fronts.prepared_text import MOST_ENTRIES

__all__ = ["FIRST", "Pace"]

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
        self._met = set[Any]()
        self._fruitless = 0

    def is_first(self, values: Sequence[Any], result: Any, known: int) -> bool:
        """Whether none like a call came before, where it has to: it makes much, or many are known;
        it is noted then."""
        are_many, is_array = known >= FIRST, type(result) is np.ndarray
        if not are_many and not (is_array and result.nbytes >= _LARGE):
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
