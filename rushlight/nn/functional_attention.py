"""Functions of layers: attention."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from ..ops.dispatch import eager_function
from ..ops.dtype import DTYPES, DType
from ..ops.tensor import Tensor
from .functional_activation import softmax
from .functional_dropout import dropout

__all__ = [
    "multi_head_attention_forward",
    "scaled_dot_product_attention",
]

Operator = Callable[..., Any]

scaled_dot_product_attention: Operator = eager_function("aten::scaled_dot_product_attention")

_baddbmm: Operator = eager_function("aten::baddbmm")
_bmm: Operator = eager_function("aten::bmm")
_cat: Operator = eager_function("aten::cat")
_linear: Operator = eager_function("aten::linear")
_pad: Operator = eager_function("aten::constant_pad_nd")
_zeros: Operator = eager_function("aten::zeros")
_zeros_like: Operator = eager_function("aten::zeros_like")
_bool = DTYPES["bool"]

# ruff: noqa: SIM102, SIM108


def _mha_shape_check(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """Whether the query is a batch; all others must agree with it."""
    batched = query.dim() == 3
    if not batched and query.dim() != 2:
        raise AssertionError(
            "query should be unbatched 2D or batched 3D tensor but received "
            f"{query.dim()}-D query tensor"
        )
    kind = "batched (3-D)" if batched else "unbatched (2-D)"
    wanted = 3 if batched else 2
    if key.dim() != wanted or value.dim() != wanted:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {wanted}-D but found "
            f"{key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None:
        if key_padding_mask.dim() != wanted - 1:
            raise AssertionError(
                f"For {kind} `query`, expected `key_padding_mask` to be `None` or {wanted - 1}-D "
                f"but found {key_padding_mask.dim()}-D tensor instead"
            )
    if attn_mask is not None:
        if attn_mask.dim() != 2 and attn_mask.dim() != 3:
            raise AssertionError(
                f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
                f"{attn_mask.dim()}-D tensor instead"
            )
        if not batched and attn_mask.dim() == 3:
            expected_shape = [num_heads, query.size(0), key.size(0)]
            if list(attn_mask.size()) != expected_shape:
                raise AssertionError(
                    f"Expected `attn_mask` shape to be {expected_shape} but got {attn_mask.size()}"
                )
    return batched


def _canonical_mask(mask: Tensor | None, mask_name: str, target_type: DType) -> Tensor | None:
    """A mask to be added: minus infinity where a bool mask is True."""
    if mask is None:
        return None
    if mask.is_floating_point():
        return mask
    if mask.dtype != _bool:
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    return _zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))


def _projected(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, width: int, name: str
) -> Tensor:
    """One of query, key and value after its projection to `width` features."""
    assert weight is not None, f"use_separate_proj_weight is True but {name}_proj_weight is None"
    if list(weight.size()) != [width, x.size(-1)]:
        raise AssertionError(
            f"expecting {name} weights shape of {[width, x.size(-1)]}, but got {weight.size()}"
        )
    return _linear(x, weight, bias)


def _split_heads(x: Tensor, heads: int, head_dim: int) -> Tensor:
    """(T, B, E) as (B * heads, T, head_dim)."""
    return x.reshape(x.size(0), x.size(1) * heads, head_dim).transpose(0, 1)


def _check_static(x: Tensor, name: str, rows: int, head_dim: int) -> Tensor:
    if x.size(0) != rows:
        raise AssertionError(f"expecting {name}.size(0) of {rows}, but got {x.size(0)}")
    if x.size(2) != head_dim:
        raise AssertionError(f"expecting {name}.size(2) of {head_dim}, but got {x.size(2)}")
    return x


def _check_attention_mask(mask: Tensor, rows: int, tgt_len: int, src_len: int) -> Tensor:
    """The mask with three dimensions."""
    if mask.dim() == 2:
        if list(mask.size()) != [tgt_len, src_len]:
            raise RuntimeError(
                f"The shape of the 2D attn_mask is {mask.size()}, "
                f"but should be {(tgt_len, src_len)}."
            )
        return mask.unsqueeze(0)
    if mask.dim() != 3:
        raise RuntimeError(f"attn_mask's dimension {mask.dim()} is not supported")
    if list(mask.size()) != [rows, tgt_len, src_len]:
        raise RuntimeError(
            f"The shape of the 3D attn_mask is {mask.size()}, "
            f"but should be {(rows, tgt_len, src_len)}."
        )
    return mask


def _attention_with_weights(
    q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None, dropout_p: float
) -> tuple[Tensor, Tensor]:
    """Of (B * heads, T, head_dim): the attention and its weights."""
    q_scaled = q * math.sqrt(1.0 / float(q.size(-1)))
    if attn_mask is not None:
        weights = _baddbmm(attn_mask, q_scaled, k.transpose(-2, -1))
    else:
        weights = _bmm(q_scaled, k.transpose(-2, -1))
    weights = softmax(weights, dim=-1)
    if dropout_p > 0.0:
        weights = dropout(weights, p=dropout_p)
    return _bmm(weights, v), weights


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention with several heads over (T, B, E) or (T, E), with its projections.

    The weights are given back too, averaged over the heads or not, if they are needed.
    """
    is_batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    tgt_len, bsz, embed_dim = query.size(0), query.size(1), query.size(2)
    src_len = key.size(0)
    if key_padding_mask is not None and attn_mask is not None:
        if key_padding_mask.dtype != attn_mask.dtype:
            warnings.warn(
                "Support for mismatched key_padding_mask and attn_mask is deprecated. "
                "Use same type for both instead.",
                stacklevel=2,
            )
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", query.dtype)
        is_causal = False
    if embed_dim != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}"
        )
    head_dim = embed_dim // num_heads
    if head_dim * num_heads != embed_dim:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    rows = bsz * num_heads

    b_q: Tensor | None = None
    b_k: Tensor | None = None
    b_v: Tensor | None = None
    if in_proj_bias is not None:
        biases = in_proj_bias.chunk(3)
        b_q, b_k, b_v = biases[0], biases[1], biases[2]
    if use_separate_proj_weight:
        if key.size()[:2] != value.size()[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.size()[:2]} do not match value's "
                f"{value.size()[:2]}"
            )
    else:
        if key.size() != value.size():
            raise AssertionError(
                f"key shape {key.size()} does not match value shape {value.size()}"
            )
        assert in_proj_weight is not None, (
            "use_separate_proj_weight is False but in_proj_weight is None"
        )
        weights = in_proj_weight.chunk(3)
        q_proj_weight, k_proj_weight, v_proj_weight = weights[0], weights[1], weights[2]
    q = _projected(query, q_proj_weight, b_q, embed_dim, "q")
    k = _projected(key, k_proj_weight, b_k, embed_dim, "k")
    v = _projected(value, v_proj_weight, b_v, embed_dim, "v")

    if attn_mask is not None:
        attn_mask = _check_attention_mask(attn_mask, rows, tgt_len, src_len)
    added = 0
    if bias_k is not None and bias_v is not None:
        assert static_k is None, "bias cannot be added to static key."
        assert static_v is None, "bias cannot be added to static value."
        k = _cat([k, bias_k.repeat(1, bsz, 1)])
        v = _cat([v, bias_v.repeat(1, bsz, 1)])
        added += 1
    else:
        assert bias_k is None, "bias_k is set but bias_v is None"
        assert bias_v is None, "bias_v is set but bias_k is None"

    q = _split_heads(q, num_heads, head_dim)
    if static_k is None:
        k = _split_heads(k, num_heads, head_dim)
    else:
        k = _check_static(static_k, "static_k", rows, head_dim)
    if static_v is None:
        v = _split_heads(v, num_heads, head_dim)
    else:
        v = _check_static(static_v, "static_v", rows, head_dim)
    if add_zero_attn:
        k = _cat([k, _zeros([rows, 1, head_dim], dtype=k.dtype, device=k.device)], dim=1)
        v = _cat([v, _zeros([rows, 1, head_dim], dtype=v.dtype, device=v.device)], dim=1)
        added += 1
    src_len = k.size(1)

    if key_padding_mask is not None:
        padding = _pad(key_padding_mask, [0, added])
        if padding.size(0) != bsz:
            raise AssertionError(
                f"Expected key_padded_mask.shape[0] to be {bsz}, but got {padding.size(0)}"
            )
        if padding.size(1) != src_len:
            raise AssertionError(
                f"Expected key_padded_mask.shape[1] to be {src_len}, but got {padding.size(1)}"
            )
        padding = padding.reshape(bsz, 1, 1, src_len).expand(-1, num_heads, -1, -1)
        padding = padding.reshape(rows, 1, src_len)
        if attn_mask is None:
            attn_mask = padding
        else:
            attn_mask = _pad(attn_mask, [0, added]) + padding
    elif attn_mask is not None:
        attn_mask = _pad(attn_mask, [0, added])
    if not training:
        dropout_p = 0.0

    if need_weights:
        attn_output, attn_weights = _attention_with_weights(q, k, v, attn_mask, dropout_p)
        attn_output = attn_output.transpose(0, 1).reshape(tgt_len * bsz, embed_dim)
        attn_output = _linear(attn_output, out_proj_weight, out_proj_bias)
        attn_output = attn_output.reshape(tgt_len, bsz, attn_output.size(1))
        attn_weights = attn_weights.reshape(bsz, num_heads, tgt_len, src_len)
        if average_attn_weights:
            attn_weights = attn_weights.mean(dim=1)
        if not is_batched:
            attn_output, attn_weights = attn_output.squeeze(1), attn_weights.squeeze(0)
        return attn_output, attn_weights

    if attn_mask is not None:
        if attn_mask.size(0) == 1:
            attn_mask = attn_mask.unsqueeze(0)
        else:
            attn_mask = attn_mask.reshape(bsz, num_heads, -1, src_len)
    q = q.reshape(bsz, num_heads, tgt_len, head_dim)
    k = k.reshape(bsz, num_heads, src_len, head_dim)
    v = v.reshape(bsz, num_heads, src_len, head_dim)
    attn_output = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
    attn_output = attn_output.permute(2, 0, 1, 3).reshape(bsz * tgt_len, embed_dim)
    attn_output = _linear(attn_output, out_proj_weight, out_proj_bias)
    attn_output = attn_output.reshape(tgt_len, bsz, attn_output.size(1))
    if not is_batched:
        attn_output = attn_output.squeeze(1)
    return attn_output, None
