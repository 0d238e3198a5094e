"""Losses of class scores: negative log likelihood, cross entropy, margins between classes."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..arithmetic.elementwise import div, div_number, mul_number
from ..kernels import family, in_order, is_half, is_real, is_whole
from ..layers.softmax import log_softmax
from ..memory.dtype import Array, Dtype, Scalar, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.storage import settled
from ..reductions.loss_reduction import MEAN, NONE, SUM, reduced, widened
from ..reductions.reduce import sum_over, total
from ..table.pointwise import as_array, binary, with_number
from ..table.promotion import kind
from ..table.refusals import Refusal, scalar_types_differ
from ..table.table import operator

__all__ = ["check_maps", "check_scores", "check_targets", "check_weight", "sizes_differ"]

_INT64: Final = np.dtype(np.int64)

_FORMS: Final = {NONE: "each", SUM: "sum", MEAN: "mean"}

_REST = "Tensor? weight=None, int reduction=1, SymInt ignore_index=-100"


class _WrongSize(OperatorError, ValueError):
    """Sizes that do not belong together."""


def _batch_sizes_differ(scores: Array, target: Array) -> _WrongSize:
    return _WrongSize(
        f"Expected input batch_size ({scores.shape[0]}) to match target batch_size "
        f"({target.shape[0]}).",
        code="shape-mismatch",
    )


def _size(array: Array) -> str:
    return f"[{', '.join(map(str, array.shape))}]"


def check_targets(target: Array, classes: int, ignore_index: int) -> Array:
    """Which targets count.

    Raises:
        OperatorError: the targets are of a wrong dtype.
        IndexOutOfRange: a target that counts is no class.
    """
    if target.dtype not in (np.dtype(np.int64), np.dtype(np.uint8)):
        raise OperatorError(
            f"expected target dtype to be Long or Byte, but got {dtype_of(target).scalar_name}",
            code="dtype-mismatch",
            roles={"target": f"is `{dtype_of(target)}`"},
        )
    counts = as_array(target != ignore_index)
    outside = counts & ((target < 0) | (target >= classes))
    if outside.any():
        raise IndexOutOfRange(
            f"Target {int(target[outside].ravel()[0])} is out of bounds.",
            headline=f"a target is not one of the {classes} classes",
        )
    return counts


def check_weight(weight: Array | None, scores: Array, axis: int, of_loss: str = "") -> None:
    classes = scores.shape[axis]
    if weight is not None and (weight.ndim != 1 or weight.shape[0] != classes):
        said = f" {classes} classes or no classes but got weight tensor of shape: {_size(weight)}"
        if scores.ndim > 2 and not of_loss:
            said = " or no classes"
        raise OperatorError(
            f"{of_loss}weight tensor should be defined either for all{said}",
            code="shape-mismatch",
        )


def _natively(
    scores: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> tuple[Array, Array] | None:
    """The same by native code; None where there is none, or of other dtypes and layouts, or where a
    target is no class."""
    scores, target = in_order(scores[...]), in_order(target[...])  # which no thread can change
    fits = is_real(scores) or (is_half(scores.dtype) and is_whole(scores) and weight is None)
    fits = fits and target.dtype is _INT64 and is_whole(target)
    fits = fits and target.shape == (scores.shape[0], *scores.shape[2:])
    if weight is not None:
        weight = weight[...]
        alike = weight.shape == scores.shape[1:2] and weight.dtype is scores.dtype
        fits = fits and alike and is_whole(weight)
    classes = family("indexing.classes") if fits else None
    if classes is None:
        return None
    found: tuple[Array, Array] | None = classes.picked(
        scores, target, ignore_index, _FORMS[reduction], weight
    )
    if found is not None and reduction == NONE:
        return found[0], np.zeros((), scores.dtype)
    return found


def _losses(
    scores: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> tuple[Array, Array]:
    """The reduced losses of scores [N, C, *] and their total weight."""
    classes = scores.shape[1]
    found = _natively(scores, target, weight, reduction, ignore_index)
    if found is not None:
        return found
    check_weight(weight, scores, 1)
    if weight is not None and weight.dtype != scores.dtype:
        raise scalar_types_differ(scores, weight, "self", "weight")
    counts = check_targets(target, classes, ignore_index)
    place = np.where(counts, target, 0).astype(np.int64)
    if classes:
        picked = np.take_along_axis(widened(scores), place[:, None], 1)[:, 0]
    else:
        picked = np.zeros(target.shape, widened(scores).dtype)
    if weight is None:
        weights = counts.astype(picked.dtype)
    else:
        weights = np.where(counts, widened(weight)[place], 0).astype(picked.dtype)
    losses = np.where(counts, -picked * weights, picked.dtype.type(0))
    total = as_array(weights.sum())
    if reduction == NONE:
        return losses.astype(scores.dtype), np.zeros((), scores.dtype)
    if scores.itemsize == 2 and losses.size:
        result, total = _rounded_sums(losses, weights, scores.dtype, weight is not None)
    else:
        result = as_array(losses.sum())
    if reduction == MEAN:
        result = as_array(result / total)
    return result.astype(scores.dtype), total.astype(scores.dtype)


def _rounded_sums(
    losses: Array, weights: Array, dtype: Dtype, is_weighted: bool
) -> tuple[Array, Array]:
    """The sums of losses and weights, rounded to 16 bits after every addition."""
    total = _cascaded(weights.astype(dtype)) if is_weighted else weights.sum().astype(dtype)
    return _cascaded(losses.astype(dtype)), as_array(total)


def _cascaded(values: Array) -> Array:
    """A sum as torch's loop adds it up: eight partial sums, each taking those of the one below
    it whenever the number of a value is a multiple of its share."""
    values = values.reshape(-1)
    block = 1 << max(4, (values.size - 1).bit_length() // 8)
    first, values = values[:1], values[1:]
    partial = []
    for _ in range(7):
        whole = values.size // block * block
        partial.append(_in_turn(values[whole:]))
        values = _in_turn(values[:whole].reshape(-1, block))
    partial.append(_in_turn(np.concatenate([first, values])))
    return _in_turn(np.stack(partial))


def _in_turn(values: Array) -> Array:
    """Sums along the last dimension, one number after the other."""
    if not values.shape[-1]:
        return np.zeros(values.shape[:-1], values.dtype)
    return as_array(np.add.accumulate(values, -1)[..., -1])


def _likelihood(
    self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> tuple[Array, Array]:
    """Of scores [C] or [N, C]."""
    check_scores(self, target)
    if self.ndim == 1:  # a sum of one, whose total weight is told, too
        _check_one_target(target)
        wanted = reduction or SUM
        loss, total = _losses(self[None], target.reshape(1), weight, wanted, ignore_index)
        return loss.reshape(()), total
    return _losses(self, target, weight, reduction, ignore_index)


def check_scores(self: Array, target: Array) -> None:
    """Refuse what are no scores [C] or [N, C] and their targets.

    Raises:
        OperatorError: they are not.
    """
    if self.ndim not in (1, 2):
        raise OperatorError("input tensor should be 1D or 2D", code="shape-mismatch")
    if target.ndim > 1:
        raise OperatorError(
            "0D or 1D target tensor expected, multi-target not supported", code="shape-mismatch"
        )
    if self.ndim == 2 and (target.ndim != 1 or self.shape[0] != target.shape[0]):
        raise sizes_differ(self, target)


def sizes_differ(self: Array, target: Array) -> OperatorError:
    """What is said where scores and targets do not go together."""
    return OperatorError(
        f"size mismatch (got input: {_size(self)}, target: {_size(target)})",
        code="shape-mismatch",
    )


def _check_one_target(target: Array) -> None:
    if target.size != 1:
        raise _WrongSize(
            f"For 1D input, 1D target must have size 1, but got target size: {target.size}",
            code="shape-mismatch",
        )


def _likelihood_of_maps(
    self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> tuple[Array, Array]:
    """Of scores [N, C, H, W]."""
    check_maps(self, target)
    return _losses(self, target, weight, reduction, ignore_index)


def check_maps(self: Array, target: Array) -> None:
    """Refuse what are no scores [N, C, H, W] and their targets.

    Raises:
        OperatorError: they are not.
    """
    if target.ndim != 3:
        raise OperatorError(
            "only batches of spatial targets supported (3D tensors) but got targets of "
            f"dimension: {target.ndim}",
            code="shape-mismatch",
        )
    if self.ndim != 4:
        raise OperatorError(
            "only batches of spatial inputs supported (4D tensors), but got input of "
            f"dimension: {self.ndim}",
            code="shape-mismatch",
        )
    if (self.shape[0], *self.shape[2:]) != target.shape:
        raise OperatorError(
            f"size mismatch (got input: {_size(self)} , target: {_size(target)}",
            code="shape-mismatch",
        )


@operator(
    f"aten::nll_loss(Tensor self, Tensor target, {_REST}) -> Tensor",
    autocast="full",
    autocast_in_graphs="full",
    refuses=Refusal("biuqc", "nll_loss_out_frame"),
    face="layer",
    prepared=True,
    layout="C",
    on_slices="classes",
)
def nll_loss(
    self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> Array:
    return _likelihood(self, target, weight, reduction, ignore_index)[0]


operator(
    "aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, "
    "SymInt ignore_index) -> (Tensor output, Tensor total_weight)",
    out="output output total_weight -",
    refuses=Refusal("biuqc", "nll_loss_out_frame"),
    face="operator",
)(_likelihood)


@operator(
    f"aten::nll_loss2d(Tensor self, Tensor target, {_REST}) -> Tensor",
    autocast="full",
    autocast_in_graphs="full",
    refuses=Refusal("biuqc", "nll_loss2d_out_frame"),
    face="layer",
    prepared=True,
    layout="C",
)
def nll_loss2d(
    self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> Array:
    return _likelihood_of_maps(self, target, weight, reduction, ignore_index)[0]


operator(
    "aten::nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, "
    "SymInt ignore_index) -> (Tensor output, Tensor total_weight)",
    out="output output total_weight -",
    refuses=Refusal("biuqc", "nll_loss2d_out_frame"),
    face="operator",
)(_likelihood_of_maps)


@operator(
    f"aten::nll_loss_nd(Tensor self, Tensor target, {_REST}) -> Tensor",
    refuses=Refusal("biuqc", "nll_loss_out_frame"),
    out="",
    face="layer",
    prepared=True,
    layout="C",
    on_slices="classes",
)
def nll_loss_nd(
    self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> Array:
    """Minus the score of the right class, for scores [C], [N, C] or [N, C, d1, ...]."""
    if not self.ndim:
        raise _WrongSize(f"Expected 1 or more dimensions (got {self.ndim})", code="shape-mismatch")
    if self.ndim == 1:
        _check_one_target(target)
        return _likelihood(self, target, weight, reduction, ignore_index)[0]
    if not target.ndim or self.shape[0] != target.shape[0]:
        raise _batch_sizes_differ(self, target if target.ndim else target.reshape(1))
    if self.ndim == 2:
        return _likelihood(self, target, weight, reduction, ignore_index)[0]
    if self.shape[2:] != target.shape[1:]:
        wanted = [self.shape[0], *self.shape[2:]]
        raise OperatorError(
            f"Expected target size {wanted}, got {_size(target)}", code="shape-mismatch"
        )
    return _losses(self, target, weight, reduction, ignore_index)[0]


# --------------------------------------------------------------------------- cross entropy


@operator(
    f"aten::cross_entropy_loss(Tensor self, Tensor target, {_REST}, float label_smoothing=0.) "
    "-> Tensor",
    autocast="full",
    out="",
    face="layer",
    prepared=True,
    on_slices="classes",
)
def cross_entropy_loss(
    self: Array,
    target: Array,
    weight: Array | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> Array:
    """Negative log likelihood of `log_softmax`; the target are classes or probabilities."""
    axis = 0 if self.ndim == 1 else 1
    _check_smoothing(label_smoothing)
    if self.shape == target.shape:
        return _of_probabilities(self, target, weight, reduction, label_smoothing, axis)
    log = log_softmax(self, axis, None)
    plain = nll_loss_nd(log, target, weight, reduction, ignore_index)
    if label_smoothing <= 0:
        return plain
    smooth = _smooth(log, target, weight, reduction, ignore_index, axis)
    share = label_smoothing / self.shape[axis]
    return binary(
        np.add,
        mul_number(plain, 1 - label_smoothing),
        mul_number(smooth, share),
    )


def _check_smoothing(label_smoothing: float) -> None:
    if label_smoothing > 1:
        raise OperatorError(
            f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}"
        )


def _along(weight: Array, axis: int, ndim: int) -> Array:
    """Class weights as a tensor that broadcasts over scores."""
    return weight.reshape(*(1,) * axis, -1, *(1,) * (ndim - axis - 1))


def _smooth(
    log: Array,
    target: Array,
    weight: Array | None,
    reduction: int,
    ignore_index: int,
    axis: int,
) -> Array:
    """The part of the loss where every class is wanted alike; each step is rounded."""
    if weight is not None:
        log = binary(np.multiply, log, _along(weight, axis, log.ndim))
    counts = as_array(target != ignore_index)
    losses = as_array(np.where(counts, -sum_over(log, [axis], False, None), log.dtype.type(0)))
    if reduction == NONE:
        return losses
    whole = total(losses, None)
    if reduction == SUM:
        return whole
    if weight is None:
        return div(whole, total(counts, None))
    place = np.where(counts, target, 0).astype(np.int64)
    return div(whole, total(weight[place][counts], None))


def _of_probabilities(
    self: Array,
    target: Array,
    weight: Array | None,
    reduction: int,
    label_smoothing: float,
    axis: int,
) -> Array:
    if kind(target.dtype) != 2:
        raise OperatorError(
            "Expected floating point type for target with class probabilities, got "
            f"{dtype_of(target).scalar_name}",
            code="dtype-mismatch",
        )
    check_weight(weight, self, axis, "cross_entropy: ")
    wanted = target
    if label_smoothing > 0:
        kept = mul_number(target, 1 - label_smoothing)
        wanted = with_number(np.add, kept, label_smoothing / self.shape[axis])
    products = binary(np.multiply, log_softmax(self, axis, None), wanted)
    if weight is not None:
        products = binary(np.multiply, products, _along(weight, axis, self.ndim))
    if reduction == NONE:
        return as_array(-sum_over(products, [axis], False, None))
    whole = as_array(-total(products, None))
    if reduction == MEAN:
        count = self.size // max(self.shape[axis], 1)
        return div_number(whole, count or np.nan)
    return whole


# --------------------------------------------------------------------------- margins


def _check_scores(self: Array) -> None:
    """Raises: OperatorError: the scores are no vector or matrix, or have no classes."""
    if self.ndim > 2 or (self.ndim and not self.shape[-1]):
        raise OperatorError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{_size(self)}",
            code="shape-mismatch",
        )


@operator(
    "aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, "
    "Tensor? weight=None, int reduction=1) -> Tensor",
    autocast="full",
    autocast_in_graphs="full",
    refuses=Refusal("bihuqc", "multi_margin_loss_cpu_kernel"),
    face="layer",
)
def multi_margin_loss(
    self: Array,
    target: Array,
    p: Scalar,
    margin: Scalar,
    weight: Array | None,
    reduction: int,
) -> Array:
    """How far other classes come within `margin` of the right one, averaged over the classes."""
    _check_scores(self)
    if p not in (1, 2):
        raise OperatorError("only p == 1 and p == 2 supported")
    scores = widened(self).reshape(-1, self.shape[-1] if self.ndim else 1)
    rows, classes = scores.shape
    if target.ndim > 1 or target.size != rows:
        raise OperatorError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of "
            f"input samples (batch size). Expected target size [{rows}], but got "
            f"{_size(target)}. Input has shape {_size(self)}.",
            code="shape-mismatch",
        )
    if weight is not None and weight.shape != (classes,):
        raise OperatorError(
            f"inconsistent weight size, expected {classes} but got {_size(weight)}",
            code="shape-mismatch",
        )
    if target.dtype != np.int64:
        raise OperatorError(
            f"expected scalar type Long but found {dtype_of(target).scalar_name}",
            code="dtype-mismatch",
        )
    if weight is not None and weight.dtype != self.dtype:
        raise scalar_types_differ(self, weight, "self", "weight")
    place = settled(target).reshape(-1)
    if place.size and not 0 <= place.min() <= place.max() < classes:
        raise OperatorError("target out of range", code="index-out-of-range")
    each = np.arange(rows), place
    over = np.maximum(margin - scores[each][:, None] + scores, 0)
    if p == 2:
        over = over * over
    if weight is not None:
        over = over * widened(weight)[place][:, None]
    over[each] = 0
    losses = as_array(over.sum(1) / classes).astype(scores.dtype)
    if reduction == NONE:
        return losses.reshape(target.shape).astype(self.dtype)
    return reduced(losses, reduction, self.dtype)


@operator(
    "aten::multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> "
    "(Tensor output, Tensor is_target)",
    autocast="full",
    face="operator",
    out="output output is_target -",
)
def multilabel_margin_loss_forward(
    self: Array, target: Array, reduction: int
) -> tuple[Array, Array]:
    """Of each row those classes are wanted that are named before the first -1."""
    _check_scores(self)
    alike = target.shape == self.shape
    if not alike and not (self.ndim < 2 and target.ndim < 2 and target.size == self.size):
        raise OperatorError(
            f"inconsistent target size: {_size(target)} for input of size: {_size(self)}",
            code="shape-mismatch",
        )
    classes = self.shape[-1] if self.ndim else 1
    scores = widened(self).reshape(-1, classes)
    named = settled(target).reshape(-1, classes)
    if ((named < -1) | (named >= classes)).any():
        raise OperatorError("target is out of range", code="index-out-of-range")
    valid = np.logical_and.accumulate(named >= 0, 1)
    wanted = np.zeros((len(scores), classes + 1), bool)
    np.put_along_axis(wanted, np.where(valid, named, classes), True, 1)
    wanted = wanted[:, :classes]
    if scores.size * classes <= _FEW_PAIRS:
        totals = _pairs_at_once(scores, np.where(valid, named, 0), valid, wanted)
    else:
        rows = zip(scores, named, valid, wanted, strict=True)
        totals = np.array([_pairs_of_row(*each) for each in rows], scores.dtype)
    losses = as_array(totals / classes).astype(scores.dtype)
    flags = wanted.reshape(target.shape).astype(self.dtype)
    if reduction == NONE and self.ndim > 1:
        return losses.astype(self.dtype), flags
    return reduced(losses, reduction or SUM, self.dtype), flags


_FEW_PAIRS: Final = 1 << 18
"""So many pairs of classes are looked at in all rows at once; more would take much memory."""


def _pairs_at_once(scores: Array, named: Array, valid: Array, wanted: Array) -> Array:
    """For each row how far classes that are not wanted come within 1 of each that is named."""
    chosen = np.take_along_axis(scores, named, 1)
    over = np.maximum(1 - chosen[:, :, None] + scores[:, None, :], 0)
    total: Array = np.where(valid[:, :, None] & ~wanted[:, None, :], over, 0).sum((1, 2))
    return total


def _pairs_of_row(scores: Array, named: Array, valid: Array, wanted: Array) -> Array:
    """The same for one row."""
    over = 1 - scores[named[valid]][:, None] + scores[~wanted]
    total: Array = np.maximum(over, 0, out=over).sum()
    return total


@operator(
    "aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    autocast="full",
    autocast_in_graphs="full",
    refuses=Refusal("bihuqc", "multilabel_margin_loss_forward_out_frame"),
    face="layer",
)
def multilabel_margin_loss(self: Array, target: Array, reduction: int) -> Array:
    return multilabel_margin_loss_forward(self, target, reduction)[0]
