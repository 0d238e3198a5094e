"""Numbers of four bits (`quint4x2`): two in a byte where bytes are seen or stored, the first one in
the lower half; each in a byte of its own while they are computed with."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..memory.dtype import DTYPES, Array
from ..memory.errors import OperatorError
from ..table.table import operator

__all__ = ["LARGEST_HALF", "are_halves", "joined_halves", "single_halves"]

F32: Final = np.float32
LARGEST_HALF: Final = 15
"""The largest number of four bits."""


def are_halves(array: Array) -> bool:
    """Whether its elements are of four bits."""
    return array.dtype.names == ("quint4x2",)


def joined_halves(numbers: Array) -> Array:
    """Numbers (..., n) from 0 to 15, a byte each, as bytes (..., (n + 1) / 2) of two each."""
    count = numbers.shape[-1]
    if count % 2:
        numbers = np.concatenate([numbers, np.zeros((*numbers.shape[:-1], 1), np.uint8)], -1)
    return np.asarray(numbers[..., ::2] | (numbers[..., 1::2] << 4), np.uint8)


def single_halves(data: Array, shape: tuple[int, ...]) -> Array:
    """The numbers of bytes in order, of some shape: a `quint4x2` without a quantizer."""
    flat = np.empty((data.size, 2), np.uint8)
    numbers = data.reshape(-1).view(np.uint8)
    flat[:, 0], flat[:, 1] = numbers & 15, numbers >> 4
    return flat.reshape(-1)[: math.prod(shape)].view(DTYPES["quint4x2"].numpy).reshape(shape)


# ------------------------------------------------------------------------------ rows as bytes


@operator(
    "quantized::embedding_bag_4bit_prepack(Tensor weight, bool optimized_qparams=False, "
    "int nbins=200, float ratio=0.16) -> Tensor"
)
def pack_halves(weight: Array, optimized: bool, bins: int, ratio: float) -> Array:
    """Each row as its numbers, two a byte, then scale and least value as float16.

    Scale and least value are rounded before the numbers are found (FBGEMM's form of rows).
    """
    if optimized:
        raise OperatorError("embedding_bag_4bit_prepack: optimized_qparams is not supported")
    if weight.dtype != F32 or weight.ndim != 2 or weight.shape[1] % 2 or not weight.shape[1]:
        raise OperatorError("embedding_bag_4bit_prepack takes float rows of an even length")
    least = weight.min(-1).astype(np.float16)
    spread = weight.max(-1) - least.astype(F32)
    scale = np.where(spread == 0, F32(1), spread / F32(LARGEST_HALF)).astype(np.float16)
    scale = np.where(scale == 0, np.float16(1), scale)
    inverse = F32(1) / scale.astype(F32)  # which is finite for every float16 but 0
    steps = np.rint((weight - least.astype(F32)[:, None]) * inverse[:, None])
    numbers = np.clip(steps, 0, LARGEST_HALF).astype(np.uint8)
    ends = np.stack([scale, least], -1).astype("<f2").view(np.uint8)
    return np.concatenate([joined_halves(numbers), ends], -1)


@operator("quantized::embedding_bag_4bit_unpack(Tensor weight) -> Tensor")
def unpack_halves(weight: Array) -> Array:
    if weight.dtype != np.uint8 or weight.ndim != 2 or weight.shape[1] < 5:
        raise OperatorError("embedding_bag_4bit_unpack takes rows of bytes")
    ends = np.ascontiguousarray(weight[:, -4:]).view("<f2").astype(F32)
    bare = np.ascontiguousarray(weight[:, :-4])
    numbers = single_halves(bare, (len(weight), 2 * bare.shape[1])).view(np.uint8)
    return np.asarray(numbers * ends[:, :1] + ends[:, 1:], F32)
