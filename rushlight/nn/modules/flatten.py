"""Dimensions joined and split."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import ClassVar

from ...ops.tensors.tensor import Tensor
from .module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """The dimensions from `start_dim` to `end_dim` made one."""

    __constants__: ClassVar[list[str]] = ["start_dim", "end_dim"]
    start_dim: int
    end_dim: int

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """The dimension `dim` split into dimensions of the sizes `unflattened_size`."""

    __constants__: ClassVar[list[str]] = ["dim", "unflattened_size"]
    dim: int
    unflattened_size: list[int] | tuple[int, ...]

    def __init__(self, dim: int, unflattened_size: list[int] | tuple[int, ...]) -> None:
        super().__init__()
        _check_sizes(unflattened_size)
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


def _check_sizes(sizes: object) -> None:
    if not isinstance(sizes, tuple | list):
        given = f"but found type {type(sizes).__name__}"
        raise TypeError(f"unflattened_size must be a tuple of ints, {given}")
    for place, size in enumerate(sizes):
        if not isinstance(size, int):
            given = f"but found element of type {type(size).__name__} at pos {place}"
            raise TypeError(f"unflattened_size must be tuple of ints, {given}")
