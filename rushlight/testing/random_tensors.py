"""Tensors of random numbers for tests."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, Final

from ..ops.eager.dispatch import eager_function
from ..ops.memory.dtype import DTYPES, Device, DType, MemoryFormat
from ..ops.tensors.construct import finfo
from ..ops.tensors.tensor import Tensor

__all__ = ["make_tensor"]

_INTEGERS: Final = frozenset("int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())
_COMPLEX: Final = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_MOST_INT64: Final = 2**63 - 1

Number = int | float


def make_tensor(
    *shape: int | Sequence[int],
    dtype: DType,
    device: str | Device,
    low: Number | None = None,
    high: Number | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """A tensor of uniformly distributed random numbers from `low` up to, not including, `high`.

    Args:
        shape: the sizes, one by one or as a sequence.
        dtype: the dtype.
        device: the CPU.
        low: the least number; by default -9, or 0 for dtypes without negative numbers.
        high: the bound above; by default 10 (9 for floats and complex numbers, 2 for bool).
        requires_grad: whether gradients of it are wanted.
        noncontiguous: whether its elements shall lie apart; of no effect below two elements.
        exclude_zero: whether zeros become the smallest normal number of the dtype, or 1.
        memory_format: the memory format; not together with `noncontiguous`.

    Raises:
        TypeError: the dtype is not one of numbers.
        ValueError: the bounds or the other options do not go with the dtype or each other.
    """
    _check_options(dtype, requires_grad, noncontiguous, memory_format)
    sizes: list[Any] = (
        list(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else list(shape)
    )
    apart = noncontiguous and math.prod(sizes) > 1
    drawn = [*sizes[:-1], 2 * sizes[-1]] if apart else sizes
    place = Device(device) if isinstance(device, str) else device
    made = _filled(drawn, dtype, place, low, high)
    if apart:
        made = made[..., 1::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made.eq(0)] = 1 if _is_integral(dtype) else finfo(dtype).tiny
    return made.requires_grad_() if requires_grad else made


def _is_integral(dtype: DType) -> bool:
    return dtype.name in _INTEGERS or dtype.name == "bool"


def _check_options(
    dtype: DType, requires_grad: bool, noncontiguous: bool, memory_format: object
) -> None:
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, "
            f"but got noncontiguous={noncontiguous} and memory_format={memory_format}"
        )
    if requires_grad and _is_integral(dtype):
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, "
            f"but got dtype={dtype}"
        )


def _filled(
    sizes: list[object], dtype: DType, device: Device, low: Number | None, high: Number | None
) -> Tensor:
    if _is_integral(dtype):
        return _integers(sizes, dtype, device, low, high)
    part = DTYPES.get(_COMPLEX.get(dtype.name, dtype.name), dtype)
    if not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(f"The requested dtype '{dtype}' is not supported by make_tensor()")
    limit = finfo(part).max
    low, high = _bounds(dtype, low, high, (-9, 9), (-limit, limit))
    if "float8" in dtype.name:
        stored: Tensor = _uniform(sizes, DTYPES["float32"], device, low, high).to(dtype)
        return stored
    if dtype.is_complex:
        parts = _uniform([*sizes, 2], part, device, low, high)
        return _tensor(eager_function("aten::view_as_complex")(parts).clone())  # no view of others
    return _uniform(sizes, dtype, device, low, high)


def _tensor(made: object) -> Tensor:
    assert isinstance(made, Tensor)
    return made


def _uniform(
    sizes: Sequence[object], dtype: DType, device: Device, low: Number, high: Number
) -> Tensor:
    made = _tensor(eager_function("aten::empty")(sizes, dtype=dtype, device=device))
    if high - low <= finfo(dtype).max:
        return _tensor(made.uniform_(low, high))
    return _tensor(made.uniform_(low / 2, high / 2).mul_(2))


def _integers(
    sizes: Sequence[object], dtype: DType, device: Device, low: Number | None, high: Number | None
) -> Tensor:
    if dtype.name == "bool":
        usual, limits = (0, 2), (0, 2)
    else:
        bits = dtype.itemsize * 8
        signed = not dtype.name.startswith("u")
        least = -(2 ** (bits - 1)) if signed else 0
        usual, limits = (-9 if signed else 0, 10), (least, least + 2**bits)
    bound_low, bound_high = _bounds(dtype, low, high, usual, limits)
    first, end = math.ceil(bound_low), min(math.ceil(bound_high), _MOST_INT64)
    return _tensor(eager_function("aten::randint")(first, end, sizes, dtype=dtype, device=device))


def _bounds(
    dtype: DType,
    low: Number | None,
    high: Number | None,
    usual: tuple[Number, Number],
    limits: tuple[Number, Number],
) -> tuple[Number, Number]:
    """The bounds as told, or the usual ones, within what the dtype can hold."""
    low = usual[0] if low is None else low
    high = usual[1] if high is None else high
    if any(isinstance(each, float) and math.isnan(each) for each in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low} and high={high}")
    if low > high or (low == high and _is_integral(dtype)):
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if low == high:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is "
            "deprecated since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=4,
        )
    if high < limits[0] or low >= limits[1]:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), "
            f"but {dtype} only supports [{limits[0]}, {limits[1]})"
        )
    return max(low, limits[0]), min(high, limits[1])
