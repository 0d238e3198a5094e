"""Convolutions whose results lie with channels last.

Windows of one number are products of matrices then, whose rows are pixels; depthwise ones have a
kernel (`last_depthwise`).  All others are done as if channels came first, and turned around with
what comes after the sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....memory.dtype import Array
from ... import unfilled
from ..elementwise.arrays import Expression, Step
from ..products.matrices import multiply_into
from .afterwards import Afterwards
from .batch_norms import Elements
from .convolutions import Convolution
from .frame import PLAIN, After

__all__ = ["Pixels", "Turned"]

_COPY: Final = After(Expression("f", (Step("same", "f", (0,)),), ((0, "f"),)), "o")


class Turned:
    """What another convolution gives with channels first: `fill` writes it to `out`."""

    __slots__ = ("_first", "out")

    def __init__(self, first: Convolution) -> None:
        self._first = first
        self.out = unfilled(first.out.shape, first.out.dtype, is_last=True)

    is_alone_at_hand = True

    def is_at_hand(self, after: After, operands: Sequence[Array]) -> bool:
        """Whether the kernel of what comes after need not be compiled."""
        return Elements(self._first.out, self.out).is_at_hand(_whole(after), operands)

    def prepare(self, after: After, operands: Sequence[Array]) -> None:
        """Compile it if need be.

        Raises:
            OSError, RuntimeError: it cannot be.
        """
        Elements(self._first.out, self.out).prepare(_whole(after), operands)

    def fill(self, after: After = PLAIN, operands: Sequence[Array] = ()) -> None:
        """Compute."""
        self._first.fill()
        Elements(self._first.out, self.out).fill(_whole(after), operands)


def _whole(after: After) -> After:
    return after if after.expression.steps else _COPY


class Pixels(Afterwards):
    """A convolution by windows of one number, of float32 with channels last."""

    __slots__ = ("_bias", "_pixels", "_weight")

    def __init__(self, x: Array, weight: Array, bias: Array | None) -> None:
        """The input is in one piece but for the place of its channels.

        Raises:
            ValueError: the bias has another shape.
        """
        made, inside = weight.shape[:2]
        if bias is not None and bias.shape != (made,):
            raise ValueError("the bias does not fit the channels")
        self._pixels = _by_pixels(x)
        self._weight, self._bias = weight.reshape(made, inside), bias
        self.out = unfilled((len(x), made, *x.shape[2:]), x.dtype, is_last=True)

    def _compute(self) -> None:
        multiply_into(_by_pixels(self.out), self._pixels, self._weight.T, self._bias)


def _by_pixels(x: Array) -> Array:
    """The channels of each pixel, as a view."""
    lying = x.transpose(0, *range(2, x.ndim), 1)
    return lying.reshape(-1, x.shape[1])
