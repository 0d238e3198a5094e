"""Exponential families, p(x) = h(x) exp(<theta, t(x)> - F(theta))."""

from __future__ import annotations

from typing import Any

from ..autograd import grad
from ..ops.tensors.tensor import Tensor
from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Laws that natural parameters theta and a log-normalizer F describe.

    F's gradient is the mean of t(x), from which entropies and divergences follow (Nielsen and
    Nock, "Entropies and cross-entropies of exponential families", 2010).
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        """theta, as several tensors."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        """F(theta)."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        """The mean of log h(x)."""
        raise NotImplementedError

    def _normalizer_and_means(self) -> tuple[list[Tensor], Tensor, tuple[Tensor, ...]]:
        """theta cut off from its history, F(theta) and the gradients of F."""
        theta = [each.detach()._want_gradients() for each in self._natural_params]
        normalizer = self._log_normalizer(*theta)
        means = grad(normalizer.sum(), theta, create_graph=True)
        return theta, normalizer, means

    def entropy(self) -> Tensor:
        """F(theta) - <theta, F'(theta)> less the mean of log h."""
        carrier = self._mean_carrier_measure
        theta, normalizer, means = self._normalizer_and_means()
        result = normalizer - carrier
        for each, mean in zip(theta, means, strict=True):
            result = result - (each * mean).reshape(self._batch_shape + (-1,)).sum(-1)
        return result
