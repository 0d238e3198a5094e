"""Gradients along rows, where they need no gradients themselves: one kernel for each."""

from __future__ import annotations

from collections.abc import Sequence
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

__all__ = ["Three", "class_slopes", "grouped_slopes", "normalized_slopes", "softmax_slopes"]

Three = tuple[Tensor | None, Tensor | None, Tensor | None]
"""The gradients of an input, a weight and a bias."""

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
) -> Three | None:
    """The gradients of layer_norm's input, weight and bias; None where there is no kernel.

    What is normalised is so by means and factors that the dtype of the weight holds.
    """
    x, grad = input._array[...], g._array[...]  # which no other thread can change
    if weight is None:
        factor = vector_of(1.0, prod(shape), _wide(x.dtype)).reshape(shape)
    else:
        factor = weight._array[...]
    if not _fits(grad, x) or not _is_factor(factor, x):
        return None
    asked = wanted["weight"], wanted["bias"]
    held = _is_held(x, None if weight is None else factor)
    made = _known_normalized.call(in_order(grad), x, factor, eps, held, *asked)
    return _three(made, *asked)


def _wide(dtype: Dtype) -> Dtype:
    """The dtype that what is of a dtype is computed in."""
    return _FLOAT32 if is_half(dtype) else dtype


def _is_factor(weight: Array, x: Array) -> bool:
    """Whether kernels take a weight for rows."""
    return is_whole(weight) and weight.dtype in (x.dtype, _wide(x.dtype))


def _is_held(x: Array, weight: Array | None) -> bool:
    """Whether means and factors of rows were kept in 16 bits."""
    return is_half(x.dtype) and (weight is None or is_half(weight.dtype))


def _three(made: Sequence[Array], of_weight: bool, of_bias: bool) -> Three:
    """The gradients that were made, of the input and of what was asked for besides."""
    first, *others = map(Tensor._of, made)
    rest = iter(others)
    return first, next(rest) if of_weight else None, next(rest) if of_bias else None


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
    if weight is None:
        factor = vector_of(1.0, x.shape[1], _wide(x.dtype))
    else:
        factor = _widened(weight, x.dtype)
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
) -> Three | None:
    """The same where groups of channels are normalised, each channel by a weight."""
    x, grad = input._array[...], g._array[...]  # which no other thread can change
    is_last = is_last_whole(x)
    x = in_order(x) if is_last else x
    factor = None if weight is None else weight._array[...]
    if x.ndim < 2 or not _fits(grad, x) or not (factor is None or _is_factor(factor, x)):
        return None
    asked = wanted["weight"] and factor is not None, wanted["bias"]
    held = _is_held(x, factor)
    first, *rest = _known_groups.call(in_order(grad), x, groups, factor, eps, held, *asked)
    return _three([channels_last(first) if is_last else first, *rest], *asked)


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
