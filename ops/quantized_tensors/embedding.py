"""Tables of rows in eight or four bits: each row with a scale and a zero point of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..layers.embedding import embedding, plain_embedding_bag
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..table.table import operator
from .arrays import dequantize, numbers_of, quantizer_of
from .halves import are_halves, unpack_halves
from .packed_weights import PackedEmbedding

F32: Final = np.float32
_W: Final = "__torch__.torch.classes.quantized.EmbeddingPackedParamsBase"
_BAG: Final = (
    "Tensor indices, Tensor? offsets=None, bool scale_grad_by_freq=False, int mode=0, "
    "bool pruned_weights=False, Tensor? per_sample_weights=None, "
    "Tensor? compressed_indices_mapping=None, bool include_last_offset=False"
)


@operator(f"quantized::embedding_bag_prepack(Tensor weight) -> {_W} W_prepack")
def prepack(weight: Array) -> PackedEmbedding:
    quantizer_of(weight, "embedding_bag_prepack")
    return PackedEmbedding(weight)


@operator(f"quantized::embedding_bag_unpack({_W} W_prepack) -> Tensor W_origin")
def unpack(packed: PackedEmbedding) -> Array:
    return packed.weight


@operator(
    f"quantized::embedding_byte({_W} weight, Tensor indices, bool pruned_weights=False) -> Tensor",
    f"quantized::embedding_4bit({_W} weight, Tensor indices, bool pruned_weights=False) -> Tensor",
)
def rows(packed: PackedEmbedding, indices: Array, pruned: bool) -> Array:
    return embedding(_table(packed.weight), indices, -1, False, False)


def _table(weight: Array) -> Array:
    """The values of a table.  With four bits a scale and what is added are float16."""
    if not are_halves(weight):
        return dequantize(weight)
    quantizer = quantizer_of(weight, "embedding_4bit")
    scale = quantizer.scale.astype(F32)
    added = (-quantizer.zero_point.astype(F32) * scale).astype(np.float16).astype(F32)
    numbers = numbers_of(weight).astype(F32)
    return np.asarray(numbers * scale.astype(np.float16).astype(F32)[:, None] + added[:, None], F32)


def _bag(
    table: Array,
    indices: Array,
    offsets: Array | None,
    mode: int,
    samples: Any,
    pruned: bool,
    mapping: object,
    last: bool,
) -> Array:
    if pruned or mapping is not None:
        raise OperatorError("quantized::embedding_bag: pruned weights are not supported")
    if mode not in (0, 1):
        raise OperatorError("quantized::embedding_bag: this mode is not supported")
    if offsets is None:
        if indices.ndim != 2:
            raise OperatorError("offsets are needed where indices are one-dimensional")
        offsets = np.arange(0, indices.size, indices.shape[1], dtype=indices.dtype)
    flat = None if samples is None else samples.reshape(-1)
    made = plain_embedding_bag(table, indices.reshape(-1), offsets, False, 0, False, flat, last, -1)
    return made[0]


@operator(
    f"quantized::embedding_bag_byte({_W} weight, {_BAG}) -> Tensor",
    f"quantized::embedding_bag_4bit({_W} weight, {_BAG}) -> Tensor",
)
def bags(
    packed: PackedEmbedding,
    indices: Array,
    offsets: Array | None,
    by_frequency: bool,
    mode: int,
    pruned: bool,
    samples: Array | None,
    mapping: Array | None,
    last: bool,
) -> Array:
    table = _table(packed.weight)
    return _bag(table, indices, offsets, mode, samples, pruned, mapping, last)


# --------------------------------------------------------------------------- rows as bytes


@operator("quantized::embedding_bag_byte_prepack(Tensor weight) -> Tensor")
def pack_bytes(weight: Array) -> Array:
    """Each row as its numbers, then scale and least value as four bytes each."""
    if weight.dtype.names is not None:
        quantizer = quantizer_of(weight, "embedding_bag_byte_prepack")
        numbers, scale = numbers_of(weight), quantizer.scale.astype(F32)
        least = -quantizer.zero_point.astype(F32) * scale
    else:
        values = weight.astype(F32)
        least, most = values.min(-1), values.max(-1)
        scale = ((most - least) / F32(255)).astype(F32)
        step = np.where(scale > 0, scale, F32(1))[..., None]
        numbers = np.rint((values - least[..., None]) / step).astype(np.uint8)
    ends = np.stack([scale, least], -1).astype("<f4").view(np.uint8)
    return np.concatenate([numbers, ends.reshape(*numbers.shape[:-1], 8)], -1)


@operator("quantized::embedding_bag_byte_unpack(Tensor weight) -> Tensor")
def unpack_bytes(weight: Array) -> Array:
    if weight.dtype != np.uint8 or weight.shape[-1] < 8:
        raise OperatorError("embedding_bag_byte_unpack takes rows of bytes")
    ends = np.ascontiguousarray(weight[..., -8:]).view("<f4").astype(F32)
    return np.asarray(weight[..., :-8].astype(F32) * ends[..., :1] + ends[..., 1:], F32)


def _bags_of_rows(unpack: Callable[[Array], Array]) -> Callable[..., Array]:
    """The bags of a table whose rows are bytes."""

    def bags_of_rows(
        weight: Array,
        indices: Array,
        offsets: Array | None,
        by_frequency: bool,
        mode: int,
        pruned: bool,
        samples: Array | None,
        mapping: Array | None,
        last: bool,
    ) -> Array:
        return _bag(unpack(weight), indices, offsets, mode, samples, pruned, mapping, last)

    return bags_of_rows


for _rows, _unpack in (("byte", unpack_bytes), ("4bit", unpack_halves)):
    operator(f"quantized::embedding_bag_{_rows}_rowwise_offsets(Tensor weight, {_BAG}) -> Tensor")(
        _bags_of_rows(_unpack)
    )
