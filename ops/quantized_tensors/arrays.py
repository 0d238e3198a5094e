"""Quantized tensors: whole numbers with a scale and a zero point, together or one a channel.

    value = (number - zero_point) * scale

A quantized tensor is a `QuantizedArray`: its dtype is a record of one field (`quint8`), so that
NumPy refuses to compute with it as if it were plain numbers, and its views carry the quantizer on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NoReturn

import numpy as np

from ..arithmetic.convert import is_channels_last, item
from ..kernels import family, is_whole, written_by_numpy
from ..memory.dtype import QSCHEMES, Array, DType, dtype_by_number, dtype_of
from ..memory.errors import OperatorError, UnsupportedOperator, unsupported
from ..memory.metadata import CHANGEABLE
from ..shapes.shape import select
from ..table.table import operator
from .halves import LARGEST_HALF, are_halves, joined_halves
from .steps import numbers_by_kernel, values_by_kernel

__all__ = [
    "Quantizer",
    "QuantizedArray",
    "channels",
    "choose_quantizer",
    "dequantize",
    "numbers_of",
    "per_tensor",
    "quantize",
    "quantized_array",
    "quantizer_of",
]

F32: Final = np.float32
_NOT_UNIFORM: Final = "Setting strides is possible only on uniformly quantized tensor"


@dataclass(frozen=True, slots=True, eq=False)
class Quantizer:
    """What the numbers mean.

    `scale` and `zero_point` are numbers; or arrays, with an element for each index of dimension
    `axis`.  `is_float` says that zero points are floats that are added after scaling.
    """

    scale: Any
    zero_point: Any
    axis: int | None = None
    is_float: bool = False

    @staticmethod
    def fitting(
        scale: object, zero_point: object, axis: int, shape: tuple[int, ...]
    ) -> Quantizer | None:
        """That of a tensor of some shape: of two numbers, or of two arrays along an axis.

        None if they do not fit.
        """
        if isinstance(scale, float) and isinstance(zero_point, int):
            return Quantizer(scale, zero_point)
        if not isinstance(scale, np.ndarray) or not isinstance(zero_point, np.ndarray):
            return None
        channels = shape[axis : axis + 1] if axis >= 0 else ()
        if not (scale.shape == zero_point.shape == channels):
            return None
        return Quantizer(scale, zero_point, axis, zero_point.dtype.kind == "f")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantizer) and (
            self.axis == other.axis
            and self.is_float == other.is_float
            and np.array_equal(self.scale, other.scale)
            and np.array_equal(self.zero_point, other.zero_point)
        )

    def __hash__(self) -> int:
        return hash((self.axis, self.is_float))

    @property
    def scheme(self) -> str:
        """torch's name of it."""
        if self.axis is None:
            return "per_tensor_affine"
        return "per_channel_affine_float_qparams" if self.is_float else "per_channel_affine"

    @property
    def numbers(self) -> tuple[Any, Any]:
        """Scale and zero point."""
        return self.scale, self.zero_point

    def spread(self, ndim: int) -> tuple[Any, Any]:
        """Scale and zero point, shaped to combine with an array of so many dimensions."""
        if self.axis is None:
            return F32(self.scale), self.zero_point
        shape = [1] * ndim
        shape[self.axis] = -1
        scale = self.scale.astype(F32).reshape(shape)
        return scale, self.zero_point.reshape(shape)


class QuantizedArray(Array):
    """The numbers of a quantized tensor."""

    quantizer: Quantizer | None = None

    def __array_finalize__(self, origin: object) -> None:
        if type(origin) is not QuantizedArray:
            return
        quantizer = origin.quantizer
        if quantizer is not None and quantizer.axis is not None and origin.shape != self.shape:
            quantizer = None  # its axis is not known any more
        self.quantizer = quantizer

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **options: object
    ) -> object:
        raise unsupported(str(ufunc.__name__))

    def item(self, *place: Any) -> Any:
        """The value that one element means, as a Python number."""
        return dequantize(self).item(*place)

    def __reduce__(self) -> tuple[object, ...]:
        return quantized_array, (numbers_of(self).copy(), dtype_of(self), self.quantizer)


