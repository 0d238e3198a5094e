"""Directions in the plane."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..ops.gradients.table.rows import aten
from ..ops.memory.dtype import DTYPES
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .utils import lazy_property

__all__ = ["VonMises"]

_DOUBLE = DTYPES["float64"]


def _log_modified_bessel_fn(x: Tensor, order: int = 0) -> Tensor:
    """log I_0(x), or log I_1(x), of positive numbers."""
    scaled = aten.special_i0e(x) if order == 0 else aten.special_i1e(x)
    return scaled.log() + x


class VonMises(Distribution):
    """exp(concentration cos(x - loc)) / (2 pi I_0(concentration)), for angles x."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _batched = {"loc": 0, "concentration": 0}
    loc: Tensor
    concentration: Tensor

    def __init__(
        self, loc: Tensor, concentration: Tensor, validate_args: bool | None = None
    ) -> None:
        self._take(validate_args, loc=loc, concentration=concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        height = self.concentration * (self._checked(value) - self.loc).cos()
        bessel = _log_modified_bessel_fn(self.concentration)
        return height - math.log(2 * math.pi) - bessel

    @lazy_property
    def _loc(self) -> Tensor:
        return self.loc.to(_DOUBLE)

    @lazy_property
    def _concentration(self) -> Tensor:
        return self.concentration.to(_DOUBLE)

    @lazy_property
    def _proposal_r(self) -> Tensor:
        """The parameter of the wrapped Cauchy law that candidates are drawn from."""
        kappa = self._concentration
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        exact = (1 + rho**2) / (2 * rho)
        return aten.where(kappa < 1e-5, 1 / kappa + kappa, exact)  # its series near 0

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """Draws, in double precision inside (Best and Fisher, "Efficient simulation of the von
        Mises distribution", 1979)."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            r, kappa = self._proposal_r.expand(shape), self._concentration.expand(shape)
            angle = aten.zeros(shape, dtype=_DOUBLE, device=self.loc.device)
            waits = aten.ones(shape, dtype=DTYPES["bool"], device=self.loc.device)
            while waits.any():
                turn, level, side = aten.rand((3, *shape), dtype=_DOUBLE).unbind()
                z = (math.pi * turn).cos()
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                accept = (c * (2 - c) - level > 0) | ((c / level).log() + 1 - c >= 0)
                angle = aten.where(accept, (side - 0.5).sign() * f.acos(), angle)
                waits = waits & ~accept
            turned = (angle + math.pi + self._loc) % (2 * math.pi) - math.pi
            return turned.to(self.loc.dtype)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The circular variance, 1 - I_1 / I_0."""
        kappa = self.concentration
        return 1 - (_log_modified_bessel_fn(kappa, 1) - _log_modified_bessel_fn(kappa)).exp()
