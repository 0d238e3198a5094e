"""`torch.save` in script."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ..table.table import operator

__all__ = ["save"]


@operator("aten::save(t item, str filename) -> ()", effects=True)
def save(item: object, filename: str) -> None:
    """Write a value to a file as `torch.save` does, with the types of its lists and dicts."""
    saving: ModuleType = import_module("...serialization.saving.save_value", __package__)
    saving.save_value(item, filename)
