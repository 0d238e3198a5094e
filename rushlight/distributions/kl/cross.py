"""Divergences between different families: -H(p) less the mean under p of log q, or infinite where
p has values that q has not."""

from __future__ import annotations

import math

from ...ops.gradients.table.rows import aten
from ...ops.tensors.tensor import Tensor
from ..bernoulli import Bernoulli
from ..beta import Beta
from ..binomial import Binomial
from ..continuous_bernoulli import ContinuousBernoulli
from ..distribution import Distribution
from ..exponential import Exponential
from ..gamma import Gamma
from ..gumbel import Gumbel
from ..laplace import Laplace
from ..normal import Normal
from ..pareto import Pareto
from ..poisson import Poisson
from ..uniform import Uniform
from ..utils import euler_constant
from .registry import register_kl

_NEVER: dict[type[Distribution], tuple[type[Distribution], ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}
"""Of each family those that hold some of its values for impossible."""


def _some_parameter(p: object) -> Tensor:
    for name in ("rate", "loc", "alpha", "concentration1", "probs"):
        if hasattr(p, name):
            found: Tensor = getattr(p, name)
            return found
    raise AssertionError


def _infinite(p: Distribution, q: Distribution) -> Tensor:
    return aten.full_like(_some_parameter(p), math.inf)


for _p, _others in _NEVER.items():
    for _q in _others:
        register_kl(_p, _q)(_infinite)


# --------------------------------------------------------------------------- means of log q


def _normal_cross(q: Normal, mean: Tensor, square: Tensor) -> Tensor:
    """-E log q, from the mean and the mean square."""
    spread = q.scale.pow(2)
    off = square - 2 * mean * q.loc + q.loc.pow(2)
    return 0.5 * off / spread + 0.5 * (2 * math.pi * spread).log()


def _exponential_cross(q: Exponential, mean: Tensor) -> Tensor:
    return mean * q.rate - q.rate.log()


def _gamma_cross(q: Gamma, mean: Tensor, logarithm: Tensor) -> Tensor:
    """-E log q, from the means of x and log x."""
    normalizer = q.concentration.lgamma() - q.concentration * q.rate.log()
    return normalizer - (q.concentration - 1) * logarithm + q.rate * mean


def _gumbel_cross(q: Gumbel, mean: Tensor, tail: Tensor) -> Tensor:
    """-E log q, from the means of x and exp(-x / scale)."""
    return q.scale.log() + (mean - q.loc) / q.scale + tail * (q.loc / q.scale).exp()


def _mean_square(p: Distribution) -> Tensor:
    return p.variance + p.mean.pow(2)


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Uniform, Normal)
def _any_normal(p: Distribution, q: Normal) -> Tensor:
    return _normal_cross(q, p.mean, _mean_square(p)) - p.entropy()


@register_kl(Pareto, Normal)
def _pareto_normal(p: Pareto, q: Normal) -> Tensor:
    result = _normal_cross(q, p.mean, _mean_square(p)) - p.entropy()
    return result.masked_fill(p.alpha <= 2, math.inf)


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
def _any_exponential(p: Distribution, q: Exponential) -> Tensor:
    return _exponential_cross(q, p.mean) - p.entropy()


@register_kl(Pareto, Exponential)
def _pareto_exponential(p: Pareto, q: Exponential) -> Tensor:
    return _any_exponential(p, q).masked_fill(p.alpha <= 1, math.inf)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Uniform, q: Exponential) -> Tensor:
    return _any_exponential(p, q).masked_fill(p.low < q.support.lower_bound, math.inf)


@register_kl(Beta, Gamma)
def _beta_gamma(p: Beta, q: Gamma) -> Tensor:
    total = p.concentration1 + p.concentration0
    logarithm = p.concentration1.digamma() - total.digamma()
    return _gamma_cross(q, p.mean, logarithm) - p.entropy()


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Exponential, q: Gamma) -> Tensor:
    return _gamma_cross(q, p.mean, -euler_constant - p.rate.log()) - p.entropy()


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Pareto, q: Gamma) -> Tensor:
    logarithm = p.scale.log() + p.alpha.reciprocal()
    result = _gamma_cross(q, p.mean, logarithm) - p.entropy()
    return result.masked_fill(p.alpha <= 1, math.inf)


