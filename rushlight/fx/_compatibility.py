"""`torch.fx._compatibility`: the mark that says whether a name may change."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["compatibility"]

Thing = TypeVar("Thing")


def compatibility(is_backward_compatible: bool) -> Callable[[Thing], Thing]:
    """A decorator that leaves its function or class as it is."""
    del is_backward_compatible
    return lambda thing: thing
