"""The files of rows, read when a first row is asked for, and the row of an overload."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

from ..table.table import Operator
from .rows import ROWS, Row

__all__ = ["row_of"]

_FAMILIES: Final = (
    "pointwise", "reduction", "shape", "linear", "activation", "slopes", "loss", "layers",
    "selection", "windows", "resampling", "recurrent", "factorisation", "spectral", "lu", "eigen",
    "statistics", "names", "quantize", "backward_operators", "backward_norms",
    "library_calls", "detection", "audio", "direct_losses",
    "direct_layers", "direct_ctc", "direct_recurrent", "direct_products", "direct_pointwise",
    "direct_rows", "direct_moves", "direct_sums", "direct_tables", "direct_windows",
    "direct_distances",
    "direct_transforms",
)  # fmt: skip


@cache
def _load() -> None:
    """Read the rows of all families."""
    for family in _FAMILIES:
        import_module(f".{family}", __package__)


def row_of(entry: Operator) -> Row | None:
    """The row of an overload: its own, its name's, or that of the operator not in place."""
    _load()
    if "Tensor" not in entry.schema or entry.overload.startswith("list_") or entry.is_out_form:
        return None
    for name in (entry.name, entry.name.removesuffix("_")):
        overload = f"{name}.{entry.overload}" if entry.overload else name
        row = ROWS.get(overload) or ROWS.get(name)
        if row is not None:
            return row
    return None
