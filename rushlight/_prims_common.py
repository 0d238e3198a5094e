"""`torch._prims_common`: what packages call of it."""

from __future__ import annotations

from .ops.memory.determinism import alert_not_deterministic
from .ops.memory.dtype import DTYPES, DType
from .ops.tensors.tensor import Tensor

__all__ = [
    "alert_not_deterministic",
    "corresponding_complex_dtype",
    "dtype_to_type",
    "is_contiguous_or_false",
]


_COMPLEX = {"float16": "complex32", "float32": "complex64", "float64": "complex128"}


def corresponding_complex_dtype(dtype: DType) -> DType:
    """The complex dtype whose parts are of a dtype."""
    return DTYPES[_COMPLEX[dtype.name]]


def dtype_to_type(dtype: DType) -> type[complex]:
    """The kind of Python's numbers that elements of a dtype are.

    Raises:
        ValueError: it is not a dtype.
    """
    if not isinstance(dtype, DType):
        raise ValueError(f"Invalid dtype: {dtype}")
    if dtype.is_complex:
        return complex
    if dtype.is_floating_point:
        return float
    return bool if dtype.name == "bool" else int


def is_contiguous_or_false(a: Tensor) -> bool:
    """Whether a tensor's elements lie in order, which is always known here."""
    return a.is_contiguous()
