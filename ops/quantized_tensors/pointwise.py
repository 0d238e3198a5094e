"""Element by element on quantized tensors, and normalization of them.

Most compute in floats and quantize the result, as torch's own kernels say of themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

import numpy as np

from ..arithmetic.convert import item
from ..kernels import blas, family, is_last_whole, is_whole, unfilled, written_by_numpy
from ..layers.batch_norm import instance_norm
from ..layers.normalize import group_norm, layer_norm
from ..memory.dtype import Array, DType, Scalar, dtype_of
from ..memory.errors import OperatorError
from ..shapes.join import cat as one_after_another
from ..table.table import TABLE, operator
from .arrays import (
    Quantizer,
    dequantize,
    numbers_of,
    per_tensor,
    quantize,
    quantized_array,
    quantizer_of,
)
from .by_number import looked_up, of_two

__all__ = ["clamped", "joined", "kind_of", "requantized", "with_scalar"]

F32: Final = np.float32
_OUT: Final = "float output_scale, int output_zero_point"


def kind_of(array: Array) -> DType:
    """The dtype of a quantized tensor.

    Raises:
        OperatorError: it is not quantized.
    """
    quantizer_of(array, "quantized")
    return dtype_of(array)


def requantized(values: Array, like: Array, scale: float, zero_point: int) -> Array:
    """Floats as a quantized tensor of another one's dtype."""
    return quantize(np.asarray(values, F32), kind_of(like), per_tensor(scale, zero_point))


def clamped(array: Array, low: Scalar | None, high: Scalar | None) -> Array:
    """Values kept between two bounds: the numbers are, as they rise with the values."""
    quantizer, numbers = quantizer_of(array, "clamp"), numbers_of(array)
    bounds = [b if b is None else _number(float(b.real), array, quantizer) for b in (low, high)]
    if bounds == [None, None]:
        return quantized_array(numbers.copy(), dtype_of(array), quantizer)

    def between(x: Array) -> Array:
        made = np.clip(numbers_of(x), bounds[0], bounds[1])
        return quantized_array(made, dtype_of(array), quantizer)

    if is_whole(numbers) or is_last_whole(numbers):
        return looked_up(array, between, ("clamp", *bounds))
    written_by_numpy()
    return between(array)


def _number(value: float, array: Array, quantizer: Quantizer) -> int:
    """The number nearest to a value."""
    one = quantize(np.asarray(value, F32), dtype_of(array), quantizer)
    return int(numbers_of(one))


# --------------------------------------------------------------------------- sums and products


def _sum(a: Array, b: Array) -> Array:
    return dequantize(a) + dequantize(b)


def _product(a: Array, b: Array) -> Array:
    return dequantize(a) * dequantize(b)


def with_scalar(name: str, a: Array, number: Scalar, relu: bool = False) -> Array:
    """A quantized tensor plus or times a number: scale and zero point take the number up."""
    quantizer, kind = quantizer_of(a, name), dtype_of(a)
    made = _shifted if name == "add" else _scaled
    result = made(a, float(number.real), quantizer, kind)
    return clamped(result, 0, None) if relu else result


def _shifted(a: Array, number: float, quantizer: Quantizer, kind: DType) -> Array:
    limits = np.iinfo(kind.numpy[0])
    scale = quantizer.scale
    steps = int(np.rint(np.float64(number) / np.float64(scale)))
    zero = quantizer.zero_point - steps
    if limits.min <= zero <= limits.max:
        return quantized_array(numbers_of(a).copy(), kind, per_tensor(scale, zero))
    bound = limits.min if zero < limits.min else limits.max
    low, high = int(limits.min), int(limits.max)
    other = (high - zero) if zero < limits.min else (zero - low)
    wider = per_tensor(scale * (other / (high - low)), int(bound))
    sums = (numbers_of(a).astype(np.int64) - quantizer.zero_point + steps).astype(F32)
    made = np.rint(sums * (F32(scale) * (F32(1) / F32(wider.scale)))) + bound
    return quantized_array(np.clip(made, low, high).astype(kind.numpy[0]), kind, wider)


