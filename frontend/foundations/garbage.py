"""Work during which Python looks for no garbage.

Compiling makes many small objects that stay.  Python would go through all that the process has,
again and again, to find no cycle among them: that takes as long as compiling.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from threading import get_ident
from typing import Final, ParamSpec, TypeVar

from .locks import after_fork

__all__ = ["uncollected"]

P = ParamSpec("P")
T = TypeVar("T")


class _Paused:
    """Blocks during which garbage collection is off."""

    def __init__(self) -> None:
        self._threads: list[int] = []
        """Those that have switched it off, and will switch it on again."""

    def __enter__(self) -> None:
        try:
            self._threads.append(get_ident())
            gc.disable()  # here, or an interrupt right behind it would leave it so
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        gc.enable()
        if get_ident() in self._threads:
            self._threads.remove(get_ident())

    def go_on(self) -> None:
        """In a forked child, where threads that were to switch it on again are gone."""
        if self._threads and get_ident() not in self._threads:
            self._threads.clear()
            gc.enable()


_PAUSED: Final = _Paused()
after_fork(_PAUSED.go_on)


def uncollected(function: Callable[P, T]) -> Callable[P, T]:
    """The function, during which no garbage is looked for, in any thread."""

    @wraps(function)
    def call(*values: P.args, **named: P.kwargs) -> T:
        if not gc.isenabled():
            return function(*values, **named)
        with _PAUSED:
            return function(*values, **named)

    return call
