"""Values on their way between Python and the machine."""

from __future__ import annotations

from ...typecheck.types.types import Type
from .inference import type_of_value
from .inward import CastError, inward
from .outward import outward

__all__ = ["CastError", "from_machine", "to_machine", "type_of_value"]


def to_machine(value: object, type: Type) -> object:
    """The machine's value for a Python value of a type.

    Raises:
        CastError: it is not of the type.
    """
    return inward(type)(value)


def from_machine(value: object, type: Type) -> object:
    """The Python value for a machine's value of a type."""
    return outward(type)(value)
