"""Scaled dot-product attention, and layers made of it."""

from __future__ import annotations

import math

from ..items import Item, Maybe, Operand, Unsupported
from ..table import EXPORTS, exports
from ..writer import BOOL, END, INT, Writer


@exports("aten::scaled_dot_product_attention")
def scaled_dot_product_attention(
    w: Writer,
    query: Item,
    key: Item,
    value: Item,
    attn_mask: Item = None,
    dropout_p: Item = 0.0,
    is_causal: Item = False,
    scale: Item = None,
    enable_gqa: Item = False,
) -> Item:
    if w.real(dropout_p, "dropout_p") != 0:
        raise Unsupported("it draws random numbers in training")
    if enable_gqa is not False:
        raise Unsupported("groups of heads")
    q, k = w.tensor(query), w.tensor(key)
    return w.op("MatMul", _weights(w, q, k, attn_mask, is_causal, scale), w.tensor(value))


def _weights(
    w: Writer, q: Operand, k: Operand, attn_mask: Item, is_causal: Item, scale: Item
) -> Operand:
    """How much each query takes of each key."""
    width = w.known_size(q, -1, "the width of the heads")
    factor = 1 / math.sqrt(width) if scale is None else w.real(scale, "scale")
    order = [*range(w.rank(k) - 2), w.rank(k) - 1, w.rank(k) - 2]
    scaled = w.op("Mul", q, w.constant(factor, q.dtype))
    weights = w.op("MatMul", scaled, w.transpose(k, order))
    present = attn_mask.present if isinstance(attn_mask, Maybe) else None
    mask = w.optional(attn_mask.value if isinstance(attn_mask, Maybe) else attn_mask)
    if mask is not None:
        weights = w.op("Add", weights, _where(w, present, _added(w, mask, q)))
    if is_causal is not False:
        sizes = [w.size(q, -2), w.size(k, -2)]
        earlier = w.cast(w.op("Trilu", w.filled(sizes, 1, INT), upper=0), BOOL)
        condition = None if is_causal is True else w.tensor(is_causal)
        weights = w.op("Add", weights, _where(w, condition, _added(w, earlier, q)))
    soft = w.op("Softmax", weights, axis=-1)
    if mask is not None and mask.dtype == BOOL:
        soft = w.where(w.op("IsNaN", soft), w.constant(0.0, q.dtype), soft)
    return soft


@exports("aten::_nested_tensor_from_mask_left_aligned")
def left_aligned(w: Writer, t: Item, mask: Item) -> Item:
    """Whether no place is kept behind one that is not."""
    kept = w.cast(w.tensor(mask), INT)
    later, earlier = w.slice(kept, 1, 1, END), w.slice(kept, 1, 0, -1)
    begun = w.op("Reshape", w.op("Sub", later, earlier), w.ints(-1))
    most = w.reduce("ReduceMax", w.op("Concat", w.ints(0), begun, axis=0), [0], False)
    return w.op("LessOrEqual", most, w.constant(0, INT))


def _where(w: Writer, condition: Operand | None, added: Operand) -> Operand:
    """What is added if a run says so; None: in any case."""
    return added if condition is None else w.where(condition, added, w.constant(0, added.dtype))


def _added(w: Writer, mask: Operand, q: Operand) -> Operand:
    """A mask as numbers to add."""
    if mask.dtype != BOOL:
        return w.cast(mask, q.dtype)
    return w.where(mask, w.constant(0.0, q.dtype), w.constant(-math.inf, q.dtype))


def _left_out(w: Writer, mask: Item, mask_type: Item, x: Operand) -> Operand:
    """A mask of what is left out as numbers to add to scores (B, heads, T, S).

    Type 0 is (T, S) for all, type 1 is padding (B, S), type 2 is (B, heads, T, S).
    """
    out = w.tensor(mask)
    if out.dtype != BOOL:  # numbers count as True, as in torch
        out = w.op("Not", w.op("Equal", out, w.constant(0, out.dtype)))
    if mask_type == 1 and w.rank(out) == 2:
        out = w.unsqueeze(w.unsqueeze(out, 1), 1)
    elif w.rank(out) == 3:
        out = w.reshape(out, [w.size(x, 0), -1, w.size(out, 1), w.size(out, 2)])
    return w.where(out, w.constant(-math.inf, x.dtype), w.constant(0.0, x.dtype))


