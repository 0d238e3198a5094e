"""Gradients of losses: they are what their definitions say, computed from other operators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...losses.ctc import places_of
from ...memory.dtype import Array, Scalar
from ...tensors.tensor import Tensor
from ..table.rows import Ints, aten, composite, lying, undifferentiated

NONE, MEAN, SUM = 0, 1, 2


def reduced(loss: Tensor, reduction: int) -> Tensor:
    """A loss as it is, its mean or its sum."""
    return loss.mean() if reduction == MEAN else loss.sum() if reduction == SUM else loss


@composite("aten::mse_loss", name="MseLossBackward0")
def mse_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """Squared differences."""
    apart = self - target
    return reduced(apart * apart, reduction)


@composite("aten::l1_loss", name="MeanBackward0")
def l1_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """Absolute differences."""
    return reduced((self - target).abs(), reduction)


def _near_and_far(apart: Tensor, width: float) -> Tensor:
    """Half the squares up to a width and lines from there, whose slopes are numbers at infinity."""
    held = apart.clamp(-width, width)
    return held * (apart - held * 0.5)


@composite("aten::smooth_l1_loss")
def smooth_l1_loss(self: Tensor, target: Tensor, reduction: int, beta: float) -> Tensor:
    """Squares near zero, absolute differences further off."""
    apart = self - target
    if beta == 0:
        return reduced(apart.abs(), reduction)
    return reduced(_near_and_far(apart, beta) / beta, reduction)


@composite("aten::huber_loss")
def huber_loss(self: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    """Squares near zero, absolute differences further off."""
    return reduced(_near_and_far(self - target, delta), reduction)


@composite("aten::kl_div")
def kl_div(self: Tensor, target: Tensor, reduction: int, log_target: bool) -> Tensor:
    """The divergence of two distributions."""
    if log_target:
        return reduced(target.exp() * (target - self), reduction)
    return reduced(aten.xlogy(target, target) - target * self, reduction)


@composite("aten::poisson_nll_loss")
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """The negative log likelihood of counts."""
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, reduction)


@composite("aten::binary_cross_entropy")
def binary_cross_entropy(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> Tensor:
    """The entropy of probabilities."""
    low = self.log().clamp_min(-100.0)
    high = (1 - self).log().clamp_min(-100.0)
    flat = ((target - 1) * high) - target * low
    if target.requires_grad:
        flat = (target - 1) * high - target * low
    return reduced(flat if weight is None else flat * weight, reduction)


@composite("aten::binary_cross_entropy_with_logits")
def with_logits(
    self: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None, reduction: int
) -> Tensor:
    """The entropy of the sigmoid."""
    tail = aten.log_sigmoid(self)
    if pos_weight is None:
        loss = (1 - target) * self - tail
    else:
        loss = (1 - target) * self - ((pos_weight - 1) * target + 1) * tail
    return reduced(loss if weight is None else loss * weight, reduction)


@composite("aten::soft_margin_loss")
def soft_margin_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """The logarithm of one plus an exponential."""
    return reduced((-target * self).exp().log1p(), reduction)


@composite("aten::hinge_embedding_loss", name="MeanBackward0")
def hinge_embedding_loss(self: Tensor, target: Tensor, margin: float, reduction: int) -> Tensor:
    """Distances for 1, what is missing to the margin for -1."""
    zeros = aten.zeros_like(self)
    beyond = (margin - self).clamp_min(0)
    loss = aten.where(target != 1, beyond, zeros) + aten.where(target != -1, self, zeros)
    return reduced(loss, reduction)


@composite("aten::margin_ranking_loss", name="MeanBackward0")
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int
) -> Tensor:
    """How far two inputs are from their order."""
    return reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction)


@composite("aten::cosine_embedding_loss", name="MeanBackward0")
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int
) -> Tensor:
    """How far vectors are from pointing the same way, or apart."""
    dim = target.ndim
    eps = 1e-12
    product = (input1 * input2).sum([dim])
    size = (input1 * input1).sum([dim]) + eps
    other = (input2 * input2).sum([dim]) + eps
    cosine = product / (size * other).sqrt()
    zeros = aten.zeros_like(cosine)
    same = aten.where(target == 1, 1 - cosine, zeros)
    apart = aten.where(target == -1, (cosine - margin).clamp_min(0), zeros)
    return reduced(same + apart, reduction)


@composite("aten::triplet_margin_loss", name="MeanBackward0")
def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float, p: float, eps: float,
    swap: bool, reduction: int,
) -> Tensor:  # fmt: skip
    """How much nearer one is than another."""
    near = pairwise_distance(anchor, positive, p, eps, False)
    far = pairwise_distance(anchor, negative, p, eps, False)
    if swap:
        far = aten.minimum(far, pairwise_distance(positive, negative, p, eps, False))
    return reduced((near - far + margin).clamp_min(0), reduction)


@composite("aten::pairwise_distance", name="LinalgVectorNormBackward0")
def pairwise_distance(x1: Tensor, x2: Tensor, p: float, eps: float, keepdim: bool) -> Tensor:
    """Distances of rows."""
    return aten.linalg_vector_norm(x1 - x2 + eps, p, [-1], keepdim)


def _as_long(x: Tensor, dim: int, size: int) -> Tensor:
    """A tensor that has a dimension, counted from the end, of a size."""
    x = x.reshape([1] * (-dim - x.ndim) + list(x.shape))
    if x.shape[dim] == size:
        return x
    sizes = list(x.shape)
    sizes[dim] = size
    return x.expand(sizes)


@composite("aten::cosine_similarity", name="SumBackward1")
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int, eps: float) -> Tensor:
    """The cosine of the angle of vectors."""
    if x1.shape != x2.shape:  # lengths are those of what is given, before dimensions are repeated
        sizes = np.broadcast_shapes(x1.shape, x2.shape)
        dim = dim % len(sizes) - len(sizes)
        x1, x2 = (_as_long(each, dim, sizes[dim]) for each in (x1, x2))
    size = aten.linalg_vector_norm(x1, 2, [dim], True)
    other = aten.linalg_vector_norm(x2, 2, [dim], True)
    size = size + (size.clamp_min(eps) - size).detach()  # the gradient passes the limit unchanged
    other = other + (other.clamp_min(eps) - other).detach()
    return ((x1 / size) * (x2 / other)).sum([dim])


# --------------------------------------------------------------------------- classes


def _picked(
    self: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """The values at the targets' places, and how much each counts."""
    hidden = target == ignore_index
    place = target.masked_fill(hidden, 0)
    if self.ndim == 1:
        target, hidden, place = (each.reshape([]) for each in (target, hidden, place))
        value = self.index_select(0, place.reshape([1])).reshape(target.shape)
        counts = (
            aten.ones_like(value)
            if weight is None
            else weight.index_select(0, place.reshape([1])).reshape(target.shape)
        )
    else:
        value = self.gather(1, place.unsqueeze(1)).squeeze(1)
        counts = (
            aten.ones_like(value)
            if weight is None
            else weight.index_select(0, place.reshape([-1])).reshape(place.shape)
        )
    return value, counts.masked_fill(hidden, 0)


