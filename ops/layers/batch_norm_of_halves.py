"""Normalisation of channels of 16-bit floats by factors and terms of float32."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels import family, is_whole
from ..memory.dtype import Array
from ..shapes.windows import ends_in_channels

__all__ = ["apply_to_halves", "halves_natively", "has_fma", "scales_of_halves"]

_FACTOR: Final = [
    *(("add", "d", (0, 1)), ("rsqrt", "d", (3,)), ("same", "f", (4,)), ("multiply", "f", (5, 2)))
]
_TERM: Final = [("multiply", "f", (0, 1)), ("subtract", "f", (2, 3))]
"""Steps of formulas, of variances, a number and weights; of means, factors and biases."""


def apply_to_halves(
    input: Array, mean: Array, scale: Array, weight: Array | None, bias: Array | None
) -> Array:
    """`(input - mean) * scale * weight + bias` of 16-bit floats: factors and terms are float32,
    product and sum rounded once."""
    factor = scale.astype(np.float32)
    if weight is not None:
        factor = factor * weight.astype(np.float32)
    moved = mean.astype(np.float32) * factor
    term = -moved if bias is None else bias.astype(np.float32) - moved
    found = halves_natively(input, factor, term)
    if found is not None:
        return found
    shape = (1, -1, *(1,) * (input.ndim - 2))
    result = input.astype(np.float64, order="K" if ends_in_channels(input) else "C")
    result *= factor.reshape(shape)
    result += term.reshape(shape)
    return result.astype(np.float32).astype(input.dtype)


def scales_of_halves(
    input: Array, mean: Array, variance: Array, eps: float, weight: Array | None, bias: Array | None
) -> tuple[Array, Array] | None:
    """Factors and terms of channels of bfloat16 as `apply_to_halves` has them, by kernels alone,
    so that calls are learned; None if there are none, or for other floats."""
    if weight is None or bias is None or input.dtype.name != "bfloat16" or input.ndim < 3:
        return None
    arrays = family("elementwise.arrays")
    given = mean, variance, weight, bias
    if arrays is None or not all(arrays.LETTERS[each.dtype] and is_whole(each) for each in given):
        return None
    if any(each.shape != input.shape[1:2] for each in given) or not input.size:
        return None
    factor = arrays.evaluate(_FACTOR, "f", variance, float(eps), weight)
    return factor, arrays.evaluate(_TERM, "f", mean, factor, bias)


def halves_natively(input: Array, factor: Array, term: Array) -> Array | None:
    """Products and sums by a kernel of what lies in one piece, its channels last or not."""
    is_last = ends_in_channels(input)
    moved = np.moveaxis(input, 1, -1) if is_last else input
    arrays = family("elementwise.arrays") if is_whole(moved) else None
    if arrays is None or not arrays.LETTERS[input.dtype]:
        return None
    shape = (-1,) if is_last else (-1, *(1,) * (input.ndim - 2))
    steps = [("add_products", "d", (2, 0, 1)), ("same", "f", (3,))]
    if has_fma():
        steps = [("multiply_add", "f", (0, 1, 2))]
    made: Array = arrays.evaluate(
        steps, arrays.LETTERS[input.dtype], moved, factor.reshape(shape), term.reshape(shape)
    )
    return np.moveaxis(made, -1, 1) if is_last else made


def has_fma() -> bool:
    target = family("language.target")
    return target is not None and bool(target.host().has_fma)
