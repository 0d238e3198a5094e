"""Operators that meet a tensor that stands for slices where nobody asked its class before: those of
scripted code."""

from __future__ import annotations

from ..eager.dispatch import eager_function
from ..eager.elsewhere import Choose
from ..table.table import Operator
from .batched import for_all, level_of

__all__ = ["call"]


def call(
    operator_name: str, args: tuple[object, ...], kwargs: dict[str, object], choose: Choose
) -> object:
    """What an operator gives for all slices."""
    level = level_of((args, kwargs))
    if level is None:
        return choose(_refuse)
    return for_all(level, eager_function(operator_name), args, kwargs)


def _refuse(entry: Operator, *values: object) -> object:
    raise RuntimeError(f"vmap: `{entry.name}` takes no tensors that stand for slices")
