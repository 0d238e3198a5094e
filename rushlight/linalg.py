"""Linear algebra: factorisations, solvers, norms and products; the names are those of `torch.linalg`."""

from __future__ import annotations

from typing import Any

from .ops.matrix_checks import LinAlgError as LinAlgError
from .ops.namespace import names_with_prefix

_NAMES = names_with_prefix("linalg_")


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return _NAMES[name]
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*_NAMES, "LinAlgError"])
