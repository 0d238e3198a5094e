"""Typed trees that an error left holes in."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from ..trees import typed
from ..types.types import Type
from .relations import is_unknown

__all__ = ["has_holes"]

_ROOM = typed.__name__


def has_holes(function: typed.TypedFunction) -> bool:
    """Whether the type of anything in it is not known, because of an error in what it uses.

    Such an error may have been reported long before, with another function or class.
    """
    waiting: list[object] = [function]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Type):
            if is_unknown(part):
                return True
        elif isinstance(part, tuple):
            waiting.extend(part)
        elif is_dataclass(part) and type(part).__module__ == _ROOM:
            waiting.extend(getattr(part, field.name) for field in fields(part))
    return False
