"""`torch.utils._triton`: whether there is a compiler of kernels for cards."""

from __future__ import annotations

__all__ = ["has_triton", "has_triton_package"]


def has_triton_package() -> bool:
    """Whether the package `triton` is used: never."""
    return False


def has_triton() -> bool:
    """Whether there is a card that it compiles for: there is none."""
    return False
