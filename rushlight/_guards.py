"""`torch._guards`: what torch's compiler is doing, which is nothing."""

from __future__ import annotations

__all__ = ["active_fake_mode", "detect_fake_mode"]


def active_fake_mode() -> None:
    """The mode that makes fake tensors, if one is entered: none is."""
    return


def detect_fake_mode(inputs: object = None) -> None:
    """The mode that made fake tensors among some values: none did."""
    del inputs
    return
