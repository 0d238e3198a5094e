"""Gradients of layers in forms of their own, for where they need no gradients themselves."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

import numpy as np

from ...kernels import family
from ...layers.attention import dropped
from ...layers.swept_attention import swept_gradients
from ...layers.weight_norm import weight_norm_gradients
from ...memory.dtype import DType
from ...tensors.tensor import Tensor
from ..formulas.layers import likeness
from ..table.rows import Grads, Ints, Wanted, aten, direct
from ..table.rules import are_wide, is_narrow, widened
from .rows import Three, grouped_slopes, normalized_slopes, softmax_slopes

_FLOAT32: Final = np.dtype(np.float32)


def _normalized(
    g: Tensor, wanted: Wanted, normal: Tensor, scale: Tensor, weight: Tensor | None, last: Ints,
    added: Callable[[Tensor], Tensor],
) -> Three:  # fmt: skip
    """The gradients of input, weight and bias; `normal` is the input with its `last` dimensions
    brought to mean 0 and variance 1 by `scale`, and `added` adds up the others."""
    of_input = None
    of_weight = added(g * normal) if wanted["weight"] else None
    of_bias = added(g) if wanted["bias"] else None
    if wanted["input"]:
        slope = g if weight is None else g * weight
        own = list(range(-len(last), 0))
        along = (slope * normal).mean(own, True)
        of_input = (slope - slope.mean(own, True) - normal * along) * scale
    return of_input, of_weight, of_bias


@direct("aten::layer_norm", of="input weight bias")
def layer_norm(
    g: Tensor, wanted: Wanted, input: Tensor, normalized_shape: Ints, weight: Tensor | None,
    eps: float,
) -> Three | None:  # fmt: skip
    """The last dimensions brought to mean 0 and variance 1."""
    given, dims = input, list(range(input._array.ndim - len(normalized_shape)))
    if not input._array.size:
        return None

    def added(parts: Tensor) -> Tensor:
        if is_narrow(given):
            return _stepwise(parts, list(normalized_shape), given.dtype)
        return parts.sum(dims) if dims else parts

    found = normalized_slopes(g, wanted, input, normalized_shape, weight, eps)
    if found is not None:
        return found
    if is_narrow(input) and (weight is None or is_narrow(weight)):
        normal, scale = _normal_of_rounded(input, normalized_shape, eps)
        g, weight = widened(g, weight)
        return _normalized(g, wanted, normal, scale, weight, normalized_shape, added)
    g, input, weight = widened(g, input, weight)
    if not are_wide(g, input):
        return None
    normal, _, scale = aten.native_layer_norm(input, normalized_shape, None, None, eps)
    return _normalized(g, wanted, normal, scale, weight, normalized_shape, added)


@direct("aten::native_layer_norm", of="input weight bias")
def native_layer_norm(
    gs: Grads, wanted: Wanted, input: Tensor, normalized_shape: Ints, weight: Tensor | None,
    eps: float,
) -> Three | None:  # fmt: skip
    """The same, of which means and deviations have no gradients."""
    g = gs[0]
    return None if g is None else layer_norm(g, wanted, input, normalized_shape, weight, eps)


def _stepwise(parts: Tensor, last: list[int], dtype: DType) -> Tensor:
    """The sums over all but the last dimensions, in the 16 bits that torch keeps them in on the
    way: it adds row after row."""
    rows = np.ascontiguousarray(parts._array).reshape(-1, prod(last))
    folds = family("rows.folds")
    made = None if folds is None else folds.rows_added(rows, dtype.numpy)
    if made is None:
        made = np.zeros(rows.shape[1], dtype.numpy)
        for row in rows:
            made = (made.astype(np.float32) + row).astype(dtype.numpy)
    return Tensor._of(made.reshape(last))


def _normal_of_rounded(input: Tensor, shape: Ints, eps: float) -> tuple[Tensor, Tensor]:
    """What 16-bit floats are normalised to, and by what, in float32: from mean and scale of 16
    bits, which is what is kept of them where the weights have as many."""
    _, mean, scale = aten.native_layer_norm(input, shape, None, None, eps)
    wide, middle, factor = widened(input, mean, scale)
    return (wide - middle) * factor, factor


@direct("aten::group_norm", of="input weight bias")
def group_norm(
    g: Tensor, wanted: Wanted, input: Tensor, num_groups: int, weight: Tensor | None, eps: float
) -> Three | None:
    """Groups of channels brought to mean 0 and variance 1."""
    return grouped_slopes(g, wanted, input, num_groups, weight, eps)


@direct("aten::instance_norm", of="input weight bias")
def instance_norm(
    g: Tensor, wanted: Wanted, input: Tensor, weight: Tensor | None, use_input_stats: bool,
    eps: float,
) -> Three | None:  # fmt: skip
    """Channels of each sample brought to mean 0 and variance 1."""
    if not use_input_stats or input._array.ndim < 3:
        return None
    return grouped_slopes(g, wanted, input, input.shape[1], weight, eps)


@direct("aten::_weight_norm", of="v g")
def weight_norm(gs: Grads, v: Tensor, g: Tensor, dim: int) -> tuple[Tensor, Tensor] | None:
    """A direction and a length apart."""
    grad = gs[0]
    if grad is None:
        return None
    found = weight_norm_gradients(grad._array, v._array, g._array, dim)
    return None if found is None else (Tensor._of(found[0]), Tensor._of(found[1]))


# --------------------------------------------------------------------------- attention


@direct("aten::scaled_dot_product_attention", of="query key value")
def attention(
    g: Tensor, wanted: Wanted, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None,
    dropout_p: float, is_causal: bool, scale: float | None, enable_gqa: bool, result: Tensor,
) -> Three | None:  # fmt: skip
    """Values averaged by the likeness of keys to queries."""
    g, query, key, value, result = widened(g, query, key, value, result)
    wants_mask = attn_mask is not None and attn_mask.requires_grad
    as_columns = query.ndim == 4 and not (dropout_p or wants_mask)
    as_columns = as_columns and query.shape[-1] == key.shape[-1] == value.shape[-1]
    if not dropout_p:
        swept = swept_gradients(
            g._array,
            (query._array, key._array, value._array),
            None if attn_mask is None else attn_mask._array,
            is_causal,
            scale,
            enable_gqa,
            result._array,
            as_columns=as_columns,
        )
        if swept is not None:
            first, second, third = map(Tensor._of, swept)
            return first, second if as_columns else second.mT.contiguous().mT, third
    if enable_gqa or not are_wide(g, query, key, value):
        return None
    weights, factor = likeness(query, key, attn_mask, is_causal, scale)
    noise = Tensor._of(dropped(result._array)).to(weights.dtype) if dropout_p else None
    found = _by_weights(g, wanted, (query, key, value), weights, factor, noise)
    of_query, of_key, of_value = map(_as_columns, found) if as_columns else found
    return of_query, of_key, of_value


def _by_weights(
    g: Tensor,
    wanted: Wanted,
    operands: tuple[Tensor, Tensor, Tensor],
    weights: Tensor,
    factor: float,
    noise: Tensor | None,
) -> Three:
    """The same by the weights of all averages, and what some of them were dropped by."""
    query, key, value = operands
    used, of_weights = weights, g @ value.transpose(-2, -1)
    if noise is not None:
        used, of_weights = weights * noise, of_weights * noise
    of_value = used.transpose(-2, -1) @ g if wanted["value"] else None
    found = softmax_slopes(of_weights._array, weights._array)
    if found is None:
        weighted = weights * of_weights
        slope = (weighted - weights * weighted.sum([-1], True)) * factor
    else:
        slope = Tensor._of(found) * factor
    of_query = slope @ key if wanted["query"] else None
    of_key = (query.mT @ slope).mT if wanted["key"] else None
    return of_query, of_key, of_value


def _as_columns(grad: Tensor | None) -> Tensor | None:
    """With the heads beside one another, as torch's kernel for four dimensions lays gradients."""
    return None if grad is None else grad.transpose(1, 2).contiguous().transpose(1, 2)
