"""Functions of layers: attention with several heads.

T is the number of places that ask (the query's), S of those that are asked, B the batch, E the
width; `rows` are B * heads, since every head of every sequence attends for itself.
"""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return, unreachable, arg-type"

import math
import warnings
from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DType
from ...ops.tensors.overriding import ask_for, asks
from ...ops.tensors.tensor import Tensor
from .. import dtype_names
from ..sizes import is_scripting
from .dropouts import dropout

__all__ = [
    "multi_head_attention_forward",
    "scaled_dot_product_attention",
]

Operator = Callable[..., Tensor]

scaled_dot_product_attention: Operator = eager_function("aten::scaled_dot_product_attention")

_baddbmm: Operator = eager_function("aten::baddbmm")
_bmm: Operator = eager_function("aten::bmm")
_cat: Operator = eager_function("aten::cat")
_is_floating_point: Callable[..., bool] = eager_function("aten::is_floating_point")
_linear: Operator = eager_function("aten::linear")
_pad: Operator = eager_function("aten::constant_pad_nd")
_softmax: Operator = eager_function("aten::softmax")
_zeros: Operator = eager_function("aten::zeros")
_zeros_like: Operator = eager_function("aten::zeros_like")

# --------------------------------------------------------------------------- masks


def _none_or_dtype(input: Tensor | None) -> DType | None:
    """The dtype of a tensor that may be missing."""
    if input is not None and not isinstance(input, Tensor):
        raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")
    return None if input is None else input.dtype


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: DType | None,
    other_name: str,
    target_type: DType,
    check_other: bool = True,
) -> Tensor | None:
    """A mask to be added: minus infinity where a bool mask is True."""
    if mask is None:
        return None
    is_floating = _is_floating_point(mask)
    if not is_floating and mask.dtype != dtype_names.boolean:
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and other_type != mask.dtype:
        _warn_of_mismatch(mask_name, other_name)
    if is_floating:
        return mask
    return _zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))


def _warn_of_mismatch(one: str, other: str) -> None:
    warnings.warn(
        f"Support for mismatched {one} and {other} is deprecated. Use same type for both instead.",
        stacklevel=3,
    )


def added_masks(
    attention: Tensor | None,
    padding: Tensor | None,
    dtype: DType,
    name: str = "attn_mask",
    padding_name: str = "key_padding_mask",
) -> tuple[Tensor | None, Tensor | None]:
    """The masks of attention and of padding, both to be added to scores of this dtype."""
    padding = _canonical_mask(padding, padding_name, _none_or_dtype(attention), name, dtype)
    return _canonical_mask(attention, name, None, "", dtype, False), padding


def _wider(mask: Tensor | None, count: int) -> Tensor | None:
    """With places at the end that are seen by all."""
    return mask if mask is None or count == 0 else _pad(mask, [0, count])


def _joined_masks(
    attention: Tensor | None, padding: Tensor | None, batch: int, heads: int, sources: int
) -> Tensor | None:
    """One mask (1 or rows, T or 1, S) of (T, S) or (rows, T, S), and of padding (B, S)."""
    if attention is not None and attention.ndim == 2:
        attention = attention.unsqueeze(0)
    if padding is None:
        return attention
    if not is_scripting():
        _check_key_padding_mask(padding, sources, batch)
    wide = padding.view(batch, 1, 1, sources).expand(-1, heads, -1, -1)
    joined = wide.reshape(batch * heads, 1, sources)
    return joined if attention is None else attention + joined


# --------------------------------------------------------------------------- checks


def _check_dims(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
) -> None:
    """Raises: AssertionError: the inputs are neither all a batch nor all one sequence."""
    dims = query.dim()
    if dims != 2 and dims != 3:
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor"
        )
    given = "For batched (3-D)" if dims == 3 else "For unbatched (2-D)"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"{given} `query`, expected `key` and `value` to be {dims}-D"
            f" but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(
            f"{given} `query`, expected `key_padding_mask` to be `None` or {dims - 1}-D"
            f" but found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"{given} `query`, expected `attn_mask` to be `None`, 2-D or 3-D"
            f" but found {attn_mask.dim()}-D tensor instead"
        )


