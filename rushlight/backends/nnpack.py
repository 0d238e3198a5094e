"""`torch.backends.nnpack`: a library of kernels; our own serve in its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..frontend.foundations.chosen import Chosen

__all__ = ["flags", "is_available", "set_flags"]

_ENABLED = Chosen(True)


def is_available() -> bool:
    """Whether the library is there: no."""
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Say whether it may be used; what was said before is returned."""
    return (_ENABLED.exchange(_enabled),)


@contextmanager
def flags(enabled: bool = False) -> Iterator[None]:
    """A block in which it may be used, or not."""
    with _ENABLED.within(enabled):
        yield