def _nll(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> Tensor:
    value, counts = _picked(self, target, weight, ignore_index)
    loss = -(value * counts)
    return loss.sum() / counts.sum() if reduction == MEAN else reduced(loss, reduction)


composite("aten::nll_loss", "aten::nll_loss2d", "aten::nll_loss_nd", name="NllLossBackward0")(_nll)


@composite("aten::cross_entropy_loss", name="NllLossBackward0")
def cross_entropy_loss(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int,
    label_smoothing: float,
) -> Tensor:  # fmt: skip
    """The entropy of the softmax, for classes by number or by probability."""
    dim = 0 if self.ndim == 1 else 1
    logs = aten.log_softmax(self, dim)
    if target.dtype.is_floating_point:
        return _of_probabilities(logs, target, weight, reduction, label_smoothing, dim)
    loss = _nll(logs, target, weight, reduction, ignore_index)
    if not label_smoothing:
        return loss
    sizes = [1] * logs.ndim
    sizes[dim] = -1
    weighted = logs if weight is None else logs * weight.reshape(sizes)
    smooth = -weighted.sum([dim]).masked_fill(target == ignore_index, 0)
    if reduction == MEAN:
        _, counts = _picked(logs, target, weight, ignore_index)
        smooth = smooth.sum() / counts.sum()
    else:
        smooth = reduced(smooth, reduction)
    return loss * (1 - label_smoothing) + smooth * (label_smoothing / logs.shape[dim])


def _of_probabilities(
    logs: Tensor, target: Tensor, weight: Tensor | None, reduction: int, label_smoothing: float,
    dim: int,
) -> Tensor:  # fmt: skip
    classes = logs.shape[dim]
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    product = logs * target
    if weight is not None:
        sizes = [1] * logs.ndim
        sizes[dim] = -1
        product = product * weight.reshape(sizes)
    if reduction == MEAN:
        return -(product.sum() / (logs.numel() / classes))
    return -product.sum() if reduction == SUM else -product.sum([dim])


@composite("aten::multi_margin_loss")
def multi_margin_loss(
    self: Tensor, target: Tensor, p: Scalar, margin: Scalar, weight: Tensor | None, reduction: int
) -> Tensor:
    """What other classes lack to the margin from the right one."""
    rows = self if self.ndim == 2 else self.reshape([1, -1])
    places = target.reshape([-1, 1])
    lack = (margin - rows.gather(1, places) + rows).clamp_min(0)
    lack = lack if p == 1 else lack * lack
    if weight is not None:
        lack = lack * weight.index_select(0, places.reshape([-1])).unsqueeze(1)
    loss = lack.scatter(1, places, 0).sum([1]) / rows.shape[1]
    return reduced(loss if self.ndim == 2 else loss.reshape([]), reduction)


@composite("aten::multilabel_margin_loss")
def multilabel_margin_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """What other classes lack to the margin from every right one."""
    rows = self.reshape([-1, self.shape[-1]]) if self.ndim else self.reshape([1, 1])
    marks = target.reshape(rows.shape)
    valid = (marks < 0).cumsum(1) == 0
    places = marks.masked_fill(valid.logical_not(), 0)
    right = aten.zeros_like(rows).scatter_add(1, places, valid.to(rows.dtype)) > 0
    lack = (1 - rows.gather(1, places).unsqueeze(2) + rows.unsqueeze(1)).clamp_min(0)
    lack = lack.masked_fill(right.unsqueeze(1), 0).masked_fill(valid.logical_not().unsqueeze(2), 0)
    loss = lack.sum([1, 2]) / rows.shape[1]
    return reduced(loss if self.ndim == 2 else loss.reshape([]), reduction)


@composite("aten::multilabel_soft_margin_loss", name="MeanBackward0")
def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = MEAN
) -> Tensor:
    """The entropy of each class alone."""
    loss = -(target * aten.log_sigmoid(input) + (1 - target) * aten.log_sigmoid(-input))
    loss = loss if weight is None else loss * weight
    return reduced(loss.sum([-1]) / input.shape[-1], reduction)