def _check_mask_of_one(mask: Tensor | None, heads: int, targets: int, sources: int) -> None:
    """Raises: AssertionError: a mask for each head of one sequence is not (heads, T, S)."""
    if mask is not None and mask.ndim == 3 and mask.shape != (heads, targets, sources):
        raise AssertionError(
            f"Expected `attn_mask` shape to be {(heads, targets, sources)} but got {mask.shape}"
        )


def _mha_shape_check(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """Whether the inputs are batches rather than single sequences.

    Raises:
        AssertionError: they are neither, or a mask does not go with them.
    """
    _check_dims(query, key, value, key_padding_mask, attn_mask)
    if query.dim() == 2:
        _check_mask_of_one(attn_mask, num_heads, query.size(0), key.size(0))
    return query.dim() == 3


def _check_hint(is_causal: bool, mask: Tensor | None) -> None:
    if is_causal and mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )


def _check_mask(mask: Tensor, rows: int, targets: int, sources: int) -> None:
    """Raises: RuntimeError: the mask is neither (T, S) nor (rows, T, S)."""
    if mask.ndim == 2 and mask.shape != (targets, sources):
        raise RuntimeError(
            f"The shape of the 2D attn_mask is {mask.shape}, but should be {(targets, sources)}."
        )
    if mask.ndim == 3 and mask.shape != (rows, targets, sources):
        raise RuntimeError(
            f"The shape of the 3D attn_mask is {mask.shape}, "
            f"but should be {(rows, targets, sources)}."
        )


def _check_key_padding_mask(key_padding_mask: Tensor, src_len: int, bsz: int) -> None:
    """Raises: AssertionError: the mask is not (`bsz`, `src_len`)."""
    for place, wanted in enumerate((bsz, src_len)):
        if key_padding_mask.shape[place] != wanted:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{place}] to be {wanted}, "
                f"but got {key_padding_mask.shape[place]}"
            )


def _check_widths(width: int, wanted: int, heads: int) -> None:
    """Raises: AssertionError: the query is not as wide as the layer, or heads do not divide it."""
    if width != wanted:
        raise AssertionError(f"was expecting embedding dimension of {wanted}, but got {width}")
    if width % heads != 0:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {heads}")


def _check_sources(key: Tensor, value: Tensor, widths_may_differ: bool) -> None:
    """Raises: AssertionError: keys and values do not belong together."""
    if widths_may_differ and key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
        )
    if not widths_may_differ and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _check_biases(
    bias_k: Tensor | None, bias_v: Tensor | None, static_k: Tensor | None, static_v: Tensor | None
) -> None:
    """Raises: AssertionError: places for all are not given for both, or beside static ones."""
    if bias_v is None:
        if bias_k is not None:
            raise AssertionError("bias_k is set but bias_v is None")
    elif bias_k is None:
        raise AssertionError("bias_v is set but bias_k is None")
    elif static_k is not None:
        raise AssertionError("bias cannot be added to static key.")
    elif static_v is not None:
        raise AssertionError("bias cannot be added to static value.")


# --------------------------------------------------------------------------- projections


