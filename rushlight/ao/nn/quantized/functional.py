"""`torch.ao.nn.quantized.functional`: functions of quantized tensors."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Final

from ....nn import functional as F
from ....ops.eager.dispatch import eager_function
from ....ops.memory.dtype import DTYPES, DType
from ....ops.tensors.tensor import Tensor
from .modules import conv as layers

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "avg_pool2d",
    "avg_pool3d",
    "celu",
    "clamp",
    "conv1d",
    "conv2d",
    "conv3d",
    "elu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "interpolate",
    "leaky_relu",
    "linear",
    "max_pool1d",
    "max_pool2d",
    "threshold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

Size = int | Sequence[int]

_celu = eager_function("quantized::celu")
_clamp = eager_function("aten::clamp")
_elu = eager_function("quantized::elu")
_hardsigmoid = eager_function("aten::hardsigmoid")
_hardswish = eager_function("quantized::hardswish")
_leaky_relu = eager_function("quantized::leaky_relu")
_linear = eager_function("quantized::linear")
_linear_prepack = eager_function("quantized::linear_prepack")
_max_pool1d = eager_function("aten::max_pool1d")
_max_pool2d = eager_function("aten::max_pool2d")
_threshold = eager_function("quantized::threshold")


def _check(input: Tensor, name: str) -> None:
    """Raise ValueError unless a tensor is quantized."""
    if not input.is_quantized:
        raise ValueError(f"Input to 'quantized.{name}' must be quantized!")


def avg_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """`torch.nn.functional.avg_pool2d` of a quantized tensor; the result has its scale."""
    _check(input, "avg_pool2d")
    return F.avg_pool2d(
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """`torch.nn.functional.avg_pool3d` of a quantized tensor; the result has its scale."""
    _check(input, "avg_pool3d")
    return F.avg_pool3d(
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def adaptive_avg_pool2d(input: Tensor, output_size: list[int]) -> Tensor:
    """`torch.nn.functional.adaptive_avg_pool2d` of a quantized tensor."""
    _check(input, "functional.adaptive_avg_pool2d")
    return F.adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: list[int]) -> Tensor:
    """`torch.nn.functional.adaptive_avg_pool3d` of a quantized tensor."""
    _check(input, "functional.adaptive_avg_pool3d")
    return F.adaptive_avg_pool3d(input, output_size)


_AXES: Final = {1: "L", 2: "H, W", 3: "D, H, W"}


def _convolution(dims: int) -> Callable[..., Tensor]:
    pack = eager_function(f"quantized::conv{dims}d_prepack")
    convolve = eager_function(f"quantized::conv{dims}d")

    def function(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        stride: Size = 1,
        padding: Size = 0,
        dilation: Size = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        scale: float = 1.0,
        zero_point: int = 0,
        dtype: DType = DTYPES["quint8"],
    ) -> Tensor:
        if padding_mode != "zeros":
            raise NotImplementedError("Only zero-padding is supported!")
        if input.dtype is not DTYPES["quint8"]:
            raise NotImplementedError("Only torch.quint8 is supported for activation tensor!")
        if weight.dtype is not DTYPES["qint8"]:
            raise NotImplementedError("Only torch.qint8 is supported for weight tensor!")
        if input.ndim != dims + 2:
            raise ValueError(f"Input shape must be `(N, C, {_AXES[dims]})`!")
        sizes = (list(layers._each(size, dims)) for size in (stride, padding, dilation))
        return convolve(input, pack(weight, bias, *sizes, groups), scale, zero_point)

    function.__name__ = function.__qualname__ = f"conv{dims}d"
    function.__doc__ = f"""`torch.nn.functional.conv{dims}d` of quint8 values and qint8 weights.

    Args:
        scale, zero_point: those of the result.

    Raises:
        NotImplementedError: other dtypes; a padding other than with zeros.
        ValueError: another number of dimensions.
    """
    return function


conv1d = _convolution(1)
conv2d = _convolution(2)
conv3d = _convolution(3)


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """`torch.nn.functional.interpolate` of a quantized tensor; the result has its scale."""
    _check(input, "interpolate")
    return F.interpolate(input, size, scale_factor, mode, align_corners)


def linear(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    scale: float | None = None,
    zero_point: int | None = None,
) -> Tensor:
    """`torch.nn.functional.linear` of quint8 values and qint8 weights.

    Args:
        scale, zero_point: those of the result; the input's unless given.
    """
    scale = input.q_scale() if scale is None else scale
    zero_point = input.q_zero_point() if zero_point is None else zero_point
    return _linear(input, _linear_prepack(weight, bias), scale, zero_point)


def max_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """`torch.nn.functional.max_pool1d` of a quantized tensor.

    Raises:
        NotImplementedError: places are asked for.
    """
    if return_indices:
        raise NotImplementedError("return_indices is not yet implemented!")
    step = [] if stride is None else stride
    return _max_pool1d(input, kernel_size, step, padding, dilation, ceil_mode)


def max_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """`torch.nn.functional.max_pool2d` of a quantized tensor.

    Raises:
        NotImplementedError: places are asked for.
    """
    if return_indices:
        raise NotImplementedError("return_indices is not yet implemented!")
    step = [] if stride is None else stride
    return _max_pool2d(input, kernel_size, step, padding, dilation, ceil_mode)


def celu(input: Tensor, scale: float, zero_point: int, alpha: float = 1.0) -> Tensor:
    """CELU; `scale` and `zero_point` are those of the result."""
    _check(input, "celu")
    return _celu(input, scale, zero_point, alpha)


def leaky_relu(
    input: Tensor,
    negative_slope: float = 0.01,
    inplace: bool = False,
    scale: float | None = None,
    zero_point: int | None = None,
) -> Tensor:
    """Leaky ReLU; with the input's scale unless another is given.

    Raises:
        AssertionError: a scale for a result in place.
    """
    if scale is not None and zero_point is not None:
        if inplace:
            raise AssertionError("Cannot rescale with `inplace`")
        return _leaky_relu(input, negative_slope, False, scale, zero_point)
    return F.leaky_relu(input, negative_slope, inplace)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Values held within two bounds."""
    _check(input, "hardtanh")
    return F.hardtanh(input, min_val, max_val, inplace)


