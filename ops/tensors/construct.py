"""Tensors made from Python data and NumPy arrays, and the ranges of dtypes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..memory.dtype import (
    Array,
    Device,
    DType,
    admitted,
    check_device,
    default_dtype,
    get_default_dtype,
    of_numpy,
)
from ..memory.errors import OperatorError
from ..memory.storage import borrowed
from ..shapes.creation import from_data
from .tensor import Tensor
from .tracing import ACTIVE, current_tracer

__all__ = ["as_tensor", "finfo", "from_numpy", "frombuffer", "iinfo", "stands_for", "tensor"]

F = TypeVar("F", bound=Callable[..., Any])


def stands_for(name: str) -> Callable[[F], F]:
    """Mark a Python function as the eager form of an operator; script then calls the operator."""

    def mark(function: F) -> F:
        function.operator_name = name  # type: ignore[attr-defined]
        return function

    return mark


def _check(device: Device | str | int | None) -> None:
    if device is not None:
        check_device(device if isinstance(device, Device) else Device(str(device)))


def _first_leaf(data: Any) -> Any:
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return data


def _array_of(data: Any, dtype: np.dtype[Any] | None) -> Array:
    """A new array of Python data; floats become the default dtype unless told otherwise."""
    if isinstance(data, Tensor):
        data = data._array
    if isinstance(data, (np.ndarray, np.generic)):
        source = admitted(np.asarray(data))
        return source.astype(source.dtype if dtype is None else dtype).view(np.ndarray)
    if not isinstance(data, (list, tuple, bool, int, float, complex)):
        if hasattr(data, "__array__"):
            return _array_of(np.asarray(data), dtype)
        if hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, str):
            return _array_of([data[i] for i in range(len(data))], dtype)
        if isinstance(data, str):
            raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    return _array_of_numbers(data, dtype)


def _bare(data: Any) -> Any:
    """Nested lists with 0-d arrays in place of tensors, whose history new tensors do not have."""
    if isinstance(data, (list, tuple)):
        return [_bare(each) for each in data]
    if not isinstance(data, Tensor):
        return data
    if data._array.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return data._array.reshape(())


def _array_of_numbers(data: Any, dtype: np.dtype[Any] | None) -> Array:
    try:
        found = np.array(_bare(data) if isinstance(_first_leaf(data), Tensor) else data)
    except ValueError:  # ragged
        return from_data(data, dtype)
    if found.dtype.kind == "u" and isinstance(_first_leaf(data), (Tensor, np.ndarray, np.generic)):
        return found.astype(of_numpy(found.dtype).numpy if dtype is None else dtype)
    if found.dtype.kind not in "bifc" or (dtype is not None and dtype.kind in "iu"):
        return _by_hand(data, found, dtype)
    if dtype is None:
        dtype = found.dtype
        if not isinstance(_first_leaf(data), (Tensor, np.ndarray, np.generic)):
            if found.dtype.kind == "f" or not found.size:
                dtype = default_dtype.float
            elif found.dtype.kind == "c":
                dtype = default_dtype.complex
    return found.astype(of_numpy(dtype).numpy)


def _check_range(numbers: Array, dtype: np.dtype[Any]) -> None:
    """Refuse numbers too large for a whole-number dtype; an unsigned one takes negatives too."""
    limits = np.iinfo(dtype)
    low = limits.min or -limits.max
    if not np.all((numbers >= low) & (numbers <= limits.max)):
        raise OperatorError(
            f"value cannot be converted to type {dtype.name} without overflow",
            code="number-too-large",
            headline=f"`data` has a number that does not fit `torch.{dtype.name}`",
        )


def _by_hand(data: Any, found: Array, dtype: np.dtype[Any] | None) -> Array:
    if found.dtype.kind in "if" and dtype is not None:
        _check_range(found, dtype)
        return found.astype(dtype)
    if found.dtype.kind == "U":
        raise ValueError("too many dimensions 'str'")
    if found.dtype.kind == "O":
        return from_data(data, dtype)
    return found.astype(dtype) if dtype is not None else from_data(data, None)


@stands_for("aten::tensor")
def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor of numbers, nested lists of them, or an array; always a copy.

    Raises:
        TypeError: something is not a number.
        ValueError: the lists differ in length.
    """
    _check(device)
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than "
            "torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    try:
        array = _array_of(data, None if dtype is None else dtype.numpy)
    except RuntimeError as error:
        if "expected sequence" in str(error):
            raise ValueError(str(error)) from None
        raise
    made = Tensor._of(array, requires_grad)
    if ACTIVE:
        tracer = current_tracer()
        if tracer is not None and not requires_grad:
            tracer.made_constant(made)
    return made