def _biases(joined: Tensor | None) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Those of query, key and value."""
    if joined is None:
        return None, None, None
    query, key, value = joined.chunk(3)
    return query, key, value


def _several(x: Tensor, weight: Tensor, bias: Tensor | None, count: int) -> Tensor:
    """(count, S, B, E): projections of one tensor by one product."""
    made = _linear(x, weight, bias).unflatten(-1, (count, x.size(-1)))
    return made.permute(2, 0, 1, 3).contiguous()


def _projected(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor | None, bias: Tensor | None
) -> list[Tensor]:
    """Query, key and value by one weight; what is one tensor takes part in one product."""
    if weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    width = query.size(-1)
    if key is not value:
        w_query, w_key, w_value = weight.chunk(3)
        b_query, b_key, b_value = _biases(bias)
        return [
            _linear(query, w_query, b_query),
            _linear(key, w_key, b_key),
            _linear(value, w_value, b_value),
        ]
    if query is key:
        made = _several(query, weight, bias, 3)
        return [made[0], made[1], made[2]]
    w_query, w_rest = weight.split([width, 2 * width])
    if bias is None:
        made = _several(key, w_rest, None, 2)
        return [_linear(query, w_query), made[0], made[1]]
    b_query, b_rest = bias.split([width, 2 * width])
    made = _several(key, w_rest, b_rest, 2)
    return [_linear(query, w_query, b_query), made[0], made[1]]


def _projected_apart(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weights: tuple[Tensor | None, Tensor | None, Tensor | None],
    bias: Tensor | None,
) -> list[Tensor]:
    """Query, key and value by weights of their own, to the width of the query."""
    width = query.size(-1)
    of_query, of_key, of_value = _biases(bias)
    return [
        _projected_by(query, weights[0], of_query, width, "query"),
        _projected_by(key, weights[1], of_key, width, "key"),
        _projected_by(value, weights[2], of_value, width, "value"),
    ]


def _projected_by(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, width: int, name: str
) -> Tensor:
    """Query, key or value by a weight of its own, to the width of the query."""
    if weight is None:
        raise AssertionError(f"use_separate_proj_weight is True but {name[0]}_proj_weight is None")
    if weight.shape != (width, x.size(-1)):
        raise AssertionError(
            f"expecting {name} weights shape of {(width, x.size(-1))}, but got {weight.shape}"
        )
    if bias is not None and bias.shape != (width,):
        raise AssertionError(f"expecting {name} bias shape of {(width,)}, but got {bias.shape}")
    return _linear(x, weight, bias)


def _in_projection_packed(
    q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None
) -> tuple[Tensor, ...]:
    """Query, key and value by one weight and bias for all three."""
    return tuple(_projected(q, k, v, w, b))


def _in_projection(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    b_q: Tensor | None = None,
    b_k: Tensor | None = None,
    b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value by weights and biases of their own, to the width of the query."""
    width = q.size(-1)
    return (
        _projected_by(q, w_q, b_q, width, "query"),
        _projected_by(k, w_k, b_k, width, "key"),
        _projected_by(v, w_v, b_v, width, "value"),
    )


# --------------------------------------------------------------------------- heads


def _in_heads(x: Tensor, given: Tensor | None, name: str, rows: int, width: int) -> Tensor:
    """(S, B, E) as (rows, S, `width`), unless they are given in that form."""
    if given is None:
        return x.view(x.size(0), rows, width).transpose(0, 1)
    if given.size(0) != rows:
        raise AssertionError(f"expecting {name}.size(0) of {rows}, but got {given.size(0)}")
    if given.size(2) != width:
        raise AssertionError(f"expecting {name}.size(2) of {width}, but got {given.size(2)}")
    return given


def _with_bias(x: Tensor, bias: Tensor | None) -> Tensor:
    """With one place more (1, 1, E) at the end, the same for all sequences."""
    return x if bias is None else _cat([x, bias.repeat(1, x.size(1), 1)])


def _with_zeros(x: Tensor) -> Tensor:
    """One place more, of zeros, that all can attend to."""
    return _cat([x, _zeros((x.size(0), 1, x.size(2)), dtype=x.dtype, device=x.device)], dim=1)


def _sources(
    x: Tensor,
    bias: Tensor | None,
    given: Tensor | None,
    name: str,
    rows: int,
    width: int,
    with_zeros: bool,
) -> Tensor:
    """Keys or values in heads, with the places that belong to no input."""
    made = _in_heads(_with_bias(x, bias), given, name, rows, width)
    return _with_zeros(made) if with_zeros else made


