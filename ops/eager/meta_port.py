"""The port to tensors without data: what eager calls ask of `ops/meta`, which lies above them.

It is loaded when a first call meets such a tensor, or is asked to make one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, Protocol

from ..table.table import Operator

__all__ = ["Choose", "Meta", "Run", "install", "meta"]

Run = Callable[[Operator, list[object], Sequence[object]], Any]
"""What runs an operator on machine values; the third are the Python arguments."""

Choose = Callable[[Run], Any]
"""Chooses an overload for arguments that it knows, and has it run."""


class Meta(Protocol):
    """What `ops/meta/calls.py` offers."""

    def without_data(self, operator_name: str, choose: Choose, /) -> Any:
        """What an eager call gives whose arguments or result have no data."""


_LOADERS: Final[list[Callable[[], Meta]]] = []


def install(load: Callable[[], Meta]) -> None:
    """Say how it is loaded."""
    _LOADERS.append(load)


@cache
def meta() -> Meta:
    """Calls without data, loaded when first asked for."""
    return _LOADERS[0]()
