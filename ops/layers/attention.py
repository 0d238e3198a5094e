"""Attention: scaled dot products, with several heads, and a transformer's encoder layer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final
from weakref import ref

import numpy as np

from ..arithmetic.elementwise import add
from ..kernels import family, in_order, products, written_by_numpy
from ..linear_algebra.linalg import linear, matmul
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, dtype_of, numpy_dtype
from ..memory.errors import OperatorError
from ..reductions.loss_reduction import widened
from ..reductions.reduce import mean_over
from ..shapes.nested import NestedArray, nested
from ..table.layouts import lies_like
from ..table.pointwise import as_array, cast, checked_broadcast
from ..table.refusals import Refusal
from ..table.table import operator
from ..table.without_data import rows_of
from .activation import gelu, relu
from .dropout import dropped as dropout
from .normalize import layer_norm
from .swept_attention import is_swept, swept

__all__ = ["dropped"]

_KEYWORDS = "float? scale=None, bool enable_gqa=False"
_NAMES = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int"}


def _named(x: Array) -> str:
    name = dtype_of(x).name
    return _NAMES.get(name, name)


def _check(query: Array, key: Array, value: Array, mask: Array | None, is_causal: bool) -> None:
    if not query.dtype == key.dtype == value.dtype:
        raise OperatorError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{_named(query)} key.dtype: {_named(key)} and value.dtype: {_named(value)} instead.",
            code="dtype-mismatch",
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise OperatorError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got "
            f"query.dim: {query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead.",
            code="shape-mismatch",
        )
    if mask is None:
        return
    if mask.dtype not in (np.dtype(bool), np.dtype(np.float32), query.dtype):
        raise OperatorError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {_named(mask)} and  query.dtype: {_named(query)} instead.",
            code="dtype-mismatch",
        )
    if is_causal:
        raise OperatorError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
            "is_causal=True"
        )


def _scores(
    query: Array, key: Array, mask: Array | None, is_causal: bool, scale: float | None
) -> Array:
    """`query @ key.T * scale`, 16-bit floats in float32, with the mask added or minus infinity
    where it is False."""
    factor = scale if scale is not None else 1 / math.sqrt(query.shape[-1] or math.nan)
    scores = _wide_product(query, np.swapaxes(key, -1, -2))
    scores *= scores.dtype.type(factor)
    if is_causal:
        mask = np.tri(*scores.shape[-2:], dtype=bool)
    if mask is None:
        return scores
    checked_broadcast(scores.shape, mask.shape, ("query", "attn_mask"))
    if mask.dtype == np.bool_:
        return as_array(np.where(mask, scores, scores.dtype.type(-np.inf)))
    return as_array(scores + widened(mask))


def _wide_product(a: Array, b: Array) -> Array:
    return products.wide_matmul(a, b) if a.itemsize == 2 == b.itemsize else _product(a, b)


def _product(a: Array, b: Array) -> Array:
    if a.shape[-1] != b.shape[-2]:
        return matmul(a, b)  # which says so
    return products.matmul(a, b)


def _weights(scores: Array) -> tuple[Array, Array]:
    """Softmax over the last dimension, zero where all is masked, and the log of its sums."""
    if not scores.shape[-1]:
        return scores, np.full(scores.shape[:-1], -np.inf, scores.dtype)
    largest = scores.max(-1, keepdims=True)
    base = np.where(np.isneginf(largest), scores.dtype.type(0), largest)
    scores = np.exp(scores - base)
    total = scores.sum(-1, keepdims=True)
    result = scores / np.where(total == 0, scores.dtype.type(1), total)
    return as_array(result), as_array(np.log(total) + base)[..., 0]


def _weights_or_nan(scores: Array) -> Array:
    """Softmax over the last dimension, NaN where all is masked."""
    if not scores.shape[-1]:
        return scores
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    return as_array(scores / scores.sum(-1, keepdims=True))


def _repeated(x: Array, heads: int) -> Array:
    """Keys or values with each of their heads repeated, to make as many as the query has."""
    if x.shape[-3] == 0 or heads % x.shape[-3]:
        raise OperatorError(
            "Number of heads in key and value must divide the number of heads in ",
            code="shape-mismatch",
        )
    return x if x.shape[-3] == heads else np.repeat(x, heads // x.shape[-3], -3)


@operator(
    "aten::_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, "
    f"Tensor? dropout_mask=None, *, {_KEYWORDS}) -> (Tensor, Tensor)",
    out="",
    cost="attention",
)
def attention_and_weights(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None,
    dropout_p: float,
    is_causal: bool,
    dropout_mask: Array | None,
    scale: float | None,
    enable_gqa: bool,
) -> tuple[Array, Array]:
    """The attention and the weights it is made with."""
    _check(query, key, value, attn_mask, is_causal)
    if enable_gqa:
        key, value = _repeated(key, query.shape[-3]), _repeated(value, query.shape[-3])
    scores = _scores(query, key, attn_mask, is_causal, scale)
    weights = _weights(scores)[0]
    kept, used = None, weights
    if dropout_mask is not None and dropout_p > 0:  # the weights given back are whole, as in torch
        used = as_array(np.where(dropout_mask, weights, 0) / (1 - dropout_p))
    if dropout_mask is None and dropout_p > 0:
        written_by_numpy()  # no later call drops the same
        kept = dropout(np.ones_like(weights), dropout_p, True)
        used = weights = as_array(weights * kept)
    product = _product(used.astype(widened(value).dtype, copy=False), widened(value))
    result = product.astype(query.dtype, copy=False)
    if kept is not None:
        key_of = id(result)
        _KEPT[key_of] = ref(result, lambda gone: _KEPT.pop(key_of, None)), kept
    return result, weights.astype(query.dtype, copy=False)


_KEPT: Final[dict[int, tuple[ref[Array], Array]]] = {}
"""By the id of an attention's result: a weak reference to it, and the factors of its weights."""


