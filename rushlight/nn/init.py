"""Ways to fill a new parameter.  Each changes its tensor and returns it."""

from __future__ import annotations

import math
from typing import Any

from ..ops.tensor import Tensor

__all__ = [
    "calculate_gain",
    "constant_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

_GAIN_ONE = {
    *("linear", "sigmoid", "conv1d", "conv2d", "conv3d"),
    *("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the spread of values through a nonlinearity.

    Raises:
        ValueError: an unknown nonlinearity, or a slope of `leaky_relu` that is no number.
    """
    if nonlinearity in _GAIN_ONE:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs an output depends on, and how many outputs an input feeds.

    Raises:
        ValueError: fewer than two dimensions.
    """
    if tensor.dim() < 2:
        few = "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        raise ValueError(few)
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _fan(tensor: Tensor, mode: str) -> int:
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _fans(tensor)[modes.index(mode.lower())]


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any | None = None
) -> Tensor:
    """Fill from the uniform distribution over [a, b)."""
    tensor.detach().uniform_(a, b, generator=generator)
    return tensor


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any | None = None
) -> Tensor:
    """Fill from the normal distribution."""
    tensor.detach().normal_(mean, std, generator=generator)
    return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    tensor.detach().fill_(val)
    return tensor


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any | None = None,
) -> Tensor:
    """He's initialisation (arXiv:1502.01852): uniform over ±gain * sqrt(3 / fan).

    `a` is the slope of a leaky ReLU that follows.  A tensor without elements stays as it is.

    Raises:
        ValueError: fewer than two dimensions, or an unknown mode or nonlinearity.
    """
    if 0 in tensor.shape:
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any | None = None,
) -> Tensor:
    """He's initialisation (arXiv:1502.01852): normal with spread gain / sqrt(fan).

    Raises:
        ValueError: fewer than two dimensions, or an unknown mode or nonlinearity.
    """
    if 0 in tensor.shape:
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return normal_(tensor, 0.0, std, generator)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any | None = None) -> Tensor:
    """Glorot's initialisation (AISTATS 2010): uniform over ±gain * sqrt(6 / (fan in + fan out)).

    Raises:
        ValueError: fewer than two dimensions.
    """
    std = gain * math.sqrt(2.0 / float(sum(_fans(tensor))))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any | None = None) -> Tensor:
    """Glorot's initialisation (AISTATS 2010): normal with spread gain * sqrt(2 / (fan in + out)).

    Raises:
        ValueError: fewer than two dimensions.
    """
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(sum(_fans(tensor)))), generator)
