"""Scaled dot-product attention, and layers made of it."""

from __future__ import annotations

import math

from ..items import Item, Operand, Unsupported
from ..table import EXPORTS, exports
from ..writer import BOOL, INT, Writer

__all__: list[str] = []


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
    q, k, v = w.tensor(query), w.tensor(key), w.tensor(value)
    if w.real(dropout_p, "dropout_p") != 0:
        raise Unsupported("it draws random numbers in training")
    if enable_gqa is not False:
        raise Unsupported("groups of heads")
    width = w.known_size(q, -1, "the width of the heads")
    factor = 1 / math.sqrt(width) if scale is None else w.real(scale, "scale")
    order = [*range(w.rank(k) - 2), w.rank(k) - 1, w.rank(k) - 2]
    scaled = w.op("Mul", q, w.constant(factor, q.dtype))
    weights = w.op("MatMul", scaled, w.transpose(k, order))
    mask = w.optional(attn_mask)
    if is_causal is True:
        sizes = [w.size(q, -2), w.size(k, -2)]
        mask = w.cast(w.op("Trilu", w.filled(sizes, 1, INT), upper=0), BOOL)
    if mask is not None:
        weights = w.op("Add", weights, _added(w, mask, q))
    soft = w.op("Softmax", weights, axis=-1)
    if mask is not None and mask.dtype == BOOL and is_causal is not True:
        soft = w.where(w.op("IsNaN", soft), w.constant(0.0, q.dtype), soft)
    return w.op("MatMul", soft, v)


def _added(w: Writer, mask: Operand, q: Operand) -> Operand:
    """A mask as numbers to add."""
    if mask.dtype != BOOL:
        return w.cast(mask, q.dtype)
    return w.where(mask, w.constant(0.0, q.dtype), w.constant(-math.inf, q.dtype))


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
    if mask is not None:
        raise Unsupported("a mask")
    x = w.tensor(src)
    if w.rank(x) != 3:
        raise Unsupported("an input without batches")
    width, heads = w.whole(embed_dim, "embed_dim"), w.whole(num_heads, "num_heads")
    linear, norm = EXPORTS["aten::linear"], EXPORTS["aten::layer_norm"]

    def attended(y: Operand) -> Operand:
        parts = w.ops(
            3, "Split", linear(w, y, qkv_weight, qkv_bias), w.ints(width, width, width), axis=2
        )
        apart = w.ints(0, 0, heads, width // heads)
        turned = [w.transpose(w.op("Reshape", each, apart), [0, 2, 1, 3]) for each in parts]
        found = w.tensor(EXPORTS["aten::scaled_dot_product_attention"](w, *turned))
        joined = w.op("Reshape", w.transpose(found, [0, 2, 1, 3]), w.ints(0, 0, width))
        return w.tensor(linear(w, joined, proj_weight, proj_bias))

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
