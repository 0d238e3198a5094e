"""Activations as modules."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import ClassVar

from ...module_names import names_of
from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device, DType
from ...ops.tensors.tensor import Parameter, Tensor
from .. import functional as F
from .. import init as initial
from .attention import MultiheadAttention
from .module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "MultiheadAttention",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]

_empty: Callable[..., Tensor] = eager_function("aten::empty")
_sigmoid: Callable[..., Tensor] = eager_function("aten::sigmoid")
_tanh: Callable[..., Tensor] = eager_function("aten::tanh")


class _InPlace(Module):
    """What may write its result over what it is given; it shows its constants."""

    __constants__: ClassVar[list[str]] = ["inplace"]
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        told = [f"{name}={getattr(self, name)}" for name in self.__constants__ if name != "inplace"]
        return ", ".join([*told, "inplace=True"] if self.inplace else told)


class Threshold(_InPlace):
    """Elements up to `threshold` replaced by `value`."""

    __constants__: ClassVar[list[str]] = ["threshold", "value", "inplace"]
    threshold: float
    value: float

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.threshold(input, self.threshold, self.value, self.inplace)


class ReLU(_InPlace):
    """`max(x, 0)` of every element."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.relu(input, inplace=self.inplace)


class RReLU(_InPlace):
    """Elements below 0 times a slope between `lower` and `upper`, random in training."""

    __constants__: ClassVar[list[str]] = ["lower", "upper", "inplace"]
    lower: float
    upper: float

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class Hardtanh(_InPlace):
    """Every element held between two limits."""

    __constants__: ClassVar[list[str]] = ["min_val", "max_val", "inplace"]
    min_val: float
    max_val: float

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        self.min_val = min_val if min_value is None else _renamed("min", min_value)
        self.max_val = max_val if max_value is None else _renamed("max", max_value)
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})"
            )

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


def _renamed(end: str, value: float) -> float:
    warnings.warn(
        f"keyword argument `{end}_value` is deprecated and renamed to `{end}_val`",
        FutureWarning,
        stacklevel=3,
    )
    return value


class ReLU6(Hardtanh):
    """Every element held between 0 and 6."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """`1 / (1 + exp(-x))` of every element."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return _sigmoid(input)


class Hardsigmoid(Module):
    """`(x + 3) / 6`, held between 0 and 1."""

    __constants__: ClassVar[list[str]] = ["inplace"]
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.hardsigmoid(input, self.inplace)


class Tanh(Module):
    """The hyperbolic tangent of every element."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return _tanh(input)


class SiLU(_InPlace):
    """`x * sigmoid(x)`."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.silu(input, inplace=self.inplace)


class Mish(_InPlace):
    """`x * tanh(softplus(x))`."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.mish(input, inplace=self.inplace)


class Hardswish(Module):
    """`x * hardsigmoid(x)`."""

    __constants__: ClassVar[list[str]] = ["inplace"]
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.hardswish(input, self.inplace)


class ELU(_InPlace):
    """`alpha * (exp(x) - 1)` for elements below 0."""

    __constants__: ClassVar[list[str]] = ["alpha", "inplace"]
    alpha: float

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.elu(input, self.alpha, self.inplace)


class CELU(_InPlace):
    """`alpha * (exp(x / alpha) - 1)` for elements below 0."""

    __constants__: ClassVar[list[str]] = ["alpha", "inplace"]
    alpha: float

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.celu(input, self.alpha, self.inplace)


class SELU(_InPlace):
    """`elu` scaled so that mean and variance stay."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.selu(input, self.inplace)


class GLU(Module):
    """The first half along `dim` times the sigmoid of the second half."""

    __constants__: ClassVar[list[str]] = ["dim"]
    dim: int

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class GELU(Module):
    """`x` times the share of normal numbers below it; `approximate` is "none" or "tanh"."""

    __constants__: ClassVar[list[str]] = ["approximate"]
    approximate: str

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Hardshrink(Module):
    """Elements between `-lambd` and `lambd` replaced by 0."""

    __constants__: ClassVar[list[str]] = ["lambd"]
    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class LeakyReLU(_InPlace):
    """Elements below 0 times `negative_slope`."""

    __constants__: ClassVar[list[str]] = ["inplace", "negative_slope"]
    negative_slope: float

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class LogSigmoid(Module):
    """The logarithm of the sigmoid."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.logsigmoid(input)


class Softplus(Module):
    """`log(1 + exp(beta * x)) / beta`; `x` itself where `beta * x` is above `threshold`."""

    __constants__: ClassVar[list[str]] = ["beta", "threshold"]
    beta: float
    threshold: float

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Softshrink(Module):
    """Every element moved towards 0 by `lambd`."""

    __constants__: ClassVar[list[str]] = ["lambd"]
    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class PReLU(Module):
    """Elements below 0 times a trained slope, one for all or one for each channel."""

    __constants__: ClassVar[list[str]] = ["num_parameters"]
    num_parameters: int

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        self.num_parameters = num_parameters
        super().__init__()
        self.init = init
        made: dict[str, object] = {"device": device, "dtype": dtype}
        self.weight = Parameter(_empty(num_parameters, **made))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set all slopes to the first one."""
        initial.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Softsign(Module):
    """`x / (1 + |x|)`."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.softsign(input)


class Tanhshrink(Module):
    """`x - tanh(x)`."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.tanhshrink(input)


class _AlongDimension(Module):
    """A function along `dim`; objects of older versions lack it."""

    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "dim"):
            self.dim = None

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmin(_AlongDimension):
    """`softmax` of the negative elements."""

    __constants__: ClassVar[list[str]] = ["dim"]
    dim: int | None

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax(_AlongDimension):
    """Exponentials along `dim`, divided by their sum."""

    __constants__: ClassVar[list[str]] = ["dim"]
    dim: int | None

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """`softmax` over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        if input.dim() not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead"
            )
        return F.softmax(input, -3, _stacklevel=5)


class LogSoftmax(_AlongDimension):
    """The logarithm of `softmax`."""

    __constants__: ClassVar[list[str]] = ["dim"]
    dim: int | None

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.log_softmax(input, self.dim, _stacklevel=5)


__getattr__ = names_of(__name__)
