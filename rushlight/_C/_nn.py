"""The operators of layers: what `torch._C._nn` has."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..ops.eager.dispatch import eager_function
from ..ops.table.table import TABLE

__all__: list[str] = []


@cache
def _names() -> frozenset[str]:
    faces = TABLE.faces().items()
    return frozenset(name.removeprefix("aten::") for name, face in faces if face == "layer")


def __getattr__(name: str) -> Any:
    if name in _names():
        return eager_function(f"aten::{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(_names())
