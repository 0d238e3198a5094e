"""Gradients of losses in forms of their own, for where they need no gradients themselves."""

from __future__ import annotations

import numpy as np

from ..memory.dtype import Array
from ..tensors.tensor import Tensor
from .direct_rows import class_slopes
from .loss import MEAN
from .rows import Wanted, aten, direct
from .rules import are_wide

Pair = tuple[Tensor | None, Tensor | None]


def _share(g: Tensor, count: int, reduction: int) -> Tensor:
    """The gradient of each of the losses that were reduced."""
    return g / count if reduction == MEAN and count else g


def _count(*tensors: Tensor) -> int:
    """How many losses there are."""
    first, second = (each._array for each in tensors)
    if first.shape == second.shape:
        return first.size
    return int(np.broadcast(first, second).size)


def _both(grad: Tensor, wanted: Wanted) -> Pair:
    """The gradients of the two sides of a difference."""
    return grad, -grad if wanted["target"] else None


@direct("aten::mse_loss", of="self target", of_operators=True)
def mse_loss(
    g: Tensor, wanted: Wanted, self: Tensor, target: Tensor, reduction: int
) -> Pair | None:
    """Squared differences."""
    if not are_wide(self, target):
        return None
    apart = self - target
    count = apart._array.size
    return _both(apart * (g * (2.0 / count if reduction == MEAN and count else 2.0)), wanted)


@direct("aten::l1_loss", of="self target", of_operators=True)
def l1_loss(g: Tensor, wanted: Wanted, self: Tensor, target: Tensor, reduction: int) -> Pair | None:
    """Absolute differences."""
    if not are_wide(self, target):
        return None
    share = _share(g, _count(self, target), reduction)
    return _both(share * (self - target).sign(), wanted)


@direct("aten::smooth_l1_loss", of="self target", of_operators=True)
def smooth_l1_loss(
    g: Tensor, wanted: Wanted, self: Tensor, target: Tensor, reduction: int, beta: float
) -> Pair | None:
    """Squares near zero, absolute differences further off."""
    if not are_wide(self, target) or not beta:
        return None
    share = _share(g, _count(self, target), reduction)
    return _both(((self - target) / beta).clamp(-1, 1) * share, wanted)


@direct("aten::huber_loss", of="self target", of_operators=True)
def huber_loss(
    g: Tensor, wanted: Wanted, self: Tensor, target: Tensor, reduction: int, delta: float
) -> Pair | None:
    """Squares near zero, lines further off."""
    if not are_wide(self, target):
        return None
    share = _share(g, _count(self, target), reduction)
    return _both((self - target).clamp(-delta, delta) * share, wanted)


@direct("aten::binary_cross_entropy_with_logits", of="self", of_operators=True)
def with_logits(
    g: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None,
    reduction: int,
) -> tuple[Tensor] | None:  # fmt: skip
    """The entropy of the sigmoid."""
    if not are_wide(self, target) or self._array.shape != target._array.shape:
        return None
    if pos_weight is None:
        slope = self.sigmoid() - target
    else:
        positive = pos_weight * target
        slope = (positive + 1 - target) * self.sigmoid() - positive
    slope = slope if weight is None else slope * weight
    return (slope * _share(g, self._array.size, reduction),)


@direct("aten::binary_cross_entropy", of="self", of_operators=True)
def cross_entropy(
    g: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> tuple[Tensor] | None:
    """The entropy of probabilities."""
    if not are_wide(self, target) or self._array.shape != target._array.shape:
        return None
    slope = (self - target) / ((1 - self) * self).clamp_min(_LEAST)
    slope = slope if weight is None else slope * weight
    return (slope * _share(g, self._array.size, reduction),)


_LEAST = 1e-12
"""What the product of a probability and its opposite is at least, as torch has it."""


@direct("aten::kl_div", of="self", of_operators=True)
def kl_div(
    g: Tensor, self: Tensor, target: Tensor, reduction: int, log_target: bool
) -> tuple[Tensor] | None:
    """The divergence of two distributions."""
    if not are_wide(self, target):
        return None
    share = -_share(g, _count(self, target), reduction)
    return ((target.exp() if log_target else target) * share,)


# --------------------------------------------------------------------------- classes


def _counts(
    places: Array, hidden: Array, weight: Tensor | None, dtype: np.dtype[np.generic]
) -> Array:
    """How much each target counts."""
    if weight is None:
        return (~hidden).astype(dtype)
    taken: Array = weight._array[places]
    taken[hidden] = 0
    return taken


def _of_targets(
    g: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int,
    ignore_index: int,
) -> tuple[Array, Array] | None:  # fmt: skip
    """The targets' places along the classes, and the gradient of what is picked there."""
    if not are_wide(self, g) or self._array.ndim < 2 or target._array.dtype.kind not in "iu":
        return None
    hidden = target._array == ignore_index
    places = np.where(hidden, 0, target._array)
    counts = _counts(places, hidden, weight, self._array.dtype)
    with np.errstate(all="ignore"):
        shares = counts * g._array
        shares = shares / counts.sum(dtype=counts.dtype) if reduction == MEAN else shares
    shares = np.where(hidden, shares.dtype.type(0), shares)  # also where nothing counts
    return np.expand_dims(places, 1), np.expand_dims(shares, 1)


@direct("aten::nll_loss", "aten::nll_loss2d", "aten::nll_loss_nd", of="self")
def nll_loss(
    g: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int,
    ignore_index: int,
) -> tuple[Tensor] | None:  # fmt: skip
    """What stands at the targets' places."""
    found = _of_targets(g, self, target, weight, reduction, ignore_index)
    if found is None:
        return None
    places, shares = found
    grad = np.zeros(self._array.shape, self._array.dtype)
    np.put_along_axis(grad, places, np.where(shares, -shares, 0), 1)
    return (Tensor._of(grad),)


@direct("aten::cross_entropy_loss", of="self")
def cross_entropy_loss(
    g: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int,
    ignore_index: int, label_smoothing: float,
) -> tuple[Tensor] | None:  # fmt: skip
    """The entropy of the softmax, for classes by number."""
    if label_smoothing:
        return None
    if weight is None:
        slopes = class_slopes(g._array, self._array, target._array, reduction, ignore_index)
        if slopes is not None:
            return (Tensor._of(slopes),)
    found = _of_targets(g, self, target, weight, reduction, ignore_index)
    if found is None:
        return None
    places, shares = found
    grad = aten.softmax(self, 1)._array
    np.multiply(grad, shares, grad)
    np.put_along_axis(grad, places, np.take_along_axis(grad, places, 1) - shares, 1)
    return (Tensor._of(grad),)
