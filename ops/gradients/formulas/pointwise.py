"""Gradients of what is computed element by element."""

from __future__ import annotations

import math

import numpy as np

from ...memory.complex_parts import is_complex
from ...memory.dtype import Scalar
from ...tensors.tensor import Tensor
from ..table.rows import aten, composite, conj, constant, gradient, refused, same_as

_TWO_PI = 2 / math.sqrt(math.pi)


def _is_complex(x: object) -> bool:
    return isinstance(x, Tensor) and is_complex(x._array.dtype)


# --------------------------------------------------------------------------- arithmetic

gradient("aten::add", self=lambda g: g, other=lambda g, alpha=1: scaled(g, conj(alpha)))
gradient("aten::sub", self=lambda g: g, other=lambda g, alpha=1: scaled(g, -conj(alpha)))
gradient(
    "aten::rsub",
    self=lambda g, alpha=1: scaled(g, -conj(alpha)),
    other=lambda g: g,
    name="RsubBackward1",
)
gradient(
    "aten::mul",
    self=lambda g, other: g * conj(other),
    other=lambda g, self: g * conj(self),
)
gradient(
    "aten::div",
    self=lambda g, other, rounding_mode=None: (
        g / conj(other) if rounding_mode is None else g.new_zeros(g.shape)
    ),
    other=lambda g, self, other, rounding_mode=None: (
        -g * conj((self / other) / other) if rounding_mode is None else g.new_zeros(g.shape)
    ),
)
gradient("aten::neg", self=lambda g: -g)
same_as("aten::neg", "aten::_neg_view")
gradient("aten::reciprocal", self=lambda g, result: -g * conj(result * result))
gradient("aten::square", self=lambda g, self: g * conj(self) * 2, name="PowBackward0")
gradient(
    "aten::addcmul",
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * conj(tensor2 * value),
    tensor2=lambda g, tensor1, value: g * conj(tensor1 * value),
)
gradient(
    "aten::addcdiv",
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * conj(value / tensor2),
    tensor2=lambda g, tensor1, tensor2, value: -g * conj(value * tensor1 / (tensor2 * tensor2)),
)
gradient(
    "aten::lerp",
    self=lambda g, weight: g * conj(1 - weight),
    end=lambda g, weight: g * conj(weight),
    weight=lambda g, self, end: g * conj(end - self),
)
gradient(
    "aten::fmod",
    self=lambda g: g,
    other=lambda g, self, other: -g * aten.div(self, other, rounding_mode="trunc"),
)
gradient(
    "aten::remainder",
    self=lambda g: g,
    other=lambda g, self, other: -g * aten.div(self, other, rounding_mode="floor"),
)
composite("aten::ldexp", name="MulBackward0")(lambda self, other: self * aten.pow(2.0, other))


def scaled(g: Tensor, factor: Tensor | Scalar) -> Tensor:
    """A gradient times a number."""
    return g if factor == 1 else -g if factor == -1 else g * factor


# --------------------------------------------------------------------------- powers


def _power_base(g: Tensor, self: Tensor, exponent: Scalar | Tensor) -> Tensor:
    if isinstance(exponent, Tensor):
        factor = exponent * self.pow(exponent - 1)
        zero = aten.eq(exponent, 0)
        return aten.where(zero, 0, g * conj(factor))
    if exponent == 0:
        return aten.zeros_like(g)
    return g * conj(self.pow(exponent - 1) * exponent)


def _power_exponent(g: Tensor, self: Scalar | Tensor, exponent: Tensor, result: Tensor) -> Tensor:
    if not isinstance(self, Tensor):
        if self == 0:
            return aten.where(exponent >= 0, 0.0, g * -math.inf)
        if _is_complex(exponent):
            self = complex(self)
        return g * conj(
            result * (np.log(self).item() if isinstance(self, complex) or self > 0 else math.nan)
        )
    zero = aten.eq(self, 0)
    hidden = zero if _is_complex(exponent) else zero.logical_and(exponent >= 0)
    if _is_complex(exponent):
        self = self.to(result.dtype)  # numbers below zero have a logarithm then
    return aten.where(hidden, 0, g * conj(result * self.log()))


