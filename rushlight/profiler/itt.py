"""`torch.profiler.itt`: marks for Intel's profiler, which nobody reads here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["is_available", "mark", "range", "range_pop", "range_push"]


def is_available() -> bool:
    """Whether somebody reads them: no."""
    return False


def mark(msg: str) -> None:
    """Set a mark."""


def range_push(msg: str) -> None:
    """Begin a stretch."""


def range_pop() -> None:
    """End the last stretch."""


@contextmanager
def range(msg: str, *args: object, **kwargs: object) -> Iterator[None]:
    """A block as a stretch, called `msg.format(*args, **kwargs)`."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
