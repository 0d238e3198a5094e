"""Which threads run code whose values are tensors themselves, and who is told of calls there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any, Final

__all__ = ["KEEPING", "Listener", "keeping_handles", "keeps_handles", "listener"]

Listener = Callable[[Any, str, Callable[[], object]], object]
"""Calls the method of an object (the object, the method's name, the call) and gives its result."""

KEEPING: Final[dict[int, Listener | None]] = {}
"""The threads, by number; nearly always none."""


def keeps_handles() -> bool:
    """Whether this thread does."""
    return get_ident() in KEEPING


def listener() -> Listener | None:
    """Who listens in this thread."""
    return KEEPING.get(get_ident())


@contextmanager
def keeping_handles(told: Listener | None = None) -> Iterator[None]:
    """Let this thread do so for a block; without `told` whoever listens already still does.

    Where somebody listens, calls of methods are calls, and not taken into their callers.
    """
    thread = get_ident()
    inside, before = thread in KEEPING, KEEPING.get(thread)
    KEEPING[thread] = told or before
    try:
        yield
    finally:
        if inside:
            KEEPING[thread] = before
        else:
            del KEEPING[thread]