def hardswish(input: Tensor, scale: float, zero_point: int) -> Tensor:
    """Hardswish; `scale` and `zero_point` are those of the result."""
    _check(input, "hardswish")
    return _hardswish(input, scale, zero_point)


def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """Values above a threshold, and another for the rest."""
    _check(input, "threshold")
    if threshold is None:
        raise ValueError("Input to 'threshold' must be specified!")
    if value is None:
        raise ValueError("Input to 'value' must be specified!")
    return _threshold(input, threshold, value)


def elu(input: Tensor, scale: float, zero_point: int, alpha: float = 1.0) -> Tensor:
    """ELU; `scale` and `zero_point` are those of the result."""
    _check(input, "elu")
    return _elu(input, scale, zero_point, alpha)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Hard sigmoid, by 1/256."""
    _check(input, "hardsigmoid")
    return _hardsigmoid(input)


def clamp(input: Tensor, min_: float, max_: float) -> Tensor:
    """Values held within two bounds."""
    _check(input, "clamp")
    return _clamp(input, min_, max_)


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """`interpolate`, as it was called."""
    warnings.warn(
        "nn.quantized.functional.upsample is deprecated. Use "
        "nn.quantized.functional.interpolate instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_bilinear(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """`interpolate` between the nearest four, as it was called."""
    warnings.warn(
        "nn.quantized.functional.upsample_bilinear is deprecated. Use "
        "nn.quantized.functional.interpolate instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def upsample_nearest(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """`interpolate` by the nearest value, as it was called."""
    warnings.warn(
        "nn.quantized.functional.upsample_nearest is deprecated. Use "
        "nn.quantized.functional.interpolate instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="nearest")
