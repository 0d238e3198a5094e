"""Gradients of layers in forms of their own, for where they need no gradients themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from math import prod
from typing import Final

import numpy as np

from ...kernels import Prepared, family, in_order, is_last_whole, is_ready
from ...layers.attention import dropped
from ...layers.normalize import vector_of
from ...layers.swept_attention import swept_gradients
from ...layers.weight_norm import weight_norm_gradients
from ...memory.dtype import Array, DType, Dtype
from ...reductions.reduce import sum_over
from ...shapes.windows import channels_last
from ...table.pointwise import cast
from ...tensors.tensor import Tensor
from ..formulas.layers import likeness
from ..table.rows import Grads, Ints, Wanted, aten, direct
from ..table.rules import are_wide, is_narrow, widened
from .rows import normalized_slopes, softmax_slopes

_FLOAT32: Final = np.dtype(np.float32)
Three = tuple[Tensor | None, Tensor | None, Tensor | None]


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

    if is_narrow(input) and (weight is None or is_narrow(weight)):
        normal, scale = _normal_of_rounded(input, normalized_shape, eps)
        g, weight = widened(g, weight)
        return _normalized(g, wanted, normal, scale, weight, normalized_shape, added)
    g, input, weight = widened(g, input, weight)
    if not are_wide(g, input):
        return None
    found = None
    if not is_narrow(given):
        found = normalized_slopes(g, wanted, input, normalized_shape, weight, eps)
    if found is not None:
        return found[0], found[1], found[2]
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


def _groups(
    held: Dtype,
    g: Array,
    x: Array,
    groups: int,
    weight: Array | None,
    eps: float,
    of_weight: bool,
    of_bias: bool,
) -> tuple[Array, ...]:
    """Of each channel what gradients add up to, and products of them with what is normalised; the
    gradient of the input follows from means of these over groups.  What is normalised is so by
    means and scales that the dtype `held` holds."""
    batch, channels = x.shape[:2]
    sizes, short = (batch, groups, channels // groups, -1), (batch, groups, channels // groups, 1)
    whole, slope = x.reshape(sizes), g.reshape(sizes)
    mean, scale = _of_rows(x.reshape(batch * groups, -1), eps)
    mean, scale = (
        cast(cast(each, held), x.dtype).reshape(batch, groups, 1, 1) for each in (mean, scale)
    )
    normal = [("subtract", "f", (0, 1)), ("multiply", "f", (4, 2))]
    parts = _computed([*normal, ("multiply", "f", (5, 3))], whole, mean, scale, slope)
    sums: list[Array] = [sum_over(each, [3], False, None).reshape(short) for each in (slope, parts)]
    weighted: list[Array] = sums
    count = float(whole.shape[2] * whole.shape[3])
    factor = vector_of(1.0, channels) if weight is None else weight
    factor = factor.reshape(1, *short[1:])
    if weight is not None:
        weighted = [_computed([("multiply", "f", (0, 1))], each, factor) for each in sums]
    means = [
        _computed([("divide", "f", (0, 1))], sum_over(each, [2], True, None), count)
        for each in weighted
    ]
    steps = [("subtract", "f", (0, 1)), ("multiply", "f", (7, 2)), ("multiply", "f", (8, 6))]
    steps += [("multiply", "f", (3, 4)), ("subtract", "f", (10, 5)), ("subtract", "f", (11, 9))]
    steps += [("multiply", "f", (12, 2))]
    of_input = _computed(steps, whole, mean, scale, slope, factor, *means)
    made = [of_input.reshape(x.shape)]
    for is_asked, each in ((of_weight, sums[1]), (of_bias, sums[0])):
        if is_asked:
            made.append(sum_over(each.reshape(batch, channels), [0], False, None))
    return tuple(made)


def _of_rows(rows: Array, eps: float) -> tuple[Array, Array]:
    """The means of rows, and what they are multiplied by to have the variance 1."""
    middle, squares = family("rows.rows").moments(rows)
    steps = [("divide", "d", (0, 1)), ("add", "d", (3, 2)), ("sqrt", "d", (4,))]
    root = family("elementwise.arrays").evaluate(
        [*steps, ("same", "f", (5,))], "f", squares, float(rows.shape[1]), eps
    )
    return _computed([("same", "f", (0,))], middle), _computed([("reciprocal", "f", (0,))], root)


def _computed(steps: Sequence[tuple[str, str, tuple[int, ...]]], *operands: Array | float) -> Array:
    """What steps of formulas give in float32."""
    found: Array = family("elementwise.arrays").evaluate([*steps], "f", *operands)
    return found


@cache
def _known_groups(held: Dtype) -> Prepared:
    return Prepared(partial(_groups, held))


def _of_groups(
    g: Tensor, wanted: Wanted, input: Tensor, groups: int, weight: Tensor | None, eps: float
) -> Three | None:
    """The gradients of input, weight and bias where groups of channels are normalised; those of
    16-bit floats are computed in float32."""
    held = input._array.dtype if weight is None or is_narrow(weight) else _FLOAT32
    g, input, weight = widened(g, input, weight)
    x, grad = input._array[...], g._array[...]  # which no other thread can change
    factors, is_last = None if weight is None else weight._array[...], is_last_whole(x)
    x = in_order(x) if is_last else x
    fits = x.ndim > 1 and is_ready(x) and grad.dtype is x.dtype and grad.shape == x.shape
    fits = fits and (factors is None or is_ready(factors))
    if not fits or family("rows.rows") is None:
        return None
    asked = wanted["weight"] and factors is not None, wanted["bias"]
    made = iter(_known_groups(held).call(in_order(grad), x, groups, factors, eps, *asked))
    first = next(made)
    of_input = Tensor._of(channels_last(first) if is_last else first)
    of_weight, of_bias = (Tensor._of(next(made)) if each else None for each in asked)
    return of_input, of_weight, of_bias


@direct("aten::group_norm", of="input weight bias")
def group_norm(
    g: Tensor, wanted: Wanted, input: Tensor, num_groups: int, weight: Tensor | None, eps: float
) -> Three | None:
    """Groups of channels brought to mean 0 and variance 1."""
    return _of_groups(g, wanted, input, num_groups, weight, eps)


@direct("aten::instance_norm", of="input weight bias")
def instance_norm(
    g: Tensor, wanted: Wanted, input: Tensor, weight: Tensor | None, use_input_stats: bool,
    eps: float,
) -> Three | None:  # fmt: skip
    """Channels of each sample brought to mean 0 and variance 1."""
    if not use_input_stats or input._array.ndim < 3:
        return None
    return _of_groups(g, wanted, input, input.shape[1], weight, eps)


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
