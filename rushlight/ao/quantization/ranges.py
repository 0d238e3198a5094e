"""Ranges of whole numbers, and the scale and zero point that take a range of floats to one."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Final

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DTYPES, QSCHEMES, DType, QScheme
from ...ops.tensors.construct import tensor
from ...ops.tensors.tensor import Tensor

__all__ = [
    "calculate_qmin_qmax",
    "check_min_max_valid",
    "determine_qparams",
    "to_underlying_dtype",
    "validate_qmin_qmax",
]

_full_like = eager_function("aten::full_like")
_max = eager_function("aten::maximum")
_min = eager_function("aten::minimum")
_round = eager_function("aten::round")
_where = eager_function("aten::where")
_zeros_like = eager_function("aten::zeros_like")

_torch = import_module(__name__.partition(".")[0])
"""The package itself: script takes constants from modules alone."""

_UNDERLYING: Final = {
    **{"qint8": "int8", "quint8": "uint8", "qint32": "int32"},
    **{"quint4x2": "uint8", "quint2x4": "uint8"},
    **{name: name for name in ("uint8", "int8", "uint16", "int16", "int32")},
    **{name: name for name in ("float8_e5m2", "float8_e4m3fn")},
}
_OWN: Final = {"qint8": "int8", "quint8": "uint8", "qint32": "int32"}
"""The kinds of numbers whose whole range is taken, if none is asked for; of others, 4 bits."""

_LIMITED: Final = {"qint8": 8, "int8": 8, "qint32": 32, "int32": 32}
"""The bits of dtypes for which a range must not be wider."""


def to_underlying_dtype(qdtype: DType) -> DType:
    """The dtype of the numbers themselves: int8 for qint8.

    Raises:
        AssertionError: values are not quantized to that dtype.
    """
    name = _UNDERLYING.get(qdtype.name)
    if name is None:
        raise AssertionError(f"Unsupported dtype: {qdtype}")
    return DTYPES[name]


def validate_qmin_qmax(quant_min: int, quant_max: int) -> None:
    """Check a range that was asked for.

    Raises:
        AssertionError: 0 is not in it, or nothing else is.
    """
    if not quant_min <= 0 <= quant_max:
        raise AssertionError("Used-specified quantization range must include 0.")
    if quant_min >= quant_max:
        raise AssertionError(
            "qmin must be strictly less than qmax for user-specified quantization range."
        )


def calculate_qmin_qmax(
    quant_min: int | None,
    quant_max: int | None,
    has_customized_qrange: bool,
    dtype: DType,
    reduce_range: bool,
) -> tuple[int, int]:
    """The least and the greatest number to use.

    Args:
        quant_min, quant_max: the range that was asked for, which counts if
            `has_customized_qrange`; else it is that of the dtype.
        reduce_range: leave one bit out, so that sums of products of 16 bits do not overflow.

    Raises:
        AssertionError: the range is empty, or wider than the dtype.
    """
    if has_customized_qrange and quant_min is not None and quant_max is not None:
        limit = 2 ** _LIMITED.get(dtype.name, 0)
        if limit > 1 and not 0 < quant_max - quant_min + 1 <= limit:
            raise AssertionError(
                "quantization range should be positive and not exceed the maximum bit range "
                f"(={limit})."
            )
        return (quant_min // 2, quant_max // 2) if reduce_range else (quant_min, quant_max)
    whole = _OWN.get(dtype.name, dtype.name)
    if whole not in ("int8", "uint8", "int16", "uint16", "int32"):
        return 0, 15
    bits = int(whole.lstrip("uint"))
    if reduce_range and bits == 8:
        bits = 7
    return (0, 2**bits - 1) if whole[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def check_min_max_valid(min_val: Tensor, max_val: Tensor) -> bool:
    """Whether something was seen; a warning says if nothing was.

    Raises:
        AssertionError: a least value is above the greatest.
    """
    unseen = min_val.numel() == 0 or max_val.numel() == 0
    if not unseen and (min_val.dim() == 0 or max_val.dim() == 0):
        unseen = bool(min_val == float("inf")) and bool(max_val == float("-inf"))
    if unseen:
        warnings.warn(
            "must run observer before calling calculate_qparams. Returning default values.",
            stacklevel=2,
        )
        return False
    if bool((min_val > max_val).any()):
        raise AssertionError(f"min {min_val} should be less than max {max_val}")
    return True


def fitting(
    min_val: Tensor,
    max_val: Tensor,
    quant_min: int,
    quant_max: int,
    eps: Tensor,
    kind: int,
    middle: int,
) -> tuple[Tensor, Tensor]:
    """The scales and zero points that take ranges of floats to [quant_min, quant_max].

    A range always holds 0, which is a number exactly.

    Args:
        min_val, max_val: the ends of the ranges, 0-d or one for each channel.
        eps: the least scale.
        kind: 0 if 0 may be any number (int32), 1 if it is `middle` (int64), 2 if it is a float.

    Returns:
        Scales (float32) and zero points, shaped as the ends.
    """
    steps = float(quant_max - quant_min)
    low = _min(min_val, _zeros_like(min_val))
    high = _max(max_val, _zeros_like(max_val))
    if kind == 1:
        widest = _max(-low, high)
        scale = _max(widest / (steps / 2), eps)
        return scale, _full_like(low, middle).to(_torch.int64)
    if kind == 2:
        scale = (max_val - min_val) / steps
        scale = _where(scale > eps, scale, scale * 0 + 1.0)
        return scale, -1 * min_val / scale
    scale = _max((high - low) / steps, eps)
    zero_point = quant_min - _round(low / scale).to(_torch.int32)
    return scale, zero_point.clamp(quant_min, quant_max)


_INT64: Final = DTYPES["int64"]

_SYMMETRIC: Final = (QSCHEMES["per_tensor_symmetric"], QSCHEMES["per_channel_symmetric"])
_FLOAT: Final = QSCHEMES["per_channel_affine_float_qparams"]


def middle_of(is_unsigned: bool, quant_min: int, quant_max: int, customized: bool) -> int:
    """The zero point of symmetric numbers: 0, of unsigned ones the middle of their range."""
    if not is_unsigned:
        return 0
    return (quant_min + quant_max) // 2 if customized else 128


def determine_qparams(
    min_val: Tensor,
    max_val: Tensor,
    quant_min: int,
    quant_max: int,
    dtype: DType,
    eps: Tensor,
    has_customized_qrange: bool,
    qscheme: QScheme = QSCHEMES["per_tensor_affine"],
) -> tuple[Tensor, Tensor]:
    """Scales (float64) and zero points (int64), one for each range.

    Args:
        min_val, max_val: the ends of the ranges of floats, 0-d or one for each channel.
        quant_min, quant_max: the range of numbers, asked for if `has_customized_qrange`.
        eps: the least scale.

    Raises:
        AssertionError: a least value is above the greatest.
    """
    if not check_min_max_valid(min_val, max_val):
        return tensor([1.0]), tensor([0])
    kind = 1 if qscheme in _SYMMETRIC else 2 if qscheme is _FLOAT else 0
    is_unsigned = dtype.name in ("quint8", "uint8")
    middle = middle_of(is_unsigned, quant_min, quant_max, has_customized_qrange)
    scale, zero_point = fitting(min_val, max_val, quant_min, quant_max, eps, kind, middle)
    return scale.reshape(-1).to(DTYPES["float64"]), zero_point.reshape(-1).to(_INT64)
