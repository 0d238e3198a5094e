"""The loss of a recurrent transducer, and its gradient.

A. Graves, "Sequence Transduction with Recurrent Neural Networks", 2012, section 2: forward and
backward variables of all ways through a lattice of time and labels put out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ..memory.dtype import Array
from .declaring import audio, require, require_contiguous

_FLOATS: Final = (np.dtype(np.float16), np.dtype(np.float32))
_INT32: Final = np.dtype(np.int32)


@audio(
    "rnnt_loss_forward(Tensor logits, Tensor targets, Tensor logit_lengths, "
    "Tensor target_lengths, int blank, float clamp, bool fused_log_softmax) -> (Tensor, Tensor)"
)
def rnnt_loss_forward(
    logits: Array,
    targets: Array,
    logit_lengths: Array,
    target_lengths: Array,
    blank: int,
    clamp: float,
    fused_log_softmax: bool,
) -> tuple[Array, Array]:
    """Minus the log likelihoods (batch,) of targets, and their gradients by the logits.

    Logits are (batch, time, label, class); computed in float32.  Gradients are cut to -clamp ..
    clamp where that is positive.
    """
    _check(logits, targets, logit_lengths, target_lengths, blank)
    lattice = _Lattice(logits, targets, logit_lengths, target_lengths, blank, fused_log_softmax)
    before, behind = lattice.forward(), lattice.backward()
    costs = -behind[:, 0, 0]
    gradient = lattice.gradient(before, behind, costs)
    if clamp > 0:
        gradient = np.clip(gradient, -clamp, clamp)
    return costs.astype(logits.dtype), gradient.astype(logits.dtype)


def _check(
    logits: Array, targets: Array, logit_lengths: Array, target_lengths: Array, blank: int
) -> None:
    require(logits.dtype in _FLOATS, "logits must be float32 or float16 (half) type")
    whole = {
        "targets": targets,
        "logit_lengths": logit_lengths,
        "target_lengths": target_lengths,
    }
    for name, each in whole.items():
        require(each.dtype == _INT32, f"{name} must be int32 type")
    require_contiguous(logits=logits, **whole)
    require(logits.ndim == 4, "logits must be 4-D (batch, time, target, class)")
    require(targets.ndim == 2, "targets must be 2-D (batch, max target length)")
    for name in ("logit_lengths", "target_lengths"):
        require(whole[name].ndim == 1, f"{name} must be 1-D")
    for name in ("logit_lengths", "target_lengths", "targets"):
        require(
            len(whole[name]) == len(logits),
            f"batch dimension mismatch between logits and {name}",
        )
    batch, steps, places, classes = logits.shape
    require(0 <= blank < classes, "blank must be within [0, logits.shape[-1])")
    require(batch > 0, "logits must not be empty")
    require(int(logit_lengths.max()) == steps, "input length mismatch")
    require(int(target_lengths.max()) + 1 == places, "output length mismatch")
    require(targets.shape[1] + 1 == places, "target length mismatch")
    require(
        int(logit_lengths.min()) > 0 and int(target_lengths.min()) >= 0,
        "lengths must not be negative, and those of logits not zero",
    )
    used = np.arange(places - 1) < target_lengths[:, None]
    require(
        bool(np.all((targets[used] >= 0) & (targets[used] < classes))),
        "targets must be within [0, logits.shape[-1])",
    )


class _Lattice:
    """Places (time, label) of all samples, and the log probabilities of leaving each."""

    def __init__(
        self,
        logits: Array,
        targets: Array,
        logit_lengths: Array,
        target_lengths: Array,
        blank: int,
        is_fused: bool,
    ) -> None:
        self.logits = logits.astype(np.float32)
        self.blank, self.is_fused = blank, is_fused
        batch, self.steps, self.places, _ = logits.shape
        self.times, self.labels = logit_lengths.astype(np.int64), target_lengths.astype(np.int64)
        time, label = np.arange(self.steps)[:, None], np.arange(self.places)
        ends, last = self.times[:, None, None], self.labels[:, None, None]
        self.inside = (time < ends) & (label <= last)
        self.may_emit = self.inside & (label < last)
        emitted = np.where(np.arange(self.places - 1) < self.labels[:, None], targets, 0)
        self.emitted = np.zeros((batch, 1, self.places, 1), np.int64)
        self.emitted[:, 0, :-1, 0] = emitted
        nothing = np.float32(-np.inf)
        self.total = self._totals() if is_fused else np.zeros(self.inside.shape, np.float32)
        self.skip = np.where(self.inside, self.logits[..., blank] - self.total, nothing)
        of_labels = np.take_along_axis(self.logits, self._labels(), 3)[..., 0]
        self.emit = np.where(self.may_emit, of_labels - self.total, nothing)

    def _labels(self) -> Array:
        return np.broadcast_to(self.emitted, (*self.logits.shape[:3], 1))

    def _totals(self) -> Array:
        largest = self.logits.max(3)
        base = np.where(np.isfinite(largest), largest, np.float32(0))
        summed: Array = np.log(np.exp(self.logits - base[..., None]).sum(3)) + base
        return summed

    def _diagonals(self) -> Iterator[tuple[Array, Array]]:
        """The places that are as many moves from the beginning, nearest first."""
        for moves in range(self.steps + self.places - 1):
            time = np.arange(max(0, moves - self.places + 1), min(self.steps, moves + 1))
            yield time, moves - time

    def forward(self) -> Array:
        """The log likelihood of all ways to each place."""
        shape = (len(self.logits), self.steps + 1, self.places + 1)
        reached = np.full(shape, np.float32(-np.inf))  # a row and a column before the first
        reached[:, 1, 1] = 0
        skipped, emitted = np.full((2, *shape), np.float32(-np.inf))
        skipped[:, 1:, 1:], emitted[:, 1:, 1:] = self.skip, self.emit
        for time, label in list(self._diagonals())[1:]:
            reached[:, time + 1, label + 1] = np.logaddexp(
                reached[:, time, label + 1] + skipped[:, time, label + 1],
                reached[:, time + 1, label] + emitted[:, time + 1, label],
            )
        return reached[:, 1:, 1:]

    def backward(self) -> Array:
        """The log likelihood of all ways from each place, with a row and a column behind the last:
        the end is a step of time behind a sample's last place."""
        left = np.full((len(self.logits), self.steps + 1, self.places + 1), np.float32(-np.inf))
        left[np.arange(len(left)), self.times, self.labels] = 0
        for time, label in reversed(list(self._diagonals())):
            found = np.logaddexp(
                left[:, time + 1, label] + self.skip[:, time, label],
                left[:, time, label + 1] + self.emit[:, time, label],
            )
            left[:, time, label] = np.where(
                self.inside[:, time, label], found, left[:, time, label]
            )
        return left

    def gradient(self, before: Array, behind: Array, costs: Array) -> Array:
        """By each logit: what all ways through a place weigh, without those by its own move."""
        known = (before + costs[:, None, None] - self.total)[..., None]
        if self.is_fused:
            result = np.exp(self.logits + known + behind[:, :-1, :-1, None])
        else:
            result = np.zeros_like(self.logits)
        after_skip, after_emit = behind[:, 1:, :-1], behind[:, :-1, 1:]
        result[..., self.blank] -= np.exp(self.logits[..., self.blank] + known[..., 0] + after_skip)
        of_labels = np.take_along_axis(self.logits, self._labels(), 3)[..., 0]
        moved = np.exp(of_labels + known[..., 0] + np.where(self.may_emit, after_emit, -np.inf))
        current = np.take_along_axis(result, self._labels(), 3)[..., 0]
        np.put_along_axis(result, self._labels(), (current - moved)[..., None], 3)
        return np.where(self.inside[..., None], result, np.float32(0))
