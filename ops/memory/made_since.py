"""Whether memory was made since a function began, for those that may write nothing older.

NumPy's arrays know by name the data-memory handler they were made with.  While such a function runs
its thread's memory is made by one of ours, which allocates as NumPy's own does; its name says when
the function began.  See `inference.py`, of which this is another use.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from itertools import count
from threading import get_ident
from typing import Any, Final

import numpy as np

from .dtype import Array
from .inference import handler_name

__all__ = ["WATCHED", "Since", "check_age"]

_NAME: Final = "rushlight, since "
_PLAIN: Final = "default_allocator"
_NAMES: Final = 64
"""Names come again after so many beginnings: handlers stay for ever."""
_BEGINNINGS: Final = count()

WATCHED: Final[list[Since]] = []
"""The functions that run, of all threads; nearly always none."""


class Since:
    """The memory of a block: what it writes has to be made in it, or be that of `given` arrays.

    Where memory is made in another way already nothing is looked at.
    """

    def __init__(self, given: Iterable[Array], refusal: str) -> None:
        """`refusal` is what is said of a write, with the operator's name in braces."""
        self._number = next(_BEGINNINGS)
        self._given = {id(_owner(each)) for each in given}
        self._thread = get_ident()
        self._refusal = refusal
        self._before: object = None

    def __enter__(self) -> None:
        if sys.implementation.name != "cpython" or not _is_ours(np.empty(0)):
            return
        set_handler, handlers = _handlers()
        self._before = set_handler(handlers[self._number % _NAMES])
        WATCHED.append(self)

    def __exit__(self, *error: object) -> None:
        if self in WATCHED:
            WATCHED.remove(self)
        if self._before is not None:
            _handlers()[0](self._before)

    def refuses(self, array: Array) -> bool:
        """Whether memory is older, and was not given."""
        owner = _owner(array)
        if self._thread != get_ident() or id(owner) in self._given or not _is_ours(owner):
            return False
        name = handler_name(owner)
        if not name.startswith(_NAME):
            return True
        age = (int(name.removeprefix(_NAME)) - self._number) % _NAMES
        return bool(age >= _NAMES // 2)

    def check(self, array: Array, operator: str) -> None:
        """Refuse a write to older memory by an operator, whose name may be unknown.

        Raises:
            RuntimeError: it is such a write.
        """
        if self.refuses(array):
            raise RuntimeError(self._refusal.format(f" ({operator})" if operator else ""))


def check_age(array: Array, operator: str = "") -> None:
    """Refuse a write to memory that a function which runs in this thread may not write.

    Raises:
        RuntimeError: it is such a write.
    """
    for each in list(WATCHED):
        each.check(array, operator)


def _owner(array: Array) -> Array:
    """The array that owns the memory of one, or the last that is known of."""
    lender: object = array.base
    while lender is not None:
        if isinstance(lender, np.ndarray):
            array = lender
        lender = getattr(lender, "base", None)
    return array


def _is_ours(array: Array) -> bool:
    """Whether memory was made as arrays are where nobody asks for something else, or by one of the
    handlers here."""
    if array.base is not None:
        return False  # lent by something else
    name: str = handler_name(array)
    return name == _PLAIN or name.startswith(_NAME)


@cache
def _handlers() -> tuple[Any, list[object]]:
    """What sets a handler, and ours, each of which allocates as NumPy's own."""
    from .handlers import capsule_of, default_handler, set_handler

    _, own = default_handler()
    return set_handler(), [capsule_of(f"{_NAME}{n}", own.allocator) for n in range(_NAMES)]