CHANGEABLE.add(QuantizedArray)


def quantizer_of(array: Array, name: str) -> Quantizer:
    """The quantizer of a quantized tensor.

    Raises:
        OperatorError: the tensor is not quantized, or its quantizer got lost in a view.
    """
    quantizer = getattr(array, "quantizer", None)
    if isinstance(quantizer, Quantizer):
        return quantizer
    if array.dtype.names is not None:
        raise OperatorError(_NOT_UNIFORM)
    raise UnsupportedOperator(
        f"Could not run 'aten::{name}' with arguments from the 'CPU' backend.",
        headline="the tensor is not quantized",
    )


def numbers_of(array: Array) -> Array:
    """The whole numbers of a quantized tensor, in its memory."""
    (field,) = array.dtype.names or ("",)
    numbers: Array = array.view(np.ndarray)[field]
    return numbers


def quantized_array(numbers: Array, dtype: DType, quantizer: Quantizer) -> QuantizedArray:
    """The quantized tensor of whole numbers, in their memory."""
    made = numbers.getfield(dtype.numpy).view(QuantizedArray)  # quicker than a view as records
    made.quantizer = quantizer
    return made


# --------------------------------------------------------------------------- to and from floats


def quantize(values: Array, dtype: DType, quantizer: Quantizer) -> QuantizedArray:
    """The quantized tensor nearest to float32 values."""
    field = dtype.numpy[0]
    scale, zero_point = quantizer.spread(values.ndim)
    least, most = _limits(dtype)
    with np.errstate(all="ignore"):
        inverse = np.asarray(F32(1) / scale, F32)
    if quantizer.axis is None and field.itemsize == 1 and type(values) is np.ndarray:
        limits = least, most
        found = numbers_by_kernel(values, float(inverse), quantizer.zero_point, limits, field)
        if found is not None:
            return quantized_array(found, dtype, quantizer)
    written_by_numpy()
    with np.errstate(all="ignore"):
        given = values.astype(F32)
        # the zero point is added before rounding to whole numbers, which decides ties
        if quantizer.axis is None and field.itemsize == 1:  # product and sum are rounded once
            scaled = (given * inverse.astype(np.float64) + zero_point).astype(F32)
        else:
            scaled = given * inverse + np.asarray(zero_point, F32)
        whole = np.rint(scaled)
        if field.itemsize == 4:
            whole = whole.astype(np.float64)  # float32 has no such number as the largest
        # what is not a number becomes the least
        clipped = np.fmin(np.fmax(whole, least), most)
        numbers = np.empty(values.shape, field)
        numbers[...] = clipped
    return quantized_array(numbers, dtype, quantizer)


def _limits(dtype: DType) -> tuple[int, int]:
    """The least and the largest number of a quantized dtype."""
    if dtype.name == "quint4x2":
        return 0, LARGEST_HALF
    limits = np.iinfo(dtype.numpy[0])
    return int(limits.min), int(limits.max)


def dequantize(array: Array) -> Array:
    """The float32 values of a quantized tensor."""
    quantizer = quantizer_of(array, "dequantize")
    scale, zero_point = quantizer.spread(array.ndim)
    numbers = numbers_of(array)
    if quantizer.axis is None and not quantizer.is_float:
        found = values_by_kernel(numbers, float(scale), zero_point)
        if found is not None:
            return found
    written_by_numpy()
    if quantizer.is_float:
        return np.asarray((numbers.astype(F32) - zero_point.astype(F32)) * scale, F32)
    wide = np.int64 if numbers.dtype.itemsize == 4 else np.int32
    return np.asarray((numbers.astype(wide) - zero_point).astype(F32) * scale, F32)


