"""How rules are given what stands for all slices."""

from __future__ import annotations

from ..tensors.tensor import Tensor

__all__ = ["NotTogetherError", "Opened"]


class NotTogetherError(Exception):
    """The rule does not know these arguments: they run slice by slice."""


class Opened(tuple[Tensor]):
    """`(tensor,)`: the first dimension of the tensor is the slices'."""

    __slots__ = ()
