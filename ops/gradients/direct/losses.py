"""Gradients of losses in forms of their own, for where they need no gradients themselves."""

from __future__ import annotations

import numpy as np

from ...memory.dtype import Array
from ...tensors.tensor import Tensor
from ..formulas.loss import MEAN, NONE
from ..table.rows import Wanted, aten, direct
from ..table.rules import are_wide, rounded_once
from .rows import class_slopes

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
@rounded_once
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
@rounded_once
def l1_loss(g: Tensor, wanted: Wanted, self: Tensor, target: Tensor, reduction: int) -> Pair | None:
    """Absolute differences."""
    if not are_wide(self, target):
        return None
    share = _share(g, _count(self, target), reduction)
    return _both(share * (self - target).sign(), wanted)


@direct("aten::smooth_l1_loss", of="self target", of_operators=True)
@rounded_once
def smooth_l1_loss(
    g: Tensor, wanted: Wanted, self: Tensor, target: Tensor, reduction: int, beta: float
) -> Pair | None:
    """Squares near zero, absolute differences further off."""
    if not are_wide(self, target) or not beta:
        return None
    share = _share(g, _count(self, target), reduction)
    return _both(((self - target) / beta).clamp(-1, 1) * share, wanted)


@direct("aten::huber_loss", of="self target", of_operators=True)
@rounded_once
def huber_loss(
    g: Tensor, wanted: Wanted, self: Tensor, target: Tensor, reduction: int, delta: float
) -> Pair | None:
    """Squares near zero, lines further off."""
    if not are_wide(self, target):
        return None
    share = _share(g, _count(self, target), reduction)
    return _both((self - target).clamp(-delta, delta) * share, wanted)


@direct("aten::binary_cross_entropy_with_logits", of="self", of_operators=True)
@rounded_once
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
@rounded_once
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
@rounded_once
def kl_div(
    g: Tensor, self: Tensor, target: Tensor, reduction: int, log_target: bool
) -> tuple[Tensor] | None:
    """The divergence of two distributions."""
    if not are_wide(self, target) or self._array.shape != target._array.shape:
        return None
    share = -_share(g, self._array.size, reduction)
    return ((target.exp() if log_target else target) * share,)


# --------------------------------------------------------------------------- classes


def _shares(
    g: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int,
    ignore_index: int,
) -> Array | None:  # fmt: skip
    """The gradient of what is picked at each target, as an array in one piece of the targets'
    shape; None where other forms are to be used."""
    scores, places = self._array, target._array
    if not are_wide(self, g) or scores.ndim < 2 or places.dtype.kind not in "iu":
        return None
    if places.shape != scores.shape[:1] + scores.shape[2:]:
        return None
    hidden = places == ignore_index
    if weight is None:
        counts = np.ones(places.shape, scores.dtype)
        counts[hidden] = 0
    else:
        counts = weight._array[np.where(hidden, 0, places)]
        counts[hidden] = 0
    with np.errstate(all="ignore"):
        if reduction != MEAN:
            shares = counts * g._array
        elif weight is None:
            shares = counts * (g._array / scores.dtype.type(hidden.size - hidden.sum()))
        else:
            shares = counts * g._array / counts.sum(dtype=counts.dtype)
    shares[hidden] = 0  # also where nothing counts
    return shares


def _counts_each(target: Array, ignore_index: int) -> bool:
    """Whether none of some classes, which are known to be there or to be ignored, is ignored."""
    if target.dtype.kind not in "iu" or target.ndim != 1 or not target.size:
        return False
    return bool(target.min() >= 0 if ignore_index < 0 else (target != ignore_index).all())


@direct("aten::nll_loss", "aten::nll_loss2d", "aten::nll_loss_nd", of="self")
@rounded_once
def nll_loss(
    g: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int,
    ignore_index: int,
) -> tuple[Tensor] | None:  # fmt: skip
    """What stands at the targets' places."""
    shares: Array | None
    if weight is None and self._array.ndim == 2 and _counts_each(target._array, ignore_index):
        grad, shares = np.zeros(self._array.shape, self._array.dtype), g._array
        if are_wide(self, g):
            shares = shares / shares.dtype.type(len(grad)) if reduction == MEAN else shares
            grad[np.arange(len(grad)), target._array] = 0 - shares
            return (Tensor._of(grad),)
    shares = _shares(g, self, target, weight, reduction, ignore_index)
    if shares is None:
        return None
    shape, places = self._array.shape, target._array
    grad = np.zeros(shape, self._array.dtype)
    if not places.size:
        return (Tensor._of(grad),)
    places = np.where(places == ignore_index, 0, places).reshape(shape[0], -1)
    rows, pixels = np.arange(shape[0])[:, None], np.arange(places.shape[1])
    grad.reshape(*shape[:2], -1)[rows, places, pixels] = 0 - shares.reshape(places.shape)
    return (Tensor._of(grad),)


