"""Gradients of resizing, where they need no gradients themselves: each element is a weighted sum of
the results that it reaches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...kernels import in_order, is_last_whole
from ...memory.remembered import remembered
from ...resizing.interpolate import resizing, shares
from ...resizing.resample import Taps, apply_taps
from ...tensors.tensor import Tensor
from ..table.rows import Ints, aten, direct
from ..table.rules import are_wide, rounded_once

One = tuple[Tensor]
Scales = Sequence[float | None] | None


@remembered(1 << 22)
def _reached(name: str, size: int, count: int, align: bool, scale: float | None) -> Taps:
    """The results that each element reaches, and how much of it goes there; a weight of zero stands
    where there are no more."""
    taps = shares(name, size, count, align, scale)
    assert taps.weights is not None
    results = np.broadcast_to(np.arange(count), np.shape(taps.places))
    pairs, which = np.unique(np.ravel(taps.places) * count + np.ravel(results), return_inverse=True)
    weights = np.bincount(which, np.ravel(taps.weights), len(pairs))
    pairs, weights = pairs[weights != 0], weights[weights != 0]
    elements, results = pairs // count, pairs % count
    many = np.bincount(elements, minlength=size)
    number = np.arange(len(pairs)) - np.repeat(np.cumsum(many) - many, many)
    shape = (int(many.max(initial=1)), size)
    where, factors = np.zeros(shape, np.int64), np.zeros(shape, np.float64)
    where[number, elements], factors[number, elements] = results, weights
    for each in (where, factors):
        each.setflags(write=False)
    return Taps(where, factors)


def _by_taps(name: str, g: Tensor, sizes: Ints, align: bool, scales: Scales) -> One | None:
    """Slices summed along one dimension after the other; None where something is not finite, which
    a weight of zero would spread."""
    array = g._array[...]  # which no other thread can change
    if 0 in array.shape or 0 in sizes or not np.isfinite(array).all():
        return None
    is_last = is_last_whole(array)
    made = np.moveaxis(array, 1, -1) if is_last else in_order(array)
    for place, size in enumerate(sizes[2:]):
        count, scale = array.shape[2 + place], None if scales is None else scales[place]
        taps = _reached(name, size, count, align, scale)
        made = apply_taps(made, place + (1 if is_last else 2), taps)
    return (Tensor._of(np.moveaxis(made, -1, 1) if is_last else made),)


def _of_copies(g: Tensor, sizes: Ints, scales: Scales) -> One | None:
    """Sums of windows, where each element was copied so often, a power of 2, along each dimension;
    of others it depends on rounding which copies are whose."""
    made, count = g._array.shape, len(sizes) - 2
    times = [a // max(b, 1) for a, b in zip(made[2:], sizes[2:], strict=True)]
    if list(made[2:]) != [a * b for a, b in zip(times, sizes[2:], strict=True)] or 0 in made:
        return None
    if any(each & (each - 1) for each in times) or not are_wide(g):
        return None
    given = scales or [None] * count
    if any(scale not in (None, each) for scale, each in zip(given, times, strict=True)):
        return None
    call = (aten.avg_pool1d, aten.avg_pool2d, aten.avg_pool3d)[count - 1]
    if count == 1:
        return (call(g, times, times, [0], False, True) * times[0],)
    return (call(g, times, times, [0] * count, False, True, 1),)


def _declare(name: str) -> None:
    def found(g: Tensor, sizes: Ints, align: bool | None, scales: Scales) -> One | None:
        made = _of_copies(g, sizes, scales) if name.startswith("upsample_nearest") else None
        return made or _by_taps(name, g, sizes, bool(align), scales)

    @direct(f"aten::{name}", of="self")
    @rounded_once
    def plain(
        g: Tensor, self_sizes: Ints, align_corners: bool | None = None, scales: float | None = None,
        scales_d: float | None = None, scales_h: float | None = None, scales_w: float | None = None,
    ) -> One | None:  # fmt: skip
        count = len(self_sizes) - 2
        given = [scales] if count == 1 else [scales_d, scales_h, scales_w][-count:]
        return found(g, self_sizes, align_corners, given)

    @direct(f"aten::{name}.vec", of="input")
    @rounded_once
    def by_factors(
        g: Tensor, input_sizes: Ints, scale_factors: Sequence[float] | None,
        align_corners: bool | None = None,
    ) -> One | None:  # fmt: skip
        return found(g, input_sizes, align_corners, scale_factors)


for _name in resizing():
    _declare(_name)
