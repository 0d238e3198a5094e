"""`torch.backends.mkldnn`: convolutions and recurrent layers, by NumPy here."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether the library itself is there: no."""
    return False
