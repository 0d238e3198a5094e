"""Losses of pairs and triplets of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from ...ops.tensors.tensor import Tensor
from .. import functional as F
from .distance import PairwiseDistance
from .loss_base import Flag, _Loss

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class HingeEmbeddingLoss(_Loss):
    """The value where the target is 1, what it lacks to `margin` where it is -1."""

    __module__ = "rushlight.nn.modules.loss"  # as archives know it

    __constants__: ClassVar[list[str]] = ["margin", "reduction"]
    margin: float

    def __init__(
        self,
        margin: float = 1.0,
        size_average: Flag = None,
        reduce: Flag = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class _MarginLoss(_Loss):
    """What losses with a margin that is 0 by default are made with."""

    __constants__: ClassVar[list[str]] = ["margin", "reduction"]
    margin: float

    def __init__(
        self,
        margin: float = 0.0,
        size_average: Flag = None,
        reduce: Flag = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class CosineEmbeddingLoss(_MarginLoss):
    """`1 - cos` where the target is 1, `cos` above `margin` where it is -1."""

    __module__ = "rushlight.nn.modules.loss"  # as archives know it

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class MarginRankingLoss(_MarginLoss):
    """What `target * (input1 - input2)` lacks to `margin`."""

    __module__ = "rushlight.nn.modules.loss"  # as archives know it

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


def _check_margin(name: str, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")


class TripletMarginLoss(_Loss):
    """How much nearer than by `margin` the negative is than the positive."""

    __module__ = "rushlight.nn.modules.loss"  # as archives know it

    __constants__: ClassVar[list[str]] = ["margin", "p", "eps", "swap", "reduction"]
    margin: float
    p: float
    eps: float
    swap: bool

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: Flag = None,
        reduce: Flag = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        _check_margin("TripletMarginLoss", margin)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Compute the loss."""
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` with any distance, for eager code alone."""

    __module__ = "rushlight.nn.modules.loss"  # as archives know it

    __constants__: ClassVar[list[str]] = ["margin", "swap", "reduction"]
    margin: float
    swap: bool

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        _check_margin("TripletMarginWithDistanceLoss", margin)
        given = distance_function is not None
        self.distance_function = distance_function if given else PairwiseDistance()
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Compute the loss."""
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
