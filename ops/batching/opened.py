"""How rules are given what stands for all slices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..eager.dispatch import EagerFunction
from ..tensors.tensor import Tensor

__all__ = ["Level", "NotTogetherError", "Opened", "Rule"]


class Level:
    """One `vmap` that runs: how deep it lies, the number of slices, what random numbers do."""

    def __init__(self, number: int, count: int, randomness: str) -> None:
        self.number = number
        self.count = count
        self.randomness = randomness


class NotTogetherError(Exception):
    """The rule does not know these arguments: they run slice by slice."""


class Opened(tuple[Tensor]):
    """`(tensor,)`: the first dimension of the tensor is the slices'."""

    __slots__ = ()


Rule = Callable[[EagerFunction, list[Any], dict[str, Any]], object]
"""What runs an eager function on all slices, of arguments in which `Opened` are theirs."""
