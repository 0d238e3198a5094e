"""Calls with the numbers between the tensors: `addcmul(x, 0.5, a, b)`, `addmm(2, x, 3, a, b)`.

torch deprecates them and still takes them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Final

from ..tensors.tensor import Tensor

__all__ = ["without_numbers_between"]

_NUMBERS: Final = {
    **dict.fromkeys(("add", "sub"), ("alpha",)),
    **dict.fromkeys(("addcmul", "addcdiv"), ("value",)),
    **dict.fromkeys(("addmm", "addmv", "addr", "addbmm", "baddbmm"), ("beta", "alpha")),
}
"""What the numbers between the tensors are, in order."""

_TENSORS: Final = {"add": 2, "sub": 2}
"""How many tensors there are; three where nothing is said."""


def without_numbers_between(
    name: str, args: Sequence[object], kwargs: dict[str, object]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments with the numbers as keywords; None if it is no such call."""
    base = name.removesuffix("_")
    keywords = _NUMBERS.get(base, ())
    tensors = [a for a in args if isinstance(a, Tensor)]
    numbers = [a for a in args if isinstance(a, (int, float, complex))]
    whole = len(tensors) + len(numbers) == len(args) and len(tensors) == _TENSORS.get(base, 3)
    if not 0 < len(numbers) <= len(keywords) or not whole or args[-1] is not tensors[-1]:
        return None
    named = dict(zip(keywords, numbers, strict=False))
    if named.keys() & kwargs.keys():
        return None
    warnings.warn(
        f"This overload of {name} is deprecated: pass {' and '.join(named)} by name, behind the "
        "tensors.",
        UserWarning,
        stacklevel=5,
    )
    return tensors, {**kwargs, **named}
