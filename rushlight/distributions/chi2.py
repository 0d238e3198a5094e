"""The law of sums of squares of standard normal numbers."""

from __future__ import annotations

from ..ops.tensors.tensor import Tensor
from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of `df` squares: a gamma law of concentration df / 2 and rate 1 / 2."""

    arg_constraints = {"df": constraints.positive}
    _batched = Gamma._batched

    def __init__(self, df: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """The number of squares."""
        return self.concentration * 2
