"""`torch.package`: models with their Python code in one file, which rushlight does not write."""

from __future__ import annotations

from typing import Any

from ..refused_names import refusing

_NAMES = """Directory EmptyMatchError GlobGroup Importer ObjMismatchError ObjNotFoundError
OrderedImporter PackageExporter PackageImporter PackagingError"""
__all__ = [*_NAMES.split(), "is_from_package"]
_REFUSED: dict[str, Any] = refusing(
    __name__,
    _NAMES,
    "rushlight packs no Python code; torch.jit.save keeps a model with its code, and "
    "`rushlight convert` writes it as Python source",
)
globals().update(_REFUSED)


def is_from_package(obj: Any) -> bool:
    """Whether an object's class comes out of a package: never."""
    del obj
    return False
