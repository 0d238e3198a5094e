"""Ways to fill a new parameter.  Each changes its tensor and returns it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np

from ..ops.kernels import blas
from ..ops.memory.dtype import Array
from ..ops.random_numbers.filling import fill_normal, fill_uniform
from ..ops.random_numbers.random import Generator
from ..ops.random_numbers.random_ops import randperm as _randperm
from ..ops.tensors.tensor import Tensor

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

_GAINS = {
    "linear": 1,
    "conv1d": 1,
    "conv2d": 1,
    "conv3d": 1,
    "conv_transpose1d": 1,
    "conv_transpose2d": 1,
    "conv_transpose3d": 1,
    "sigmoid": 1,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the spread of values through a nonlinearity.

    Raises:
        ValueError: an unknown nonlinearity, or a slope of `leaky_relu` that is no number.
    """
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    slope = 0.01 if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, int | float):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + slope**2))


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs an output depends on, and how many outputs an input feeds.

    Raises:
        ValueError: fewer than two dimensions.
    """
    if tensor.dim() < 2:
        few = "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        raise ValueError(few)
    field = 1
    for size in tensor.shape[2:]:
        field *= size
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """One of the two numbers, by its name `fan_in` or `fan_out`.

    Raises:
        ValueError: another name, or fewer than two dimensions.
    """
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill from the uniform distribution over [a, b)."""
    tensor.detach().uniform_(a, b, generator=generator)
    return tensor


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
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
    generator: Generator | None = None,
) -> Tensor:
    """He's initialisation (arXiv:1502.01852): uniform over ±gain * sqrt(3 / fan).

    `a` is the slope of a leaky ReLU that follows.  A tensor without elements stays as it is, with a
    warning.

    Raises:
        ValueError: fewer than two dimensions, or an unknown mode or nonlinearity.
    """
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """He's initialisation (arXiv:1502.01852): normal with spread gain / sqrt(fan).

    Raises:
        ValueError: fewer than two dimensions, or an unknown mode or nonlinearity.
    """
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    return normal_(tensor, 0.0, std, generator)


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Glorot's initialisation (AISTATS 2010): uniform over ±gain * sqrt(6 / (fan in + fan out)).

    Raises:
        ValueError: fewer than two dimensions.
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Glorot's initialisation (AISTATS 2010): normal with spread gain * sqrt(2 / (fan in + out)).

    Raises:
        ValueError: fewer than two dimensions.
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


# --------------------------------------------------------------------------- cut-off normal numbers


def _share_below(x: float) -> float:
    """The share of standard normal numbers below `x`."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _cut_normal(
    like: Array, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Array:
    """Normal numbers, those outside drawn anew until none is left."""
    low, high = np.asarray(a, like.dtype), np.asarray(b, like.dtype)
    result = fill_normal(np.empty_like(like), mean, std, generator)
    while True:
        outside = (result < low) | (result > high)
        if not outside.any():
            return result
        again = fill_normal(np.empty_like(like), mean, std, generator)
        result = np.where(outside, again, result)


def _cut_tail(
    like: Array, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Array:
    """Uniform numbers, each kept with the chance that the normal density there allows.

    This is for bounds that few normal numbers lie between.
    """
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    result = np.empty_like(like)
    pending = np.ones(like.shape, bool)
    while pending.any():
        drawn = fill_uniform(np.empty_like(like), a, b, generator)
        result = np.where(pending, drawn, result)
        one = like.dtype.type
        density = ((drawn - one(mean)) / one(std)) ** 2 * one(-0.5) - one(peak)
        chance = np.log(fill_uniform(np.empty_like(like), 0.0, 1.0, generator))
        pending &= chance > density
    return result


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill from the normal distribution within [a, b]."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    share = _share_below((b - mean) / std) - _share_below((a - mean) / std)
    target = tensor.detach()._array
    with np.errstate(all="ignore"):
        draw = _cut_normal if share > 0.3 else _cut_tail
        target[...] = draw(target, mean, std, a, b, generator)
    return tensor


# --------------------------------------------------------------------------- structured matrices


def _need_matrix(tensor: Tensor) -> None:
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity.

    Raises:
        ValueError: not two dimensions.
    """
    _need_matrix(tensor)
    target = tensor.detach()._array
    rows, columns = target.shape
    target[...] = np.eye(rows, columns)
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution's weight so that it hands on its input, as far as there are channels.

    Raises:
        ValueError: not 3 to 5 dimensions, or channels that the groups do not divide.
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    target = tensor.detach()._array
    if target.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    each = target.shape[0] // groups
    middle = tuple(size // 2 for size in target.shape[2:])
    channels = np.arange(min(each, target.shape[1]))
    target[...] = 0
    for group in range(groups):
        place: tuple[Array | int, ...] = (group * each + channels, channels, *middle)
        target[place] = 1
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fill with a random (semi-)orthogonal matrix (Saxe et al., arXiv:1312.6120).

    Dimensions after the first count as one.

    Raises:
        ValueError: fewer than two dimensions.
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    target = tensor.detach()._array
    if not target.size:
        return tensor
    rows = target.shape[0]
    flat = fill_normal(np.empty((rows, target.size // rows), target.dtype), 0.0, 1.0, generator)
    wide = flat.shape[0] < flat.shape[1]
    q, r = blas.qr(flat.T if wide else flat)
    q = q * np.sign(np.diagonal(r))
    target[...] = ((q.T if wide else q).reshape(target.shape) * gain).astype(target.dtype)
    return tensor


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Fill a matrix with normal numbers, and that share of every column with zeros.

    Raises:
        ValueError: not two dimensions.
    """
    _need_matrix(tensor)
    target = tensor.detach()._array
    rows, columns = target.shape
    zeros = math.ceil(sparsity * rows)
    normal_(tensor, 0.0, std, generator)
    for column in range(columns):
        target[_randperm(rows, None)[:zeros], column] = 0
    return tensor


# ------------------------------------------------------------------------------ torch's old names


def _old(name: str) -> Callable[..., Tensor]:
    """A function under the name it had before it said that it changes its tensor."""
    function: Callable[..., Tensor] = globals()[f"{name}_"]

    def deprecated(*arguments: object, **named: object) -> Tensor:
        warnings.warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*arguments, **named)

    deprecated.__name__ = deprecated.__qualname__ = name
    deprecated.__doc__ = f"An old name: use `{name}_`."
    return deprecated


uniform, normal, constant, eye, dirac = map(_old, "uniform normal constant eye dirac".split())
xavier_uniform, xavier_normal = map(_old, ("xavier_uniform", "xavier_normal"))
kaiming_uniform, kaiming_normal = map(_old, ("kaiming_uniform", "kaiming_normal"))
orthogonal, sparse = map(_old, ("orthogonal", "sparse"))
_no_grad_uniform_, _no_grad_normal_, _no_grad_fill_ = uniform_, normal_, constant_
_no_grad_zero_, _no_grad_trunc_normal_ = zeros_, trunc_normal_