def _of_heads(
    w: Writer,
    inputs: list[Operand],
    width: int,
    num_heads: Item,
    projections: tuple[Item, Item, Item, Item],
    added: Operand | None,
) -> tuple[Operand, Operand]:
    """Attention (B, T, E) over query, key and value, with the projections before and after, and
    its weights (B, heads, T, S)."""
    weight, bias, out_weight, out_bias = projections
    linear, heads = EXPORTS["aten::linear"], w.whole(num_heads, "num_heads")
    thirds = w.ints(width, width, width)
    weights = w.ops(3, "Split", w.tensor(weight), thirds, axis=0)
    biases = w.ops(3, "Split", w.tensor(bias), thirds, axis=0)
    apart, turned = w.ints(0, 0, heads, width // heads), []
    for each, own, shift in zip(inputs, weights, biases, strict=True):
        parts = w.op("Reshape", w.tensor(linear(w, each, own, shift)), apart)
        turned.append(w.transpose(parts, [0, 2, 1, 3]))
    query, key, value = turned
    soft = _weights(w, query, key, added, False, None)
    found = w.op("MatMul", soft, value)
    joined = w.op("Reshape", w.transpose(found, [0, 2, 1, 3]), w.ints(0, 0, width))
    return w.tensor(linear(w, joined, out_weight, out_bias)), soft


@exports("aten::_native_multi_head_attention")
def native_multi_head_attention(
    w: Writer,
    query: Item,
    key: Item,
    value: Item,
    embed_dim: Item,
    num_head: Item,
    qkv_weight: Item,
    qkv_bias: Item,
    proj_weight: Item,
    proj_bias: Item,
    mask: Item = None,
    need_weights: Item = True,
    average_attn_weights: Item = True,
    mask_type: Item = None,
) -> Item:
    inputs = [w.tensor(each) for each in (query, key, value)]
    added = None if mask is None else _left_out(w, mask, mask_type, inputs[0])
    projections = (qkv_weight, qkv_bias, proj_weight, proj_bias)
    width = w.whole(embed_dim, "embed_dim")
    found, soft = _of_heads(w, inputs, width, num_head, projections, added)
    if need_weights is False:
        return found, w.filled([0], 0.0, inputs[0].dtype)
    return found, w.reduce("ReduceMean", soft, [1], False) if average_attn_weights else soft


@exports("aten::_transformer_encoder_layer_fwd")
def encoder_layer(
    w: Writer,
    src: Item,
    embed_dim: Item,
    num_heads: Item,
    qkv_weight: Item,
    qkv_bias: Item,
    proj_weight: Item,
    proj_bias: Item,
    use_gelu: Item,
    norm_first: Item,
    eps: Item,
    norm_weight_1: Item,
    norm_bias_1: Item,
    norm_weight_2: Item,
    norm_bias_2: Item,
    ffn_weight_1: Item,
    ffn_bias_1: Item,
    ffn_weight_2: Item,
    ffn_bias_2: Item,
    mask: Item = None,
    mask_type: Item = None,
) -> Item:
    x = w.tensor(src)
    if w.rank(x) != 3:
        raise Unsupported("an input without batches")
    added = None if mask is None else _left_out(w, mask, mask_type, x)
    width = w.whole(embed_dim, "embed_dim")
    linear, norm = EXPORTS["aten::linear"], EXPORTS["aten::layer_norm"]

    def attended(y: Operand) -> Operand:
        projections = (qkv_weight, qkv_bias, proj_weight, proj_bias)
        return _of_heads(w, [y] * 3, width, num_heads, projections, added)[0]

    def widened(y: Operand) -> Operand:
        inner = linear(w, y, ffn_weight_1, ffn_bias_1)
        bent = EXPORTS["aten::gelu" if use_gelu is True else "aten::relu"](w, inner)
        return w.tensor(linear(w, bent, ffn_weight_2, ffn_bias_2))

    for part, weight, bias in (
        (attended, norm_weight_1, norm_bias_1),
        (widened, norm_weight_2, norm_bias_2),
    ):
        if norm_first is True:
            x = w.op("Add", x, part(w.tensor(norm(w, x, [width], weight, bias, eps))))
        else:
            x = w.tensor(norm(w, w.op("Add", x, part(x)), [width], weight, bias, eps))
    return x