gradient("aten::pow", self=_power_base, exponent=_power_exponent)
gradient("aten::pow.Tensor_Tensor", self=_power_base, exponent=_power_exponent, name="PowBackward1")
gradient("aten::pow.Scalar", exponent=_power_exponent, name="PowBackward2")
same_as("aten::pow", "aten::float_power")
same_as("aten::pow", "aten::pow_.Scalar")  # whose exponent is a number
gradient("aten::sqrt", self=lambda g, result: g / (2 * conj(result)))
gradient("aten::rsqrt", self=lambda g, result: -0.5 * g * conj(result * result * result))

# --------------------------------------------------------------------------- maths

gradient("aten::exp", self=lambda g, result: g * conj(result))
gradient("aten::exp2", self=lambda g, result: g * conj(result) * math.log(2))
gradient("aten::expm1", self=lambda g, result: g * (conj(result) + 1))
gradient("aten::log", self=lambda g, self: g / conj(self))
gradient("aten::log2", self=lambda g, self: g / (conj(self) * math.log(2)))
gradient("aten::log10", self=lambda g, self: g / (conj(self) * math.log(10)))
gradient("aten::log1p", self=lambda g, self: g / (conj(self) + 1))
gradient("aten::sin", self=lambda g, self: g * conj(self.cos()))
gradient("aten::cos", self=lambda g, self: -g * conj(self.sin()))
gradient("aten::tan", self=lambda g, result: g * conj(1 + result * result))
gradient("aten::sinh", self=lambda g, self: g * conj(self.cosh()))
gradient("aten::cosh", self=lambda g, self: g * conj(self.sinh()))
gradient("aten::tanh", self=lambda g, result: aten.tanh_backward(g, result))
gradient("aten::asin", self=lambda g, self: g * conj((1 - self * self).rsqrt()))
gradient("aten::acos", self=lambda g, self: -g * conj((1 - self * self).rsqrt()))
gradient("aten::atan", self=lambda g, self: g / conj(self * self + 1))
gradient("aten::asinh", self=lambda g, self: g * conj((self * self + 1).rsqrt()))
gradient("aten::acosh", self=lambda g, self: g * conj((self - 1).rsqrt() * (self + 1).rsqrt()))
gradient("aten::atanh", self=lambda g, self: g / conj(1 - self * self))
gradient(
    "aten::atan2",
    self=lambda g, self, other: g * other / (self * self + other * other),
    other=lambda g, self, other: -g * self / (self * self + other * other),
)
gradient("aten::erf", self=lambda g, self: (-(self * self)).exp() * (g * _TWO_PI))
gradient("aten::erfc", self=lambda g, self: (-(self * self)).exp() * (-g * _TWO_PI))
gradient("aten::erfinv", self=lambda g, result: (result * result).exp() * g / _TWO_PI)
gradient("aten::lgamma", self=lambda g, self: g * self.digamma())
gradient(
    "aten::_standard_gamma",
    self=lambda g, self, result: g * aten._standard_gamma_grad(self, result),
)
gradient(
    "aten::_standard_gamma_grad",
    self=refused("_standard_gamma_grad"),
    output=refused("_standard_gamma_grad"),
)
gradient("aten::digamma", self=lambda g, self: g * aten.polygamma(1, self))
gradient("aten::polygamma", self=lambda g, n, self: g * aten.polygamma(n + 1, self))
gradient("aten::sinc", self=lambda g, self: g * conj(_sinc_slope(self)))
gradient("aten::i0", self=lambda g, self: g * aten.special_i1(self))
gradient("aten::sigmoid", self=lambda g, result: aten.sigmoid_backward(g, result))
gradient(
    "aten::logit",
    self=lambda g, self, eps=None: (
        g / (self * (1 - self))
        if eps is None
        else aten.where((self >= eps).logical_and(self <= 1 - eps), g / (self * (1 - self)), 0.0)
    ),
)
gradient(
    "aten::logaddexp",
    self=lambda g, self, result: g * conj((self - result).exp()),
    other=lambda g, other, result: g * conj((other - result).exp()),
)
gradient(
    "aten::logaddexp2",
    self=lambda g, self, result: g * (self - result).exp2(),
    other=lambda g, other, result: g * (other - result).exp2(),
)
gradient(
    "aten::hypot",
    self=lambda g, self, result: g * (self / result),
    other=lambda g, other, result: g * (other / result),
)