@stands_for("aten::as_tensor")
def as_tensor(data: Any, dtype: DType | None = None, device: Device | str | None = None) -> Tensor:
    """Data as a tensor; the memory of a tensor or array is shared where its dtype can stay."""
    _check(device)
    if isinstance(data, Tensor):
        return data if dtype is None or dtype is data.dtype else data.to(dtype)
    if isinstance(data, np.ndarray):
        array = admitted(data)
        if dtype is None or dtype.numpy is array.dtype:
            return from_numpy(array)
    return tensor(data, dtype=dtype)


def from_numpy(ndarray: Array) -> Tensor:
    """A tensor that shares an array's memory.

    Raises:
        TypeError: it is no array, or no tensor has such elements.
        ValueError: a stride is negative, or the byte order is not the machine's.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return Tensor._of(borrowed(admitted(ndarray)))


def frombuffer(
    buffer: Any,
    *,
    dtype: DType,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """A vector that shares the memory of an object with a buffer, from a byte on.

    Raises:
        ValueError: the object has no buffer, the buffer is too short, or what is left of it is no
            whole number of elements.
    """
    try:
        with memoryview(buffer) as view:
            size = view.nbytes
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    if not size or count == 0:
        raise ValueError(
            f"both buffer length ({size}) and count ({count}) must not be 0",
        )
    if not 0 <= offset < size:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than "
            f"buffer length ({size} bytes) minus 1"
        )
    if count < 0 and (size - offset) % dtype.itemsize:
        raise ValueError(
            f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({dtype.itemsize})"
        )
    count = (size - offset) // dtype.itemsize if count < 0 else count
    if offset + count * dtype.itemsize > size:
        raise ValueError(
            f"requested buffer length ({count} * {dtype.itemsize} bytes) after offset "
            f"({offset} bytes) must not be greater than actual buffer length ({size} bytes)"
        )
    made = from_numpy(np.frombuffer(buffer, dtype.numpy, count, offset))
    if requires_grad:
        made.requires_grad_(True)
    return made


class finfo:
    """The range and precision of a float dtype, the default one if none is given."""

    def __init__(self, dtype: DType | None = None) -> None:
        dtype = dtype or get_default_dtype()
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                f"'{dtype}'"
            )
        if dtype.numpy.isbuiltin != 1:
            import ml_dtypes

            read: Any = ml_dtypes.finfo
            info: Any = read(dtype.numpy)
        else:
            info = np.finfo(dtype.numpy)
        self.bits = 8 * dtype.itemsize // (2 if dtype.is_complex else 1)
        self.eps = float(info.eps)
        self.max = float(info.max)
        self.min = float(info.min)
        self.tiny = float(info.tiny)
        self.smallest_normal = float(info.tiny)
        self.resolution = float(info.resolution)
        self.dtype = dtype.to_real().name

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """The range of a dtype of whole numbers."""

    def __init__(self, dtype: DType) -> None:
        if dtype.kind not in "iu":
            raise TypeError(
                f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{dtype}'"
            )
        info = np.iinfo(dtype.numpy)
        self.bits = int(info.bits)
        self.max = int(info.max)
        self.min = int(info.min)
        self.dtype = dtype.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