def dropped(result: Array) -> Array:
    """What the weights of an attention with dropout were multiplied with, for its gradient.

    Raises:
        OperatorError: the array is not a result of one.
    """
    found = _KEPT.get(id(result))
    if found is None or found[0]() is not result:
        raise OperatorError("what an attention dropped is no longer known")
    return found[1]


@operator(
    "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, *, "
    f"{_KEYWORDS}) -> Tensor",
    autocast="lower",
    out="",
    face="layer",
    cost="attention",
    rows=rows_of("query key value attn_mask"),
    prepared=True,
    on_slices="matrices",
)
def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> Array:
    """`softmax(query @ key.T * scale + mask) @ value`; `scale` is by default 1 / sqrt(E)."""
    _check(query, key, value, attn_mask, is_causal)
    were_columns = not dropout_p and _were_columns(query, key, value)
    made = None
    if not dropout_p:
        options = attn_mask, is_causal, scale
        made = swept(query, key, value, *options, enable_gqa, as_columns=were_columns)
    if made is None:
        made = attention_and_weights(
            query, key, value, attn_mask, dropout_p, is_causal, None, scale, enable_gqa
        )[0]
    return lies_like(made, query) if were_columns else made


def _have_one_width(query: Array, key: Array, value: Array) -> bool:
    return query.shape[-1:] == key.shape[-1:] == value.shape[-1:]


def _were_columns(query: Array, key: Array, value: Array) -> bool:
    """Whether heads were columns, which those of the result are again."""
    if query.ndim != 4 or query.flags.c_contiguous or not _have_one_width(query, key, value):
        return False
    return all(x.strides[-1] == x.itemsize for x in (query, key, value))


@operator(
    "aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, "
    "float dropout_p=0., bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) "
    "-> (Tensor output, Tensor logsumexp)",
    cost="attention",
    out="",
)
def attention_and_sums(
    query: Array,
    key: Array,
    value: Array,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Array | None,
    scale: float | None,
) -> tuple[Array, Array]:
    """The attention and the logarithms of the sums its weights were divided by."""
    _check(query, key, value, attn_mask, is_causal)
    if dropout_p > 0:
        raise OperatorError(
            "scaled_dot_product_attention_flash_attention: Currently do not support dropout > 0"
        )
    logarithms = np.empty(query.shape[:-1], widened(query[:0]).dtype)
    made = swept(query, key, value, attn_mask, is_causal, scale, sums=logarithms)
    if made is not None:
        return made, logarithms
    scores = _scores(query, key, attn_mask, is_causal, scale)
    weights, sums = _weights(scores)
    return _product(weights, widened(value)).astype(query.dtype, copy=False), sums


