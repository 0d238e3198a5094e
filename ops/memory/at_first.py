"""What is done once, before something is on for the first time."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["AtFirst"]


class AtFirst:
    """Functions that are called before a state is first on, in whatever thread: who looks at the
    state need not before.  They may be called more than once."""

    def __init__(self) -> None:
        self._calls: list[Callable[[], object]] = []

    def add(self, call: Callable[[], object]) -> None:
        """Have a function called then."""
        self._calls.append(call)

    def arrive(self) -> None:
        """Call them, unless that was done."""
        for call in list(self._calls):  # two threads may do so at once
            call()
        self._calls.clear()
