"""`torch._prims_common`: what torch's tools ask of dtypes, sizes and strides, and programs too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..ops.memory.determinism import alert_not_deterministic
from ..ops.memory.dtype import Device
from ..ops.tensors.tensor import Tensor
from .dtypes import (
    ELEMENTWISE_TYPE_PROMOTION_KIND,
    REDUCTION_OUTPUT_TYPE_KIND,
    RETURN_TYPE,
    can_safe_cast_to,
    check_same_dtype,
    corresponding_complex_dtype,
    corresponding_real_dtype,
    dtype_or_default,
    dtype_to_type,
    dtype_to_type_ctor,
    elementwise_dtypes,
    get_computation_dtype,
    get_dtype,
    get_higher_dtype,
    get_higher_type,
    is_boolean_dtype,
    is_complex_dtype,
    is_float_dtype,
    is_grad_dtype,
    is_integer_dtype,
    is_low_precision_dtype,
    is_weakly_lesser_type,
    number_type,
    reduction_dtypes,
    type_to_dtype,
)
from .layouts import (
    canonicalize_device,
    check_same_device,
    clone_preserve_strides,
    compute_elementwise_output_strides,
    device_or_default,
    is_channels_last_contiguous,
    is_contiguous,
    is_contiguous_for_memory_format,
    is_contiguous_or_false,
    is_cpu_scalar_tensor,
    is_non_overlapping_and_dense_or_false,
    layout_or_default,
    make_channels_last_strides_for,
    make_contiguous_strides_for,
    mask_tensor,
    suggest_memory_format,
)
from .sizes import (
    apply_perm,
    canonicalize_dim,
    canonicalize_dims,
    check_is_matrix,
    check_same_shape,
    compute_reduction_output_shape,
    compute_required_storage_length,
    extract_dims_from_varargs,
    extract_shape,
    extract_shape_from_varargs,
    infer_size,
    infer_size_shapes,
    invert_perm,
    is_expandable_to,
    is_same_shape,
    is_valid_permutation,
    prod,
    reduction_dims,
    same_shape,
    set_correction,
    validate_dim_length,
    validate_dimension_indices,
    validate_exclusive_idx,
    validate_idx,
    validate_no_repeating_dims,
    validate_shape,
    validate_strides,
)

Dim = int
TensorLike = Tensor
TensorLikeType: TypeAlias = Tensor
ShapeType: TypeAlias = Sequence[int]
StrideType: TypeAlias = Sequence[int]
DimsType: TypeAlias = int | Sequence[int]
DimsSequenceType: TypeAlias = Sequence[int]
NumberType: TypeAlias = bool | int | float | complex
NumberTypeType: TypeAlias = type[bool] | type[int] | type[float] | type[complex]
RealNumberType: TypeAlias = bool | int | float
TensorSequenceType: TypeAlias = list[Tensor] | tuple[Tensor, ...]
TensorOrNumberLikeType: TypeAlias = Tensor | NumberType
DeviceLikeType: TypeAlias = str | Device | int
Number = (bool, int, float, complex)
IntLike = (int,)
FloatLike = (float,)
BoolLike = (bool,)
IntWithoutSymInt = int
FloatWithoutSymFloat = float


def check(b: bool, s: Callable[[], str], exc_type: type[Exception] = RuntimeError) -> None:
    """Raise an error of a type, with a text that is made then, unless something holds."""
    if not b:
        raise exc_type(s())


__all__ = [
    "BoolLike",
    "DeviceLikeType",
    "Dim",
    "DimsSequenceType",
    "DimsType",
    "ELEMENTWISE_TYPE_PROMOTION_KIND",
    "FloatLike",
    "FloatWithoutSymFloat",
    "IntLike",
    "IntWithoutSymInt",
    "Number",
    "NumberType",
    "NumberTypeType",
    "REDUCTION_OUTPUT_TYPE_KIND",
    "RETURN_TYPE",
    "RealNumberType",
    "ShapeType",
    "StrideType",
    "TensorLike",
    "TensorLikeType",
    "TensorOrNumberLikeType",
    "TensorSequenceType",
    "alert_not_deterministic",
    "apply_perm",
    "can_safe_cast_to",
    "canonicalize_device",
    "canonicalize_dim",
    "canonicalize_dims",
    "check",
    "check_is_matrix",
    "check_same_device",
    "check_same_dtype",
    "check_same_shape",
    "clone_preserve_strides",
    "compute_elementwise_output_strides",
    "compute_reduction_output_shape",
    "compute_required_storage_length",
    "corresponding_complex_dtype",
    "corresponding_real_dtype",
    "device_or_default",
    "dtype_or_default",
    "dtype_to_type",
    "dtype_to_type_ctor",
    "elementwise_dtypes",
    "extract_dims_from_varargs",
    "extract_shape",
    "extract_shape_from_varargs",
    "get_computation_dtype",
    "get_dtype",
    "get_higher_dtype",
    "get_higher_type",
    "infer_size",
    "infer_size_shapes",
    "invert_perm",
    "is_boolean_dtype",
    "is_channels_last_contiguous",
    "is_complex_dtype",
    "is_contiguous",
    "is_contiguous_for_memory_format",
    "is_contiguous_or_false",
    "is_cpu_scalar_tensor",
    "is_expandable_to",
    "is_float_dtype",
    "is_grad_dtype",
    "is_integer_dtype",
    "is_low_precision_dtype",
    "is_non_overlapping_and_dense_or_false",
    "is_same_shape",
    "is_valid_permutation",
    "is_weakly_lesser_type",
    "layout_or_default",
    "make_channels_last_strides_for",
    "make_contiguous_strides_for",
    "mask_tensor",
    "number_type",
    "prod",
    "reduction_dims",
    "reduction_dtypes",
    "same_shape",
    "set_correction",
    "suggest_memory_format",
    "type_to_dtype",
    "validate_dim_length",
    "validate_dimension_indices",
    "validate_exclusive_idx",
    "validate_idx",
    "validate_no_repeating_dims",
    "validate_shape",
    "validate_strides",
]
