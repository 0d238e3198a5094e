"""Calls with the numbers between the tensors: `addcmul(x, 0.5, a, b)`, `addmm(2, x, 3, a, b)`.

torch deprecates them and still takes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ..memory.warned import warn_caller
from ..table.table import TABLE
from ..tensors.tensor import Tensor

__all__ = ["without_numbers_between"]


@cache
def _numbers_between(name: str) -> tuple[tuple[str, ...], int]:
    """The keywords that may stand between the tensors, in order, and how many tensors there are."""
    for entry in TABLE.operators(f"aten::{name}"):
        if entry.numbers_between:
            arguments = entry.signature.arguments
            keywords = tuple(a.name for a in arguments if a.keyword_only)
            return keywords, len(arguments) - len(keywords)
    return (), 0


def without_numbers_between(
    name: str, args: Sequence[object], kwargs: dict[str, object]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments with the numbers as keywords; None if it is no such call."""
    base = name.removesuffix("_")
    keywords, count = _numbers_between(base)
    tensors = [a for a in args if isinstance(a, Tensor)]
    numbers = [a for a in args if isinstance(a, (int, float, complex))]
    whole = len(tensors) + len(numbers) == len(args) and len(tensors) == count
    if not 0 < len(numbers) <= len(keywords) or not whole or args[-1] is not tensors[-1]:
        return None
    named = dict(zip(keywords, numbers, strict=False))
    if named.keys() & kwargs.keys():
        return None
    warn_caller(
        f"This overload of {name} is deprecated: pass {' and '.join(named)} by name, behind the "
        "tensors."
    )
    return tensors, {**kwargs, **named}