def _weights(query: Tensor, key: Tensor, mask: Tensor | None, dropout_p: float) -> Tensor:
    """(rows, T, S): how much each place takes of the others."""
    scaled = query * math.sqrt(1.0 / float(query.size(-1)))
    turned = key.transpose(-2, -1)
    scores = _bmm(scaled, turned) if mask is None else _baddbmm(mask, scaled, turned)
    weights = _softmax(scores, -1)
    return dropout(weights, dropout_p) if dropout_p > 0.0 else weights


def _shown(weights: Tensor, batch: int, heads: int, averaged: bool) -> Tensor:
    """Weights as they are given back: (B, heads, T, S), or their means (B, T, S)."""
    apart = weights.view(batch, heads, weights.size(1), weights.size(2))
    return apart.mean(1) if averaged else apart


def _attended(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    batch: int,
    heads: int,
    dropout_p: float,
    is_causal: bool,
) -> Tensor:
    """The attention (T, B, heads, E / heads), by the operator that keeps no weights."""
    sources, width = key.size(1), key.size(2)
    if mask is not None:
        one_for_all = mask.size(0) == 1
        mask = mask.unsqueeze(0) if one_for_all else mask.view(batch, heads, -1, sources)
    return scaled_dot_product_attention(
        query.view(batch, heads, query.size(1), width),
        key.view(batch, heads, sources, width),
        value.view(batch, heads, sources, width),
        mask,
        dropout_p,
        is_causal,
    ).permute(2, 0, 1, 3)


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
    if asks(
        *(query, key, value, in_proj_weight, in_proj_bias),
        *(bias_k, bias_v, out_proj_weight, out_proj_bias),
    ):
        return ask_for(multi_head_attention_forward, locals())
    is_batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    _check_hint(is_causal, attn_mask)
    if not is_batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    # where nothing forbids it, the operator makes the causal mask by itself
    is_causal = is_causal and key_padding_mask is None and not need_weights
    mask, padding = added_masks(None if is_causal else attn_mask, key_padding_mask, query.dtype)

    targets, batch, width = query.shape
    rows, head = batch * num_heads, width // num_heads
    _check_widths(width, embed_dim_to_check, num_heads)
    _check_sources(key, value, use_separate_proj_weight)
    if mask is not None:
        _check_mask(mask, rows, targets, key.size(0))
    _check_biases(bias_k, bias_v, static_k, static_v)
    if use_separate_proj_weight:
        weights_of = (q_proj_weight, k_proj_weight, v_proj_weight)
        query, key, value = _projected_apart(query, key, value, weights_of, in_proj_bias)
    else:
        query, key, value = _projected(query, key, value, in_proj_weight, in_proj_bias)
    query = _in_heads(query, None, "", rows, head)
    key = _sources(key, bias_k, static_k, "static_k", rows, head, add_zero_attn)
    value = _sources(value, bias_v, static_v, "static_v", rows, head, add_zero_attn)
    more = (0 if bias_k is None else 1) + (1 if add_zero_attn else 0)
    mask = _joined_masks(_wider(mask, more), _wider(padding, more), batch, num_heads, key.size(1))

    dropout_p = dropout_p if training else 0.0
    weights: Tensor | None = None
    if need_weights:
        taken = _weights(query, key, mask, dropout_p)
        mixed = _bmm(taken, value).transpose(0, 1)
        weights = _shown(taken, batch, num_heads, average_attn_weights)
    else:
        mixed = _attended(query, key, value, mask, batch, num_heads, dropout_p, is_causal)
    output = _linear(mixed.reshape(targets * batch, width), out_proj_weight, out_proj_bias)
    output = output.view(targets, batch, output.size(1))
    if is_batched:
        return output, weights
    return output.squeeze(1), None if weights is None else weights.squeeze(0)