# --------------------------------------------------------------------------- sequences


_NEVER: Final = -1e30
"""The logarithm of what cannot be, finite so that its gradients are."""


@composite("aten::ctc_loss", name="MeanBackward0")
def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Ints, target_lengths: Tensor | Ints,
    blank: int, reduction: int, zero_infinity: bool,
) -> Tensor:  # fmt: skip
    """The likelihood of sequences over all their alignments."""
    single = log_probs.ndim == 2
    probabilities = log_probs.unsqueeze(1) if single else log_probs
    lengths = np.asarray(_numbers(input_lengths), np.int64)
    sizes = np.asarray(_numbers(target_lengths), np.int64)
    rows = targets._array[None] if single and targets.ndim == 1 else targets._array
    alphas = _alphas(probabilities, *places_of(rows, sizes.tolist(), blank, probabilities.shape[2]))
    loss = -_at_ends(alphas, lengths, sizes)
    ended = np.arange(len(probabilities))[:, None, None] >= lengths[:, None]
    shares = probabilities.exp().masked_fill(Tensor._of(ended), 0).sum([0, 2])
    never = loss.detach() > -_NEVER / 2
    if not zero_infinity:  # gradients of what cannot be are not numbers
        shares = shares * aten.where(never, math.nan, 1.0).to(loss.dtype)
    loss = loss + (shares - shares.detach())  # torch's gradient goes through the softmax before
    loss = aten.where(never, 0.0 if zero_infinity else math.inf, loss)
    if reduction == MEAN:
        return (loss / Tensor._of(np.maximum(sizes, 1)).to(loss.dtype)).mean()
    return loss.reshape([]) if single and reduction == NONE else reduced(loss, reduction)