@operator(
    "aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    refuses=Refusal("qc", "softmax_kernel_impl"),
    out="",
    rows=rows_of("self"),
    layout="C",
)
def safe_softmax(self: Array, dim: int, dtype: int | None) -> Array:
    """Softmax that is zero where all values are minus infinity."""
    wide = self if dtype is None else cast(self, numpy_dtype(dtype))
    axis = wrap_dim(dim, self.ndim)
    if not self.ndim:
        return as_array(np.where(np.isneginf(wide), wide.dtype.type(0), wide.dtype.type(1)))
    turned = np.moveaxis(widened(wide), axis, -1)
    return np.moveaxis(_weights(turned)[0], -1, axis).astype(wide.dtype, copy=False)


# --------------------------------------------------------------------------- several heads


def _split_heads(x: Array, heads: int) -> Array:
    """[B, T, E] as [B, heads, T, E / heads]."""
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)


def _projected(query: Array, key: Array, value: Array, weight: Array, bias: Array) -> list[Array]:
    """The three projections; of one tensor they are one product."""
    if query is key is value:
        return np.split(linear(query, weight, bias), 3, axis=-1)
    parts = zip((query, key, value), np.split(weight, 3), np.split(bias, 3), strict=True)
    return [linear(*part) for part in parts]


def _allowed(mask: Array, mask_type: int | None, batch: int) -> Array:
    """Where a mask leaves nothing out, shaped for scores [B, heads, T, S]: numbers count as True.

    Type 0 is [T, S] for all, type 1 is padding [B, S], type 2 is [B, heads, T, S].
    """
    if mask_type == 1 and mask.ndim == 2:
        mask = mask[:, None, None, :]
    elif mask.ndim == 3:
        mask = mask.reshape(batch, -1, *mask.shape[1:])
    arrays, letters = family("elementwise.arrays"), {"float32": "f", "bool": "?"}
    letter = letters.get(mask.dtype.name)
    if arrays is None or letter is None or not mask.size:
        return as_array(mask == 0)
    made: Array = arrays.evaluate([("is_zero", letter, (0,))], "?", mask)
    return made


@operator(
    "aten::_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, "
    "int num_head, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, "
    "Tensor? mask=None, bool need_weights=True, bool average_attn_weights=True, "
    "int? mask_type=None) -> (Tensor, Tensor)",
    autocast="lower",
    prepared=True,
    cost="attention-of-heads",
)
def native_multi_head_attention(
    query: Array,
    key: Array,
    value: Array,
    embed_dim: int,
    num_head: int,
    qkv_weight: Array,
    qkv_bias: Array,
    proj_weight: Array,
    proj_bias: Array,
    mask: Array | None,
    need_weights: bool,
    average_attn_weights: bool,
    mask_type: int | None,
) -> tuple[Array, Array]:
    """Attention over [B, T, E] with all projections; True in the mask leaves a key out."""
    if embed_dim % num_head:
        raise OperatorError("`embed_dim` must divide evenly by `num_heads`")
    projected = _projected(query, key, value, qkv_weight, qkv_bias)
    q, k, v = (_split_heads(x, num_head) for x in projected)
    shape = (*q.shape[:-1], k.shape[-2])
    left_in = None
    if mask is not None:
        left_in = np.broadcast_to(_allowed(mask, mask_type, shape[0]), shape)
    kernels = family("attention.attention") if is_swept(q.dtype) and q.size and k.size else None
    scale = math.sqrt(num_head / embed_dim)
    mixed = None
    if kernels is not None and not need_weights:
        mixed = kernels.attend(q, k, v, left_in, scale, hides=True, as_columns=True)
    if mixed is None and kernels is not None and q.dtype == np.float32:
        weights = family("attention.weights").weighed(q, k, left_in, scale)
        mixed = products.matmul(weights, v)
    elif mixed is None:
        scores = products.matmul(q, np.swapaxes(k, -1, -2)) / math.sqrt(embed_dim / num_head)
        if left_in is not None:
            scores = np.where(left_in, scores, scores.dtype.type(-np.inf))
        weights = _weights_or_nan(as_array(scores).astype(q.dtype, copy=False))
        mixed = products.matmul(weights, v)
    mixed = in_order(mixed.transpose(0, 2, 1, 3)).reshape(query.shape)
    result = linear(mixed, proj_weight, proj_bias)
    if not need_weights:
        return result, np.zeros(0, query.dtype)
    return result, mean_over(weights, [1], False, None) if average_attn_weights else weights


def _computed(formula: str, forward: Callable[..., Array], *operands: Array) -> Array:
    """A formula of float32 by native code, however few there are, so that calls may be learned."""
    arrays = (
        family("elementwise.arrays")
        if operands[0].dtype == np.float32 and operands[0].size
        else None
    )
    found: Array | None = None if arrays is None else arrays.apply(formula, operands)
    return forward(*operands) if found is None else found


