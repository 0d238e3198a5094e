"""Divergences of laws of one family.  What is not said otherwise follows from the definition."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...ops.gradients.table.rows import aten
from ...ops.tensors.tensor import Tensor
from ..bernoulli import Bernoulli
from ..beta import Beta
from ..binomial import Binomial
from ..categorical import Categorical
from ..cauchy import Cauchy
from ..continuous_bernoulli import ContinuousBernoulli
from ..dirichlet import Dirichlet
from ..exp_family import ExponentialFamily
from ..exponential import Exponential
from ..gamma import Gamma
from ..geometric import Geometric
from ..gumbel import Gumbel
from ..half_normal import HalfNormal
from ..independent import Independent
from ..laplace import Laplace
from ..normal import Normal
from ..one_hot_categorical import OneHotCategorical
from ..pareto import Pareto
from ..poisson import Poisson
from ..probs_or_logits import ProbsOrLogits
from ..transformed_distribution import TransformedDistribution
from ..uniform import Uniform
from ..utils import _sum_rightmost, euler_constant
from .registry import F, kl_divergence, register_kl


def _same(kind: type) -> Callable[[F], F]:
    """Register a divergence between laws of one class."""
    return register_kl(kind, kind)


@_same(ExponentialFamily)
def _exponential_families(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """F(q) - F(p) - <theta_q - theta_p, F'(p)>, a Bregman divergence (Nielsen and Nock, 2010)."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot "
            "                            be computed using Bregman divergences"
        )
    theta, normalizer, means = p._normalizer_and_means()
    theirs = q._natural_params
    result = q._log_normalizer(*theirs) - normalizer
    for ours, other, mean in zip(theta, theirs, means, strict=True):
        own = ours.dim() - len(p.batch_shape)
        result = result - _sum_rightmost((other - ours) * mean, own)
    return result


def _coins(p: ProbsOrLogits, q: ProbsOrLogits, of_one: Tensor, of_zero: Tensor) -> Tensor:
    """Two terms of a sum, which are infinite where q is sure, and 0 where p is."""
    of_one = of_one.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    of_zero = of_zero.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)
    return of_one + of_zero


@_same(Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    # softplus(-x) is -log of a probability, softplus(x) that of the other one
    of_one = p.probs * (aten.softplus(-q.logits) - aten.softplus(-p.logits))
    of_zero = (1 - p.probs) * (aten.softplus(q.logits) - aten.softplus(p.logits))
    return _coins(p, q, of_one, of_zero)


@_same(Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    share = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    result = p.total_count * share
    lost = p.total_count > q.total_count  # q holds some of p's values for impossible
    return result.masked_fill(lost, math.inf)


@_same(Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms = terms.masked_fill((q.probs == 0).expand_as(terms), math.inf)
    return terms.masked_fill((p.probs == 0).expand_as(terms), 0).sum(-1)


@_same(OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical(p._categorical, q._categorical)


@_same(ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    means = p.mean * (p.logits - q.logits)
    rest = (-p.probs).log1p() - (-q.probs).log1p()
    return means + p._cont_bern_log_norm() - q._cont_bern_log_norm() + rest


@_same(Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    a, b, c, d = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    whole, other = a + b, c + d
    log_betas = c.lgamma() + d.lgamma() + whole.lgamma() - a.lgamma() - b.lgamma() - other.lgamma()
    slopes = (a - c) * a.digamma() + (b - d) * b.digamma() + (other - whole) * whole.digamma()
    return log_betas + slopes


@_same(Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    whole = a.sum(-1)
    log_betas = whole.lgamma() - b.sum(-1).lgamma() + (b.lgamma() - a.lgamma()).sum(-1)
    return log_betas + ((a - b) * (a.digamma() - whole.digamma().unsqueeze(-1))).sum(-1)


@_same(Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@_same(Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    normalizers = b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma()
    return normalizers + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)


@_same(Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio = p.scale / q.scale
    off = p.loc / q.scale - q.loc / q.scale
    tails = (-off + (1 + ratio).lgamma()).exp()
    return off - ratio.log() + tails + ratio * euler_constant - (1 + euler_constant)


@_same(Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@_same(Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    spread = (p.scale / q.scale).pow(2)
    off = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (spread + off - 1 - spread.log())


@_same(HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@_same(Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, off = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + off / q.scale + ratio * (-off / p.scale).exp() - 1


@_same(Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio, power = p.scale / q.scale, q.alpha / p.alpha
    result = q.alpha * ratio.log() - power.log() + power - 1
    return result.masked_fill(p.support.lower_bound < q.support.lower_bound, math.inf)


@_same(Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@_same(Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    """Chyzak and Nielsen, arXiv:1905.10965."""
    whole = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return whole.log() - (4 * p.scale * q.scale).log()


@_same(Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return result.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@_same(TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    """The bases', since one-to-one maps change nothing."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@_same(Independent)
def _independent(p: Independent[Any], q: Independent[Any]) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