def _integral_of_log(x: Tensor) -> Tensor:
    """x log x - x, and 0 at 0."""
    return x.xlogy(x) - x


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Uniform, q: Gamma) -> Tensor:
    logarithm = (_integral_of_log(p.high) - _integral_of_log(p.low)) / (p.high - p.low)
    result = _gamma_cross(q, p.mean, logarithm) - p.entropy()
    return result.masked_fill(p.low < q.support.lower_bound, math.inf)


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Exponential, q: Gumbel) -> Tensor:
    slope = p.rate * q.scale
    return _gumbel_cross(q, p.mean, slope / (slope + 1)) - p.entropy()


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Gamma, q: Gumbel) -> Tensor:
    tail = (1 + (p.rate * q.scale).reciprocal()).pow(-p.concentration)
    return _gumbel_cross(q, p.mean, tail) - p.entropy()


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Normal, q: Gumbel) -> Tensor:
    tail = (0.5 * (p.scale / q.scale).pow(2) - p.loc / q.scale).exp()
    return _gumbel_cross(q, p.mean, tail) - p.entropy()


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Uniform, q: Gumbel) -> Tensor:
    ends = (-p.low / q.scale).exp() - (-p.high / q.scale).exp()
    return _gumbel_cross(q, p.mean, q.scale * ends / (p.high - p.low)) - p.entropy()


@register_kl(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    off = (p.loc - q.loc) / p.scale
    distance = p.scale * (
        math.sqrt(2 / math.pi) * (-0.5 * off.pow(2)).exp() + off * (math.sqrt(0.5) * off).erf()
    )
    return (2 * q.scale).log() + distance / q.scale - p.entropy()


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return q.rate - p.probs * q.rate.log() - p.entropy()


# --------------------------------------------------------------------------- within bounds


def _is_within(p: Uniform, low: Tensor | float, high: Tensor | float) -> Tensor:
    return (p.low >= low) & (p.high <= high)


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p: Beta, q: ContinuousBernoulli) -> Tensor:
    log_q = p.mean * q.logits + (-q.probs).log1p() + q._cont_bern_log_norm()
    return -p.entropy() - log_q


@register_kl(Beta, Uniform)
def _beta_uniform(p: Beta, q: Uniform) -> Tensor:
    result = (q.high - q.low).log() - p.entropy()
    return result.masked_fill((q.low > 0) | (q.high < 1), math.inf)


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p: ContinuousBernoulli, q: Uniform) -> Tensor:
    result = (q.high - q.low).log() - p.entropy()
    return aten.where((q.low > 0) | (q.high < 1), math.inf, result)


@register_kl(Uniform, Beta)
def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    width = p.high - p.low
    below = _integral_of_log(p.high) - _integral_of_log(p.low)
    above = _integral_of_log(1 - p.low) - _integral_of_log(1 - p.high)
    a, b = q.concentration1, q.concentration0
    log_beta = a.lgamma() + b.lgamma() - (a + b).lgamma()
    log_q = ((a - 1) * below + (b - 1) * above) / width - log_beta
    return (-p.entropy() - log_q).masked_fill(~_is_within(p, 0, 1), math.inf)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Uniform, q: ContinuousBernoulli) -> Tensor:
    log_q = p.mean * q.logits + (-q.probs).log1p() + q._cont_bern_log_norm()
    return aten.where(_is_within(p, 0, 1), -p.entropy() - log_q, math.inf)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    width = p.high - p.low
    logarithm = (_integral_of_log(p.high) - _integral_of_log(p.low)) / width
    log_q = q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * logarithm
    return (-p.entropy() - log_q).masked_fill(p.low < q.support.lower_bound, math.inf)