def _scaled(a: Array, number: float, quantizer: Quantizer, kind: DType) -> Array:
    numbers = numbers_of(a)
    limits = np.iinfo(kind.numpy[0])
    if number > 0:
        made = per_tensor(quantizer.scale * number, quantizer.zero_point)
        return quantized_array(numbers.copy(), kind, made)
    if number == 0:
        return quantized_array(np.zeros_like(numbers), kind, per_tensor(1.0, 0))
    both = int(limits.max) + int(limits.min)
    turned = (both - numbers.astype(np.int64)).astype(numbers.dtype)
    zero = both - quantizer.zero_point
    return quantized_array(turned, kind, per_tensor(abs(number) * quantizer.scale, zero))


def _declare_pair(name: str, compute: Callable[[Array, Array], Array], relu: bool) -> None:
    full = name + "_relu" * relu

    def pair(a: Array, b: Array, scale: float, zero_point: int) -> Array:
        formula = "add" if name == "add" else "multiply"
        made = of_two(formula, a, b, per_tensor(scale, zero_point), relu=relu)
        if made is not None:
            return made
        written_by_numpy()
        values = compute(a, b)
        return requantized(np.maximum(values, F32(0)) if relu else values, a, scale, zero_point)

    def into(a: Array, b: Array, out: Array) -> Array:
        quantizer = quantizer_of(out, name)
        made = pair(a, b, quantizer.scale, quantizer.zero_point)
        numbers_of(out)[...] = numbers_of(made)
        return out

    def scalar(a: Array, b: Scalar) -> Array:
        return with_scalar(name, a, b, relu)

    def turned(b: Scalar, a: Array) -> Array:
        return with_scalar(name, a, b, relu)

    def by_tensor(a: Array, b: Array) -> Array:
        return with_scalar(name, a, item(b), relu)

    operator(
        f"quantized::{full}(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
        quantized_prepared=True,
    )(pair)
    for ending in (".out", "_out"):
        operator(
            f"quantized::{full}{ending}(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out"
        )(into)
    operator(f"quantized::{full}.Scalar(Tensor qa, Scalar b) -> Tensor qc")(scalar)
    operator(f"quantized::{full}.Scalar2(Scalar b, Tensor qa) -> Tensor qc")(turned)
    alone = f"quantized::{name}_scalar" + "_relu" * relu
    operator(f"{alone}(Tensor qa, Scalar b) -> Tensor qc")(scalar)
    operator(f"{alone}.Tensor(Tensor qa, Tensor b) -> Tensor qc")(by_tensor)


for _relu in (False, True):
    _declare_pair("add", _sum, _relu)
    _declare_pair("mul", _product, _relu)


@operator(
    "quantized::matmul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
    cost="product",
)
def matmul(a: Array, b: Array, scale: float, zero_point: int) -> Array:
    return requantized(blas.matmul(dequantize(a), dequantize(b)), a, scale, zero_point)


# --------------------------------------------------------------------------- joining


def joined(tensors: list[Array], dim: int, scale: Any, zero_point: Any, relu: bool) -> Array:
    """Tensors one after the other, in the scale given or the first one's."""
    if not tensors:
        raise OperatorError("expected a non-empty list of Tensors")
    first = quantizer_of(tensors[0], "cat")
    target = per_tensor(
        first.scale if scale is None else scale,
        first.zero_point if zero_point is None else zero_point,
    )
    kind = dtype_of(tensors[0])
    if any(dtype_of(tensor) != kind for tensor in tensors):
        raise OperatorError("All dtypes must be the same.", code="dtype-mismatch")

    def again(x: Array) -> Array:
        values = dequantize(x)
        return quantize(np.maximum(values, F32(0)) if relu else values, kind, target)

    what = "cat", relu, target.scale, target.zero_point
    parts = []
    for tensor in tensors:
        same = quantizer_of(tensor, "cat") == target and not relu
        parts.append(numbers_of(tensor if same else looked_up(tensor, again, what)))
    return quantized_array(_side_by_side(parts, dim), kind, target)


def _side_by_side(parts: list[Array], dim: int) -> Array:
    """The numbers of several tensors in one, with channels last if all have them so."""
    arrays, is_last = family("elementwise.arrays"), all(map(is_last_whole, parts))
    if arrays is None or not _fit(parts, dim) or not (is_last or all(map(is_whole, parts))):
        written_by_numpy()
        return one_after_another(parts, dim)
    shape, begun = list(parts[0].shape), 0
    shape[dim] = sum(each.shape[dim] for each in parts)
    made = unfilled(shape, parts[0].dtype, is_last=is_last)
    along = made.swapaxes(0, dim)
    for part in parts:
        target = along[begun : begun + part.shape[dim]].swapaxes(0, dim)
        if not arrays.moved(part, target, is_part=True):
            written_by_numpy()
            target[...] = part
        begun += part.shape[dim]
    return made


