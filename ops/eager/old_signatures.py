"""Calls with the numbers between the tensors: `addcmul(x, 0.5, a, b)`, `addmm(2, x, 3, a, b)`.

torch deprecates them and still takes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

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


def _number(given: object) -> object:
    return given.item() if isinstance(given, Tensor) else given


def _places_of_numbers(args: Sequence[object], wanted: int, most: int) -> list[int]:
    """Where the numbers stand: Python's, and as many tensors without dimensions as are wanted.

    Args:
        most: how many there may be; where it is one, the first argument is none.
    """
    if not 0 < wanted <= most:
        return []
    found = [place for place, each in enumerate(args) if isinstance(each, (int, float, complex))]
    for place in range(most == 1, len(args) - 1):
        each = args[place]
        is_number = isinstance(each, Tensor) and not each.ndim and not each.requires_grad
        if is_number and len(found) < wanted:
            found.append(place)
    return [] if len(args) - 1 in found else sorted(found)


def without_numbers_between(
    name: str, args: Sequence[object], kwargs: dict[str, object]
) -> tuple[list[object], dict[str, object]] | None:
    """The arguments with the numbers as keywords; None if it is no such call."""
    base = name.removesuffix("_")
    keywords, count = _numbers_between(base)
    places = _places_of_numbers(args, len(args) - count, len(keywords))
    if not places or len(places) != len(args) - count:
        return None
    tensors = [each for place, each in enumerate(args) if place not in places]
    if not all(isinstance(each, Tensor) for each in tensors):
        return None
    numbers = [_number(args[place]) for place in places]
    named = dict(zip(keywords, numbers, strict=False))
    if named.keys() & kwargs.keys():
        return None
    warn_caller(
        f"This overload of {name} is deprecated: pass {' and '.join(named)} by name, behind the "
        "tensors."
    )
    return tensors, {**kwargs, **named}
