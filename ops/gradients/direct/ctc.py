"""The gradient of `ctc_loss` where it needs no gradient itself.

Probabilities of paths, forward and backward, are kept near one by dividing each step's by their sum
(Rabiner 1989, "A Tutorial on Hidden Markov Models", section V A), in float64; what comes out as
zero in spite of that is left to the general way, which works with logarithms.
"""

from __future__ import annotations

import numpy as np

from ...kernels import family
from ...losses.ctc import places_of
from ...memory.dtype import Array
from ...tensors.tensor import Tensor
from ..formulas.loss import MEAN
from ..table.rows import Ints, direct
from ..table.rules import are_wide


@direct("aten::ctc_loss", of="log_probs")
def ctc_loss(
    g: Tensor | None, log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Ints,
    target_lengths: Tensor | Ints, blank: int, reduction: int,
) -> tuple[Tensor] | None:  # fmt: skip
    """Of each class at each time: its probability less its share in the paths of the target."""
    if g is None or not are_wide(log_probs) or log_probs._array.ndim != 3:
        return None
    logs, lengths, sizes = log_probs._array, _numbers(input_lengths), _numbers(target_lengths)
    if not logs.size or lengths.min() < 1 or lengths.max() > len(logs):
        return None
    labels, may_skip = places_of(targets._array, sizes.tolist(), blank, logs.shape[2])
    chances = np.exp(logs, dtype=np.float64, order="C")
    with np.errstate(all="ignore"):
        shares = _shares(chances, labels, may_skip, lengths, sizes)
    if shares is None:
        return None
    count = len(sizes)
    scale = g._array.astype(np.float64)
    if reduction == MEAN:
        scale = scale / (count * np.maximum(sizes, 1))
    slopes = (chances - shares) * np.broadcast_to(scale, (count,))[:, None]
    slopes[np.arange(len(logs))[:, None] >= lengths] = 0
    return (Tensor._of(slopes.astype(logs.dtype)),)


def _numbers(lengths: Tensor | Ints) -> Array:
    values = lengths._array.reshape(-1) if isinstance(lengths, Tensor) else lengths
    return np.asarray(values, np.int64)


def _shares(
    chances: Array, labels: Array, may_skip: Array, lengths: Array, sizes: Array
) -> Array | None:
    """Of all paths of a target the share that has a class at a time, (T, N, C); None where paths
    have no probability."""
    found = _native_shares(chances, labels, may_skip, lengths, sizes)
    if found is not None:
        return None if np.isnan(found).any() else found
    steps, count, classes = chances.shape
    places = labels.shape[1]
    emitted = np.take_along_axis(chances, np.broadcast_to(labels, (steps, count, places)), 2)
    jumps = may_skip[:, 2:].astype(np.float64)
    before = _from_begin(emitted, jumps)
    who = np.arange(count)
    ends = np.zeros((count, places))
    ends[who, 2 * sizes] = 1
    ends[who[sizes > 0], 2 * sizes[sizes > 0] - 1] = 1
    found = np.zeros((count, steps, places))
    after = np.zeros((count, places))
    for time in range(steps - 1, -1, -1):
        if time + 1 < steps:
            there = after * emitted[time + 1]
            after = there.copy()
            after[:, :-1] += there[:, 1:]
            after[:, :-2] += there[:, 2:] * jumps
            after /= np.maximum(after.sum(1, keepdims=True), 1e-300)
        last = lengths == time + 1
        if last.any():
            after = np.where(last[:, None], ends, after)
        found[:, time] = before[time] * after
    sums = found.sum(2, keepdims=True)
    if not np.all((sums[:, :, 0] > 0) | (np.arange(steps) >= lengths[:, None])):
        return None
    found /= np.where(sums > 0, sums, 1)
    which = (labels[:, :, None] == np.arange(classes)).astype(np.float64)
    shares: Array = (found @ which).swapaxes(0, 1)
    return shares


def _native_shares(
    chances: Array, labels: Array, may_skip: Array, lengths: Array, sizes: Array
) -> Array | None:
    """The same by native code; NaN where paths have no probability, None where there is none."""
    paths = family("sequences.paths")
    if paths is None:
        return None
    jumps = may_skip.astype(np.float64)
    count, places = labels.shape
    before = np.zeros((count, 1 + len(chances), 2 + places))
    before[:, 0, 2] = 1
    paths.ahead(chances, labels, jumps, lengths, before)
    after = np.zeros((count, 2, 2 + places))
    after[np.arange(count), 0, 2 * sizes] = 1
    after[np.arange(count), 0, np.maximum(2 * sizes - 1, 0)] = 1
    found = np.zeros(chances.shape)
    paths.shares(chances, labels, jumps, lengths, before, after, found)
    return found


def _from_begin(emitted: Array, jumps: Array) -> Array:
    """The probability of reaching each place in time, relative to that of all places."""
    found = np.zeros_like(emitted)
    found[0, :, :2] = emitted[0, :, :2]
    for time in range(len(emitted)):
        now = found[time]
        if time:
            old = found[time - 1]
            now += old
            now[:, 1:] += old[:, :-1]
            now[:, 2:] += old[:, :-2] * jumps
            now *= emitted[time]
        now /= np.maximum(now.sum(1, keepdims=True), 1e-300)
    return found
