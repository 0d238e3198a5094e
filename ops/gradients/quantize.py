"""Gradients of fake quantization: rounding passes them on, what was held back stops them."""

from __future__ import annotations

from ..tensors.tensor import Tensor
from .rows import Tensors, Wanted, aten, composite, gradient, joint

_WITH_MASK = (
    "aten::fake_quantize_per_tensor_affine_cachemask",
    "aten::fake_quantize_per_channel_affine_cachemask",
    "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
    "aten::_fused_moving_avg_obs_fq_helper",
)
gradient(*_WITH_MASK, self=lambda g, result1: g * result1)


@composite(
    "aten::fake_quantize_per_tensor_affine",
    name="FakeQuantizePerTensorAffineCachemaskBackward0",
)
def of_tensor(
    self: Tensor, scale: Tensor | float, zero_point: Tensor | int, quant_min: int, quant_max: int
) -> Tensor:
    """Values on the grid of one scale, which may be in a tensor."""
    if isinstance(scale, Tensor) and isinstance(zero_point, Tensor):
        scale, zero_point = scale.item(), zero_point.item()
    made = aten.fake_quantize_per_tensor_affine_cachemask(
        self, scale, zero_point, quant_min, quant_max
    )
    return made[0]


@composite(
    "aten::fake_quantize_per_channel_affine",
    name="FakeQuantizePerChannelAffineCachemaskBackward0",
)
def of_channels(
    self: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """Values on a grid for each channel."""
    made = aten.fake_quantize_per_channel_affine_cachemask(
        self, scale, zero_point, axis, quant_min, quant_max
    )
    return made[0]


@composite("aten::fused_moving_avg_obs_fake_quant", name="FusedMovingAvgObsFqHelperBackward0")
def observed(
    self: Tensor, observer_on: Tensor, fake_quant_on: Tensor, running_min: Tensor,
    running_max: Tensor, scale: Tensor, zero_point: Tensor, averaging_const: float, quant_min: int,
    quant_max: int, ch_axis: int, per_row_fake_quant: bool = False, symmetric_quant: bool = False,
) -> Tensor:  # fmt: skip
    """Values on the grid of an observed range."""
    made = aten._fused_moving_avg_obs_fq_helper(
        self, observer_on, fake_quant_on, running_min, running_max, scale, zero_point,
        averaging_const, quant_min, quant_max, ch_axis, per_row_fake_quant, symmetric_quant,
    )  # fmt: skip
    return made[0]


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