def per_tensor(scale: float, zero_point: int) -> Quantizer:
    """One scale and zero point for all."""
    return Quantizer(float(scale), int(zero_point))


SMALLEST_SCALE: Final = F32(6.1e-5)
"""Smaller scales are not chosen."""
_OVERFLOWING: Final = 2.0**128 * (1 - 2.0**-25)
"""The least number that float32 rounds to infinity."""


def choose_quantizer(values: Array, low: int, high: int) -> Quantizer:
    """The quantizer that a dynamic layer uses for values: over the numbers low to high."""
    least, most = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    return per_tensor(*scale_for(least, most, low, high, precision=np.float64))


def scale_for(
    least: float,
    most: float,
    low: int,
    high: int,
    symmetric: bool = False,
    precision: type[np.float32 | np.float64] = F32,
) -> tuple[float, int]:
    """The scale and zero point that spread a range of values, 0 included, over the numbers low to
    high.

    A symmetric one has its zero point in the middle if there are values on both sides of 0.  The
    scale is rounded to the precision.
    """
    if symmetric and least < 0 < most:
        half = (high - low) // 2
        largest = max(float(abs(F32(least) / F32(half + 1))), float(abs(F32(most) / F32(half))))
        least, most = float(F32(-largest * (half + 1))), float(F32(largest * half))
    least, most = min(least, 0.0), max(most, 0.0)
    scale = float(precision((most - least) / (high - low)))
    single = scale if precision is F32 else float(F32(scale))
    if single == 0.0 or 1.0 / single >= _OVERFLOWING:
        scale = float(precision(0.1))
    if scale < SMALLEST_SCALE:
        wider = SMALLEST_SCALE / F32(scale)
        scale = float(SMALLEST_SCALE)
        least, most = float(F32(least) * wider), float(F32(most) * wider)
    from_low, from_high = low - least / scale, high - most / scale
    low_error = abs(low) + abs(least / scale)
    high_error = abs(high) + abs(most / scale)
    zero = from_low if low_error < high_error else from_high
    if symmetric and least < 0 < most:
        zero = (low + high) / 2
    return scale, min(max(round(zero), low), high)


# --------------------------------------------------------------------------- operators


def _check(values: Array, zero_point: int, number: int, name: str) -> DType:
    if values.dtype != F32:
        shown = dtype_of(values).scalar_name
        raise OperatorError(
            f"Quantize only works on Float Tensor, got {shown}", code="dtype-mismatch"
        )
    dtype = dtype_by_number(number)
    if dtype.kind != "q" or dtype.name not in ("qint8", "quint8", "qint32", "quint4x2"):
        raise OperatorError(f"{name}: torch.{dtype.name} is no quantized dtype that exists here")
    least, most = _limits(dtype)
    for beyond, side in ((zero_point > most, "above upper"), (zero_point < least, "")):
        if beyond:
            side = side or "below lower"
            raise OperatorError(f"{name} zero_point {zero_point} is {side} bound.")
    return dtype


@operator(
    "aten::quantize_per_tensor.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, "
    "ScalarType dtype) -> Tensor",
    face="function",
    by_numbers="aten::quantize_per_tensor",
)
@operator(
    "aten::quantize_per_tensor(Tensor self, float scale, int zero_point, ScalarType dtype) "
    "-> Tensor",
    face="function",
    quantized_prepared=True,
)
def quantize_per_tensor(self: Array, scale: object, zero_point: object, dtype: int) -> Array:
    factor, zero = _number(scale), int(_number(zero_point))
    kind = _check(self, zero, dtype, "quantize_tensor_per_tensor_affine")
    return quantize(self, kind, per_tensor(factor, zero))


def _number(value: object) -> Any:
    return item(value) if isinstance(value, np.ndarray) else value


