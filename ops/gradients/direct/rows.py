"""Gradients along rows, where they need no gradients themselves: one kernel for each."""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from ...kernels import (
    Prepared,
    cast_by_kernel,
    family,
    in_order,
    is_half,
    is_last_whole,
    is_ready,
    is_whole,
)
from ...layers.normalize import vector_of
from ...memory.dtype import Array, Dtype
from ...reductions.reduce import sum_over
from ...shapes.windows import channels_last
from ...tensors.tensor import Tensor
from ..formulas.loss import MEAN, NONE
from ..table.rows import Ints, Wanted, direct

__all__ = ["class_slopes", "grouped_slopes", "normalized_slopes", "softmax_slopes"]

_FLOAT32: Final = np.dtype(np.float32)
_INT64: Final = np.dtype(np.int64)


def _by_rows(name: str) -> Prepared:
    def compute(g: Array, result: Array) -> Array:
        rows = result.reshape(-1, result.shape[-1])
        made: Array = getattr(family("rows.gradients"), name)(g.reshape(rows.shape), rows)
        return made.reshape(result.shape)

    return Prepared(compute)


_KNOWN: Final = {name: _by_rows(name) for name in ("softmax", "log_softmax")}


def _fits(g: Array, x: Array) -> bool:
    """Whether there are kernels for rows of the dtype and the sizes of an array and of a gradient
    beside it."""
    arrays = family("elementwise.arrays") if is_whole(x) and g.dtype is x.dtype else None
    letter = "" if arrays is None else arrays.LETTERS[x.dtype]
    return letter != "" and letter in "fdeE" and g.shape == x.shape


def softmax_slopes(g: Array, result: Array, name: str = "softmax") -> Array | None:
    """The gradient of what `softmax` or `log_softmax` made `result` of, along its last dimension;
    None where there is no kernel for it."""
    g, result = g[...], result[...]  # which no other thread can change
    if not _fits(g, result):
        return None
    found: Array = _KNOWN[name].call(in_order(g), result)
    return found


def _declare(name: str) -> None:
    @direct(f"aten::{name}", f"aten::_{name}", of="self")
    def slopes(g: Tensor | None, result: Tensor, dim: int) -> tuple[Tensor] | None:
        if g is None or not result._array.ndim or dim not in (-1, result._array.ndim - 1):
            return None
        found = softmax_slopes(g._array, result._array, name)
        return None if found is None else (Tensor._of(found),)


_declare("softmax")
_declare("log_softmax")


# --------------------------------------------------------------------------- layers and losses


def _normalized(
    g: Array, x: Array, weight: Array, eps: float, held: bool, of_weight: bool, of_bias: bool
) -> tuple[Array, ...]:
    rows = x.reshape(-1, weight.size)
    grads, factor = g.reshape(rows.shape), _widened(weight.reshape(-1), x.dtype)
    kernels = family("rows.gradients")
    of_input, parts = kernels.layer_norm(grads, rows, factor, eps, held=held)
    made = [of_input.reshape(x.shape)]
    for is_asked, each in ((of_weight, parts), (of_bias, grads)):
        if is_asked:
            made.append(_added(each, x.dtype).reshape(weight.shape))
    return tuple(made)


def _widened(weight: Array, dtype: Dtype) -> Array:
    """What rows of a dtype are multiplied by."""
    return cast_by_kernel(weight, _FLOAT32) if is_half(dtype) else weight


def _added(parts: Array, dtype: Dtype) -> Array:
    """The sum of rows; of what is of 16-bit floats, in the 16 bits that torch keeps it in on the
    way: it adds row after row."""
    if not is_half(dtype):
        return sum_over(parts, [0], False, None)
    made: Array = family("rows.folds").rows_added(parts, dtype)
    return made


_known_normalized: Final = Prepared(_normalized)


