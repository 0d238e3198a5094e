"""`torch.backends.mkl`: linear algebra and Fourier transforms, by NumPy here."""

from __future__ import annotations

from typing import Self

__all__ = ["VERBOSE_OFF", "VERBOSE_ON", "is_available", "verbose"]

VERBOSE_OFF = 0
VERBOSE_ON = 1


def is_available() -> bool:
    """Whether the library itself is there: no."""
    return False


class verbose:
    """A block in which the library would tell of its calls.

    Args:
        enable: `VERBOSE_ON` or `VERBOSE_OFF`; nothing is told in any case.
    """

    def __init__(self, enable: int) -> None:
        self.enable = enable

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        return None
