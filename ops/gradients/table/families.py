"""The files of rows, read when a first row is asked for, and the row of an overload."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

from ...table.table import TABLE, Operator
from .rows import ROWS, Row

__all__ = ["row_of"]

_FAMILIES: Final = (
    "formulas.pointwise", "formulas.reduction", "formulas.shape", "formulas.linear",
    "formulas.activation", "formulas.slopes", "formulas.loss", "formulas.layers",
    "formulas.convolution", "formulas.likelihood",
    "formulas.selection", "formulas.windows", "formulas.resampling", "formulas.recurrent",
    "formulas.factorisation", "formulas.spectral", "formulas.lu", "formulas.eigen",
    "formulas.statistics", "table.names", "formulas.quantize", "formulas.backward_operators",
    "formulas.backward_norms", "formulas.library_calls", "formulas.detection", "formulas.audio",
    "direct.losses", "direct.layers", "direct.ctc", "direct.recurrent", "direct.products",
    "direct.pointwise", "direct.rows", "direct.frames", "direct.moves", "direct.sums",
    "direct.tables", "direct.windows", "direct.resampling", "direct.grids", "direct.distances",
    "direct.transforms",
)  # fmt: skip


@cache
def _load() -> None:
    """Read the rows of all families."""
    for family in _FAMILIES:
        import_module(f"..{family}", __package__)


@cache
def _said(entry: Operator) -> Row:
    """The row that a declaration says itself."""
    return Row(entry.name.removesuffix("_"), dict(entry.gradients))


def row_of(entry: Operator) -> Row | None:
    """The row of an overload: its own, its name's, or that of the operator not in place; then those
    of the first name, if it is a second one."""
    _load()
    if "Tensor" not in entry.schema or entry.overload.startswith("list_") or entry.is_out_form:
        return None
    if entry.gradients:
        return _said(entry)
    first = TABLE.first_name(entry.name)
    for name in (entry.name, entry.name.removesuffix("_"), first, first.removesuffix("_")):
        overload = f"{name}.{entry.overload}" if entry.overload else name
        row = ROWS.get(overload) or ROWS.get(name)
        if row is not None:
            return row
    return None