def normalized_slopes(
    g: Tensor, wanted: Wanted, input: Tensor, shape: Ints, weight: Tensor | None, eps: float
) -> list[Tensor | None] | None:
    """The gradients of layer_norm's input, weight and bias; None where there is no kernel.

    What is normalised is so by means and factors that the dtype of the weight holds.
    """
    x, grad = input._array[...], g._array[...]  # which no other thread can change
    wide = _FLOAT32 if is_half(x.dtype) else x.dtype
    ones = vector_of(1.0, prod(shape), wide).reshape(shape)
    factor = ones if weight is None else weight._array[...]
    held = is_half(x.dtype) and (weight is None or is_half(factor.dtype))
    if not _fits(grad, x) or not is_whole(factor) or factor.dtype not in (x.dtype, wide):
        return None
    asked = held, wanted["weight"], wanted["bias"]
    made = iter(_known_normalized.call(in_order(grad), x, factor, eps, *asked))
    of_input = Tensor._of(next(made))
    return [of_input, *(Tensor._of(next(made)) if each else None for each in asked[1:])]


def _grouped(
    g: Array,
    x: Array,
    groups: int,
    weight: Array | None,
    eps: float,
    held: bool,
    of_weight: bool,
    of_bias: bool,
) -> tuple[Array, ...]:
    sizes = (*x.shape[:2], -1)
    wide = _FLOAT32 if is_half(x.dtype) else x.dtype
    factor = vector_of(1.0, x.shape[1], wide) if weight is None else _widened(weight, x.dtype)
    of_input, parts, sums = family("rows.gradients").group_norm(
        g.reshape(sizes), x.reshape(sizes), factor, eps, groups, held=held
    )
    made = [of_input.reshape(x.shape)]
    for is_asked, each in ((of_weight, parts), (of_bias, sums)):
        if is_asked:
            made.append(sum_over(each, [0], False, None))
    return tuple(made)


_known_groups: Final = Prepared(_grouped)


def grouped_slopes(
    g: Tensor, wanted: Wanted, input: Tensor, groups: int, weight: Tensor | None, eps: float
) -> list[Tensor | None] | None:
    """The same where groups of channels are normalised, each channel by a weight."""
    x, grad = input._array[...], g._array[...]  # which no other thread can change
    is_last = is_last_whole(x)
    x = in_order(x) if is_last else x
    wide = _FLOAT32 if is_half(x.dtype) else x.dtype
    factor = None if weight is None else weight._array[...]
    held = is_half(x.dtype) and (factor is None or is_half(factor.dtype))
    if x.ndim < 2 or not _fits(grad, x):
        return None
    if factor is not None and (not is_whole(factor) or factor.dtype not in (x.dtype, wide)):
        return None
    asked = held, wanted["weight"] and factor is not None, wanted["bias"]
    made = iter(_known_groups.call(in_order(grad), x, groups, factor, eps, *asked))
    first = next(made)
    of_input = Tensor._of(channels_last(first) if is_last else first)
    return [of_input, *(Tensor._of(next(made)) if each else None for each in asked[1:])]


def _classes(g: Array, scores: Array, target: Array, ignored: int, reduction: int) -> Array:
    kernels = family("rows.gradients")
    form = reduction == MEAN, reduction == NONE
    made: Array = kernels.class_slopes(g, scores, target, ignored, *form)
    return made


_known_classes: Final = Prepared(_classes)


def class_slopes(
    g: Array, scores: Array, target: Array, reduction: int, ignored: int
) -> Array | None:
    """The gradient of cross entropy's scores [N, C, ...]; None where there is no kernel for it."""
    g, scores, target = g[...], scores[...], target[...]  # which no other thread can change
    fits = scores.ndim > 1 and scores.size and scores.dtype is _FLOAT32 and is_ready(g)
    if not fits or target.dtype is not _INT64 or not target.flags.c_contiguous:
        return None
    shape = scores.shape[:1] + scores.shape[2:]
    if family("rows.gradients") is None or target.shape != shape:
        return None
    if scores.ndim == 2:
        found: Array = _known_classes.call(
            g, np.ascontiguousarray(scores), target, ignored, reduction
        )
        return found
    rows = in_order(np.moveaxis(scores, 1, -1)).reshape(-1, scores.shape[1])
    given = g if g.shape != shape else g.reshape(-1)
    found = _known_classes.call(given, rows, target.reshape(-1), ignored, reduction)
    return in_order(np.moveaxis(found.reshape(*shape, -1), -1, 1))