def _sum(one: Array, other: Array) -> Array:
    return _computed("add", lambda a, b: add(a, b, 1), one, other)


def _normalised(x: Array, weight: Array, bias: Array, eps: float) -> Array:
    """Layer normalisation over the last dimension."""
    return layer_norm(x, list(weight.shape), weight, bias, eps, True)


@operator(
    "aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, "
    "Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, bool use_gelu, "
    "bool norm_first, float eps, Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, "
    "Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, "
    "Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor",
    prepared=True,
    cost="attention-of-heads",
)
def transformer_encoder_layer(
    src: Array,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Array,
    qkv_bias: Array,
    proj_weight: Array,
    proj_bias: Array,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Array,
    norm_bias_1: Array,
    norm_weight_2: Array,
    norm_bias_2: Array,
    ffn_weight_1: Array,
    ffn_bias_1: Array,
    ffn_weight_2: Array,
    ffn_bias_2: Array,
    mask: Array | None,
    mask_type: int | None,
) -> Array:
    """Self-attention and two linear layers, each with its sum and normalisation."""
    lengths = src.lengths if isinstance(src, NestedArray) else None
    if lengths is not None:
        src = src.view(np.ndarray)
        mask, mask_type = np.arange(src.shape[1]) >= lengths[:, None], 1
    projections = (qkv_weight, qkv_bias, proj_weight, proj_bias)

    def attended(x: Array) -> Array:
        return native_multi_head_attention(
            x, x, x, embed_dim, num_heads, *projections, mask, False, True, mask_type
        )[0]

    def fed_forward(x: Array) -> Array:
        inner = linear(x, ffn_weight_1, ffn_bias_1)
        inner = gelu(inner, "none") if use_gelu else _computed("relu", relu, inner)
        return linear(inner, ffn_weight_2, ffn_bias_2)

    first, second = (norm_weight_1, norm_bias_1, eps), (norm_weight_2, norm_bias_2, eps)
    if norm_first:
        src = _sum(src, attended(_normalised(src, *first)))
        result = _sum(src, fed_forward(_normalised(src, *second)))
    else:
        src = _normalised(_sum(src, attended(src)), *first)
        result = _normalised(_sum(src, fed_forward(src)), *second)
    return result if lengths is None else nested(result, lengths)


def _mask_error(sentence: str) -> OperatorError:
    return OperatorError(sentence, code="shape-mismatch")


def _over_scores(mask: Array, scores: tuple[int, ...], mask_type: int | None) -> Array:
    """A mask of two dimensions as it goes over scores [B, heads, L, L]."""
    if mask_type is None:
        raise OperatorError("Mask Type should be defined")
    batch, _, rows, length = scores
    if mask_type == 0:
        if not mask.shape == (rows, length) == (length, length):
            raise _mask_error("For mask_type == 0 mask shape should be (L, L)")
        return mask
    if mask_type == 1:
        if mask.shape != (batch, length) or rows != length:
            raise _mask_error("For mask_type == 1 mask shape should be (B, L)")
        return mask[:, None, None]
    if mask_type == 2:
        raise _mask_error("For mask_type == 2 mask shape should match input shape")
    raise OperatorError(
        "Mask Type should be 0 (src_mask) or 1 (src_key_padding_mask), or 2 (default_mask)"
    )


@operator(
    "aten::_masked_softmax(Tensor self, Tensor mask, int? dim=None, int? mask_type=None) -> Tensor"
)
def masked_softmax(self: Array, mask: Array, dim: int | None, mask_type: int | None) -> Array:
    """Softmax where True in the mask leaves a value out.

    The mask has the shape of the scores; of scores [B, heads, L, L] it may be [L, L] for type 0,
    [B, L] for type 1.
    """
    if mask.dtype != np.bool_:
        raise OperatorError("Mask should be a boolean tensor", code="dtype-mismatch")
    if self.ndim == 4 and mask.ndim == 2:
        mask = _over_scores(mask, self.shape, mask_type)
    elif mask.shape != self.shape:
        raise _mask_error("For mask_type == 2 mask shape should match input shape")
    wide = widened(self)
    kept = as_array(np.where(mask, wide.dtype.type(-np.inf), wide))
    axis = wrap_dim(-1 if dim is None else dim, self.ndim)
    scores = np.exp(kept - kept.max(axis, keepdims=True))
    return as_array(scores / scores.sum(axis, keepdims=True)).astype(self.dtype, copy=False)
