"""`torch.compiler`, as far as layers ask for it."""

from __future__ import annotations

__all__ = ["is_compiling"]


def is_compiling() -> bool:
    """Whether `torch.compile` traces the program: it never does here."""
    return False
