"""Transposed convolutions of float32 over up to three dimensions.

A product gives what every input adds to the outputs around it, which is put back there.  Where that
is much, outputs whose places leave the same remainder by the stride see every other element of the
kernel only, at places one apart: they are a convolution of stride 1 by a part of the kernel, turned
around.  What these give is put beside each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from math import gcd, prod
from typing import Final, NamedTuple

import numpy as np

from ....memory.dtype import Array
from ... import in_order, move
from ..products.matrices import multiply, multiply_batches
from .afterwards import Afterwards
from .convolutions import Convolution, Settled, settled, shortness
from .turned_weights import cut
from .window_sums import are_near, put_back, put_beside

__all__ = ["Plan", "Transposed", "planned"]

F: Final = np.float32
_MOST: Final = 9
"""Convolutions that one is made of, at the most."""
_LEAST: Final = 1 << 24
"""Products of numbers from which a transposed convolution is worth several plain ones."""
_PIXELS: Final = 256
"""Pixels of all samples from which it is: with fewer, weights are most of what is read."""

Ints = tuple[int, ...]


class _Rest(NamedTuple):
    """What the outputs of one remainder see along a dimension."""

    place: int
    """That of the first of them, of the result."""
    taken: Ints
    """Elements of the kernel, the last first."""
    dilation: int
    pads: tuple[int, int]


class _Part(NamedTuple):
    """A plain convolution: which elements of the kernel it sees, and how."""

    taken: Ints
    size: Ints
    dilation: Ints
    pads: tuple[tuple[int, int], ...]


class Plan(NamedTuple):
    """What is known of a transposed convolution by shapes and settings alone.

    Without `parts` it is a product; these make `counts` results in each dimension, which stand at
    `places` of the result and so many apart as the stride says.
    """

    made: Ints
    stride: Ints
    padding: Ints
    dilation: Ints
    groups: int
    parts: tuple[_Part, ...]
    counts: Ints
    places: tuple[Ints, ...]

    @property
    def is_single(self) -> bool:
        """Whether it is one plain convolution."""
        return len(self.parts) == 1 and self.counts == self.made[2:]

    def settled(self, part: _Part, x: Array, weight: Array, short: str) -> Settled:
        """The plain convolution of a part."""
        found: Settled = settled(
            *(x.shape, weight.shape, self.counts, (1,) * len(part.size), part.pads, part.dilation),
            *(self.groups, short),
        )
        return found


@lru_cache(500)
def planned(
    shape: Ints,
    weight: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    output: Ints,
    groups: int,
) -> Plan | None:
    """How to compute one of arrays of these shapes, which fit each other and are not empty; None
    if it is not computed here."""
    if not are_near(weight[-1], stride[-1]):
        return None
    made = (shape[0], weight[1] * groups, *output)
    plain = Plan(made, stride, padding, dilation, groups, (), (), ())
    pixels = shape[0] * prod(shape[2:])
    is_large = pixels * prod(weight) >= _LEAST and pixels >= _PIXELS
    overlaps = any(d * (k - 1) >= s for k, s, d in zip(weight[2:], stride, dilation, strict=True))
    if not (is_large and overlaps) or prod(stride) > _MOST:
        return plain
    settings = zip(shape[2:], weight[2:], stride, padding, dilation, output, strict=True)
    dimensions = [_dimension(*each) for each in settings]
    parts = []
    for rests in product(*(found for _, found in dimensions)):
        every = np.arange(prod(weight[2:])).reshape(weight[2:])
        taken = every[np.ix_(*(rest.taken for rest in rests))]
        dilations, pads = (tuple(each) for each in zip(*((r[2], r[3]) for r in rests), strict=True))
        parts.append(_Part(tuple(taken.ravel().tolist()), taken.shape, dilations, pads))
    counts = tuple(count for count, _ in dimensions)
    places = tuple(tuple(rest.place for rest in found) for _, found in dimensions)
    return plain._replace(parts=tuple(parts), counts=counts, places=places)


def _dimension(
    size: int, kernel: int, stride: int, padding: int, dilation: int, output: int
) -> tuple[int, list[_Rest]]:
    """How many results parts have along a dimension of `size` elements, and what each sees.

    They have equally many, which begin and end where all elements have been seen: what stands
    outside of the result is left out when they are put beside each other.
    """
    found = list(_seen(kernel, stride, padding, dilation, output))
    count = -(-output // stride)
    before = max(0, *(begin for _, _, begin, _ in found), 0)
    after = max(0, *(size - count - end for _, _, _, end in found), 0)
    step, spread = stride // gcd(stride, dilation), dilation // gcd(stride, dilation)
    rests = []
    for first, (low, high), begin, end in found:
        pads = before - begin, count + end + after - size
        taken = tuple(range(high, low - 1, -step))
        rests.append(_Rest(first - before * stride, taken, spread, pads))
    return before + count + after, rests


def _seen(
    kernel: int, stride: int, padding: int, dilation: int, output: int
) -> Iterator[tuple[int, tuple[int, int], int, int]]:
    """Of outputs of each remainder that see something the first, the first and the last element of
    the kernel, which input the first output sees first, and how much behind its own number an
    output sees its last one."""
    step = stride // gcd(stride, dilation)
    for first in range(min(stride, output)):
        place = first + padding
        low = next(
            (k for k in range(min(kernel, stride)) if not (k * dilation - place) % stride), -1
        )
        if low >= 0:
            high = low + (kernel - 1 - low) // step * step
            # output `first + i * stride` sees element `k` at `i + (place - k * dilation) / stride`
            begin, end = ((place - k * dilation) // stride for k in (high, low))
            yield first, (low, high), begin, end


class Transposed(Afterwards):
    """A transposed convolution that can be computed: `fill` writes it to `out`."""

    __slots__ = ("_bias", "_plan", "_weight", "_x")

    def __init__(self, plan: Plan, x: Array, weight: Array, bias: Array | None) -> None:
        """The arrays are in one piece, of the shapes that the plan is for, and no other thread can
        change them; without a bias it is None.

        Raises:
            ValueError: the bias has another shape.
        """
        if bias is not None and bias.shape != plan.made[1:2]:
            raise ValueError("the bias does not fit the channels")
        self._plan, self._x, self._weight, self._bias = plan, x, weight, bias
        self.out = np.empty(plan.made, F)

    def _compute(self) -> None:
        if self._plan.parts:
            self._fill_by_parts()
        else:
            self._fill_by_columns()

    def _fill_by_columns(self) -> None:
        plan, x, weight, out = self._plan, self._x, self._weight, self.out
        space: Ints = x.shape[2:]
        settings: tuple[Ints, ...] = plan.stride, plan.dilation, plan.padding
        is_turned = _go_down(space) and are_near(weight.shape[-2], plan.stride[-2])
        if is_turned:
            x, weight = x.swapaxes(-2, -1), in_order(weight.swapaxes(-2, -1))
            space, settings = _turned(space), tuple(map(_turned, settings))
        columns, together = _columns(x, weight, plan.groups)
        output = plan.made[2:]
        if is_turned:
            made = put_back(columns, _turned(output), space, *settings, bias=self._bias,
                            together=together)  # fmt: skip
            assert made is not None
            move(made.swapaxes(-2, -1), out)
        else:
            put_back(columns, output, space, *settings, bias=self._bias, out=out, together=together)

    def _fill_by_parts(self) -> None:
        plan, x, out = self._plan, self._x, self.out
        weights = cut(self._weight, plan.groups, tuple([part.taken for part in plan.parts]))
        short = shortness(x, weights[0], plan.groups)
        is_single = plan.is_single
        made = out[None] if is_single else np.empty((len(weights), *out.shape[:2], *plan.counts), F)
        seen: dict[int, Array] = {}
        for part, each, goal in zip(plan.parts, weights, made, strict=True):
            weight = each.reshape(*each.shape[:2], *part.size)
            found = plan.settled(part, x, weight, short)
            if found.words not in seen:
                seen[found.words] = found.seen(x)
            bias = self._bias if is_single else None
            convolution = Convolution(found, seen[found.words], weight, bias, short)
            convolution.out = goal
            convolution.fill()
        if not is_single:
            put_beside(made, plan.counts, plan.stride, plan.places, self._bias, out)


def _go_down(space: Ints) -> bool:
    """Whether windows lie below each other, one in a line: turned around they are one line."""
    return len(space) > 1 and space[-1] == 1 < space[-2]


def _turned(sizes: Ints) -> Ints:
    """Numbers of dimensions with the last two changed over."""
    return (*sizes[:-2], sizes[-1], sizes[-2])


def _columns(x: Array, weight: Array, groups: int) -> tuple[Array, bool]:
    """What every input gives, [batch, channels, *kernel, *space]; or, where one product makes those
    of a whole batch together, [channels, *kernel, batch, *space]."""
    batch, channels, *space = x.shape
    made, kernel = weight.shape[1] * groups, weight.shape[2:]
    if groups == prod(space) == 1:
        found: Array = multiply(x.reshape(batch, channels), weight.reshape(channels, -1))
        return found.reshape(batch, made, *kernel, *space), False
    rows = weight.reshape(groups, channels // groups, -1).swapaxes(1, 2)
    if batch == 1:
        columns: Array = multiply_batches(rows, x.reshape(groups, channels // groups, -1))
        return columns.reshape(1, made, *kernel, *space), False
    seen = in_order(x.swapaxes(0, 1)).reshape(groups, channels // groups, -1)
    found = multiply_batches(rows, seen)
    return found.reshape(made, *kernel, batch, *space), True
