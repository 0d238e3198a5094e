"""What all losses have in common."""

from __future__ import annotations

from ...ops.tensors.tensor import Tensor
from .. import _reduction as _Reduction
from .module import Module

__all__ = ["Flag", "_Loss", "_WeightedLoss"]

Flag = bool | None


class _Loss(Module):
    """What all losses have in common: how they are reduced."""

    __module__ = "rushlight.nn.modules.loss"  # as archives know it

    reduction: str

    def __init__(
        self, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = _Reduction.legacy_get_string(size_average, reduce)
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """A loss with a weight for each class, which is a buffer."""

    __module__ = "rushlight.nn.modules.loss"  # as archives know it

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Flag = None,
        reduce: Flag = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