@operator(
    "aten::quantize_per_tensor.tensors(Tensor[] tensors, Tensor scales, Tensor zero_points, "
    "ScalarType dtype) -> Tensor[]",
    face="function",
)
def quantize_tensors(
    tensors: list[Array], scales: Array, zero_points: Array, dtype: int
) -> list[Array]:
    return [
        quantize_per_tensor(tensor, select(scales, 0, i), select(zero_points, 0, i), dtype)
        for i, tensor in enumerate(tensors)
    ]


@operator(
    "aten::quantize_per_tensor_dynamic(Tensor self, ScalarType dtype, bool reduce_range) -> Tensor",
    face="function",
)
def quantize_per_tensor_dynamic(self: Array, dtype: int, reduce_range: bool) -> Array:
    low, high = (-128, 127) if dtype_by_number(dtype).name == "qint8" else (0, 255)
    if reduce_range:
        low, high = low // 2, high // 2
    kind = _check(self, 0, dtype, "quantize_per_tensor_dynamic")
    return quantize(self, kind, choose_quantizer(self, low, high))


def channels(self: Array, scales: Array, zero_points: Array, axis: int) -> Quantizer:
    """Scales and zero points of the channels of `self`.

    Raises:
        OperatorError: there is no such axis, or they are not as many as the channels.
    """
    ndim = self.ndim
    if not -ndim <= axis < ndim:
        raise OperatorError("Channel axis out of range in per channel affine quantization.")
    if scales.size != zero_points.size:
        raise OperatorError(
            "number of elements in scales and zero_points must match", code="shape-mismatch"
        )
    if not scales.shape == zero_points.shape == (self.shape[axis],):
        raise OperatorError(
            f"length of scales must equal to channel, expected {self.shape[axis]} got, "
            f"{scales.size}",
            code="shape-mismatch",
        )
    if zero_points.dtype.kind == "f":
        return Quantizer(scales.astype(F32), zero_points.astype(F32), axis % ndim, True)
    return Quantizer(scales.astype(np.float64), zero_points.astype(np.int64), axis % ndim)


@operator(
    "aten::quantize_per_channel(Tensor self, Tensor scales, Tensor zero_points, int axis, "
    "ScalarType dtype) -> Tensor",
    face="function",
)
def quantize_per_channel(
    self: Array, scales: Array, zero_points: Array, axis: int, dtype: int
) -> Array:
    quantizer = channels(self, scales, zero_points, axis)
    name = "quantize_tensor_per_channel_affine"
    kind = _check(self, 0, dtype, name)
    if kind.name == "quint4x2" and not quantizer.is_float:
        raise NotImplementedError(f"\"{name}\" not implemented for 'QUInt4x2'")
    return quantize(self, kind, quantizer)


@operator(
    "aten::dequantize.self(Tensor self) -> Tensor",
    order="self_out tensors tensor list",
    quantized_prepared=True,
)
def dequantize_tensor(self: Array) -> Array:
    if self.dtype.names is None:
        written_by_numpy()
        return self.astype(F32)
    return dequantize(self)


@operator(
    "aten::dequantize.tensors(Tensor[] tensors) -> Tensor[]",
    "aten::dequantize.list(Tensor[] qtensors) -> Tensor[]",
)
def dequantize_tensors(tensors: list[Array]) -> list[Array]:
    return [dequantize_tensor(tensor) for tensor in tensors]


operator("aten::dequantize.tensor(Tensor qtensor) -> Tensor", out="")(dequantize_tensor)


@operator("aten::dequantize.any(Any tensors) -> Any")
def dequantize_any(tensors: object) -> object:
    if isinstance(tensors, np.ndarray):
        return dequantize_tensor(tensors)
    if isinstance(tensors, (list, tuple)):
        return type(tensors)(dequantize_any(each) for each in tensors)
    return tensors


@operator("aten::int_repr(Tensor self) -> Tensor", order="out -", quantized_prepared=True)
def int_repr(self: Array) -> Array:
    quantizer_of(self, "int_repr")
    if are_halves(self):
        return joined_halves(numbers_of(self).reshape(-1))
    return _copied(numbers_of(self))


