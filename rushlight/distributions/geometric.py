"""Failures before the first success."""

from __future__ import annotations

from collections.abc import Sequence

from ..nn.functional import binary_cross_entropy_with_logits
from ..ops.gradients.table.rows import aten
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.construct import finfo
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .probs_or_logits import ProbsOrLogits, which_is_given
from .utils import broadcast_all

__all__ = ["Geometric"]


class Geometric(ProbsOrLogits):
    """(1 - probs)^k probs, for the number k of failures before the first success."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    _batched = {"probs": 0, "logits": 0}

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, value = which_is_given(probs, logits)
        self._keep_given(name, *broadcast_all(value))
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and name == "probs":
            self._refuse_zeros()

    def _refuse_zeros(self) -> None:
        is_valid = self.probs > 0
        if not is_valid.all():
            raise ValueError(
                "Expected parameter probs "
                f"({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) "
                f"of distribution {self!r} to be positive but found invalid values:\n"
                f"{self.probs.detach()[~is_valid]}"
            )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return aten.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape, probs = self._extended_shape(sample_shape), self.probs
        with no_grad():
            drawn = probs.new_empty(shape).uniform_(finfo(probs.dtype).tiny, 1)
            return (drawn.log() / (-probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        value, probs = broadcast_all(self._checked(value), self.probs)
        sure = (probs == 1) & (value == 0)  # 0 times log 0 is 0 here
        return value * (-probs.masked_fill(sure, 0)).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        of_one: Tensor = binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return of_one / self.probs
