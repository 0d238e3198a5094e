"""`torch._dynamo.utils`: questions about the compiler."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager

from ..ops.memory.warned import warn_caller

__all__ = ["disable_cache_limit", "is_compile_supported", "warn_once"]


def is_compile_supported(device_type: object) -> bool:
    """Whether programs for a kind of device can be compiled: no."""
    del device_type
    return False


@functools.cache
def warn_once(msg: str, stacklevel: int = 1) -> None:
    """Warn of something the first time that it is said."""
    del stacklevel  # the line outside the package is meant
    warn_caller(msg)


@contextmanager
def disable_cache_limit() -> Iterator[None]:
    """A block in which as many programs are kept as there are: there are none."""
    yield
