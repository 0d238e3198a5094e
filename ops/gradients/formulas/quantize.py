"""Gradients of fake quantization: rounding passes them on, what was held back stops them."""

from __future__ import annotations

import numpy as np

from ...memory.dtype import Array
from ...table.pointwise import as_array
from ...tensors.tensor import Tensor
from ..table.rows import (
    Run,
    Tensors,
    Wanted,
    aten,
    constant,
    direct,
    gradient,
    joint,
    rewritten,
    undifferentiated,
)
from ..table.rules import are_wide

constant("quantize_per_tensor", "quantize_per_tensor_dynamic", "quantize_per_channel")


_OF_TENSOR = "aten::fake_quantize_per_tensor_affine_cachemask"
_OF_CHANNELS = "aten::fake_quantize_per_channel_affine_cachemask"
_BY_TENSORS = "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"
_OBSERVED = "aten::_fused_moving_avg_obs_fq_helper"

gradient(_OF_TENSOR, _OF_CHANNELS, _BY_TENSORS, _OBSERVED, self=lambda g, result1: g * result1)

undifferentiated(
    "scale zero_point", *(each.removeprefix("aten::") for each in (_OF_CHANNELS, _BY_TENSORS))
)
undifferentiated("running_min running_max scale", _OBSERVED.removeprefix("aten::"))


@direct(_OF_TENSOR, _OF_CHANNELS, _BY_TENSORS, _OBSERVED, of="self")
def masked(g: Tensor | None, result1: Tensor) -> tuple[Tensor] | None:
    """What was held back has no gradient."""
    if g is None or not are_wide(g):
        return None
    return (Tensor._of(as_array(np.multiply(g._array, result1._array))),)


# What may change until somebody walks back (scales, zero points, ranges that are observed) is read
# once: each runs as the operator that gives the mask as well, which is kept.


@rewritten("aten::fake_quantize_per_tensor_affine", first_of=_OF_TENSOR)
def of_tensor(
    run: Run, self: Array, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> Array:
    """Values on the grid of one scale."""
    made: Array = run(_OF_TENSOR, self, scale, zero_point, quant_min, quant_max)[0]
    return made


@rewritten("aten::fake_quantize_per_tensor_affine.tensor_qparams")
def of_tensor_by_tensors(
    run: Run, self: Array, scale: Array, zero_point: Array, quant_min: int, quant_max: int
) -> Array:
    """Values on the grid of one scale, in a tensor."""
    enabled = np.ones(1, np.int64)
    made: Array = run(_BY_TENSORS, self, scale, zero_point, enabled, quant_min, quant_max)[0]
    return made


@rewritten("aten::fake_quantize_per_channel_affine", first_of=_OF_CHANNELS)
def of_channels(
    run: Run, self: Array, scale: Array, zero_point: Array, axis: int, quant_min: int,
    quant_max: int,
) -> Array:  # fmt: skip
    """Values on a grid for each channel."""
    made: Array = run(_OF_CHANNELS, self, scale, zero_point, axis, quant_min, quant_max)[0]
    return made


@rewritten("aten::fused_moving_avg_obs_fake_quant", first_of=_OBSERVED)
def observed(run: Run, self: Array, *settings: object) -> Array:
    """Values on the grid of an observed range."""
    made: Array = run(_OBSERVED, self, *settings)[0]
    return made


def _learned(
    g: Tensor, x: Tensor, scale: Tensor, zero: Tensor, low: int, high: int, factor: float,
    dims: list[int],
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """The gradients of values, scale and zero point, the latter two summed over `dims`."""
    numbers = (zero + x * (1 / scale)).round()
    held = numbers.clamp(low, high)
    inside = held == numbers
    off = (held - zero) * scale - x
    of_scale = aten.where(inside, off / scale, held - zero) * g * factor
    of_zero = aten.where(inside, 0.0, -scale) * g * factor
    return g * inside, of_scale.sum(dims), of_zero.sum(dims)


@joint("aten::_fake_quantize_learnable_per_tensor_affine", of="self scale zero_point")
def learnable(
    gs: Tensors, wanted: Wanted, self: Tensor, scale: Tensor, zero_point: Tensor, quant_min: int,
    quant_max: int, grad_factor: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """One scale and zero point, which are learned."""
    zero = (zero_point + 0.5).clamp(quant_min, quant_max).trunc()
    dims = list(range(self.ndim))
    x, s, z = _learned(gs[0], self, scale, zero, quant_min, quant_max, grad_factor, dims)
    return x, s.reshape([1]), z.reshape([1])


@joint("aten::_fake_quantize_learnable_per_channel_affine", of="self scale zero_point")
def learnable_channels(
    gs: Tensors, wanted: Wanted, self: Tensor, scale: Tensor, zero_point: Tensor, axis: int,
    quant_min: int, quant_max: int, grad_factor: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """A learned scale and zero point for each channel."""
    sizes = [1] * self.ndim
    sizes[axis] = -1
    zero = zero_point.round().clamp(quant_min, quant_max).reshape(sizes)
    dims = [d for d in range(self.ndim) if d != axis % self.ndim]
    return _learned(
        gs[0], self, scale.reshape(sizes), zero, quant_min, quant_max, grad_factor, dims
    )