def _without_zeros(found: Tensor, self: Tensor, other: Tensor | float, low: int) -> Tensor:
    """A gradient of `self` times a logarithm, 0 where `self` is and the logarithm is no number."""
    if isinstance(other, Tensor):
        return found.masked_fill((self == 0).logical_and(other <= low), 0)
    return found if other > low else found.masked_fill(self == 0, 0)


gradient(
    "aten::xlogy",
    self=lambda g, self, other: _without_zeros(aten.xlogy(g, other), self, other, 0),
    other=lambda g, self, other: g * self / other,
)
gradient(
    "aten::special_xlog1py",
    self=lambda g, self, other: _without_zeros(aten.special_xlog1py(g, other), self, other, -1),
    other=lambda g, self, other: g * self / (other + 1),
)
gradient("aten::special_entr", self=lambda g, self: g * (-self.log() - 1))
gradient("aten::special_ndtr", self=lambda g, self: g * _normal_density(self))
gradient(
    "aten::special_log_ndtr",
    self=lambda g, self, result: g * (_normal_density(self).log() - result).exp(),
)
gradient("aten::special_ndtri", self=lambda g, result: g / _normal_density(result))
gradient("aten::special_erfcx", self=lambda g, self, result: g * (2 * self * result - _TWO_PI))
gradient(
    "aten::special_i0e",
    self=lambda g, self, result: g * (aten.special_i1e(self) - self.sgn() * result),
)
gradient(
    "aten::special_i1",
    self=lambda g, self, result: g * (self.i0() - _over_zero(result, self)),
)
gradient(
    "aten::special_i1e",
    self=lambda g, self, result: (
        g * (aten.special_i0e(self) - result * self.sgn() - _over_zero(result, self))
    ),
)


def _over_zero(result: Tensor, self: Tensor) -> Tensor:
    """`result / self`, a half at zero, as the Bessel functions have it."""
    zero = self == 0
    quotient = result / self.masked_fill(zero, 1)
    return aten.where(zero, 0.5, quotient)


def _normal_density(x: Tensor) -> Tensor:
    return (x * x * -0.5).exp() / math.sqrt(2 * math.pi)


def _sinc_slope(x: Tensor) -> Tensor:
    scaled_x = x * math.pi
    slope = (scaled_x.cos() * scaled_x - scaled_x.sin()) / (scaled_x * x)
    return slope.masked_fill(scaled_x * x == 0, 0)


same_as("aten::polygamma", "aten::special_polygamma")


def _gamma_density(g: Tensor, self: Tensor, other: Tensor) -> Tensor:
    return g * ((self - 1) * other.log() - other - self.lgamma()).exp()


gradient(
    "aten::igamma",
    self=refused("igamma: input"),
    other=_gamma_density,
    name="IgammaBackward0",
)
gradient(
    "aten::igammac",
    self=refused("igammac: input"),
    other=lambda g, self, other: -_gamma_density(g, self, other),
    name="IgammacBackward0",
)


def _zeta(g: Tensor, self: Tensor | Scalar, other: Tensor) -> Tensor:
    return g * -self * aten.special_zeta(self + 1, other)


gradient("aten::special_zeta", self=refused("zeta"), other=_zeta)
gradient("aten::special_zeta.self_scalar", other=_zeta, name="SpecialZetaBackward1")
gradient("aten::special_zeta.other_scalar", self=refused("zeta"), name="SpecialZetaBackward2")


