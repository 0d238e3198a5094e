"""Tensors made from Python data and NumPy arrays, and the ranges of dtypes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, Final, NoReturn, TypeVar

import numpy as np

from ..memory.dtype import (
    PYTHON_DTYPES,
    Array,
    Device,
    DType,
    admitted,
    get_default_dtype,
    of_numpy,
    place_of,
)
from ..memory.storage import borrowed
from ..memory.warned import warn_caller, warn_caller_once
from ..selection.strides import elements_of
from .overriding import PLAIN, STATE, ask, asks
from .python_data import array_of_data
from .tensor import Tensor
from .tracing import ACTIVE, current_tracer
from .untyped_storage import Storage
from .with_memory import with_memory

__all__ = [
    "as_tensor",
    "finfo",
    "from_numpy",
    "frombuffer",
    "given_dtype",
    "iinfo",
    "in_memory_of",
    "stands_for",
    "tensor",
]

F = TypeVar("F", bound=Callable[..., object])


def stands_for(name: str) -> Callable[[F], F]:
    """Mark a Python function as the eager form of an operator; script then calls the operator."""

    def mark(function: F) -> F:
        function.operator_name = name  # type: ignore[attr-defined]
        return function

    return mark


def given_dtype(name: str, dtype: object, argument: str = "dtype", position: int = 0) -> DType:
    """A dtype that a caller gave, perhaps as one of Python's types.

    Raises:
        TypeError: it is none; `position` counts from 1, and is not told if it is 0.
    """
    found = PYTHON_DTYPES.get(dtype) if isinstance(dtype, type) else dtype
    if not isinstance(found, DType):
        where = f" (position {position})" if position else ""
        shown = type(dtype).__name__
        raise TypeError(f"{name}(): argument '{argument}'{where} must be torch.dtype, not {shown}")
    return found


@stands_for("aten::tensor")
def tensor(
    data: object,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor of numbers, nested lists of them, an array, or bytes; always a copy.

    Raises:
        TypeError: something is no number, or none that the dtype takes.
        ValueError: the lists differ in length; a whole number has more than 64 bits.
        RuntimeError: no dtype stands for something; a number is too large for the dtype; integers
            cannot require gradients.
    """
    if not PLAIN and asks():
        given = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
        return ask(tensor, (), (data,), given, "torch.tensor")
    return _made_of(data, dtype, device, requires_grad, "torch.tensor")


def _made_of(
    data: object,
    dtype: DType | None,
    device: Device | str | None,
    requires_grad: bool,
    maker: str,
) -> Tensor:
    """What `maker`, a function of torch, makes of data."""
    place = place_of(device)
    if isinstance(data, Tensor):
        warn_caller(
            "To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than "
            "torch.tensor(sourceTensor)."
        )
        if not PLAIN and STATE.below is not None:
            wanted = data.dtype if dtype is None else given_dtype("tensor", dtype)
            copied: Tensor = data.detach().to(place, wanted, copy=True)
            return copied._want_gradients(requires_grad)
        data = with_memory(data)
    kind = None if dtype is None else given_dtype("tensor", dtype).numpy
    if isinstance(data, Storage):
        array = elements_of(data._owner, kind or np.dtype(np.int64)).copy()
    else:
        array = array_of_data(data, kind)
    if requires_grad and of_numpy(array.dtype).kind not in "fc":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    if place.type == "meta":
        return Tensor._of(array).to(place)._want_gradients(requires_grad)
    if not PLAIN and STATE.below is not None:
        lifted: Tensor = STATE.below.fresh(Tensor._of(array))
        return lifted._want_gradients(requires_grad)
    made = Tensor._of(array, requires_grad)
    if ACTIVE:
        tracer = current_tracer()
        if tracer is not None and not requires_grad:
            steps = ["to", "detach"][: 1 if maker == "torch.as_tensor" else 2]
            tracer.made(made, maker, steps)
    return made


