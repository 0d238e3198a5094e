"""The operators of layers: what `torch._C._nn` has."""

from __future__ import annotations

from typing import Any

from ..ops.eager.dispatch import eager_function
from ..ops.table.layer_names import LAYER_FUNCTIONS

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if name in LAYER_FUNCTIONS:
        return eager_function(f"aten::{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(LAYER_FUNCTIONS)
