"""Operators of single elements, and what makes tensors."""

from __future__ import annotations

from typing import Final

from ...ops.tensors.tensor import Tensor
from ..file_checks import dtype_of_number
from .table import MEANINGS, means, torch

_FUNCTIONS: Final = {
    "Abs": "abs",
    "And": "logical_and",
    "Atan": "atan",
    "BitwiseAnd": "bitwise_and",
    "BitwiseNot": "bitwise_not",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Ceil": "ceil",
    "Equal": "eq",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "Greater": "gt",
    "GreaterOrEqual": "ge",
    "IsNaN": "isnan",
    "Less": "lt",
    "LessOrEqual": "le",
    "Log": "log",
    "MatMul": "matmul",
    "Mul": "mul",
    "Neg": "neg",
    "Not": "logical_not",
    "Or": "logical_or",
    "Reciprocal": "reciprocal",
    "Round": "round",
    "Sigmoid": "sigmoid",
    "Sign": "sign",
    "Sqrt": "sqrt",
    "Sub": "sub",
    "Tanh": "tanh",
    "Where": "where",
    "Xor": "logical_xor",
}
"""Operators that a function of the library is, inputs in the same order."""
_NAMED: Final = (
    *("Sin", "Cos", "Tan", "Asin", "Acos", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh"),
    *("Relu", "Selu"),
)


for _kind, _name in _FUNCTIONS.items():
    MEANINGS[_kind] = getattr(torch, _name)
for _kind in _NAMED:
    MEANINGS[_kind] = getattr(torch, _kind.lower())


@means("Add")
def add(x: Tensor, y: Tensor) -> Tensor:
    return x + y


@means("Div")
def div(x: Tensor, y: Tensor) -> Tensor:
    whole = not x.is_floating_point()
    return torch.div(x, y, rounding_mode="trunc") if whole else torch.div(x, y)


@means("Pow")
def power(x: Tensor, y: Tensor) -> Tensor:
    return torch.pow(x, y).to(x.dtype)


@means("Mod")
def mod(x: Tensor, y: Tensor, fmod: int = 0) -> Tensor:
    return torch.fmod(x, y) if fmod else torch.remainder(x, y)


@means("Max")
def largest(*given: Tensor) -> Tensor:
    made = given[0]
    for each in given[1:]:
        made = torch.maximum(made, each)
    return made


@means("Min")
def least(*given: Tensor) -> Tensor:
    made = given[0]
    for each in given[1:]:
        made = torch.minimum(made, each)
    return made


@means("Clip")
def clip(x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    made = x if low is None else torch.maximum(x, low)
    return made if high is None else torch.minimum(made, high)


@means("Identity")
def identity(x: Tensor) -> Tensor:
    return x


@means("Cast")
def cast(x: Tensor, to: int = 1, saturate: int = 1) -> Tensor:
    return x.to(dtype_of_number(to))


@means("IsInf")
def is_infinite(x: Tensor, detect_negative: int = 1, detect_positive: int = 1) -> Tensor:
    found = torch.isinf(x)
    if not detect_negative:
        found = found & (x > 0)
    return found if detect_positive else found & (x < 0)


@means("LeakyRelu")
def leaky_relu(x: Tensor, alpha: float = 0.01) -> Tensor:
    return torch.nn.functional.leaky_relu(x, alpha)


@means("Elu")
def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    return torch.nn.functional.elu(x, alpha)


@means("Celu")
def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    return torch.nn.functional.celu(x, alpha)


@means("PRelu")
def prelu(x: Tensor, slope: Tensor) -> Tensor:
    return torch.where(x < 0, x * slope, x)


@means("Softplus")
def softplus(x: Tensor) -> Tensor:
    return torch.nn.functional.softplus(x)


@means("Softsign")
def softsign(x: Tensor) -> Tensor:
    return torch.nn.functional.softsign(x)


@means("Gelu")
def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    return torch.nn.functional.gelu(x, approximate=approximate)


@means("HardSwish")
def hard_swish(x: Tensor) -> Tensor:
    return torch.nn.functional.hardswish(x)


@means("HardSigmoid")
def hard_sigmoid(x: Tensor, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    return torch.clamp(x * alpha + beta, 0.0, 1.0)


@means("Shrink")
def shrink(x: Tensor, bias: float = 0.0, lambd: float = 0.5) -> Tensor:
    near = torch.where(x < -lambd, x + bias, torch.zeros_like(x))
    return torch.where(x > lambd, x - bias, near)


# --------------------------------------------------------------------------- making tensors


@means("Constant")
def constant(value: Tensor | None = None, **others: object) -> Tensor:
    if value is not None:
        return value
    (given,) = others.values()
    kind = torch.float32 if "float" in next(iter(others)) else torch.int64
    return torch.tensor(given, dtype=kind)


@means("ConstantOfShape")
def constant_of_shape(shape: Tensor, value: Tensor | None = None) -> Tensor:
    filled = torch.zeros(1) if value is None else value
    return filled.reshape([]).expand(shape.tolist()).clone()


@means("Range")
def counted(start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    return torch.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)


@means("EyeLike")
def eye_like(x: Tensor, k: int = 0, dtype: int | None = None) -> Tensor:
    rows, columns = x.shape
    made = torch.arange(columns).reshape(1, -1) - torch.arange(rows).reshape(-1, 1) == k
    return made.to(x.dtype if dtype is None else dtype_of_number(dtype))


@means("OneHot")
def one_hot(indices: Tensor, depth: Tensor, values: Tensor, axis: int = -1) -> Tensor:
    count = int(depth)
    places = torch.where(indices < 0, indices + count, indices).unsqueeze(axis)
    rank = places.dim()
    order = torch.arange(count).reshape([-1 if n == axis % rank else 1 for n in range(rank)])
    return torch.where(places == order, values[1], values[0])


# --------------------------------------------------------------------------- whole numbers


def _along(numbers: Tensor, x: Tensor, axis: int) -> Tensor:
    """Scales or zero points shaped to combine with a tensor."""
    if numbers.dim() == 0 or x.dim() == 0:
        return numbers
    return numbers.reshape([-1 if n == axis % x.dim() else 1 for n in range(x.dim())])


@means("QuantizeLinear")
def quantize_linear(
    x: Tensor, scale: Tensor, zero: Tensor | None = None, axis: int = 1, **rest: object
) -> Tensor:
    dtype = torch.uint8 if zero is None else zero.dtype
    moved = torch.round(x / _along(scale, x, axis))
    moved = moved if zero is None else moved + _along(zero, x, axis)
    bounds = torch.iinfo(dtype)
    return torch.clamp(moved, bounds.min, bounds.max).to(dtype)


@means("DequantizeLinear")
def dequantize_linear(
    x: Tensor, scale: Tensor, zero: Tensor | None = None, axis: int = 1, **rest: object
) -> Tensor:
    moved = x.to(torch.int32)
    moved = moved if zero is None else moved - _along(zero, x, axis).to(torch.int32)
    return moved.to(scale.dtype) * _along(scale, x, axis)


@means("DynamicQuantizeLinear")
def dynamic_quantize_linear(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    zero = torch.zeros([])
    low, high = torch.minimum(x.min(), zero), torch.maximum(x.max(), zero)
    scale = (high - low) / 255
    point = torch.clamp(torch.round(-low / scale), 0, 255).to(torch.uint8)
    return quantize_linear(x, scale, point), scale, point
