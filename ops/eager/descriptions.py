"""Docstrings of eager functions, made of what the operator table knows when somebody asks.

What an operator's elements are computed from alone is tried on one element of each dtype.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ...typecheck.types.types import TENSOR
from ..memory.dtype import DTYPES, Array, dtype_of
from ..memory.errors import OperatorError
from ..table.record import Policy
from ..table.table import Operator

__all__ = ["description"]

_OWN: Final = __name__.partition(".")[0]
_UNDER_AUTOCAST: Final[dict[Policy, str]] = {
    "lower": "computes in the dtype of autocast",
    "full": "computes in float32",
    "full-unless-dtype": "computes in float32, unless a dtype is asked for",
    "full-on-gpu": "computes in float32 on devices other than the CPU",
    "widest": "computes in the widest dtype of its tensors",
    "banned": "raises RuntimeError",
}

_TRIED: Final = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16"),
    *("float32", "float64", "complex64", "complex128"),
)


def description(overloads: Sequence[Operator], first: Operator | None) -> str:
    """What an operator does, its shapes and dtypes, what it draws, shares and raises, and the
    schemas of all its overloads.

    `first` is the overload that Python tries first, of which the rest is told; None if there is
    none.
    """
    said = [] if first is None else [_sentence(first), "\n".join(_facts(first))]
    return "\n\n".join(filter(None, (*said, "\n".join(entry.schema for entry in overloads))))


def _sentence(entry: Operator) -> str:
    """The docstring of the function that computes it, if that is one of ours."""
    forward = inspect.unwrap(entry.forward)
    if not inspect.isfunction(forward) or not forward.__module__.startswith(_OWN):
        return ""
    return inspect.cleandoc(forward.__doc__ or "")


def _facts(entry: Operator) -> Iterator[str]:
    arguments = entry.signature.arguments
    tensors = [a.name for a in arguments if a.type.inner == TENSOR]
    if entry.formula and tensors:
        several = f"that of {', '.join(tensors)} broadcast" if tensors[1:] else f"`{tensors[0]}`'s"
        yield f"Shape: {several}."
    elif {"dim", "keepdim"} <= {a.name for a in arguments}:
        yield f"Shape: `{tensors[0]}`'s without `dim`, or with 1 there if `keepdim`."
    if entry.is_in_place:
        yield f"Writes `{arguments[0].name}`, and returns it."
    elif entry.is_view:
        yield f"The result shares the memory of `{tensors[0]}`."
    if entry.random:
        yield "Draws from the generator that is given, or from the default one."
    if entry.undefined:
        yield "What the elements hold is left open."
    if entry.data_dependent is not None:
        yield "Sizes of the result follow from elements: tensors on `meta` raise."
    if entry.autocast:
        yield f"Under autocast it {_UNDER_AUTOCAST[entry.autocast]}."
    if entry.formula and not entry.is_in_place:
        yield from _dtypes(entry)


def _dtypes(entry: Operator) -> Iterator[str]:
    """The dtypes of results by those of the tensors, and what is raised of the others."""
    needed = [a for a in entry.signature.arguments if not a.has_default]
    if not needed or any(a.type != TENSOR for a in needed):
        return
    kept: list[str] = []
    others: dict[str, list[str]] = {}
    refused: dict[str, list[str]] = {}
    for name in _TRIED:
        made = _result(entry, np.ones((1,), DTYPES[name].numpy), len(needed))
        if isinstance(made, Exception):
            refused.setdefault(type(made).__name__, []).append(name)
        elif isinstance(made, np.ndarray) and dtype_of(made).name == name:
            kept.append(name)
        elif isinstance(made, np.ndarray):
            others.setdefault(dtype_of(made).name, []).append(name)
    if kept:
        yield f"Dtype: kept of {', '.join(kept)}."
    yield from (f"Dtype: {dtype} of {', '.join(names)}." for dtype, names in others.items())
    yield from (f"Raises {error}: of {', '.join(names)}." for error, names in refused.items())


def _result(entry: Operator, one: Array, count: int) -> object:
    """What an operator makes of tensors of one element, or what it raises."""
    defaults = [a.default for a in entry.signature.arguments if a.has_default]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return entry.forward(*[one] * count, *defaults)
        except (OperatorError, TypeError, ValueError) as error:
            return error
