"""Whether something comes out of a package."""

from __future__ import annotations

from types import ModuleType

from .._mangling import is_mangled

__all__ = ["is_from_package"]


def is_from_package(obj: object) -> bool:
    """Whether a module, or an object's class, is of a package that was imported."""
    name = obj.__name__ if isinstance(obj, ModuleType) else type(obj).__module__
    return is_mangled(name)
