"""Kernels that plans want: made at once where they are in the cache, else in a thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Final

from ...frontend.foundations.beside import Beside

__all__ = ["NATIVE_VARIABLE", "Compiling", "is_under_way"]

NATIVE_VARIABLE: Final = "RUSHLIGHT_NATIVE"
"""The environment variable that, set to `off`, leaves plans alone; `now` compiles at first use."""

MOST_KERNELS: Final = 1000
"""Kernels that a process compiles; nothing frees them."""


class Compiling:
    """Kernels by what tells them apart; `make` compiles them, in no time if all are `at_hand`."""

    def __init__(
        self, wanted: Iterable[object], at_hand: Callable[[], bool], make: Callable[[], None]
    ) -> None:
        self._wanted = frozenset(wanted)
        self._at_hand, self._make = at_hand, make
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
        if mode == "now" or self._at_hand():
            self._compile()
            return self.is_done
        _UNDER_WAY.begin(self, self._compile)
        return False

    def _compile(self) -> None:
        try:
            self._make()
            self.is_done = True
            self._at_hand, self._make = bool, _nothing  # which may hold large arrays
        except (OSError, RuntimeError):  # no memory of ours may be executed, or no compiler
            self._give_up()

    def _give_up(self) -> None:
        self.is_given_up = True
        self._at_hand, self._make = bool, _nothing


def is_under_way() -> bool:
    """Whether kernels of plans are being compiled."""
    return bool(_UNDER_WAY)


def _nothing() -> None:
    """What is left to make."""


_WANTED: Final[set[object]] = set()
_UNDER_WAY: Final[Beside[Compiling]] = Beside("rushlight-fusing")