@composite("aten::mvlgamma")
def multigamma(self: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function."""
    places = aten.arange(p, dtype=self.dtype) / 2
    total = (self.unsqueeze(-1) - places).lgamma().sum([-1])
    return total + p * (p - 1) / 4 * math.log(math.pi)


# --------------------------------------------------------------------------- signs and limits


def _abs(g: Tensor, self: Tensor) -> Tensor:
    return g * self.sgn()


gradient("aten::abs", self=_abs)
gradient("aten::complex", real=lambda g: g.real, imag=lambda g: g.imag)
gradient(
    "aten::polar",
    abs=lambda g, angle: (g * conj(aten.polar(aten.ones_like(angle), angle))).real,
    angle=lambda g, result: (g * conj(result * 1j)).real,
)
gradient("aten::conj", self=lambda g: conj(g))
same_as("aten::conj", "aten::_conj", "aten::_conj_physical", "aten::conj_physical")
gradient("aten::resolve_conj", self=lambda g: g)
gradient("aten::resolve_neg", self=lambda g: g)


def _angle(g: Tensor, self: Tensor) -> Tensor:
    if not _is_complex(self):
        return aten.zeros_like(g)
    size = self.abs()
    found = self * (1j * g) / (size * size)
    return found.masked_fill(size == 0, 0)


gradient("aten::angle", self=_angle)


def _sgn(g: Tensor, self: Tensor, result: Tensor) -> Tensor:
    if not _is_complex(self):
        return aten.zeros_like(g)
    size = self.abs()
    along = (g * conj(result)).real
    return ((g - result * along) / size).masked_fill(size == 0, 0)


gradient("aten::sgn", self=_sgn)
for _name in "sign floor ceil round trunc".split():
    gradient(f"aten::{_name}", self=lambda g: aten.zeros_like(g))
_COMPARED = "eq ne lt le gt ge"
for _name in _COMPARED.split():  # written into a tensor of floats, truths are floats
    gradient(
        f"aten::{_name}_", self=lambda g: aten.zeros_like(g), other=lambda g: aten.zeros_like(g)
    )
gradient(
    "aten::copysign",
    self=lambda g, self, result: (
        g * (result / self.masked_fill(self == 0, 1)).masked_fill(self == 0, 0)
    ),
    other=lambda g: aten.zeros_like(g),
)
gradient("aten::nan_to_num", self=lambda g, self: g * self.isfinite())
gradient("aten::frexp", self=lambda g, result1: g / aten.pow(2.0, result1))


def _within(self: Tensor, min: float, max: float) -> Tensor:
    inside = aten.ones_like(self, dtype=None).isfinite()
    if min is not None:
        inside = inside.logical_and(self >= min)
    if max is not None:
        inside = inside.logical_and(self <= max)
    return inside


gradient(
    "aten::clamp",
    self=lambda g, self, min, max: aten.where(_within(self, min, max), g, 0.0),
    min=lambda g, self, min, max: aten.where(
        (self < min) if max is None else (self < min).logical_and(min < max), g, 0.0
    ),
    max=lambda g, self, min, max: aten.where(
        (self > max) if min is None else (self > max).logical_or(max < min), g, 0.0
    ),
    name="ClampBackward1",
)
gradient(
    "aten::clamp_min",
    self=lambda g, self, min: aten.where(self >= min, g, 0.0),
    min=lambda g, self, min: aten.where(self < min, g, 0.0),
)
gradient(
    "aten::clamp_max",
    self=lambda g, self, max: aten.where(self <= max, g, 0.0),
    max=lambda g, self, max: aten.where(self > max, g, 0.0),
)


def _shared(g: Tensor, chosen: Tensor, equal: Tensor) -> Tensor:
    """The gradient where one was chosen; half of it where both were equal."""
    neither = chosen.logical_or(equal).logical_not()
    return aten.where(neither, 0, aten.where(equal, g / 2, g))


gradient(
    "aten::maximum",
    self=lambda g, self, other: _shared(g, self > other, self == other),
    other=lambda g, self, other: _shared(g, self < other, self == other),
)
gradient(
    "aten::minimum",
    self=lambda g, self, other: _shared(g, self < other, self == other),
    other=lambda g, self, other: _shared(g, self > other, self == other),
)
same_as("aten::maximum", "aten::max.other")
same_as("aten::minimum", "aten::min.other")
gradient(
    "aten::fmax",
    self=lambda g, self, other: g.masked_fill(
        (self >= other).logical_or(other.isnan()).logical_not(), 0
    ),
    other=lambda g, self, other: g.masked_fill((self >= other).logical_or(other.isnan()), 0),
)
gradient(
    "aten::fmin",
    self=lambda g, self, other: g.masked_fill(
        (self <= other).logical_or(other.isnan()).logical_not(), 0
    ),
    other=lambda g, self, other: g.masked_fill((self <= other).logical_or(other.isnan()), 0),
)

# --------------------------------------------------------------------------- choices

gradient(
    "aten::where",
    self=lambda g, condition: aten.where(condition, g, 0.0),
    other=lambda g, condition: aten.where(condition, 0.0, g),
)
gradient(
    "aten::masked_fill",
    self=lambda g, mask: g.masked_fill(mask, 0),
    value=lambda g, mask: aten.where(mask, g, 0.0).sum(),
)
gradient("aten::fill", self=lambda g: aten.zeros_like(g), value=lambda g: g.sum())
gradient("aten::zero", self=lambda g: aten.zeros_like(g))
gradient("aten::copy", self=lambda g: aten.zeros_like(g), src=lambda g: g, name="CopyBackwards")
gradient(
    "aten::copy_.Tensor",
    self=lambda g: aten.zeros_like(g),
    other=lambda g: g,
    name="CopyBackwards",
)
for _name, _node in (
    *((name, None) for name in "uniform normal_ exponential cauchy geometric log_normal".split()),
    *(("poisson", None), ("bernoulli", None)),
    *(("bernoulli_.Tensor", "BernoulliBackward1"), ("bernoulli_.float", "BernoulliBackward2")),
    *(("random.from", "RandomBackward0"), ("random.to", "RandomBackward1")),
    *(("random_.from", "RandomBackward0"), ("random_.to", "RandomBackward1")),
    ("random", "RandomBackward2"),
):
    gradient(f"aten::{_name}", self=lambda g: aten.zeros_like(g), name=_node)
for _number, _overload in enumerate(("Tensor_float", "float_Tensor", "Tensor_Tensor"), 1):
    gradient(
        f"aten::normal.{_overload}",
        mean=lambda g, mean_sizes: g.new_zeros(list(mean_sizes)),
        std=lambda g, std_sizes: g.new_zeros(list(std_sizes)),
        name=f"NormalBackward{_number}",
    )

# --------------------------------------------------------------------------- copies

gradient("aten::clone", self=lambda g: g)
gradient("aten::contiguous", self=lambda g: g, name="CloneBackward0")
gradient("aten::to", self=lambda g: g, name="ToCopyBackward0")
same_as(
    "aten::to",
    "aten::type_as",
    "aten::_to_copy",
    "aten::cpu",
    "aten::_cast_Float",
    "aten::_cast_Double",
    "aten::_cast_Half",
    "aten::_autocast_to_full_precision",
    "aten::_autocast_to_reduced_precision",
    "aten::lift_fresh",
    "aten::lift_fresh_copy",
)
gradient("aten::alias", self=lambda g: g)
same_as("aten::alias", "aten::alias_copy")
gradient(
    "aten::native_dropout",
    input=lambda g, result1, p, train: g * result1 * (1.0 if train is False else _keep_scale(p)),
)


gradient(
    "aten::native_dropout_backward",
    grad_output=lambda g, mask, scale: g * (mask.to(g.dtype) * scale),
)
gradient(
    "aten::nextafter",
    self=lambda g, self, other: g.masked_fill(self == other, 0),
    other=lambda g, other: aten.zeros_like(other),
)


def _keep_scale(p: float) -> float:
    return 0.0 if p >= 1 else 1 / (1 - p)


constant(
    *"""detach detach_ data zeros_like ones_like empty_like full_like rand_like randn_like
    randint_like linspace logspace new_zeros new_ones new_full new_empty new_empty_strided
    bincount histc histogram result_type searchsorted bucketize multinomial resize_ set_
    resize_as_ argmax argmin size special_airy_ai special_bessel_j0 special_bessel_j1
    special_bessel_y0 special_bessel_y1 special_modified_bessel_i0 special_modified_bessel_i1
    special_modified_bessel_k0 special_modified_bessel_k1 special_scaled_modified_bessel_k0
    special_scaled_modified_bessel_k1 special_spherical_bessel_j0 special_chebyshev_polynomial_t
    special_chebyshev_polynomial_u special_chebyshev_polynomial_v special_chebyshev_polynomial_w
    special_hermite_polynomial_h special_hermite_polynomial_he special_laguerre_polynomial_l
    special_legendre_polynomial_p special_shifted_chebyshev_polynomial_t
    special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v
    special_shifted_chebyshev_polynomial_w sign_bit equal allclose item""".split()
)
same_as("aten::data", "prim::data")
