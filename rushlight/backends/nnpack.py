"""`torch.backends.nnpack`: a library of kernels; our own serve in its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["flags", "is_available", "set_flags"]

_ENABLED = [True]


def is_available() -> bool:
    """Whether the library is there: no."""
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Say whether it may be used; what was said before is returned."""
    before = (_ENABLED[0],)
    _ENABLED[0] = _enabled
    return before


@contextmanager
def flags(enabled: bool = False) -> Iterator[None]:
    """A block in which it may be used, or not."""
    before = set_flags(enabled)
    try:
        yield
    finally:
        set_flags(before[0])