@direct("aten::cross_entropy_loss", of="self")
@rounded_once
def cross_entropy_loss(
    g: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int,
    ignore_index: int, label_smoothing: float,
) -> tuple[Tensor] | None:  # fmt: skip
    """The entropy of the softmax, for classes by number."""
    if label_smoothing and weight is not None:
        return None
    shares, given, each = None, g._array, reduction
    if weight is not None or label_smoothing:
        shares = _shares(g, self, target, weight, reduction, ignore_index)
        if shares is None:
            return None
        given, each = shares, NONE
    slopes = class_slopes(given, self._array, target._array, each, ignore_index)
    if slopes is not None:
        if shares is not None and label_smoothing:
            _smooth(slopes, shares, target._array, label_smoothing)
        return (Tensor._of(slopes),)
    if shares is None:
        shares = _shares(g, self, target, weight, reduction, ignore_index)
    if shares is None:
        return None
    places = np.where(target._array == ignore_index, 0, target._array)[:, None]
    grad, shares = aten.softmax(self, 1)._array, shares[:, None]
    np.multiply(grad, shares, grad)
    np.put_along_axis(grad, places, np.take_along_axis(grad, places, 1) - shares, 1)
    if label_smoothing:
        _smooth(grad, shares[:, 0], target._array, label_smoothing)
    return (Tensor._of(grad),)


def _smooth(slopes: Array, shares: Array, target: Array, smoothing: float) -> None:
    """Take a part of each target's share from all classes in place of its own."""
    part = (shares * shares.dtype.type(smoothing))[:, None]
    slopes -= part / part.dtype.type(slopes.shape[1])
    places = np.where(shares == 0, 0, target)[:, None]  # those that are ignored have no share
    np.put_along_axis(slopes, places, np.take_along_axis(slopes, places, 1) + part, 1)


_PAIRS = 1 << 18
"""So many pairs of classes are looked at at once; all of them would take much memory."""


@direct("aten::multilabel_margin_loss", of="self")
def multilabel_margin_loss(
    g: Tensor, self: Tensor, target: Tensor, reduction: int
) -> tuple[Tensor] | None:
    """How many pairs of a class that is wanted and one that is not lie too near each other."""
    if not are_wide(self) or not self._array.size:
        return None
    scores = self._array.reshape(-1, self._array.shape[-1] if self.ndim else 1)
    named, classes = target._array.reshape(scores.shape), scores.shape[1]
    slopes, rows = np.empty_like(scores), max(1, _PAIRS // (classes * classes))
    for at in range(0, len(scores), rows):
        part = slice(at, at + rows)
        slopes[part] = _near_pairs(scores[part], named[part])
    share = g._array / (classes * (len(scores) if reduction == MEAN else 1))
    slopes *= share[:, None] if share.ndim else share
    return (Tensor._of(slopes.reshape(self._array.shape)),)


def _near_pairs(scores: Array, named: Array) -> Array:
    """For each class of rows in how many pairs it is: with a sign where it is a wanted one."""
    valid = np.logical_and.accumulate(named >= 0, 1)
    places = np.where(valid, named, 0)
    is_other = np.ones(scores.shape, bool)
    rows = np.nonzero(valid)[0]
    is_other[rows, named[valid]] = False
    lack = 1 - np.take_along_axis(scores, places, 1)
    near = lack[:, :, None] + scores[:, None, :] > 0
    near &= valid[:, :, None]
    near &= is_other[:, None, :]
    found: Array = near.sum(1).astype(scores.dtype)
    np.subtract.at(found, (rows, named[valid]), near.sum(2)[valid].astype(scores.dtype))
    return found
