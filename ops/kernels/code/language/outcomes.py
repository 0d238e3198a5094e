"""Outcomes of tests, one bit each."""

from __future__ import annotations

from .text import Value

__all__ = ["opposite"]


def opposite(outcome: Value) -> Value:
    """The other outcome."""
    return outcome ^ 1
