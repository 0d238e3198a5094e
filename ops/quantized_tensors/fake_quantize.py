"""What quantization would make of floats, as floats: rounded to a grid and held within a range."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..arithmetic.convert import item
from ..kernels import family, is_ready
from ..memory.dims import wrap_dim
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..table.pointwise import as_array
from ..table.table import operator


def _check_range(quant_min: int, quant_max: int) -> None:
    if quant_min > quant_max:
        raise OperatorError(
            "`quant_min` should be less than or \n        equal to `quant_max`.",
            headline=f"`quant_min` is {quant_min}, `quant_max` {quant_max}",
        )


def _check_zero_points(zero_point: Array | int, quant_min: int, quant_max: int) -> None:
    least = most = zero_point
    if isinstance(zero_point, np.ndarray):
        if zero_point.dtype.kind == "f" or not zero_point.size:
            return  # floats are no numbers of the range
        least, most = zero_point.min(), zero_point.max()
    if least < quant_min or most > quant_max:
        raise OperatorError("`zero_point` must be between `quant_min` and `quant_max`.")


def _rounded(
    self: Array, scale: object, zero_point: Array | int, quant_min: int, quant_max: int
) -> tuple[Array, Array]:
    """The values, and where they lay within the range."""
    self, factor = self[...], np.asarray(scale, np.float32)[...]  # which nobody else can change
    if isinstance(zero_point, np.ndarray):
        zero_point = zero_point[...]
    made = _by_kernel(self, factor, zero_point, quant_min, quant_max)
    if made is not None:
        return made
    places = np.multiply(self, np.float32(1) / factor, dtype=np.float32, casting="unsafe")
    is_narrow = quant_min >= -_EXACT and quant_max <= _EXACT
    if isinstance(zero_point, np.ndarray) and zero_point.dtype.kind == "f":
        places = np.rint(places + zero_point)
    else:
        zero_point = np.asarray(zero_point, np.float32 if is_narrow else np.float64)
        places = np.rint(places) + zero_point
    held = np.minimum(np.maximum(places, quant_min), quant_max)
    values = np.subtract(held, zero_point, dtype=np.float32, casting="same_kind") * factor
    return as_array(values.astype(self.dtype, copy=False)), as_array(held == places)


def _by_kernel(
    self: Array, factor: Array, zero_point: Array | int, quant_min: int, quant_max: int
) -> tuple[Array, Array] | None:
    """The same by a kernel, for values in rows of one grid each."""
    if not is_ready(self) or quant_min < -_EXACT or quant_max > _EXACT or not self.size:
        return None
    rows = factor.size
    if rows != 1 and (factor.shape[0] != rows or rows != self.shape[0]):
        return None
    zero = np.asarray(zero_point)
    if zero.dtype.kind not in "iu" or zero.size != rows or not factor.flags.c_contiguous:
        return None
    grids = family("quantized.grids")
    if grids is None:
        return None
    made: tuple[Array, Array] = grids.rounded(
        self, factor, np.ascontiguousarray(zero, np.int32), quant_min, quant_max
    )
    return made


_EXACT: Final = 1 << 22
"""Ranges within this are those of float32, which larger numbers leave in any case."""


@operator(
    "aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, "
    "int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
    face="operator",
    out="out out0 out1 -",
)
def of_tensor_with_mask(
    self: Array, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> tuple[Array, Array]:
    _check_range(quant_min, quant_max)
    _check_zero_points(zero_point, quant_min, quant_max)
    return _rounded(self, scale, zero_point, quant_min, quant_max)


@operator(
    "aten::fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, "
    "int quant_min, int quant_max) -> Tensor",
    autocast="full",
    out="",
    face="function",
)
def of_tensor(self: Array, scale: float, zero_point: int, quant_min: int, quant_max: int) -> Array:
    return of_tensor_with_mask(self, scale, zero_point, quant_min, quant_max)[0]


@operator(
    "aten::fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, "
    "Tensor zero_point, int quant_min, int quant_max) -> Tensor",
    autocast="full",
    out="",
    face="function",
)
def of_tensor_by_tensors(
    self: Array, scale: Array, zero_point: Array, quant_min: int, quant_max: int
) -> Array:
    _check_range(quant_min, quant_max)
    item(scale), item(zero_point)  # each must be one number
    shift = zero_point.reshape(())
    return _rounded(self, scale.reshape(()), shift, quant_min, quant_max)[0]


@operator(
    "aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, "
    "Tensor zero_point, int axis, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
    face="operator",
    out="out out0 out1 -",
)
def of_channels_with_mask(
    self: Array, scale: Array, zero_point: Array, axis: int, quant_min: int, quant_max: int
) -> tuple[Array, Array]:
    if scale.ndim != 1 or zero_point.ndim != 1:
        raise OperatorError(
            "scale should be a 1-D tensor"
            if scale.ndim != 1
            else "zero point should be a 1-D tensor"
        )
    if scale.shape != zero_point.shape:
        raise OperatorError("scale and zero-point need to have the same dimensions")
    axis = wrap_dim(axis, self.ndim)
    if scale.shape[0] != self.shape[axis]:
        raise OperatorError(
            "dimensions of scale and zero-point are not consistent with input tensor"
        )
    _check_range(quant_min, quant_max)
    _check_zero_points(zero_point, quant_min, quant_max)
    sizes = [1] * self.ndim
    sizes[axis] = -1
    return _rounded(self, scale.reshape(sizes), zero_point.reshape(sizes), quant_min, quant_max)


@operator(
    "aten::fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, "
    "int axis, int quant_min, int quant_max) -> Tensor",
    out="",
    face="function",
)
def of_channels(
    self: Array, scale: Array, zero_point: Array, axis: int, quant_min: int, quant_max: int
) -> Array:
    return of_channels_with_mask(self, scale, zero_point, axis, quant_min, quant_max)[0]


@operator(
    "aten::fake_quantize_per_tensor_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor",
    "aten::fake_quantize_per_channel_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor",
    out="",
    face="operator",
)
def backward(grad: Array, mask: Array) -> Array:
    """The gradient: that of the result where nothing was held back, else 0."""
    return as_array(grad * mask)
