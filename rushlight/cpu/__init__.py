"""`torch.cpu`: the one kind of device there is."""

from __future__ import annotations

from . import amp

__all__ = ["amp", "device_count", "is_available", "synchronize"]


def is_available() -> bool:
    """Always."""
    return True


def device_count() -> int:
    """One."""
    return 1


def synchronize(device: object = None) -> None:
    """Nothing to wait for: every operator has ended when it returns."""
    del device
