"""Pairs and triples of float modules that are quantized as one."""

from __future__ import annotations

from collections.abc import Callable

from .....nn.modules.activation import LeakyReLU, ReLU, Tanh
from .....nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .....nn.modules.container import Sequential
from .....nn.modules.conv import Conv1d, Conv2d, Conv3d
from .....nn.modules.linear import Linear
from .....nn.modules.module import Module
from .....nn.utils.parametrize import type_before_parametrizations
from .....ops.tensors.tensor import Tensor

__all__ = [
    "BNReLU2d",
    "BNReLU3d",
    "ConvAdd2d",
    "ConvAddReLU2d",
    "ConvBn1d",
    "ConvBn2d",
    "ConvBn3d",
    "ConvBnReLU1d",
    "ConvBnReLU2d",
    "ConvBnReLU3d",
    "ConvReLU1d",
    "ConvReLU2d",
    "ConvReLU3d",
    "LinearBn1d",
    "LinearLeakyReLU",
    "LinearReLU",
    "LinearTanh",
]


class _FusedModule(Sequential):
    """What all of them are.

    Raises:
        AssertionError: modules of other kinds than it is made of.
    """

    def _take(self, kinds: tuple[type[Module], ...], *modules: Module) -> None:
        """Hold modules of these kinds.

        Raises:
            AssertionError: they are of others.
        """
        types = [type_before_parametrizations(module) for module in modules]
        if not all(map(issubclass, types, kinds)):
            *first, last = (kind.__name__ for kind in types)
            shown = ", ".join(first) + ("," if len(first) > 1 else "") + f" and {last}"
            raise AssertionError(f"Incorrect types for input modules: {shown}")
        Sequential.__init__(self, *modules)


class ConvReLU1d(_FusedModule):
    """A convolution over 1 dimension and a ReLU."""

    def __init__(self, conv: Module, relu: Module) -> None:
        self._take((Conv1d, ReLU), conv, relu)


class ConvReLU2d(_FusedModule):
    """A convolution over 2 dimensions and a ReLU."""

    def __init__(self, conv: Module, relu: Module) -> None:
        self._take((Conv2d, ReLU), conv, relu)


class ConvReLU3d(_FusedModule):
    """A convolution over 3 dimensions and a ReLU."""

    def __init__(self, conv: Module, relu: Module) -> None:
        self._take((Conv3d, ReLU), conv, relu)


class LinearReLU(_FusedModule):
    """A linear layer and a ReLU."""

    def __init__(self, linear: Module, relu: Module) -> None:
        self._take((Linear, ReLU), linear, relu)


class ConvBn1d(_FusedModule):
    """A convolution over 1 dimension and a batch norm."""

    def __init__(self, conv: Module, bn: Module) -> None:
        self._take((Conv1d, BatchNorm1d), conv, bn)


class ConvBn2d(_FusedModule):
    """A convolution over 2 dimensions and a batch norm."""

    def __init__(self, conv: Module, bn: Module) -> None:
        self._take((Conv2d, BatchNorm2d), conv, bn)


class ConvBn3d(_FusedModule):
    """A convolution over 3 dimensions and a batch norm."""

    def __init__(self, conv: Module, bn: Module) -> None:
        self._take((Conv3d, BatchNorm3d), conv, bn)


class ConvBnReLU1d(_FusedModule):
    """A convolution over 1 dimension, a batch norm and a ReLU."""

    def __init__(self, conv: Module, bn: Module, relu: Module) -> None:
        self._take((Conv1d, BatchNorm1d, ReLU), conv, bn, relu)


class ConvBnReLU2d(_FusedModule):
    """A convolution over 2 dimensions, a batch norm and a ReLU."""

    def __init__(self, conv: Module, bn: Module, relu: Module) -> None:
        self._take((Conv2d, BatchNorm2d, ReLU), conv, bn, relu)


class ConvBnReLU3d(_FusedModule):
    """A convolution over 3 dimensions, a batch norm and a ReLU."""

    def __init__(self, conv: Module, bn: Module, relu: Module) -> None:
        self._take((Conv3d, BatchNorm3d, ReLU), conv, bn, relu)


class BNReLU2d(_FusedModule):
    """A batch norm and a ReLU."""

    def __init__(self, batch_norm: Module, relu: Module) -> None:
        self._take((BatchNorm2d, ReLU), batch_norm, relu)


class BNReLU3d(_FusedModule):
    """A batch norm and a ReLU."""

    def __init__(self, batch_norm: Module, relu: Module) -> None:
        self._take((BatchNorm3d, ReLU), batch_norm, relu)


class LinearBn1d(_FusedModule):
    """A linear layer and a batch norm."""

    def __init__(self, linear: Module, bn: Module) -> None:
        self._take((Linear, BatchNorm1d), linear, bn)


class LinearLeakyReLU(_FusedModule):
    """A linear layer and a leaky ReLU."""

    def __init__(self, linear: Module, leaky_relu: Module) -> None:
        self._take((Linear, LeakyReLU), linear, leaky_relu)


class LinearTanh(_FusedModule):
    """A linear layer and a tanh."""

    def __init__(self, linear: Module, tanh: Module) -> None:
        self._take((Linear, Tanh), linear, tanh)


class ConvAdd2d(_FusedModule):
    """A convolution over 2 dimensions, and a sum of its result with another tensor."""

    def __init__(self, conv: Module, add: Callable[..., Tensor]) -> None:
        super().__init__(conv)
        self.add = add

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:  # type: ignore[override]
        return self.add(self[0](x1), x2)


class ConvAddReLU2d(_FusedModule):
    """A convolution over 2 dimensions, a sum of its result with another tensor, and a ReLU."""

    def __init__(self, conv: Module, add: Callable[..., Tensor], relu: Module) -> None:
        super().__init__(conv)
        self.add = add
        self.relu = relu

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:  # type: ignore[override]
        made: Tensor = self.relu(self.add(self[0](x1), x2))
        return made
