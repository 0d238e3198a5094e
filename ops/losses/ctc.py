"""Connectionist temporal classification (Graves and others, ICML 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..kernels import family, in_order
from ..memory.dtype import Array
from ..memory.errors import IndexOutOfRange, OperatorError
from ..reductions.loss_reduction import MEAN, reduced
from ..table.pointwise import as_array
from ..table.refusals import not_implemented
from ..table.table import operator

__all__ = ["places_of"]

Lengths = Sequence[int]
_FLOAT32: Final = np.dtype(np.float32)


def _check(log_probs: Array, inputs: Lengths, targets: Lengths, blank: int) -> None:
    if log_probs.ndim != 3:
        raise OperatorError(
            f"Expected 3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor for "
            "argument #1 'log_probs' (while checking arguments for ctc_loss_allocate_outputs)",
            code="shape-mismatch",
        )
    steps, batch, labels = log_probs.shape
    if not log_probs.size:
        raise OperatorError("log_probs tensor must not be empty", code="shape-mismatch")
    if not 0 <= blank < labels:
        raise OperatorError("blank must be in label range")
    for name, lengths in (("input", inputs), ("target", targets)):
        if len(lengths) != batch:
            raise OperatorError(f"{name}_lengths must be of size batch_size", code="shape-mismatch")
    for name, lengths in (("input", inputs), ("target", targets)):
        for length in lengths:
            if length < 0 or (name == "input" and length > steps):
                limit = "least 0" if length < 0 else f"most {steps}"
                raise OperatorError(
                    f"Expected {name}_lengths to have value at {limit}, but got value {length} "
                    "(while checking arguments for ctc_loss_allocate_outputs)"
                )


def _check_targets(targets: Array, lengths: Lengths) -> None:
    if targets.ndim == 1:
        wrong, wanted, dim = targets.size != sum(lengths), str(sum(lengths)), 0
    else:
        longest, dim = max(lengths, default=0), 1
        wrong, wanted = targets.shape[1] < longest, f"at least {longest}"
    if wrong:
        raise OperatorError(
            f"Expected tensor to have size {wanted} at dimension {dim}, but got size "
            f"{targets.shape[dim]} for argument #2 'targets' (while checking arguments for "
            "ctc_loss_allocate_outputs)",
            code="shape-mismatch",
        )


def _rows(targets: Array, lengths: Lengths) -> Array:
    """The targets as one row a sample, filled up with zeros."""
    _check_targets(targets, lengths)
    longest = max(lengths, default=0)
    present = np.arange(longest)[None, :] < np.asarray(lengths, np.int64)[:, None]
    if targets.ndim == 1:
        rows = np.zeros(present.shape, np.int64)
        rows[present] = targets
        return rows
    return np.where(present, targets[:, :longest], 0).astype(np.int64)


def _shifted(x: Array, by: int) -> Array:
    """The columns moved to the right, minus infinity coming in."""
    result = np.full_like(x, -np.inf)
    result[:, by:] = x[:, : x.shape[1] - by]
    return result


def _log_sum(*parts: Array) -> Array:
    """The logarithm of a sum of exponentials; minus infinity for nothing but that."""
    largest = np.maximum.reduce(parts)
    base = np.where(np.isneginf(largest), largest.dtype.type(0), largest)
    total = np.add.reduce([np.exp(part - base) for part in parts])
    return as_array(np.log(total) + base)


def places_of(targets: Array, lengths: Lengths, blank: int, classes: int) -> tuple[Array, Array]:
    """The targets with blanks around each label, (N, 2 S + 1), and where a blank may be skipped.

    Raises:
        IndexError: a label is no class.
    """
    rows = _rows(targets, lengths)
    if rows.size and not 0 <= rows.min() <= rows.max() < classes:
        wrong = rows[(rows < 0) | (rows >= classes)][0]
        raise IndexOutOfRange(
            f"ctc_loss: Target {wrong} is out of bounds.",
            headline=f"label {wrong} is none of the {classes} classes",
        )
    labels = np.full((len(rows), 2 * rows.shape[1] + 1), blank, np.int64)
    labels[:, 1::2] = rows
    may_skip = np.zeros(labels.shape, bool)
    may_skip[:, 2:] = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
    return labels, may_skip


def _alphas(log_probs: Array, labels: Array, may_skip: Array) -> Array:
    """log alpha [T, N, 2 S + 1]: of all paths that reach a place of the widened target in time."""
    steps = len(log_probs)
    batch, places = labels.shape
    emitted = np.take_along_axis(log_probs, np.broadcast_to(labels, (steps, batch, places)), 2)
    alphas = np.full((steps, batch, places), -np.inf, log_probs.dtype)
    if steps:
        alphas[0, :, :2] = emitted[0, :, :2]
    for time in range(1, steps):
        before = alphas[time - 1]
        skipped = np.where(may_skip, _shifted(before, 2), before.dtype.type(-np.inf))
        alphas[time] = _log_sum(before, _shifted(before, 1), skipped) + emitted[time]
    return alphas


def _natively(
    log_probs: Array,
    targets: Array,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int,
) -> tuple[Array, Array] | None:
    """The same of float32 by native code; None where there is none, or a target is no class."""
    kernels = family("sequences.alignments") if log_probs.dtype is _FLOAT32 else None
    if kernels is None or targets.dtype.kind not in "iu":
        return None
    sizes = np.asarray(target_lengths, np.int64)
    _check_targets(targets, target_lengths)
    if targets.ndim == 1:
        begins = np.cumsum(sizes) - sizes
    elif len(targets) != len(sizes):
        return None
    else:
        begins = np.arange(len(targets)) * targets.shape[1]
    found: tuple[Array, Array] | None = kernels.likelihoods(
        *(in_order(log_probs), np.ascontiguousarray(targets, np.int64), begins),
        *(np.asarray(input_lengths, np.int64), sizes, blank),
    )
    return found


def _likelihood(
    log_probs: Array,
    targets: Array,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int,
) -> tuple[Array, Array]:
    """Minus the log likelihood of each sample, and log alpha as [N, T, 2 S + 1]."""
    log_probs, targets = log_probs[...], targets[...]  # which no other thread can change
    _check(log_probs, input_lengths, target_lengths, blank)
    found = _natively(log_probs, targets, input_lengths, target_lengths, blank)
    if found is not None:
        return found
    alphas = _alphas(log_probs, *places_of(targets, target_lengths, blank, log_probs.shape[2]))
    batch = np.arange(log_probs.shape[1])
    last_time = np.asarray(input_lengths, np.int64) - 1
    end = 2 * np.asarray(target_lengths, np.int64)
    if len(alphas):
        last = alphas[np.maximum(last_time, 0), batch, end]
        other = alphas[np.maximum(last_time, 0), batch, np.maximum(end - 1, 0)]
        other = np.where(end > 0, other, last.dtype.type(-np.inf))
        losses = -_log_sum(last, other)
    else:
        losses = np.full(len(batch), np.inf, log_probs.dtype)
    nothing = np.where(end == 0, log_probs.dtype.type(0), log_probs.dtype.type(np.inf))
    losses = np.where(last_time < 0, nothing, losses)
    return losses, np.ascontiguousarray(alphas.transpose(1, 0, 2))


def _check_dtype(log_probs: Array) -> None:
    if log_probs.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise not_implemented("ctc_loss_cpu", log_probs.dtype)


_SECOND = "Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths"
_TENSORS = _SECOND.replace("int[]", "Tensor")


@operator(
    f"aten::_ctc_loss({_SECOND}, int blank=0, bool zero_infinity=False) -> (Tensor, Tensor)",
    cost="aligned",
)
def plain_ctc_loss(
    log_probs: Array,
    targets: Array,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int,
    zero_infinity: bool,
) -> tuple[Array, Array]:
    _check_dtype(log_probs)
    return _likelihood(log_probs, targets, input_lengths, target_lengths, blank)


@operator(
    f"aten::_ctc_loss.Tensor({_TENSORS}, int blank=0, bool zero_infinity=False) "
    "-> (Tensor, Tensor)",
    cost="aligned",
)
def plain_ctc_loss_of_tensors(
    log_probs: Array,
    targets: Array,
    input_lengths: Array,
    target_lengths: Array,
    blank: int,
    zero_infinity: bool,
) -> tuple[Array, Array]:
    lengths = input_lengths.ravel().tolist(), target_lengths.ravel().tolist()
    return plain_ctc_loss(log_probs, targets, *lengths, blank, zero_infinity)


@operator(
    f"aten::ctc_loss.IntList({_SECOND}, int blank=0, int reduction=1, "
    "bool zero_infinity=False) -> Tensor",
    autocast="full",
    out="",
    cost="aligned",
)
def ctc_loss(
    log_probs: Array,
    targets: Array,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int,
    reduction: int,
    zero_infinity: bool,
) -> Array:
    """The loss of log probabilities [T, N, C] or [T, C]; its mean is over losses a label."""
    _check_dtype(log_probs)
    single = log_probs.ndim != 3
    if single:
        log_probs = np.expand_dims(log_probs, 1)
        targets = targets[None] if targets.ndim == 1 else targets
    losses, _ = _likelihood(log_probs, targets, input_lengths, target_lengths, blank)
    if zero_infinity:
        losses = np.where(np.isposinf(losses), losses.dtype.type(0), losses)
    if reduction == MEAN:
        counts = np.maximum(np.asarray(target_lengths, np.int64), 1)
        losses = as_array(losses / counts.astype(losses.dtype))
    elif single and not reduction:
        return losses.reshape(())
    return reduced(losses, reduction)


@operator(
    f"aten::ctc_loss.Tensor({_TENSORS}, int blank=0, int reduction=1, "
    "bool zero_infinity=False) -> Tensor",
    autocast="full",
    out="",
    cost="aligned",
)
def ctc_loss_of_tensors(
    log_probs: Array,
    targets: Array,
    input_lengths: Array,
    target_lengths: Array,
    blank: int,
    reduction: int,
    zero_infinity: bool,
) -> Array:
    for name, each in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if each.dtype.kind not in "iu":
            raise OperatorError(f"{name} must be integral")
    lengths = input_lengths.ravel().tolist(), target_lengths.ravel().tolist()
    return ctc_loss(log_probs, targets, *lengths, blank, reduction, zero_infinity)
