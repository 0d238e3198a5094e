"""What programs choose for a whole process, until they choose otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

__all__ = ["Chosen"]

T = TypeVar("T")


class Chosen(Generic[T]):
    """One such choice: `now` is what was chosen last, at first what is usual."""

    __slots__ = ("now",)

    def __init__(self, usual: T) -> None:
        self.now = usual

    def asked(self) -> T:
        """What was chosen last, for who wants a function of it."""
        return self.now

    def choose(self, it: T) -> None:
        """Choose something from here on."""
        self.now = it

    def exchange(self, it: T) -> T:
        """Choose something from here on, and give what was chosen before."""
        before, self.now = self.now, it
        return before

    @contextmanager
    def within(self, it: T) -> Iterator[None]:
        """A block in which something is chosen, and after which it is as before."""
        before = self.exchange(it)
        try:
            yield
        finally:
            self.now = before
