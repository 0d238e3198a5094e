"""Scaled dot-product attention."""

from __future__ import annotations

import math

from ..items import Item, Operand, Unsupported
from ..table import exports
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
