"""Activations as modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from ...ops.dispatch import eager_function
from ...ops.tensor import Tensor
from .. import functional
from .module import Module

__all__ = ["ReLU", "Sigmoid", "Softmax", "Tanh"]

_sigmoid: Callable[..., Tensor] = eager_function("aten::sigmoid")
_tanh: Callable[..., Tensor] = eager_function("aten::tanh")


class ReLU(Module):
    """`max(x, 0)` of every element."""

    __constants__: ClassVar[list[str]] = ["inplace"]
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return functional.relu(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """`1 / (1 + exp(-x))` of every element."""

    def forward(self, input: Tensor) -> Tensor:
        return _sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent of every element."""

    def forward(self, input: Tensor) -> Tensor:
        return _tanh(input)


class Softmax(Module):
    """Exponentials along `dim`, divided by their sum."""

    __constants__: ClassVar[list[str]] = ["dim"]
    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return functional.softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"
