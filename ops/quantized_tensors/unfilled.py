"""Quantized tensors whose numbers are left open."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..memory.determinism import unfilled
from ..memory.dtype import Array, Device, DType, dtype_by_number
from ..memory.errors import OperatorError
from ..shapes.creation import OPTIONS, check_sizes
from ..table.table import operator
from .arrays import channels, per_tensor, quantized_array


@operator(
    f"aten::_empty_affine_quantized(SymInt[] size, {OPTIONS}, float scale=1., int zero_point=0, "
    "MemoryFormat? memory_format=0) -> Tensor",
    undefined=True,
    face="function",
)
def empty_affine_quantized(
    size: Sequence[int],
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
    scale: float,
    zero_point: int,
    memory_format: int | None,
) -> Array:
    kind = _quantized(dtype)
    return quantized_array(_numbers(size, kind), kind, per_tensor(scale, zero_point))


@operator(
    "aten::_empty_per_channel_affine_quantized(SymInt[] size, *, Tensor scales, "
    f"Tensor zero_points, int axis, {OPTIONS.removeprefix('*, ')}, MemoryFormat? memory_format=0) "
    "-> Tensor",
    undefined=True,
    face="function",
)
def empty_per_channel_affine_quantized(
    size: Sequence[int],
    scales: Array,
    zero_points: Array,
    axis: int,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: int | None,
) -> Array:
    kind = _quantized(dtype)
    numbers = _numbers(size, kind)
    return quantized_array(numbers, kind, channels(numbers, scales, zero_points, axis))


def _quantized(number: int | None) -> DType:
    """The dtype of that number.

    Raises:
        OperatorError: it is not quantized, or none that exists here.
    """
    dtype = None if number is None else dtype_by_number(number)
    if dtype is None or dtype.kind != "q":
        raise OperatorError(
            "Creation of quantized tensor requires quantized dtype like torch.quint8",
            code="dtype-mismatch",
        )
    if dtype.name not in ("qint8", "quint8", "qint32"):
        raise OperatorError(f"torch.{dtype.name} can only be made of numbers that there are")
    return dtype


def _numbers(size: Sequence[int], dtype: DType) -> Array:
    return unfilled(np.empty(check_sizes(size, "empty"), dtype.numpy[0]))
