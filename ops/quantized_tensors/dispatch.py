"""Ordinary operators on quantized tensors.

Each operator here gets a second forward that is taken when its first argument is quantized.  Most
either move or compare numbers, which means the same for the values they stand for.  The file is
imported when all operators are declared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

import numpy as np

from ..kernels import family, is_last_whole, is_whole, written_by_numpy
from ..memory.dtype import Array, DType, Scalar, dtype_of, numpy_dtype
from ..memory.errors import OperatorError, unsupported
from ..shapes.windows import follow_format
from ..table.table import TABLE
from .arrays import (
    QuantizedArray,
    Quantizer,
    dequantize,
    numbers_of,
    per_tensor,
    quantize,
    quantized_array,
    quantizer_of,
)
from .by_number import looked_up
from .pointwise import clamped, joined
from .steps import values_by_kernel

F32: Final = np.float32
Forward = Callable[..., Any]


def _is_quantized(value: object) -> bool:
    if type(value) is list:
        return bool(value) and type(value[0]) is QuantizedArray
    return type(value) is QuantizedArray


def _join(full_name: str, special: Forward, *, prepared: bool = False) -> None:
    """Make a form the one of an operator for quantized tensors; it gets the plain forward first.

    One that is `prepared` runs kernels alone, or says that it does not.

    Raises:
        LookupError: there is no such operator, or not yet.
    """
    entry = TABLE.operator(full_name)
    if entry is None:
        if full_name in TABLE.left_out:
            return
        raise LookupError(f"there is no operator {full_name}")
    plain = entry.forward

    def forward(first: object, *rest: object) -> Any:
        if type(first) is np.ndarray:
            return plain(first, *rest)
        if type(first) is QuantizedArray or (type(first) is list and _is_quantized(first)):
            return special(plain, first, *rest)
        return plain(first, *rest)

    entry.join_quantized(special, forward, prepared=prepared)


# --------------------------------------------------------------------------- moving numbers


def _again(made: object, like: Array, quantizer: Quantizer) -> object:
    """Results that are whole numbers of the tensor's kind, as quantized tensors."""
    if isinstance(made, np.ndarray):
        same = made.dtype == numbers_of(like[:0] if like.ndim else like).dtype
        return quantized_array(made, dtype_of(like), quantizer) if same else made
    if isinstance(made, (tuple, list)):
        return type(made)(_again(each, like, quantizer) for each in made)
    return made


def _on_numbers(plain: Forward, x: Array, *rest: object) -> object:
    quantizer = quantizer_of(x, "view")
    return _again(plain(numbers_of(x), *rest), x, quantizer)


def _on_uniform_numbers(plain: Forward, x: Array, *rest: object) -> object:
    if quantizer_of(x, "view").axis is not None:
        raise OperatorError("Setting strides is possible only on uniformly quantized tensor")
    return _on_numbers(plain, x, *rest)


def _in_other_sizes(plain: Forward, x: Array, *rest: object) -> object:
    """The numbers in other sizes, where the channels stay a dimension at the same place."""
    quantizer, numbers = quantizer_of(x, "view"), numbers_of(x)
    made: Array = plain(numbers, *rest)
    if quantizer.axis is not None:
        at = slice(quantizer.axis, quantizer.axis + 1)
        sizes = x.shape[: at.stop]
        if made.shape[: at.stop] != sizes or made.strides[at] != numbers.strides[at]:
            raise OperatorError("Setting strides is possible only on uniformly quantized tensor")
    return quantized_array(made, dtype_of(x), quantizer)


_ANY_QUANTIZER: Final = ("clone", "contiguous", "detach", "alias")
_UNIFORM: Final = """
transpose.int permute t unsqueeze squeeze squeeze.dim select.int slice.Tensor expand expand_as
repeat flip index_select index.Tensor chunk split.Tensor split.sizes unbind.int narrow max min
max.dim min.dim sort topk max_pool2d max_pool3d movedim.int as_strided masked_select
channel_shuffle pixel_shuffle pixel_unshuffle unfold reflection_pad1d reflection_pad2d gather
roll
""".split()

