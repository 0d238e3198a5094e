"""Kernels that plans want: made at once where they are in the cache, else in a thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Final

from ...frontend.foundations.beside import Beside

__all__ = ["NATIVE_VARIABLE", "Compiling", "is_under_way", "last_done"]

NATIVE_VARIABLE: Final = "RUSHLIGHT_NATIVE"
"""The environment variable that, set to `off`, leaves plans alone; `now` compiles at first use."""

MOST_KERNELS: Final = 1000
"""Kernels that a process compiles; nothing frees them."""


class Compiling:
    """Kernels by what tells them apart; `make` compiles them, in no time if all are `at_hand`.

    `is_due` says whether that is waited for: what does their work meanwhile would have to be
    compiled as well.
    """

    def __init__(
        self,
        wanted: Iterable[object],
        at_hand: Callable[[], bool],
        make: Callable[[], None],
        is_due: Callable[[], bool] = bool,
    ) -> None:
        self._wanted = frozenset(wanted)
        self._at_hand, self._make, self._is_due = at_hand, make, is_due
        self.is_done = self.is_given_up = False

    def done(self) -> bool:
        """Whether they are there; if not, they are being made, or never will be."""
        if self.is_done or self.is_given_up or self in _UNDER_WAY:
            return self.is_done
        mode = os.environ.get(NATIVE_VARIABLE, "").lower()
        wanted = _WANTED | self._wanted
        if mode == "off" or len(wanted) > MOST_KERNELS:
            self._give_up()
            return False
        _WANTED.update(wanted)
        if mode == "now" or self._at_hand() or self._is_due():
            self._compile()
            return self.is_done
        _UNDER_WAY.begin(self, self._compile)
        return False

    def _compile(self) -> None:
        try:
            self._make()
            self.is_done = True
            self._forget()
        except (OSError, RuntimeError):  # no memory of ours may be executed, or no compiler
            self._give_up()

    def _give_up(self) -> None:
        self.is_given_up = True
        self._forget()

    def _forget(self) -> None:
        """Let go what may hold large arrays."""
        self._at_hand, self._make, self._is_due = bool, _nothing, bool


def is_under_way(since: object = None) -> bool:
    """Whether kernels of plans are being compiled, or one was `since` a time, which is what
    `last_done` gave then."""
    return bool(_UNDER_WAY) or since not in (None, _UNDER_WAY.ended)


def last_done() -> object:
    """Another object after each kernel of plans that has been compiled."""
    return _UNDER_WAY.ended


def _nothing() -> None:
    """What is left to make."""


_WANTED: Final[set[object]] = set()
_UNDER_WAY: Final[Beside[Compiling]] = Beside("rushlight-fusing")
