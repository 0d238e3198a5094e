"""The classes that operators and archives name but no program defines: packed weights."""

from __future__ import annotations

from functools import cache

from .types import ClassType

__all__ = ["BUILTIN_NAMESPACE", "builtin_class"]

BUILTIN_NAMESPACE = "__torch__.torch.classes."
"""What the names of all of them begin with."""


@cache
def builtin_class(qualified_name: str) -> ClassType:
    """The one class of that name: operators and every archive mean the same."""
    return ClassType(qualified_name)