_PREPARED: Final = ("max_pool2d", "channel_shuffle")
"""Those whose ordinary form runs kernels for bytes, or says that it does not."""

for _name in _ANY_QUANTIZER:
    _join(f"aten::{_name}", _on_numbers, prepared=True)
for _name in ("reshape", "ravel", "view", "flatten.using_ints"):
    _join(f"aten::{_name}", _in_other_sizes, prepared=True)
for _name in _UNIFORM:
    _join(f"aten::{_name}", _on_uniform_numbers, prepared=_name in _PREPARED)


def _chosen(*, takes_bytes: bool) -> Forward:
    """Numbers that an operator chooses which takes floats, and bytes perhaps: floats hold all."""

    def forward(plain: Forward, x: Array, *rest: object) -> object:
        quantizer, numbers = quantizer_of(x, "view"), numbers_of(x)
        if takes_bytes and numbers.dtype == np.uint8:
            return _again(plain(numbers, *rest), x, quantizer)
        wide = numbers.astype(F32 if numbers.itemsize == 1 else np.float64)
        return _again(plain(wide, *rest).astype(numbers.dtype), x, quantizer)

    return forward


_NEAREST: Final = """
upsample_nearest1d upsample_nearest2d upsample_nearest3d
_upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d
""".split()

_join("aten::max_pool1d", _chosen(takes_bytes=False))
for _name in (*_NEAREST, *(f"{each}.vec" for each in _NEAREST)):
    _is_plane = _name.startswith("upsample_nearest2d")
    _join(f"aten::{_name}", _chosen(takes_bytes=True), prepared=_is_plane)


# --------------------------------------------------------------------------- by way of floats


def _same_scale(plain: Forward, x: Array, *rest: object) -> Array:
    """Computed in floats, given back with the tensor's own quantizer."""
    return quantize(plain(dequantize(x), *rest), dtype_of(x), quantizer_of(x, "mean"))


def _one_by_one(name: str) -> Forward:
    """The same of each element by itself."""

    def forward(plain: Forward, x: Array, *rest: Hashable) -> Array:
        return looked_up(x, lambda x: _same_scale(plain, x, *rest), ("aten", name, *rest))

    return forward


for _name in ("mean", "mean.dim"):
    _join(f"aten::{_name}", _same_scale, prepared=True)
for _name in ("std", "std.dim"):
    _join(f"aten::{_name}", _same_scale)
for _name in ("leaky_relu", "elu", "threshold"):
    _join(f"aten::{_name}", _one_by_one(_name), prepared=True)


def _gelu(plain: Forward, x: Array, *rest: Hashable) -> Array:
    quantizer = quantizer_of(x, "gelu")
    if quantizer.axis is not None:
        return _same_scale(plain, x, *rest)
    made = per_tensor(float(F32(quantizer.scale)), quantizer.zero_point)
    return looked_up(
        x, lambda x: quantize(plain(dequantize(x), *rest), dtype_of(x), made), ("gelu", *rest)
    )


def _prelu(plain: Forward, x: Array, weight: Array) -> Array:
    if weight.dtype != x.dtype:
        refused: Array = plain(x, weight)
        return refused
    return _same_scale(plain, x, dequantize(weight))


_join("aten::gelu", _gelu)
_join("aten::prelu", _prelu)


def _rounded_numbers(plain: Forward, x: Array, *rest: object) -> Array:
    """Means of the numbers less their zero point, rounded with it: ties are those of numbers."""
    quantizer = quantizer_of(x, "mean")
    if quantizer.axis is not None:
        return _same_scale(plain, x, *rest)
    numbers = values_by_kernel(numbers_of(x), 1.0, quantizer.zero_point)
    if numbers is None:
        written_by_numpy()
        numbers = numbers_of(x).astype(F32) - F32(quantizer.zero_point)
    made = plain(numbers, *rest)
    rounded = quantize(made, dtype_of(x), per_tensor(1.0, quantizer.zero_point))
    return quantized_array(numbers_of(rounded), dtype_of(x), quantizer)


_AVERAGES: Final = """
avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
_adaptive_avg_pool2d _adaptive_avg_pool3d upsample_bilinear2d upsample_bilinear2d.vec
""".split()

