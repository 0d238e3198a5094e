"""Linear maps."""

from __future__ import annotations

import math
from typing import ClassVar

from ...module_names import names_of
from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device, DType
from ...ops.tensors.tensor import Parameter, Tensor
from .. import functional, init
from .module import Module

__all__ = ["Bilinear", "Identity", "Linear"]

_empty = eager_function("aten::empty")


class Identity(Module):
    """Gives back its input; takes any arguments and ignores them."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return input


class Linear(Module):
    """`y = x @ weight.T + bias`; x is (*, in_features), y (*, out_features)."""

    __constants__: ClassVar[list[str]] = ["in_features", "out_features"]
    in_features: int
    out_features: int
    weight: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        made: dict[str, object] = {"device": device, "dtype": dtype}
        self.weight = Parameter(_empty(out_features, in_features, **made))
        if bias:
            self.bias = Parameter(_empty(out_features, **made))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias uniformly from ±1/sqrt(in_features)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        bias = self.bias is not None
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={bias}"


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear that tools which quantize models leave alone; the last one of attention."""


class Bilinear(Module):
    """`y[k] = x1 @ weight[k] @ x2 + bias[k]`."""

    __constants__: ClassVar[list[str]] = ["in1_features", "in2_features", "out_features"]
    in1_features: int
    in2_features: int
    out_features: int
    weight: Tensor

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        made: dict[str, object] = {"device": device, "dtype": dtype}
        self.weight = Parameter(_empty(out_features, in1_features, in2_features, **made))
        if bias:
            self.bias = Parameter(_empty(out_features, **made))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias uniformly from ±1/sqrt(in1_features)."""
        bound = 1 / math.sqrt(self.weight.size(1))
        for parameter in (self.weight, self.bias):
            if parameter is not None:
                init.uniform_(parameter, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        first, second = self.in1_features, self.in2_features
        return (
            f"in1_features={first}, in2_features={second}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


__getattr__ = names_of(__name__)
