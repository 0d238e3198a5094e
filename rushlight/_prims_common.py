"""`torch._prims_common`: what packages call of it."""

from __future__ import annotations

import warnings

from .ops.memory.dtype import DTYPES, DType
from .ops.tensors.tensor import Tensor
from .settings import are_deterministic_algorithms_enabled
from .settings import is_deterministic_algorithms_warn_only_enabled as only_warned

__all__ = [
    "alert_not_deterministic",
    "corresponding_complex_dtype",
    "dtype_to_type",
    "is_contiguous_or_false",
]


def alert_not_deterministic(caller: str) -> None:
    """Say that an operator of that name may give other bits each time, if the user wants to know.

    Raises:
        RuntimeError: only deterministic algorithms are allowed.
    """
    if not are_deterministic_algorithms_enabled():
        return
    text = f"{caller} does not have a deterministic implementation"
    if not only_warned():
        raise RuntimeError(
            f"{text}, but you set 'torch.use_deterministic_algorithms(True)'. You can turn off "
            "determinism just for this operation, or you can use the 'warn_only=True' option, if "
            "that's acceptable for your application."
        )
    warnings.warn(
        f"{text}, but you set 'torch.use_deterministic_algorithms(True, warn_only=True)'.",
        stacklevel=2,
    )


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
