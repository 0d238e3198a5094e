"""Leaky rectifiers whose slope is random in training."""

from __future__ import annotations

import math

import numpy as np

from ..memory.dtype import Array, Scalar
from ..memory.errors import OperatorError
from ..random_numbers.random import Generator, default_generator
from ..table.pointwise import as_array, write
from ..table.promotion import kind
from ..table.refusals import not_implemented
from ..table.table import operator
from .activation import leaky_relu

__all__ = ["slope_bounds"]

_ARGUMENTS = (
    "Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, "
    "Generator? generator=None"
)


def slope_bounds(lower: Scalar, upper: Scalar) -> tuple[float, float]:
    """Between which numbers slopes are drawn.

    Raises:
        OperatorError: one is not finite, or the lower one is above the upper one.
    """
    low, high = float(lower.real), float(upper.real)
    for name, bound in (("lower", low), ("upper", high)):
        if not math.isfinite(bound):
            raise OperatorError(f"rrelu: {name} bound must be finite, got {bound:g}")
    if low > high:
        raise OperatorError("Lower bound should be less than or equal to the upper bound")
    return low, high


def _slopes(self: Array, lower: float, upper: float, generator: Generator | None) -> Array:
    """A slope for each element: drawn for those not above zero, 1 for the others."""
    slopes = np.ones(self.shape, np.float64)
    low = self <= 0
    draws = (generator or default_generator).doubles(int(np.count_nonzero(low)))
    least, most = (float(np.asarray(bound).astype(self.dtype)) for bound in (lower, upper))
    slopes[low] = draws * (most - least) + least
    return slopes


@operator(
    f"aten::rrelu_with_noise(Tensor self, Tensor(b!) noise, {_ARGUMENTS}) -> Tensor", face="layer"
)
def rrelu_with_noise(
    self: Array,
    noise: Array,
    lower: float,
    upper: float,
    training: bool,
    generator: Generator | None,
) -> Array:
    """`rrelu` that leaves the slopes in `noise`."""
    if not training or kind(self.dtype) != 2:
        return leaky_relu(self, (lower + upper) / 2)
    if self.dtype == np.float16:
        raise not_implemented("rrelu_with_noise_out_cpu", self.dtype)
    slopes = _slopes(self, lower, upper, generator).astype(self.dtype)
    noise[...] = slopes
    return as_array(self * slopes)


@operator(
    f"aten::rrelu_with_noise_(Tensor(a!) self, Tensor(b!) noise, {_ARGUMENTS}) -> Tensor(a!)",
    face="layer",
)
def rrelu_with_noise_(
    self: Array,
    noise: Array,
    lower: float,
    upper: float,
    training: bool,
    generator: Generator | None,
) -> Array:
    return write(self, rrelu_with_noise(self, noise, lower, upper, training, generator))


@operator(
    f"aten::rrelu_with_noise_functional(Tensor self, Tensor noise, {_ARGUMENTS}) -> "
    "(Tensor, Tensor noise_out)",
    out="",
    face="operator",
)
def rrelu_with_noise_functional(
    self: Array,
    noise: Array,
    lower: float,
    upper: float,
    training: bool,
    generator: Generator | None,
) -> tuple[Array, Array]:
    """`rrelu_with_noise` that leaves `noise` as it is and gives the slopes, too."""
    slopes = noise.copy(order="K")
    return rrelu_with_noise(self, slopes, lower, upper, training, generator), slopes


@operator(f"aten::rrelu(Tensor self, {_ARGUMENTS}) -> Tensor", layout="C", out="", face="function")
def rrelu(
    self: Array, lower: Scalar, upper: Scalar, training: bool, generator: Generator | None
) -> Array:
    """Negative numbers times a slope: the mean of both bounds, in training drawn between them."""
    bounds = slope_bounds(lower, upper)
    return rrelu_with_noise(self, np.empty_like(self), *bounds, training, generator)


@operator(f"aten::rrelu_(Tensor(a!) self, {_ARGUMENTS}) -> Tensor(a!)", face="function")
def rrelu_(
    self: Array, lower: Scalar, upper: Scalar, training: bool, generator: Generator | None
) -> Array:
    return write(self, rrelu(self, lower, upper, training, generator))
