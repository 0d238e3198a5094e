"""`torch.backends.cudnn`: there is none; its switches may be set and say nothing."""

from __future__ import annotations

__all__ = ["allow_tf32", "benchmark", "deterministic", "enabled", "is_available", "version"]

enabled = True
allow_tf32 = True
benchmark = False
deterministic = False


def is_available() -> bool:
    """Whether the library is there: no."""
    return False


def version() -> None:
    """The library's version: None."""
    return