for _name in _AVERAGES:
    _join(f"aten::{_name}", _rounded_numbers, prepared=True)

_RANGES: Final = {"sigmoid": (256, 0), "hardsigmoid": (256, 0), "tanh": (128, 128)}
"""One over the scale, and the zero point, of results between known bounds."""


def _bounded(name: str) -> Forward:
    steps, zero = _RANGES[name]

    def forward(plain: Forward, x: Array) -> Array:
        kind = dtype_of(x)
        lowest = 0 if kind.name == "quint8" else -128
        made = per_tensor(1 / steps, zero + lowest if kind.name != "qint32" else 0)
        return looked_up(x, lambda x: quantize(plain(dequantize(x)), kind, made), ("aten", name))

    return forward


for _name in _RANGES:
    _join(f"aten::{_name}", _bounded(_name), prepared=True)


# --------------------------------------------------------------------------- bounds


def _relu(plain: Forward, x: Array) -> Array:
    return clamped(x, 0, None)


def _clamp(plain: Forward, x: Array, low: Scalar | None = None, high: Any = None) -> Array:
    return clamped(x, low, high)


def _relu6(plain: Forward, x: Array) -> Array:
    return clamped(x, 0, 6)


for _name, _special in (
    *(("relu", _relu), ("relu6", _relu6)),
    *(("clamp", _clamp), ("hardtanh", _clamp)),
):
    _join(f"aten::{_name}", _special, prepared=True)


def _written(special: Forward) -> Forward:
    """The same in place."""

    def forward(plain: Forward, x: Array, *rest: object) -> Array:
        made, target = numbers_of(special(plain, x, *rest)), numbers_of(x)
        arrays = family("elementwise.arrays") if is_whole(target) or is_last_whole(target) else None
        if arrays is None or not arrays.moved(made, target):
            written_by_numpy()
            target[...] = made
        return x

    return forward


for _name, _special in (
    *(("relu_", _relu), ("relu6_", _relu6)),
    *(("clamp_", _clamp), ("hardtanh_", _clamp)),
):
    _join(f"aten::{_name}", _written(_special), prepared=True)


# --------------------------------------------------------------------------- several tensors


def _cat(plain: Forward, tensors: list[Array], dim: int) -> Array:
    return joined(tensors, dim, None, None, False)


def _stack(plain: Forward, tensors: list[Array], dim: int) -> Array:
    places = [np.expand_dims(tensor, dim) for tensor in tensors]
    return joined(places, dim, None, None, False)


_join("aten::cat", _cat, prepared=True)
_join("aten::stack", _stack, prepared=True)


def _copy(plain: Forward, x: Array, source: Array, *rest: object) -> Array:
    values = dequantize(source) if source.dtype.names is not None else source
    if values.dtype != F32:
        raise OperatorError("Quantized copy only works with kFloat as source Tensor")
    made = quantize(np.broadcast_to(values, x.shape), dtype_of(x), quantizer_of(x, "copy_"))
    numbers_of(x)[...] = numbers_of(made)
    return x


_join("aten::copy_", _copy)


def _fill(plain: Forward, x: Array, value: Any) -> Array:
    if isinstance(value, np.ndarray) and value.ndim:
        filled: Array = plain(x, value)  # which refuses it
        return filled
    return _copy(plain, x, np.asarray(value, F32))


_join("aten::fill_.Scalar", _fill)
_join("aten::fill_.Tensor", _fill)


def _put(
    plain: Forward, x: Array, indices: list[Array | None], values: Array, accumulate: bool = False
) -> Array:
    if values.dtype.names is not None:
        raise OperatorError("Value argument for quantized input_put should not be quantized")
    quantizer = quantizer_of(x, "index_put_")
    if quantizer.axis is not None:
        raise OperatorError(_PUT_ONLY.format("per tensor quantized tensors"))
    if accumulate:
        raise OperatorError(_PUT_ONLY.format("accumulate=False"))
    made = quantize(values, dtype_of(x), quantizer)
    put = plain(numbers_of(x), indices, numbers_of(made), accumulate)
    return quantized_array(put, dtype_of(x), quantizer)


