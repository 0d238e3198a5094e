"""`torch.ao.quantization.fx._decomposed`: quantized values as whole numbers in ordinary tensors.

The operators of the namespace `quantized_decomposed` are functions of others.  Numbers become
`round(x / scale) + zero_point` within bounds, and `(q - zero_point) * scale` again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from ....library import Library, register_fake
from ....ops.memory.dtype import DTYPES, QSCHEMES, DType, QScheme
from ....ops.tensors.construct import finfo, tensor
from ....ops.tensors.tensor import Tensor
from ..ranges import determine_qparams

__all__ = [
    *("choose_qparams_per_token", "choose_qparams_per_token_asymmetric", "choose_qparams_tensor"),
    *("choose_qparams_symmetric_tensor", "convert_element_type", "dequantize_per_channel"),
    *("dequantize_per_channel_group", "dequantize_per_tensor", "dequantize_per_token"),
    *("fake_quant_per_channel", "quantize_per_channel", "quantize_per_channel_group"),
    *("quantize_per_tensor", "quantize_per_token", "quantized_decomposed_lib"),
]

F = TypeVar("F", bound=Callable[..., object])
_FLOAT, _DOUBLE, _LONG = DTYPES["float32"], DTYPES["float64"], DTYPES["int64"]
_HALVES: Final = (DTYPES["float16"], DTYPES["bfloat16"])

quantized_decomposed_lib: Final = Library("quantized_decomposed", "DEF")


def _operator(*schemas: str) -> Callable[[F], F]:
    """Make a function operators with these schemas, on tensors without data as well."""

    def define(function: F) -> F:
        for schema in schemas:
            name = schema[: schema.index("(")]
            quantized_decomposed_lib.define(schema)
            quantized_decomposed_lib.impl(name, function, "CompositeExplicitAutograd")
            register_fake(f"quantized_decomposed::{name}", function, lib=quantized_decomposed_lib)
        return function

    return define


def _floats(x: Tensor) -> Tensor:
    """Floats of 16 bits as float32.

    Raises:
        AssertionError: the elements are no floats.
    """
    found = x.to(_FLOAT) if x.dtype in _HALVES else x
    if found.dtype is not _FLOAT:
        raise AssertionError(
            f"Expecting input to have dtype torch.float32, but got dtype: {found.dtype}"
        )
    return found


def _rounded(
    input: Tensor, scale: float | Tensor, zero_point: float | Tensor, least: int, most: int
) -> Tensor:
    """Whole numbers within bounds for floats, still as floats."""
    inverse = 1.0 / scale
    found: Tensor = (_floats(input) * inverse).round() + zero_point
    return found.clamp(least, most)


def _along(value: Tensor, axis: int, rank: int) -> Tensor:
    """A value for each place of a dimension, to be met by a tensor of some rank."""
    return value.reshape([-1 if dim == axis % rank else 1 for dim in range(rank)])


def _per_token_quant_qparam_dim_check(input: Tensor, scales: Tensor, zero_points: Tensor) -> None:
    """See that there is a scale and a zero point for each row.

    Raises:
        AssertionError: there is not.
    """
    rows = input.numel() // input.size(-1)
    for name, each in (("scales", scales), ("zero_points", zero_points)):
        if rows != each.numel():
            raise AssertionError(f"num_tokens: {rows} {name}: {each.size()}")


# --------------------------------------------------------------------------- of a whole tensor

_WHOLE = "int quant_min, int quant_max, ScalarType dtype"
_BOUNDED = "Tensor quant_min, Tensor quant_max, ScalarType dtype"


@_operator(
    f"quantize_per_tensor(Tensor input, float scale, int zero_point, {_WHOLE}) -> Tensor",
    f"quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, {_WHOLE})"
    " -> Tensor",
    f"quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, {_BOUNDED})"
    " -> Tensor",
)
def quantize_per_tensor(
    input: Tensor,
    scale: float | Tensor,
    zero_point: int | Tensor,
    quant_min: int,
    quant_max: int,
    dtype: DType,
) -> Tensor:
    """Whole numbers for the elements of a tensor."""
    return _rounded(input, scale, zero_point, quant_min, quant_max).to(dtype)


@_operator(
    f"dequantize_per_tensor(Tensor input, float scale, int zero_point, {_WHOLE}, *, "
    "ScalarType? out_dtype=None) -> Tensor",
    f"dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, {_WHOLE}, *, "
    "ScalarType? out_dtype=None) -> Tensor",
    f"dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, {_BOUNDED}, *, "
    "ScalarType? out_dtype=None) -> Tensor",
)
def dequantize_per_tensor(
    input: Tensor,
    scale: object,
    zero_point: object,
    quant_min: object,
    quant_max: object,
    dtype: DType,
    *,
    out_dtype: DType | None = None,
) -> Tensor:
    """The numbers that whole ones stand for."""
    found: Tensor = (input.to(out_dtype or _FLOAT) - zero_point) * scale
    return found


def _chosen(
    input: Tensor, bounds: tuple[int, int], eps: float, dtype: DType, *more: QScheme
) -> tuple[Tensor, Tensor]:
    least, most = input.aminmax()
    found = determine_qparams(least, most, *bounds, dtype, tensor([eps]), False, *more)
    scale, zero_point = (each.reshape([1]) for each in found)
    return scale, zero_point


@_operator(
    "choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype)"
    " -> (Tensor, Tensor)"
)
def choose_qparams_tensor(
    input: Tensor, qmin: int, qmax: int, eps: float, dtype: DType
) -> tuple[Tensor, Tensor]:
    """A scale and a zero point for all elements."""
    return _chosen(input, (qmin, qmax), eps, dtype)


@_operator(
    "choose_qparams_symmetric.tensor(Tensor input, int quant_min, int quant_max, float eps, "
    "ScalarType dtype) -> (Tensor, Tensor)"
)
def choose_qparams_symmetric_tensor(
    input: Tensor, qmin: int, qmax: int, eps: float, dtype: DType
) -> tuple[Tensor, Tensor]:
    """A scale for elements around zero, and the zero point of its type."""
    return _chosen(input, (qmin, qmax), eps, dtype, QSCHEMES["per_tensor_symmetric"])


# --------------------------------------------------------------------------- of channels


@_operator(
    "quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, "
    f"{_WHOLE}) -> Tensor"
)
def quantize_per_channel(
    input: Tensor,
    scales: Tensor,
    zero_points: Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: DType,
) -> Tensor:
    """Whole numbers with a scale for each place of a dimension."""
    scale, point = (_along(each, axis, input.ndim) for each in (scales, zero_points))
    return _rounded(input, scale, point, quant_min, quant_max).to(dtype)


@_operator(
    "dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, "
    f"{_WHOLE}, *, ScalarType? out_dtype=None) -> Tensor"
)
def dequantize_per_channel(
    input: Tensor,
    scales: Tensor,
    zero_points: Tensor | None,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: DType,
    *,
    out_dtype: DType | None = None,
) -> Tensor:
    """The numbers that they stand for."""
    shifted = input if zero_points is None else input - _along(zero_points, axis, input.ndim)
    return (shifted * _along(scales, axis, input.ndim)).to(out_dtype or _FLOAT)


@_operator(
    "fake_quant_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, "
    "int quant_min, int quant_max) -> Tensor"
)
def fake_quant_per_channel(
    input: Tensor, scales: Tensor, zero_points: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """Floats as whole numbers would have them."""
    scale, point = (_along(each, axis, input.ndim) for each in (scales, zero_points))
    return (_rounded(input, scale, point, quant_min, quant_max) - point) * scale


# --------------------------------------------------------------------------- of rows


@_operator("choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor)")
def choose_qparams_per_token(input: Tensor, dtype: DType) -> tuple[Tensor, Tensor]:
    """A scale for each row of the last dimension, around zero.

    Raises:
        Exception: the dtype is not int8.
    """
    scales = input.abs().amax([-1], keepdim=True)
    if scales.dtype is _HALVES[0]:
        scales = scales.to(_FLOAT)
    if dtype.name != "int8":
        raise Exception(f"unsupported dtype in choose_qparams_per_token: {dtype}")
    scales = scales.clamp(min=1e-5).div(127)
    return scales, scales.new_zeros(scales.shape)


@_operator(
    "_choose_qparams_per_token_asymmetric_impl(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
    "choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
)
def choose_qparams_per_token_asymmetric(input: Tensor, dtype: DType) -> tuple[Tensor, Tensor]:
    """A scale and a zero point of eight bits for each row of the last dimension."""
    least = input.amin([-1], keepdim=True).clamp(max=0)
    most = input.amax([-1], keepdim=True).clamp(min=0)
    scale = ((most - least) / 255.0).clamp(min=finfo(_FLOAT).eps)
    low, high = least / scale, most / scale
    below = (-128 + low) + (127 + high) > 0
    point = (-128 - low).where(below, 127 - high).clamp(-128, 127).round()
    return scale.to(_DOUBLE), point.to(_LONG)


@_operator(
    f"quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, {_WHOLE}) -> Tensor"
)
def quantize_per_token(
    input: Tensor,
    scales: Tensor,
    zero_points: Tensor,
    quant_min: int,
    quant_max: int,
    dtype: DType,
) -> Tensor:
    """Whole numbers with a scale for each row."""
    _per_token_quant_qparam_dim_check(input, scales, zero_points)
    found = input.mul(1.0 / scales).add(zero_points).round().clamp(quant_min, quant_max)
    return found.to(dtype)


@_operator(
    f"dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, {_WHOLE}, "
    "ScalarType output_dtype) -> Tensor"
)
def dequantize_per_token(
    input: Tensor,
    scales: Tensor,
    zero_points: Tensor,
    quant_min: int,
    quant_max: int,
    dtype: DType,
    output_dtype: DType = _FLOAT,
) -> Tensor:
    """The numbers that they stand for."""
    return (input - zero_points).to(output_dtype) * scales.to(output_dtype)


# --------------------------------------------------------------------------- of groups of columns


def _grouped(input: Tensor, group_size: int) -> Tensor:
    """The rows of a matrix cut into groups.

    Raises:
        AssertionError: groups do not fit.
    """
    if group_size <= 1 or input.ndim != 2 or input.shape[-1] % group_size:
        raise AssertionError(f"groups of {group_size} do not fit a tensor of {input.shape}")
    return input.reshape(-1, group_size)


@_operator(
    f"quantize_per_channel_group(Tensor input, Tensor scales, Tensor zero_points, {_WHOLE}, "
    "int group_size) -> Tensor"
)
def quantize_per_channel_group(
    input: Tensor,
    scales: Tensor,
    zero_points: Tensor,
    quant_min: int,
    quant_max: int,
    dtype: DType,
    group_size: int = 128,
) -> Tensor:
    """Whole numbers with a scale for each group of columns of each row."""
    found = _grouped(input, group_size).mul(1.0 / scales.reshape(-1, 1))
    found = found.add(zero_points.reshape(-1, 1)).round().clamp(quant_min, quant_max)
    return found.to(dtype).reshape_as(input)


@_operator(
    f"dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? zero_points, {_WHOLE}, "
    "int group_size, ScalarType output_dtype) -> Tensor"
)
def dequantize_per_channel_group(
    w_int8: Tensor,
    scales: Tensor,
    zero_points: Tensor | None,
    quant_min: int,
    quant_max: int,
    dtype: DType,
    group_size: int = 128,
    output_dtype: DType = _FLOAT,
) -> Tensor:
    """The numbers that they stand for."""
    groups = _grouped(w_int8, group_size)
    if zero_points is not None:
        groups = groups.sub(zero_points.reshape(-1, 1))
    return groups.mul(scales.reshape(-1, 1)).reshape_as(w_int8).to(output_dtype)


@_operator("convert_element_type.no_fuse(Tensor input, ScalarType dtype) -> Tensor")
def convert_element_type(input: Tensor, dtype: DType) -> Tensor:
    """The elements in another dtype."""
    return input.to(dtype)