def _copied(numbers: Array) -> Array:
    """A copy with channels last where the array has them so, else by rows."""
    if not numbers.flags.c_contiguous and is_channels_last(numbers):
        inner = tuple(range(1, numbers.ndim - 1))
        last = numbers.transpose(0, *(dim + 1 for dim in inner), 1)
        return _copied(last).transpose(0, numbers.ndim - 1, *inner)
    copies = family("elementwise.copies") if is_whole(numbers) else None
    if copies is None:
        written_by_numpy()
        return numbers.copy("C")
    made: Array = copies.copied(numbers)
    return made


def _uniform(array: Array, name: str) -> Quantizer:
    quantizer = quantizer_of(array, name)
    if quantizer.axis is not None:
        raise OperatorError(
            "Expected quantizer->qscheme() == kPerTensorAffine to be true, but got false.",
            headline="the tensor has a scale for every channel, not one",
        )
    return quantizer


def _channels(array: Array, name: str) -> Quantizer:
    quantizer = quantizer_of(array, name)
    if quantizer.axis is None:
        raise OperatorError(
            "Expected quantizer->qscheme() == kPerChannelAffine to be true, but got false.",
            headline="the tensor has one scale, not one for every channel",
        )
    return quantizer


@operator("aten::q_scale(Tensor self) -> float")
def q_scale(self: Array) -> float:
    return float(_uniform(self, "q_scale").scale)


@operator("aten::q_zero_point(Tensor self) -> int")
def q_zero_point(self: Array) -> int:
    return int(_uniform(self, "q_zero_point").zero_point)


@operator("aten::q_per_channel_scales(Tensor self) -> Tensor", order="out -")
def q_per_channel_scales(self: Array) -> Array:
    scales: Array = _channels(self, "q_per_channel_scales").scale
    return scales.copy()


@operator("aten::q_per_channel_zero_points(Tensor self) -> Tensor", order="out -")
def q_per_channel_zero_points(self: Array) -> Array:
    zero_points: Array = _channels(self, "q_per_channel_zero_points").zero_point
    return zero_points.copy()


@operator("aten::q_per_channel_axis(Tensor self) -> int")
def q_per_channel_axis(self: Array) -> int:
    axis = _channels(self, "q_per_channel_axis").axis
    assert axis is not None
    return axis


@operator("aten::qscheme(Tensor self) -> QScheme", face="method")
def qscheme(self: Array) -> int:
    return QSCHEMES[quantizer_of(self, "qscheme").scheme].number


@operator(
    "aten::_make_per_tensor_quantized_tensor(Tensor self, float scale, int zero_point) -> Tensor"
)
def make_per_tensor(self: Array, scale: float, zero_point: int) -> Array:
    return quantized_array(self.copy(), _quantized_kind(self), per_tensor(scale, zero_point))


@operator(
    "aten::_make_per_channel_quantized_tensor(Tensor self, Tensor scale, Tensor zero_point, "
    "int axis) -> Tensor"
)
def make_per_channel(self: Array, scale: Array, zero_point: Array, axis: int) -> Array:
    quantizer = channels(self, scale, zero_point, axis)
    return quantized_array(self.copy(), _quantized_kind(self), quantizer)


def _quantized_kind(numbers: Array) -> DType:
    number = {"int8": 12, "uint8": 13, "int32": 14}.get(numbers.dtype.name)
    if number is None:
        _not_whole(numbers)
    return dtype_by_number(number)


def _not_whole(numbers: Array) -> NoReturn:
    shown = dtype_of(numbers).scalar_name
    raise OperatorError(f"numbers of a quantized tensor cannot be {shown}", code="dtype-mismatch")


@operator("prim::is_quantized(Tensor a) -> bool", of_form=True)
def is_quantized(a: Array) -> bool:
    return a.dtype.names is not None
