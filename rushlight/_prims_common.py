"""`torch._prims_common`: what packages call of it."""

from __future__ import annotations

from collections.abc import Sequence

from .ops.memory.determinism import alert_not_deterministic
from .ops.memory.dims import wrap_dim
from .ops.memory.dtype import DTYPES, MEMORY_FORMATS, DType, MemoryFormat
from .ops.memory.storage import contiguous_strides
from .ops.tensors.tensor import Tensor

__all__ = [
    "alert_not_deterministic",
    "canonicalize_dim",
    "canonicalize_dims",
    "corresponding_complex_dtype",
    "dtype_to_type",
    "get_computation_dtype",
    "is_contiguous_or_false",
    "make_contiguous_strides_for",
    "suggest_memory_format",
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


def get_computation_dtype(dtype: DType) -> DType:
    """The dtype in which elements are computed: twice as wide for those of 16 bits."""
    wider = {"float16": "float32", "bfloat16": "float32", "complex32": "complex64"}
    return DTYPES[wider.get(dtype.name, dtype.name)]


def suggest_memory_format(x: Tensor) -> MemoryFormat:
    """How a tensor of 4 or 5 dimensions lies: with channels last, or in order."""
    last = {4: "channels_last", 5: "channels_last_3d"}.get(x.dim())
    if last is None or not x.is_contiguous(memory_format=MEMORY_FORMATS[last]):
        return MEMORY_FORMATS["contiguous_format"]
    strides = [size for size in x.stride() if size > 0]
    is_both = x.is_contiguous() and strides == sorted(strides, reverse=True)
    return MEMORY_FORMATS["contiguous_format" if is_both else last]


def make_contiguous_strides_for(shape: Sequence[int], row_major: bool = True) -> tuple[int, ...]:
    """The strides of a tensor whose elements lie in order.

    Args:
        row_major: false: the last two dimensions change places, as in LAPACK's matrices.
    """
    strides = [*contiguous_strides(tuple(shape))]
    if not row_major and len(shape) > 1:
        strides[-2:] = [1, max(shape[-2], 1)]
    return tuple(strides)


def canonicalize_dim(rank: int, idx: int, wrap_scalar: bool = True) -> int:
    """A dimension counted from the first one.

    Raises:
        IndexError: a tensor of that rank has it not.
    """
    if rank == 0 and not wrap_scalar:
        raise IndexError(f"Dimension specified as {idx} but tensor has no dimensions")
    return wrap_dim(idx, rank)


def canonicalize_dims(
    rank: int, indices: int | Sequence[int], wrap_scalar: bool = True
) -> int | tuple[int, ...]:
    """Dimensions counted from the first one; see `canonicalize_dim`."""
    if isinstance(indices, int):
        return canonicalize_dim(rank, indices, wrap_scalar)
    return tuple(canonicalize_dim(rank, each, wrap_scalar) for each in indices)
