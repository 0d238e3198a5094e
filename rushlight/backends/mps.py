"""`torch.backends.mps`: there is no such device."""

from __future__ import annotations

__all__ = ["is_available", "is_built"]


def is_available() -> bool:
    """Whether there is such a device: no."""
    return False


def is_built() -> bool:
    """Whether there are kernels for such a device: no."""
    return False
