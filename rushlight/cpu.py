"""`torch.cpu`: what programs ask of a device, asked of the only one there is."""

from __future__ import annotations

__all__ = ["current_device", "device_count", "is_available", "is_initialized", "synchronize"]


def is_available() -> bool:
    """Whether there is one: yes."""
    return True


def is_initialized() -> bool:
    """Whether it is ready: yes."""
    return True


def device_count() -> int:
    """How many there are."""
    return 1


def current_device() -> str:
    """Its name."""
    return "cpu"


def synchronize(device: object = None) -> None:
    """Wait for nothing: every call is done when it returns."""
