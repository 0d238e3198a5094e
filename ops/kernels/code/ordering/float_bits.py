"""Floats by whole numbers that lie in their order."""

from __future__ import annotations

from ..language.text import Value

__all__ = ["with_turned_negatives"]


def with_turned_negatives(bits: Value, width: int) -> Value:
    """The bits of floats, so many wide, where those of negative ones are turned but for the sign:
    then they lie in the floats' order as whole numbers do.  Done again, it gives the bits."""
    top = width - 1
    return bits ^ ((bits >> top) & ((1 << top) - 1))