def _fill_where(plain: Forward, x: Array, mask: Array, value: Any) -> Array:
    quantizer = quantizer_of(x, "masked_fill")
    if quantizer.axis is not None:
        raise OperatorError(_PUT_ONLY.format("per tensor quantized tensors"))
    number = numbers_of(quantize(np.asarray(value, F32), dtype_of(x), quantizer))
    filled = plain(numbers_of(x), mask, number if isinstance(value, np.ndarray) else int(number))
    return quantized_array(filled, dtype_of(x), quantizer)


def _in_place(special: Forward) -> Forward:
    def forward(plain: Forward, x: Array, *rest: Any) -> Array:
        special(plain, x, *rest)
        return x

    return forward


_PUT_ONLY: Final = "index_put for quantized tensors is currently only supported for {}"
_join("aten::index_put", _put)
_join("aten::index_put_", _in_place(_put))
for _overload in ("Scalar", "Tensor"):
    _join(f"aten::masked_fill.{_overload}", _fill_where)
    _join(f"aten::masked_fill_.{_overload}", _in_place(_fill_where))


def _full_like(plain: Forward, x: Array, value: Scalar, *rest: object) -> Array:
    filled = np.full(x.shape, value, F32)
    return quantize(filled, dtype_of(x), quantizer_of(x, "full_like"))


def _ones_like(plain: Forward, x: Array, *rest: object) -> Array:
    return _full_like(plain, x, 1)


def _empty_like(plain: Forward, x: Array, dtype: int | None = None, *rest: object) -> object:
    if dtype is not None and numpy_dtype(dtype) != x.dtype:
        wanted = dtype_of(np.empty(0, numpy_dtype(dtype)))
        raise OperatorError(
            "It is currently not supported to specify a dtype that doesn't match the input "
            f"tensor's dtype via empty_like.  Specified: {_inner_name(wanted)} Input tensor's "
            f"dtype: {_inner_name(dtype_of(x))}"
        )
    numbers = numbers_of(x)
    if not rest or rest[-1] is None:  # in a format alone, not in any order of dimensions
        numbers = follow_format(np.empty(x.shape, numbers.dtype), numbers)
    return _again(plain(numbers, None, *rest), x, quantizer_of(x, "empty_like"))


def _inner_name(dtype: DType) -> str:
    """What torch calls a dtype inside."""
    names = {"float32": "float", "float64": "double"}
    return f"c10::{dtype.name}" if dtype.numpy.names else names.get(dtype.name, dtype.name)


_join("aten::empty_like", _empty_like)
_join("aten::full_like", _full_like)
_join("aten::ones_like", _ones_like)


def _refusing(name: str) -> Forward:
    def forward(plain: Forward, x: Array, *rest: object) -> Array:
        raise unsupported(name)

    return forward


_UNWRITTEN: Final = """
zero_ fill_diagonal_ scatter_.value tril_ triu_ uniform_ normal_ random_ random_.from random_.to
bernoulli_.float bernoulli_.Tensor exponential_ cauchy_ log_normal_ geometric_
""".split()
"""What would write numbers without regard to their scale."""

for _name in _UNWRITTEN:
    _join(f"aten::{_name}", _refusing(_name))
_join("aten::zeros_like", _refusing("zero_"))


def _equal(plain: Forward, x: Array, other: Array) -> bool:
    if other.dtype != x.dtype or other.shape != x.shape:
        return False
    same = quantizer_of(x, "equal") == quantizer_of(other, "equal")
    return same and bool(np.array_equal(numbers_of(x), numbers_of(other)))


_join("aten::equal", _equal)


def _constant_pad(plain: Forward, x: Array, pad: list[int], value: Scalar = 0) -> Array:
    return _same_scale(plain, x, pad, value)


_join("aten::constant_pad_nd", _constant_pad)


def _compared(plain: Forward, x: Array, other: object) -> object:
    values = other
    if isinstance(other, np.ndarray) and other.dtype.names is not None:
        values = dequantize(other)
    return plain(dequantize(x), values)


for _name in "eq ne lt le gt ge not_equal less less_equal greater greater_equal".split():
    for _overload in ("Scalar", "Tensor"):
        _join(f"aten::{_name}.{_overload}", _compared)
