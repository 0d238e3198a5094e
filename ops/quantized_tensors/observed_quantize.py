"""Fake quantization with ranges that are observed or learned on the way, as in training for it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..arithmetic.convert import item
from ..kernels import family, is_ready
from ..memory.dims import wrap_dim
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..selection.strides import resize_in_place
from ..table.pointwise import as_array
from ..table.table import operator
from ..table.without_data import always
from .arrays import SMALLEST_SCALE, choose_quantizer, scale_for
from .fake_quantize import of_channels, of_channels_with_mask, of_tensor_with_mask

_FLOOR: Final = float(SMALLEST_SCALE)

_STATE = (
    "Tensor(a!) running_min, Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) zero_point, "
    "float averaging_const, int quant_min, int quant_max, int ch_axis, "
    "bool per_row_fake_quant=False, bool symmetric_quant=False"
)


def _observe(running: Array, seen: Array, share: float) -> None:
    """Move a running end of the range towards the one that was seen; at first it is infinite."""
    seen = seen.reshape(running.shape)
    moved = running + np.float32(share) * (seen - running)
    if not np.isfinite(running).all():
        moved = np.where(np.isinf(running), seen, moved)
    running[...] = moved


def _is_of_rows(self: Array, state: tuple[tuple[Array, Array], ...], per_row: bool) -> bool:
    """Whether values and state are what kernels take."""
    (least, most), (scale, zero) = state
    rows = self.shape[0] if per_row else 1
    return (
        is_ready(self)
        and all(is_ready(each) and each.size == rows for each in (least, most, scale))
        and (zero.dtype == np.int32 and zero.size == rows and zero.flags.c_contiguous)
    )


def _rows(self: Array, axis: int) -> Array:
    """The tensor as a matrix with a row for each channel."""
    return as_array(self.swapaxes(0, axis).reshape(self.shape[axis], -1))


@operator(
    "aten::_fused_moving_avg_obs_fq_helper(Tensor self, Tensor observer_on, Tensor fake_quant_on, "
    f"{_STATE}) -> (Tensor output, Tensor mask)",
    out="out out0 out1 -",
)
def observed_with_mask(
    self: Array,
    observer_on: Array,
    fake_quant_on: Array,
    running_min: Array,
    running_max: Array,
    scale: Array,
    zero_point: Array,
    averaging_const: float,
    quant_min: int,
    quant_max: int,
    ch_axis: int,
    per_row_fake_quant: bool,
    symmetric_quant: bool,
) -> tuple[Array, Array]:
    """A moving average of the range, the scale that follows from it, and the values rounded by it.

    Of rows, each channel has a range; state of no elements is made as large as that takes.
    """
    self = self[...]  # which no other thread can change
    if not self.size:
        return self.copy(), np.ones(self.shape, np.bool_)
    if ch_axis >= self.ndim:
        raise OperatorError(
            "Error in fused_moving_avg_obs_fake_quant_cpu: ch_axis must be < self.dim()"
        )
    if per_row_fake_quant and not running_min.size:
        for each in (running_min, running_max, scale, zero_point):
            resize_in_place(each, [self.shape[ch_axis]], None)
        running_min.fill(np.inf)
        running_max.fill(-np.inf)
    running_min, running_max = running_min[...], running_max[...]
    scale, zero_point = scale[...], zero_point[...]
    sees = bool(item(observer_on))
    state = (running_min, running_max), (scale, zero_point)
    if sees and per_row_fake_quant and ch_axis != 0:
        raise OperatorError(
            "Per-channel FakeQuant in fused_moving_avg_obs_fake_quant is only supported on "
            "axis == 0"
        )
    rounds = bool(item(fake_quant_on))
    is_of_rows = rounds and _is_of_rows(self, state, per_row_fake_quant)
    grids = family("quantized.grids") if is_of_rows else None
    if grids is not None:
        settings = averaging_const, quant_min, quant_max, symmetric_quant, sees, _FLOOR
        if grids.observe(self, *state, *settings):
            made: tuple[Array, Array] = grids.rounded(self, *state[1], quant_min, quant_max)
            return made
    elif sees:
        seen = _rows(self, ch_axis) if per_row_fake_quant else self.reshape(1, -1)
        _observe(running_min, as_array(seen.min(1)), averaging_const)
        _observe(running_max, as_array(seen.max(1)), averaging_const)
    if not rounds:
        return self.copy(), np.ones(self.shape, np.bool_)
    chosen = _scales(running_min, running_max, quant_min, quant_max, symmetric_quant)
    scale[: len(chosen)], zero_point[: len(chosen)] = zip(*chosen, strict=True)
    if per_row_fake_quant:
        return of_channels_with_mask(self, scale, zero_point, ch_axis, quant_min, quant_max)
    return of_tensor_with_mask(self, item(scale), item(zero_point), quant_min, quant_max)


def _scales(
    least: Array, most: Array, quant_min: int, quant_max: int, symmetric: bool
) -> list[tuple[float, int]]:
    """The scale and zero point of each range.

    Raises:
        OperatorError: a range ends before it begins.
    """
    chosen = []
    for low, high in zip(least.ravel().tolist(), most.ravel().tolist(), strict=True):
        if low > high:
            raise OperatorError(
                "[FBGEMM] Error: In ChooseQuantizationParams, min should be less than or equal to "
                f"max. Min = {low:g}, Max = {high:g}"
            )
        chosen.append(scale_for(low, high, quant_min, quant_max, symmetric))
    return chosen


@operator(
    "aten::fused_moving_avg_obs_fake_quant(Tensor self, Tensor observer_on, Tensor fake_quant_on, "
    f"{_STATE}) -> Tensor",
    face="function",
)
def observed(self: Array, *settings: Any) -> Array:
    return observed_with_mask(self, *settings)[0]


@operator(
    "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, "
    "Tensor zero_point, Tensor fake_quant_enabled, int quant_min, int quant_max) "
    "-> (Tensor output, Tensor mask)",
    out="out out0 out1 -",
)
def switched_with_mask(
    self: Array,
    scale: Array,
    zero_point: Array,
    fake_quant_enabled: Array,
    quant_min: int,
    quant_max: int,
) -> tuple[Array, Array]:
    """Rounded by a scale in a tensor, if it is switched on."""
    if not item(fake_quant_enabled):
        return self.copy(), np.ones(self.shape, np.bool_)
    return of_tensor_with_mask(self, item(scale), item(zero_point), quant_min, quant_max)


@operator(
    "aten::_fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, "
    "Tensor zero_point, int quant_min, int quant_max, float grad_factor=1.) -> Tensor"
)
def learnable(
    self: Array,
    scale: Array,
    zero_point: Array,
    quant_min: int,
    quant_max: int,
    grad_factor: float,
) -> Array:
    """Rounded by a scale and a zero point that are floats and have gradients."""
    zero = int(np.clip(np.rint(zero_point[0]), quant_min, quant_max))
    return of_tensor_with_mask(self, item(scale[0]), zero, quant_min, quant_max)[0]


@operator(
    "aten::_fake_quantize_learnable_per_channel_affine(Tensor self, Tensor scale, "
    "Tensor zero_point, int axis, int quant_min, int quant_max, float grad_factor=1.) -> Tensor"
)
def learnable_channels(
    self: Array,
    scale: Array,
    zero_point: Array,
    axis: int,
    quant_min: int,
    quant_max: int,
    grad_factor: float,
) -> Array:
    zeros = as_array(np.clip(np.rint(zero_point), quant_min, quant_max).astype(np.int32))
    return of_channels(self, scale, zeros, wrap_dim(axis, self.ndim), quant_min, quant_max)


@operator(
    "aten::_choose_qparams_per_tensor(Tensor self, bool reduce_range=False) -> (float, int)",
    data_dependent=always,
)
def choose_for_tensor(self: Array, reduce_range: bool) -> tuple[float, int]:
    """The scale and zero point by which a dynamic layer quantizes its input to 8 bits."""
    chosen = choose_quantizer(self, 0, 127 if reduce_range else 255)
    return float(chosen.scale), int(chosen.zero_point)


@operator("aten::_saturate_weight_to_fp16(Tensor weight) -> Tensor", out="")
def saturate_to_half(weight: Array) -> Array:
    """Weights held within what half precision can say."""
    limit = np.float32(np.finfo(np.float16).max)
    return as_array(np.clip(weight, -limit, limit))
