"""Places where a lower floor is told, once, what it asks of a higher one."""

from __future__ import annotations

from typing import Generic, TypeVar

__all__ = ["Port"]

T = TypeVar("T")


class Port(Generic[T]):
    """Holds what a floor above has put in, or None while that is not loaded."""

    def __init__(self) -> None:
        self.installed: T | None = None

    def install(self, it: T) -> T:
        """Put something in, and give it.

        Raises:
            RuntimeError: something else is there already.
        """
        if self.installed is not None:
            raise RuntimeError(f"a port holds {self.installed!r} already")
        self.installed = it
        return it
