"""Gradients of the weights of convolutions over one or two dimensions.

That of a weight is the sum of products of the result's gradient with the numbers of the input that
the weight was multiplied with.  So a convolution's kernel computes it whose weights are gradients,
whose windows are all of a result, and whose groups are samples, or as many together as there are
elements worth packing; the groups' sums are added up.
"""

from __future__ import annotations

from math import prod
from typing import Final

from ....memory.dtype import Array
from ....memory.remembered import remembered
from ... import in_order
from ..rows.folds import fold
from . import sums
from .convolutions import UNFIT, Convolution, Settled
from .padded_planes import Ints, padded_lying
from .plans import Sums, planned, steps_of

__all__ = ["of_weights"]

_DEEP: Final = 1 << 11
_DEEPEST: Final = 1 << 16
"""Products of an element that are worth one group, and that one may have."""
_MOST: Final = 1 << 24
"""Numbers that all groups' sums may have."""
_FEW: Final = 8
_NEAR: Final = 25
"""Channels of a group below which a convolution of the whole batch is quicker where windows have
more numbers than that."""


def of_weights(
    x: Array, grad: Array, shape: Ints, stride: Ints, pads: Ints, dilation: Ints, groups: int
) -> Array | None:
    """The gradient, float32 of a weight's shape [made, channels / groups, *size], of a convolution.

    x [batch, channels, *space] and grad [batch, made, *ends] are float32; there is a number a
    dimension of stride, padding and dilation.  None for what is not computed here.
    """
    if not x.size * grad.size or x.ndim > 4:
        return None
    if grad.shape[1] // groups < _FEW and prod(shape[2:]) > _NEAR:
        return None
    lead = (1,) * (4 - x.ndim)
    x, grad = (in_order(each).reshape(*each.shape[:2], *lead, *each.shape[2:])
               for each in (x, grad))  # fmt: skip
    size, stride, dilation = ((*lead, *each) for each in (shape[2:], stride, dilation))
    pads = (0,) * len(lead) + tuple(pads)
    known = _settled(x.shape, grad.shape, size, stride, pads, dilation, groups)
    if not known.items:
        return None
    blocks = len(known.no_bias) // grad.shape[1]
    several = len(x) // blocks
    if several > 1:
        apart = grad.reshape(blocks, several, grad.shape[1], -1).swapaxes(1, 2)
        grad = in_order(apart)
    made = Convolution(known, x, grad, None)
    made.fill()
    parts = made.out.reshape(blocks, -1)
    total = parts[0] if blocks == 1 else fold(parts, 0, 1, "sum")
    assert total is not None
    return total.reshape(shape)


@remembered(4 << 20)
def _settled(
    x: Ints,
    grad: Ints,
    size: Ints,
    stride: Ints,
    pads: Ints,
    dilation: Ints,
    groups: int,
) -> Settled:
    """How it is computed for arrays of four dimensions; without `items` if it is not."""
    batch, made, *ends = grad
    reach = [
        (e - 1) * s + d * (k - 1) for e, s, d, k in zip(ends, stride, dilation, size, strict=True)
    ]
    fits = all(r < n + 2 * p for r, n, p in zip(reach, x[2:], pads, strict=True))
    inside = x[1] // groups
    several = _together(batch, prod(ends), made * inside * prod(size)) if groups == 1 else 1
    depth = several * prod(ends)
    if not fits or x[0] != batch or x[1] % groups or made % groups or depth > _DEEPEST:
        return UNFIT
    tall, wide = size
    shape, around = (*x[:2], 1, *x[2:]), ((0, 0), *((p, p) for p in pads))
    padded = (shape[2:], around) if any(pads) else None
    steps = padded_lying(shape, around)[1] if padded else steps_of(shape)
    sample, channel, _, row, column = steps
    blocks = batch // several
    what = Sums(
        (1, blocks * groups, made // groups),
        (inside, tall, wide),
        (channel, row * dilation[0], column * dilation[1]),
        *(depth, 1),
    )
    windows = [sample, row * stride[0], column * stride[1]]
    far = several * sample if groups == 1 else inside * channel
    numbers = planned(what, 0, far, windows, (several, *ends))
    channels = blocks * made
    return Settled.by(sums, numbers, padded, (channels, prod(what.space)), channels)


def _together(batch: int, pixels: int, weights: int) -> int:
    """Samples of a group: few, but so that there is something to sum, and not too many results."""
    fitting = [n for n in range(1, batch + 1) if not batch % n]
    near = [n for n in fitting if n * pixels <= _DEEP] or [1]
    few = [n for n in fitting if batch // n * weights <= _MOST] or [batch]
    return max(near[-1], few[0])