def _fit(parts: list[Array], dim: int) -> bool:
    """Whether arrays are of one dtype, and of equal sizes but for those along a dimension."""
    rank, dtype = parts[0].ndim, parts[0].dtype
    if not -rank <= dim < rank or any(p.ndim != rank or p.dtype is not dtype for p in parts):
        return False
    at = dim % rank
    return len({(*each.shape[:at], *each.shape[at + 1 :]) for each in parts}) == 1


@operator(
    "quantized::cat(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor",
    quantized_prepared=True,
)
def cat(qx: list[Array], dim: int, scale: object, zero_point: object) -> Array:
    return joined(qx, dim, scale, zero_point, False)


@operator(
    "quantized::cat_relu(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor",
    quantized_prepared=True,
)
def cat_relu(qx: list[Array], dim: int, scale: object, zero_point: object) -> Array:
    return joined(qx, dim, scale, zero_point, True)


# --------------------------------------------------------------------------- one tensor


def _plain(name: str) -> Callable[..., Array]:
    entry = TABLE.operator(f"aten::{name}")
    assert entry is not None
    return entry.forward  # type: ignore[return-value]


def _of_one(
    compute: Callable[[Array], Array], qx: Array, scale: float, zero_point: int, *what: Hashable
) -> Array:
    """Values computed element by element, quantized; `what` names that and its settings."""
    kind_of(qx)
    what = (*what, scale, zero_point)
    return looked_up(qx, lambda x: requantized(compute(dequantize(x)), x, scale, zero_point), what)


def _sigmoid(x: Array) -> Array:
    return np.asarray(F32(1) / (F32(1) + np.exp(-x)), F32)


@operator(f"quantized::sigmoid(Tensor qx, {_OUT}) -> Tensor", quantized_prepared=True)
def sigmoid(qx: Array, scale: float, zero_point: int) -> Array:
    return _of_one(_sigmoid, qx, scale, zero_point, "sigmoid")


def _hardswish(x: Array) -> Array:
    return np.asarray(x * np.clip(x + F32(3), 0, 6) / F32(6), F32)


@operator(f"quantized::hardswish(Tensor input, {_OUT}) -> Tensor", quantized_prepared=True)
def hardswish(qx: Array, scale: float, zero_point: int) -> Array:
    return _of_one(_hardswish, qx, scale, zero_point, "hardswish")


@operator(
    f"quantized::leaky_relu(Tensor qx, Scalar negative_slope, bool inplace, {_OUT}) -> Tensor",
    quantized_prepared=True,
)
def leaky(qx: Array, slope: Scalar, inplace: bool, scale: float, zero_point: int) -> Array:
    plain = _plain("leaky_relu")
    return _of_one(lambda x: plain(x, slope), qx, scale, zero_point, "leaky_relu", slope)


@operator(
    f"quantized::elu(Tensor self, {_OUT}, Scalar alpha=1, Scalar scale=1, "
    "Scalar input_scale=1) -> Tensor",
    quantized_prepared=True,
)
def exponential(
    qx: Array, out_scale: float, zero_point: int, alpha: Scalar, scale: Scalar, input_scale: Scalar
) -> Array:
    plain = _plain("elu")
    what = "elu", alpha, scale, input_scale
    return _of_one(lambda x: plain(x, alpha, scale, input_scale), qx, out_scale, zero_point, *what)


@operator(
    f"quantized::celu(Tensor self, {_OUT}, Scalar alpha=1) -> Tensor", quantized_prepared=True
)
def celu(qx: Array, scale: float, zero_point: int, alpha: float) -> Array:
    plain, slope = _plain("elu"), 1.0 / float(alpha)
    return _of_one(lambda x: plain(x, alpha, 1, slope), qx, scale, zero_point, "celu", alpha)


@operator(f"quantized::prelu(Tensor qx, Tensor weight, {_OUT}) -> Tensor", layout="L")
def prelu(qx: Array, weight: Array, scale: float, zero_point: int) -> Array:
    x = dequantize(qx)
    weight = weight if weight.dtype.names is None else dequantize(weight)
    slopes = weight if weight.size == 1 else weight.reshape(-1, *(1,) * (x.ndim - 2))
    return requantized(np.where(x > 0, x, x * slopes), qx, scale, zero_point)