def new_tensor(
    self: Tensor,
    data: object,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of the given numbers, in this tensor's dtype and place unless told otherwise."""
    place = self.device if device is None else device
    return _made_of(data, dtype or self.dtype, place, requires_grad, "")


@stands_for("aten::as_tensor")
def as_tensor(data: object, dtype: object = None, device: Device | str | None = None) -> Tensor:
    """Data as a tensor; the memory of a tensor or array is shared where its dtype can stay."""
    if not PLAIN and asks():
        given = {"dtype": dtype, "device": device}
        return ask(as_tensor, (), (data,), given, "torch.as_tensor")
    place = place_of(device)
    if place.type == "meta":
        return (data if isinstance(data, Tensor) else tensor(data)).to(place, dtype)
    if dtype is not None:
        dtype = given_dtype("as_tensor", dtype)
    if isinstance(data, Tensor):
        return data if dtype is None or dtype is data.dtype else data.to(dtype)
    if isinstance(data, np.ndarray) or hasattr(data, "__dlpack__"):
        array = admitted(data if isinstance(data, np.ndarray) else np.from_dlpack(data))
        if dtype is None or dtype.numpy is array.dtype:
            if isinstance(data, np.ndarray):
                _warn_unless_writable(array)
            return _sharing(array, "torch.as_tensor", "to")
    return _made_of(data, dtype, None, False, "torch.as_tensor")


def from_numpy(ndarray: Array) -> Tensor:
    """A tensor that shares an array's memory.

    Raises:
        TypeError: it is no array, or no tensor has such elements.
        ValueError: a stride is negative, or the byte order is not the machine's.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    _warn_unless_writable(ndarray)
    return in_memory_of(ndarray)


def in_memory_of(array: Array) -> Tensor:
    """`from_numpy` without a warning about memory that NumPy lets nobody write to."""
    return _sharing(admitted(array), "torch.from_numpy", "lift_fresh")


def _warn_unless_writable(array: Array) -> None:
    """Warn, once, of a tensor in memory that NumPy lets nobody write to."""
    if not array.flags.writeable:
        warn_caller_once(
            "The given NumPy array is not writable, and PyTorch does not support non-writable "
            "tensors. This means writing to this tensor will result in undefined behavior. You may "
            "want to copy the array to protect its data or make it writable before converting it "
            "to a tensor. This type of warning will be suppressed for the rest of this program."
        )


def _sharing(array: Array, maker: str, step: str) -> Tensor:
    """A tensor that shares an array's memory; in traces an operator is a `step` to it."""
    made = Tensor._of(borrowed(array))
    if not PLAIN and STATE.below is not None:
        return STATE.below.fresh(made)  # type: ignore[no-any-return]
    if ACTIVE:
        tracer = current_tracer()
        if tracer is not None:
            tracer.made(made, maker, [step])
    return made


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
            size, closed = view.nbytes, view.readonly
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
    if closed:
        warn_caller_once(
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. "
            "This means you can write to the underlying (supposedly non-writable) buffer using the "
            "tensor. You may want to copy the buffer to protect its data or make it writable "
            "before converting it to a tensor. This type of warning will be suppressed for the "
            "rest of this program."
        )
    made = in_memory_of(np.frombuffer(buffer, dtype.numpy, count, offset))
    if requires_grad:
        made._want_gradients(True)
    return made


class _Limits:
    """What is told of a dtype; equal to what is told of the same one."""

    dtype: str

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # as in torch


@cache
def _float_limits(dtype: DType) -> dict[str, object]:
    """What `finfo` tells of a dtype, by name."""
    if dtype.numpy.isbuiltin == 1:
        info: object = np.finfo(dtype.numpy)
    else:
        import ml_dtypes

        read: Callable[[object], object] = ml_dtypes.finfo
        info = read(dtype.numpy)
    found: dict[str, float] = {name: float(getattr(info, name)) for name in _OF_FLOATS}
    # the digits that numbers keep, which are whole
    found["resolution"] = 10.0 ** -int(-math.log10(found["eps"]))
    bits = 8 * dtype.itemsize // (2 if dtype.is_complex else 1)
    name = dtype.to_real().name
    return {**found, "bits": bits, "smallest_normal": found["tiny"], "dtype": name}


_OF_FLOATS: Final = ("eps", "max", "min", "tiny")


class finfo(_Limits):
    """The range and precision of a float dtype, the default one if none is given."""

    bits: int
    eps: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    resolution: float

    def __init__(self, dtype: DType | None = None) -> None:
        dtype = get_default_dtype() if dtype is None else given_dtype("finfo", dtype, "type", 1)
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                "'torch.finfo'"
            )
        self.__dict__.update(_float_limits(dtype))

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo(_Limits):
    """The range of a dtype of whole numbers."""

    def __init__(self, dtype: DType) -> None:
        dtype = given_dtype("iinfo", dtype, "type", 1)
        if dtype.name == "bool":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        numbers = dtype.numpy[0] if dtype.kind == "q" and dtype.numpy.names else dtype.numpy
        if numbers.kind not in "iu":
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                "'torch.iinfo'"
            )
        info = np.iinfo(numbers)
        self.bits = int(info.bits)
        self.max = int(info.max)
        self.min = int(info.min)
        self._of = dtype
        if dtype.kind != "q":
            self.dtype = dtype.name

    def __getattr__(self, name: str) -> NoReturn:
        if name == "dtype":  # of quantized numbers, whose whole numbers have no dtype of their own
            raise NotImplementedError(f"\"dtype\" not implemented for '{self._of.scalar_name}'")
        raise AttributeError(f"'torch.iinfo' object has no attribute '{name}'")

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
