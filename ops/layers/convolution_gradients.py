"""Gradients of convolutions by native code."""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from ..kernels import cast_by_kernel, family, in_order, is_half, is_last_whole
from ..kernels.precision import PRECISION
from ..kernels.products import dot
from ..memory.dtype import Array
from ..shapes.windows import Ints

__all__ = ["turned_weight", "weight_gradient"]

_FLOAT32: Final = np.dtype(np.float32)
_LEAST: Final = 1 << 18
"""Products of numbers from which a gradient is worth its own kernel."""


def weight_gradient(
    input: Array,
    grad: Array,
    shape: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Array | None:
    """The gradient of a weight of that shape by native code, if it is large and there is any: of a
    convolution of floats up to 32 bits over one or two dimensions, given that of its result.

    Those of 16 bits are computed in float32 and rounded once, but where words of two of them are
    multiplied more quickly."""
    if is_half(input.dtype) and input.dtype == grad.dtype:
        if _goes_by_words(input, shape, stride, groups):
            return None
        x, y = (cast_by_kernel(in_order(each[...]), _FLOAT32) for each in (input, grad))
        found = weight_gradient(x, y, shape, stride, padding, dilation, groups)
        return None if found is None else cast_by_kernel(found, input.dtype)
    if not input.dtype is _FLOAT32 is grad.dtype:
        return None
    if 1 < groups == input.shape[1] == shape[0] and input.size and grad.size:
        found = _of_filters(input[...], grad[...], shape, stride, padding, dilation)
        if found is not None:
            return found
    if grad.size * prod(shape[1:]) < _LEAST:
        return None
    native = family("convolutions.gradients")
    if native is None or PRECISION.convolutions_may_be_short:
        return None
    if _are_pixels(shape, stride, padding, groups) and is_last_whole(input) and is_last_whole(grad):
        return dot(_by_pixels(grad[...]).T, _by_pixels(input[...])).reshape(shape)
    settings = tuple(stride), tuple(padding), tuple(dilation), groups
    made: Array | None = native.of_weights(input[...], grad[...], shape, *settings)
    return made


def _goes_by_words(input: Array, shape: Ints, stride: Ints, groups: int) -> bool:
    """Whether a convolution by the result's gradient multiplies bfloat16 two by two, and is done
    again and again over the same numbers."""
    is_wide = groups == 1 < prod(shape[2:]) and set(stride) == {1}
    return is_wide and input.dtype.name == "bfloat16"


def _are_pixels(shape: Ints, stride: Ints, padding: Ints, groups: int) -> bool:
    """Whether windows are single numbers, each in its place, of all channels."""
    is_one = prod(shape[2:]) == 1 == groups and not any(padding)
    return is_one and all(step == 1 for step in stride)


def _by_pixels(x: Array) -> Array:
    """The channels of each pixel, which lie last, as a view."""
    return x.transpose(0, *range(2, x.ndim), 1).reshape(-1, x.shape[1])


def _of_filters(
    input: Array, grad: Array, shape: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> Array | None:
    """The same where each plane has a filter of its own, which goes in steps of 1."""
    native = family("convolutions.plane_gradients")
    lead = (1,) * (4 - input.ndim)
    if native is None or set(stride) != {1} or input.ndim > 4:
        return None
    planes = [in_order(each) for each in (input, grad)]
    x, slopes = (each.reshape(*each.shape[:2], *lead, *each.shape[2:]) for each in planes)
    pads = ((0,) * len(lead) + tuple(padding), (*lead, *dilation))
    made: Array = native.of_filters(x, slopes, (*lead, *shape[2:]), *pads)
    return made.reshape(shape)


def turned_weight(weight: Array, groups: int) -> Array | None:
    """The weight, of floats up to 32 bits, of the plain convolution by which gradients go back
    through one of that weight where windows go by steps of 1; None where no native code makes it.
    """
    native = family("convolutions.turned_weights")
    dtype, size = weight.dtype, weight.shape[2:]
    if native is None or not (dtype is _FLOAT32 or is_half(dtype)):
        return None
    wide = cast_by_kernel(in_order(weight[...]), _FLOAT32)
    (found,) = native.cut(wide, groups, (tuple(reversed(range(prod(size)))),))
    return cast_by_kernel(found.reshape(*found.shape[:2], *size), dtype)
