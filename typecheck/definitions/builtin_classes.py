"""The classes that operators and archives name but no program defines: packed weights, labels."""

from __future__ import annotations

from typing import Final
from weakref import WeakValueDictionary

from ...frontend.foundations.locks import DEFINING
from .class_types import ClassType

__all__ = ["BUILTIN_NAMESPACE", "LABEL_CLASS", "builtin_class"]

BUILTIN_NAMESPACE = "__torch__.torch.classes."
"""What the names of all of them begin with."""
LABEL_CLASS = f"{BUILTIN_NAMESPACE}profiler._RecordFunction"
"""Blocks that a profiler watches."""


_known: Final[WeakValueDictionary[str, ClassType]] = WeakValueDictionary()


def builtin_class(qualified_name: str) -> ClassType:
    """The one class of that name: operators and every archive mean the same."""
    with DEFINING:
        found = _known.get(qualified_name)
        if found is None:
            found = _known[qualified_name] = ClassType(qualified_name)
        return found
