"""Attention by kernels that go through keys once, and its gradients."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ..kernels import Prepared, cast_by_kernel, family, is_half
from ..memory.dtype import Array, Dtype
from ..table.pointwise import checked_broadcast

__all__ = ["is_swept", "swept", "swept_gradients"]

_FLOATS: Final = (np.dtype(np.float32), np.dtype(np.float64))
_Ints = tuple[int, ...]


def swept(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool = False,
    *,
    as_columns: bool = False,
    sums: Array | None = None,
) -> Array | None:
    """The attention over `[..., heads, length, width]`; None if it is to be had otherwise.

    There may be fewer heads of keys, each for a group of others.  Heads of a result with four
    dimensions lie beside one another if they shall be `as_columns`; `sums` is an array for the
    logarithms of what weights were divided by.
    """
    query, key, value = (x[...] for x in (query, key, value))  # which no other thread can change
    taken = _taken(query, key, value, mask, enable_gqa)
    if taken is None:
        return None
    operands = (*taken, _factor(query, scale))
    options = {"is_causal": is_causal, "as_columns": as_columns, "sums": sums}
    made: Array | None = family("attention.attention").attend(*operands, **options)
    if made is None or query.ndim == 4:
        return made
    return made.reshape(*query.shape[:-1], value.shape[-1])


def _gradients(*operands: object) -> object:
    return family("attention.attention").gradients(*operands)


_GRADIENTS: Final = Prepared(_gradients)


def swept_gradients(
    g: Array,
    operands: tuple[Array, Array, Array],
    mask: Array | None,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
    result: Array,
    *,
    as_columns: bool,
) -> list[Array] | None:
    """The gradients of queries, keys and values, whose attention was `result` and has the gradient
    `g`; None if they are to be had otherwise."""
    g, query, key, value, result = (x[...] for x in (g, *operands, result))  # as above
    taken = _taken(query, key, value, mask, enable_gqa)
    if taken is None or query.dtype not in _FLOATS:
        return None
    if not g.dtype == result.dtype == query.dtype or g.shape != result.shape:
        return None
    if result.shape != (*query.shape[:-1], value.shape[-1]):
        return None
    q, k, v, shown = taken
    given = _of_heads(g), q, k, v, shown, _of_heads(result)
    made: Any = _GRADIENTS.call(*given, _factor(query, scale), is_causal, as_columns)
    if made is None:
        return None
    return [x.reshape(to.shape) for x, to in zip(made, (query, key, value), strict=True)]


def is_swept(dtype: Dtype) -> bool:
    """Whether kernels take such numbers."""
    return dtype in _FLOATS or is_half(dtype)


def _factor(query: Array, scale: float | None) -> float:
    return float(scale) if scale is not None else 1 / math.sqrt(query.shape[-1])


def _taken(
    query: Array, key: Array, value: Array, mask: Array | None, enable_gqa: bool
) -> tuple[Array, Array, Array, Array | None] | None:
    """What kernels take, with four dimensions and a mask of the scores' shape and dtype; None of
    what they do not."""
    if not is_swept(query.dtype) or family("attention.attention") is None:
        return None
    if not query.dtype == key.dtype == value.dtype:
        return None
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        return None
    if not (query.size and key.size and value.size):
        return None
    if not _heads_fit(query.shape[:-2], key.shape[:-2], value.shape[:-2], enable_gqa):
        return None
    shape = (*query.shape[:-1], key.shape[-2])
    if mask is not None:
        mask = mask[...]
        if checked_broadcast(shape, mask.shape, ("query", "attn_mask")) != shape:
            return None
        wide = _FLOATS[0] if is_half(query.dtype) else query.dtype
        taken = mask if mask.dtype in (np.dtype(bool), wide) else cast_by_kernel(mask, wide)
        mask = _of_heads(np.broadcast_to(taken, shape))
    return _of_heads(query), _of_heads(key), _of_heads(value), mask


def _heads_fit(batch: _Ints, keys: _Ints, values: _Ints, enable_gqa: bool) -> bool:
    """Whether there are keys and values for each head, or for each group of them."""
    if batch == keys == values:
        return True
    if batch[:-1] != keys[:-1] or keys != values:
        return False
    return keys[-1] == 1 or (enable_gqa and not batch[-1] % keys[-1])


def _of_heads(x: Array) -> Array:
    """With four dimensions."""
    return x.reshape(-1, *x.shape[-3:]) if x.ndim > 4 else x[(None,) * (4 - x.ndim)]
