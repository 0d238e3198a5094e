"""Gradients along rows, where they need no gradients themselves: one kernel for each."""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from ...kernels import Prepared, family, in_order, is_ready
from ...layers.normalize import vector_of
from ...memory.dtype import Array
from ...reductions.reduce import sum_over
from ...tensors.tensor import Tensor
from ..formulas.loss import MEAN, NONE
from ..table.rows import Ints, Wanted, direct

__all__ = ["class_slopes", "normalized_slopes", "softmax_slopes"]

_FLOAT32: Final = np.dtype(np.float32)
_INT64: Final = np.dtype(np.int64)


def _by_rows(name: str) -> Prepared:
    def compute(g: Array, result: Array) -> Array:
        rows = result.reshape(-1, result.shape[-1])
        made: Array = getattr(family("rows.gradients"), name)(g.reshape(rows.shape), rows)
        return made.reshape(result.shape)

    return Prepared(compute)


_KNOWN: Final = {name: _by_rows(name) for name in ("softmax", "log_softmax")}


def softmax_slopes(g: Array, result: Array, name: str = "softmax") -> Array | None:
    """The gradient of what `softmax` or `log_softmax` made `result` of, along its last dimension;
    None where there is no kernel for it."""
    g, result = g[...], result[...]  # which no other thread can change
    if not is_ready(result) or g.dtype is not _FLOAT32 or family("rows.gradients") is None:
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
    g: Array, x: Array, weight: Array, eps: float, of_weight: bool, of_bias: bool
) -> tuple[Array, ...]:
    rows = x.reshape(-1, weight.size)
    grads = g.reshape(rows.shape)
    of_input, parts = family("rows.gradients").layer_norm(grads, rows, weight.reshape(-1), eps)
    made = [of_input.reshape(x.shape)]
    if of_weight:
        made.append(sum_over(parts, [0], False, None).reshape(weight.shape))
    if of_bias:
        made.append(sum_over(grads, [0], False, None).reshape(weight.shape))
    return tuple(made)


_known_normalized: Final = Prepared(_normalized)


def normalized_slopes(
    g: Tensor, wanted: Wanted, input: Tensor, shape: Ints, weight: Tensor | None, eps: float
) -> list[Tensor | None] | None:
    """The gradients of layer_norm's input, weight and bias; None where there is no kernel."""
    x, grad = input._array[...], g._array[...]  # which no other thread can change
    factor = vector_of(1.0, prod(shape)) if weight is None else weight._array[...]
    fits = x.dtype is grad.dtype is _FLOAT32 and is_ready(factor)
    if not fits or family("rows.gradients") is None:
        return None
    asked = wanted["weight"], wanted["bias"]
    made = iter(_known_normalized.call(in_order(grad), in_order(x), factor, eps, *asked))
    of_input = Tensor._of(next(made))
    return [of_input, *(Tensor._of(next(made)) if each else None for each in asked)]


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