@operator(f"quantized::softmax(Tensor qx, int dim, {_OUT}) -> Tensor")
def softmax(qx: Array, dim: int, scale: float, zero_point: int) -> Array:
    x = dequantize(qx)
    powers = np.exp(x - x.max(dim, keepdims=True))
    return requantized(powers / powers.sum(dim, keepdims=True), qx, scale, zero_point)


@operator(
    "quantized::relu6(Tensor qx, bool inplace=False) -> Tensor",
    layout="L",
    quantized_prepared=True,
)
def relu6(qx: Array, inplace: bool) -> Array:
    made = clamped(qx, 0, 6)
    if inplace:
        written_by_numpy()
        numbers_of(qx)[...] = numbers_of(made)
        return qx
    return made


@operator(
    "quantized::clamp(Tensor qx, Scalar? min=None, Scalar? max=None) -> Tensor qy",
    quantized_prepared=True,
)
def clamp(qx: Array, low: Scalar | None, high: Scalar | None) -> Array:
    return clamped(qx, low, high)


@operator("quantized::threshold(Tensor qx, Scalar threshold, Scalar value) -> Tensor qy")
def threshold(qx: Array, level: float, value: float) -> Array:
    x, quantizer = dequantize(qx), quantizer_of(qx, "threshold")
    return quantize(np.where(x > level, x, F32(value)), dtype_of(qx), quantizer)


@operator(f"quantized::dropout(Tensor self, {_OUT}, Scalar p=0.5, bool training=False) -> Tensor")
def dropout(qx: Array, scale: float, zero_point: int, p: object, training: bool) -> Array:
    if training:
        raise OperatorError("quantized::dropout: training is not supported")
    return qx


# --------------------------------------------------------------------------- normalization


def _declare_batch_norm(name: str, relu: bool) -> None:
    def norm(
        qx: Array,
        weight: Array | None,
        bias: Array | None,
        mean: Array,
        var: Array,
        eps: float,
        scale: float,
        zero_point: int,
    ) -> Array:
        x = dequantize(qx)
        factor = (F32(1) if weight is None else weight) / np.sqrt(var + F32(eps))
        shift = (F32(0) if bias is None else bias) - mean * factor
        shape = (-1, *(1,) * (x.ndim - 2))
        made = x * factor.reshape(shape) + shift.reshape(shape)
        return requantized(np.maximum(made, 0) if relu else made, qx, scale, zero_point)

    names = [f"quantized::{name}" + "_relu" * relu]
    for full in names:
        operator(
            f"{full}(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, "
            f"float eps, {_OUT}) -> Tensor",
            layout="e" if full == "quantized::batch_norm" else "",
        )(norm)


for _name in ("batch_norm", "batch_norm1d", "batch_norm2d", "batch_norm3d"):
    for _relu in (False, True):
        _declare_batch_norm(_name, _relu)
operator(
    "aten::quantized_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor mean, "
    f"Tensor var, float eps, {_OUT}) -> Tensor",
    order="out -",
)(TABLE.operators("quantized::batch_norm")[0].forward)


@operator(
    f"quantized::layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, "
    f"Tensor? bias, float eps, {_OUT}) -> Tensor"
)
def of_layers(
    qx: Array,
    shape: list[int],
    weight: Array | None,
    bias: Array | None,
    eps: float,
    scale: float,
    zero: int,
) -> Array:
    return requantized(layer_norm(dequantize(qx), shape, weight, bias, eps, False), qx, scale, zero)


@operator(
    f"quantized::group_norm(Tensor input, int num_groups, Tensor? weight, Tensor? bias, "
    f"float eps, {_OUT}) -> Tensor"
)
def of_groups(
    qx: Array,
    groups: int,
    weight: Array | None,
    bias: Array | None,
    eps: float,
    scale: float,
    zero: int,
) -> Array:
    made = group_norm(dequantize(qx), groups, weight, bias, eps, False)
    return requantized(made, qx, scale, zero)


@operator(
    f"quantized::instance_norm(Tensor input, Tensor? weight, Tensor? bias, float eps, "
    f"{_OUT}) -> Tensor"
)
def of_instances(
    qx: Array, weight: Array | None, bias: Array | None, eps: float, scale: float, zero: int
) -> Array:
    x = dequantize(qx)
    made = instance_norm(x, weight, bias, None, None, True, 0.0, eps, False)
    return requantized(made, qx, scale, zero)
