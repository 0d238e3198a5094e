"""Numbers between 0 and 1 with an exponential density."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

from ..nn.functional import binary_cross_entropy_with_logits
from ..ops.gradients.table.rows import aten
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .exp_family import ExponentialFamily
from .probs_or_logits import ProbsOrLogits, which_is_given
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """C(p) p^x (1 - p)^(1 - x) for x in [0, 1] (Loaiza-Ganem and Cunningham, arXiv:1907.06845).

    Formulas divide by 1 - 2p; between `lims` their series at p = 1/2 is taken instead.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = {"probs": 0, "logits": 0}

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        name, value = which_is_given(probs, logits)
        (value,) = broadcast_all(value)
        if name == "probs":
            if validate_args is not None and not self.arg_constraints["probs"].check(value).all():
                raise ValueError("The parameter probs has invalid values")
            value = clamp_probs(value)
        self._keep_given(name, value)
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        super()._expand_parts(new, batch_shape)
        new._lims = self._lims

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities, from logits; never quite 0 or 1, as the formulas divide by them."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside_unstable_region(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        """Probabilities, but `lims[0]` where the series is taken."""
        edge = self._lims[0] * aten.ones_like(self.probs)
        return aten.where(self._outside_unstable_region(), self.probs, edge)

    def _pick(self, exact: Tensor, series: Tensor) -> Tensor:
        return aten.where(self._outside_unstable_region(), exact, series)

    def _off(self) -> Tensor:
        return self.probs - 0.5

    def _cont_bern_log_norm(self) -> Tensor:
        """log C = log(2 artanh(1 - 2p) / (1 - 2p))."""
        p, square = self._cut_probs(), self._off().pow(2)
        exact = ((-p).log1p() - p.log()).abs().log() - (1 - 2 * p).abs().log()
        return self._pick(exact, math.log(2.0) + (4 / 3 + 104 / 45 * square) * square)

    @property
    def mean(self) -> Tensor:
        p, off = self._cut_probs(), self._off()
        exact = p / (2 * p - 1) + 1 / ((-p).log1p() - p.log())
        return self._pick(exact, 0.5 + (1 / 3 + 16 / 45 * off.pow(2)) * off)

    @property
    def variance(self) -> Tensor:
        p, square = self._cut_probs(), self._off().pow(2)
        exact = p * (p - 1) / (1 - 2 * p).pow(2) + 1 / ((-p).log1p() - p.log()).pow(2)
        return self._pick(exact, 1 / 12 - (1 / 15 - 128 / 945 * square) * square)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(aten.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, self._checked(value))
        missed: Tensor = binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._cont_bern_log_norm() - missed

    def cdf(self, value: Tensor) -> Tensor:
        value, p = self._checked(value), self._cut_probs()
        exact = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        inside = self._pick(exact, value)
        inside = aten.where(value <= 0, aten.zeros_like(inside), inside)
        return aten.where(value >= 1, aten.ones_like(inside), inside)

    def icdf(self, value: Tensor) -> Tensor:
        p = self._cut_probs()
        rest = (-p).log1p()
        exact = ((value * (2 * p - 1) - p).log1p() - rest) / (p.log() - rest)
        return self._pick(exact, value)

    def entropy(self) -> Tensor:
        of_zero, of_one = (-self.probs).log1p(), self.probs.log()
        return self.mean * (of_zero - of_one) - self._cont_bern_log_norm() - of_zero

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (probs_to_logits(self.probs, is_binary=True),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        """log((exp(x) - 1) / x), by its series near 0."""
        is_far = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = aten.where(is_far, x, (self._lims[0] - 0.5) * aten.ones_like(x))
        exact = (cut.exp() - 1).abs().log() - cut.abs().log()
        return aten.where(is_far, exact, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)
