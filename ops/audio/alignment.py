"""The best path of labels through probabilities in time that gives a sequence.

L. Kuerzinger and others, "CTC-Segmentation of Large Corpora", 2020: the widened sequence of
A. Graves and others (ICML 2006), blanks around each label, searched for its likeliest path.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..memory.dtype import Array
from .declaring import audio, require, require_contiguous

_FLOATS: Final = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64))
_WHOLE: Final = (np.dtype(np.int32), np.dtype(np.int64))


@audio(
    "forced_align(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, "
    "int blank) -> (Tensor, Tensor)"
)
def forced_align(
    log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array, blank: int
) -> tuple[Array, Array]:
    """The labels (1, T) of the likeliest path, and `log_probs` (1, T, C) themselves."""
    _check(log_probs, targets, input_lengths, target_lengths, blank)
    path = _path(log_probs[0], targets[0].astype(np.int64), blank)
    return path.astype(targets.dtype)[None], log_probs


def _check(
    log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array, blank: int
) -> None:
    require(log_probs.dtype in _FLOATS, "log_probs must be float64, float32 or float16 (half) type")
    require(targets.dtype in _WHOLE, "targets must be int32 or int64 type")
    require_contiguous(log_probs=log_probs, targets=targets)
    require(log_probs.ndim == 3, "log_probs must be 3-D (batch_size, input length, num classes)")
    require(targets.ndim == 2, "targets must be 2-D (batch_size, target length,)")
    lengths = (("input", input_lengths), ("target", target_lengths))
    for name, each in lengths:
        require(each.ndim == 1, f"{name}_lengths must be 1-D (batch_size,)")
    for name, batch in (("log_probs", log_probs), ("targets", targets)):
        require(
            len(batch) == 1, f"The batch dimension for {name} must be 1 at the current version."
        )
    _, steps, labels = log_probs.shape
    require(0 <= blank < labels, "blank must be within [0, num classes)")
    for (name, each), size in zip(lengths, (steps, targets.shape[1]), strict=True):
        require(each.size > 0 and int(each.max()) == size, f"{name} length mismatch")
    require(
        bool(np.all((targets >= 0) & (targets < labels))),
        "targets must be within [0, num classes)",
    )


def _path(log_probs: Array, targets: Array, blank: int) -> Array:
    """The label of each step, of probabilities (T, C) and labels (L,).

    A place of the widened sequence is reached from itself, the one before it, or the label before
    that, if it is another; of equals the first, and itself rather than two equal others.
    """
    steps, size = len(log_probs), len(targets)
    needed = size + int(np.count_nonzero(targets[1:] == targets[:-1]))
    require(
        steps >= needed,
        "targets length is too long for CTC. Found log_probs length: "
        f"{steps}, targets length: {size}, and number of repeats: {needed - size}",
    )
    labels = np.full(2 * size + 1, blank, np.int64)
    labels[1::2] = targets
    if not steps:
        return labels[:0]
    may_skip = np.zeros(len(labels), bool)
    may_skip[3::2] = targets[1:] != targets[:-1]
    nothing = log_probs.dtype.type(-np.inf)
    best = np.full(len(labels) + 2, nothing)  # two places before the first, which nobody is at
    best[2:4] = log_probs[0, labels[:2]]
    back = np.zeros((steps, len(labels)), np.int8)
    for time in range(1, steps):
        stay, move = best[2:], best[1:-1]
        skip = np.where(may_skip, best[:-2], nothing)
        skips = (skip > move) & (skip > stay)
        moves = (move > stay) & (move > skip)
        back[time] = 2 * skips + moves
        best[2:] = np.where(skips, skip, np.where(moves, move, stay)) + log_probs[time, labels]
    place = len(labels) - 1
    if size and not best[-1] > best[-2]:
        place -= 1
    path = np.empty(steps, np.int64)
    for time in range(steps - 1, -1, -1):
        path[time] = labels[place]
        place -= int(back[time, place])
    return path