def _numbers(lengths: Tensor | Ints) -> Ints:
    return lengths._array.ravel().tolist() if isinstance(lengths, Tensor) else lengths


def _alphas(logs: Tensor, labels: Array, may_skip: Array) -> Tensor:
    """log alpha [T, N, P] of all paths that reach a place of the widened targets in time."""
    steps = len(logs)
    count, places = labels.shape
    index = Tensor._of(np.ascontiguousarray(np.broadcast_to(labels, (steps, count, places))))
    emitted = logs.gather(2, index)
    never = logs.new_full([count, 2], _NEVER)
    impossible = Tensor._of(~may_skip)
    begins = Tensor._of(np.broadcast_to(np.arange(places) >= 2, labels.shape).copy())
    found = [emitted[0].masked_fill(begins, _NEVER)]
    for time in range(1, steps):
        wide = aten.cat([never, found[-1]], 1)
        skipped = wide.narrow(1, 0, places).masked_fill(impossible, _NEVER)
        ways = aten.stack([wide.narrow(1, 2, places), wide.narrow(1, 1, places), skipped])
        found.append(ways.logsumexp([0]) + emitted[time])
    return aten.stack(found)


def _at_ends(alphas: Tensor, lengths: Array, sizes: Array) -> Tensor:
    """The logarithm of the sum over the paths that end in a last label or the blank after it."""
    count, places = alphas.shape[1:]
    first = (np.maximum(lengths - 1, 0) * count + np.arange(count)) * places
    flat = alphas.reshape([-1])
    last = flat.index_select(0, Tensor._of(first + 2 * sizes))
    other = flat.index_select(0, Tensor._of(first + np.maximum(2 * sizes - 1, 0)))
    ends = aten.stack([last, other.masked_fill(Tensor._of(sizes == 0), _NEVER)]).logsumexp([0])
    ends = ends.masked_fill(Tensor._of((lengths == 0) & (sizes == 0)), 0.0)
    return ends.masked_fill(Tensor._of((lengths == 0) & (sizes > 0)), _NEVER)


lying("by rows", *"multi_margin_loss ctc_loss mse_loss smooth_l1_loss huber_loss".split())
lying(
    "as the first",
    *("soft_margin_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"),
)


def _of_classes(args: Sequence[Any]) -> str | None:
    """By which operator the loss of classes by number comes; None for that of probabilities."""
    predictions, classes = args[:2]
    if classes.dtype.kind not in "biu":
        return None
    return f"nll_loss{'2d' if predictions.ndim > 2 else ''}_forward"


undifferentiated(
    "weight", *"nll_loss nll_loss2d nll_loss_nd cross_entropy_loss".split(), called=_of_classes
)
undifferentiated("weight", "multi_margin_loss", "binary_cross_entropy")
undifferentiated("weight pos_weight", "binary_cross_entropy_with_logits")
undifferentiated("target", "soft_margin_loss")
