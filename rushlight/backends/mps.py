"""`torch.backends.mps`: there is no such device."""

from __future__ import annotations

from typing import NoReturn

__all__ = [
    *("get_core_count", "get_name", "is_available", "is_built", "is_macos13_or_newer"),
    "is_macos_or_newer",
]


def is_available() -> bool:
    """Whether there is such a device: no."""
    return False


def is_built() -> bool:
    """Whether there are kernels for such a device: no."""
    return False


def _absent(*arguments: object) -> NoReturn:
    raise RuntimeError("Cannot execute this without MPS backend.")


get_core_count = get_name = is_macos13_or_newer = is_macos_or_newer = _absent
