"""Functions of one number: activations, exponentials, rounding, signs."""

from __future__ import annotations

import math

import numpy as np

from ..items import Item, Operand, Unsupported
from ..table import EXPORTS, exports
from ..writer import BOOL, FLOAT, INT, Writer, is_float


def _of_floats(operator: str, kind: str) -> None:
    """Declare an operator that ONNX has for floating-point numbers."""

    def form(w: Writer, self: Item) -> Item:
        return w.op(kind, w.floating(self))

    EXPORTS[operator] = form


for _operator, _kind in (
    line.split()
    for line in """
    aten::acos Acos|aten::acosh Acosh|aten::asin Asin|aten::asinh Asinh|aten::atan Atan
    aten::atanh Atanh|aten::cos Cos|aten::cosh Cosh|aten::erf Erf|aten::exp Exp|aten::log Log
    aten::reciprocal Reciprocal|aten::sigmoid Sigmoid|aten::sin Sin|aten::sinh Sinh
    aten::sqrt Sqrt|aten::tan Tan|aten::tanh Tanh
    """.replace("\n", "|").split("|")
    if line.strip()
):
    _of_floats(_operator, _kind)


def constant_like(w: Writer, x: Operand, value: float) -> Operand:
    """A number in the dtype of a tensor."""
    return w.constant(value, x.dtype)


@exports("aten::relu")
def relu(w: Writer, self: Item) -> Item:
    return w.op("Relu", w.tensor(self))


@exports("aten::abs", "aten::absolute")
def absolute(w: Writer, self: Item) -> Item:
    return w.op("Abs", w.tensor(self))


@exports("aten::neg", "aten::negative", parts=(0,))
def negative(w: Writer, self: Item) -> Item:
    return w.op("Neg", w.tensor(self))


@exports("aten::sign", "aten::sgn")
def sign(w: Writer, self: Item) -> Item:
    return w.op("Sign", w.tensor(self))


def _rounded(kind: str, w: Writer, self: Item) -> Operand:
    x = w.tensor(self)
    return w.op(kind, x) if is_float(x.dtype) else x


@exports("aten::floor")
def floor(w: Writer, self: Item) -> Item:
    return _rounded("Floor", w, self)


@exports("aten::ceil")
def ceil(w: Writer, self: Item) -> Item:
    return _rounded("Ceil", w, self)


@exports("aten::round")
def round_(w: Writer, self: Item, decimals: Item = 0) -> Item:
    places = w.whole(decimals, "decimals")
    x = w.tensor(self)
    if places == 0:
        return _rounded("Round", w, x)
    scale = constant_like(w, x, 10.0**places)
    return w.op("Div", w.op("Round", w.op("Mul", x, scale)), scale)


@exports("aten::trunc", "aten::fix")
def trunc(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    if not is_float(x.dtype):
        return x
    return w.op("Mul", w.op("Sign", x), w.op("Floor", w.op("Abs", x)))


@exports("aten::frac")
def frac(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    return w.op("Sub", x, w.tensor(trunc(w, x)))


@exports("aten::square")
def square(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    x = w.cast(x, INT) if x.dtype == BOOL else x
    return w.op("Mul", x, x)


@exports("aten::rsqrt")
def rsqrt(w: Writer, self: Item) -> Item:
    return w.op("Reciprocal", w.op("Sqrt", w.floating(self)))


@exports("aten::exp2")
def exp2(w: Writer, self: Item) -> Item:
    x = w.floating(self)
    return w.op("Pow", constant_like(w, x, 2.0), x)


@exports("aten::expm1")
def expm1(w: Writer, self: Item) -> Item:
    """As tanh(x / 2) (e^x + 1), which keeps its digits near zero."""
    x = w.floating(self)
    half = w.op("Tanh", w.op("Mul", x, constant_like(w, x, 0.5)))
    grown = w.op("Mul", half, w.op("Add", w.op("Exp", x), constant_like(w, x, 1.0)))
    large = w.op("Greater", x, constant_like(w, x, 1.0))
    return w.where(large, w.op("Sub", w.op("Exp", x), constant_like(w, x, 1.0)), grown)


@exports("aten::log1p")
def log1p(w: Writer, self: Item) -> Item:
    """As log(u) x / (u - 1) with u = 1 + x, which keeps its digits near zero (Kahan)."""
    x = w.floating(self)
    one = constant_like(w, x, 1.0)
    u = w.op("Add", x, one)
    rest = w.op("Sub", u, one)
    small = w.op("Equal", rest, constant_like(w, x, 0.0))
    exact = w.op("Or", small, w.op("IsInf", _f32(w, u)))
    safe = w.where(exact, one, rest)
    scaled = w.op("Mul", w.op("Log", u), w.op("Div", x, safe))
    return w.where(small, x, w.where(exact, u, scaled))


def _f32(w: Writer, x: Operand) -> Operand:
    """Floats that `IsInf` takes in all opsets."""
    return x if x.dtype.name in ("float32", "float64") else w.cast(x, FLOAT)


def _logarithm(w: Writer, self: Item, base: float) -> Operand:
    x = w.floating(self)
    return w.op("Mul", w.op("Log", x), constant_like(w, x, 1.0 / math.log(base)))


@exports("aten::log2")
def log2(w: Writer, self: Item) -> Item:
    return _logarithm(w, self, 2.0)


@exports("aten::log10")
def log10(w: Writer, self: Item) -> Item:
    return _logarithm(w, self, 10.0)


@exports("aten::erfc", "aten::special_erfc")
def erfc(w: Writer, self: Item) -> Item:
    x = w.floating(self)
    return w.op("Sub", constant_like(w, x, 1.0), w.op("Erf", x))


@exports("aten::logit")
def logit(w: Writer, self: Item, eps: Item = None) -> Item:
    x = w.floating(self)
    if eps is not None:
        low = w.real(eps, "eps")
        x = _clip(w, x, low, 1.0 - low)
    return w.op("Log", w.op("Div", x, w.op("Sub", constant_like(w, x, 1.0), x)))


@exports("aten::deg2rad")
def deg2rad(w: Writer, self: Item) -> Item:
    x = w.floating(self)
    return w.op("Mul", x, constant_like(w, x, math.pi / 180))


@exports("aten::rad2deg")
def rad2deg(w: Writer, self: Item) -> Item:
    x = w.floating(self)
    return w.op("Mul", x, constant_like(w, x, 180 / math.pi))


@exports("aten::isnan")
def isnan(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    return w.op("IsNaN", x) if is_float(x.dtype) else w.op("Less", w.op("Abs", x), x)


@exports("aten::isinf")
def isinf(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    return w.op("IsInf", _f32(w, x)) if is_float(x.dtype) else w.op("Less", w.op("Abs", x), x)


@exports("aten::isfinite")
def isfinite(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    if not is_float(x.dtype):
        return w.op("Equal", x, x)
    return w.op("Not", w.op("Or", w.op("IsNaN", x), w.op("IsInf", _f32(w, x))))


@exports("aten::nan_to_num")
def nan_to_num(w: Writer, self: Item, nan: Item, posinf: Item, neginf: Item) -> Item:
    x = w.tensor(self)
    if not is_float(x.dtype):
        return x
    ends = np.finfo(x.dtype)
    bounds = [float(ends.max) if posinf is None else posinf]
    bounds.append(float(ends.min) if neginf is None else neginf)
    made = w.where(w.op("IsNaN", x), w.tensor(0.0 if nan is None else nan, x.dtype), x)
    for bound, sides in zip(bounds, ((0, 1), (1, 0)), strict=True):
        low, high = sides
        found = w.op("IsInf", x, detect_negative=low, detect_positive=high)
        made = w.where(found, w.tensor(bound, x.dtype), made)
    return made


# ------------------------------------------------------------------------------ activations


@exports("aten::elu")
def elu(
    w: Writer, self: Item, alpha: Item = 1.0, scale: Item = 1.0, input_scale: Item = 1.0
) -> Item:
    if w.real(scale, "scale") != 1.0 or w.real(input_scale, "input_scale") != 1.0:
        raise Unsupported("a scaled ELU")
    return w.op("Elu", w.tensor(self), alpha=w.real(alpha, "alpha"))


@exports("aten::celu")
def celu(w: Writer, self: Item, alpha: Item = 1.0) -> Item:
    return w.op("Celu", w.tensor(self), alpha=w.real(alpha, "alpha"))


@exports("aten::selu")
def selu(w: Writer, self: Item) -> Item:
    return w.op("Selu", w.tensor(self))


@exports("aten::leaky_relu")
def leaky_relu(w: Writer, self: Item, negative_slope: Item = 0.01) -> Item:
    return w.op("LeakyRelu", w.tensor(self), alpha=w.real(negative_slope, "negative_slope"))


@exports("aten::rrelu")
def rrelu(
    w: Writer, self: Item, lower: Item, upper: Item, training: Item = False, generator: Item = None
) -> Item:
    if training is not False:
        raise Unsupported("it draws random numbers in training")
    slope = (w.real(lower, "lower") + w.real(upper, "upper")) / 2
    return w.op("LeakyRelu", w.tensor(self), alpha=slope)


@exports("aten::prelu")
def prelu(w: Writer, self: Item, weight: Item) -> Item:
    x, slope = w.tensor(self), w.tensor(weight)
    if w.rank(slope) == 1 and w.rank(x) > 2 and slope.shape != (1,):
        slope = w.unsqueeze(slope, *range(1, w.rank(x) - 1))
    return w.op("PRelu", x, slope)


@exports("aten::gelu")
def gelu(w: Writer, self: Item, approximate: Item = "none") -> Item:
    x = w.tensor(self)
    half, one = constant_like(w, x, 0.5), constant_like(w, x, 1.0)
    if approximate == "tanh":
        cube = w.op("Mul", x, w.op("Mul", x, x))
        inner = w.op("Add", x, w.op("Mul", cube, constant_like(w, x, 0.044715)))
        bent = w.op("Tanh", w.op("Mul", inner, constant_like(w, x, math.sqrt(2 / math.pi))))
    else:
        bent = w.op("Erf", w.op("Div", x, constant_like(w, x, math.sqrt(2.0))))
    return w.op("Mul", w.op("Mul", x, half), w.op("Add", bent, one))


@exports("aten::silu")
def silu(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    return w.op("Mul", x, w.op("Sigmoid", x))


@exports("aten::softplus")
def softplus(w: Writer, self: Item, beta: Item = 1, threshold: Item = 20) -> Item:
    x, factor = w.tensor(self), w.real(beta, "beta")
    scaled = x if factor == 1 else w.op("Mul", x, constant_like(w, x, factor))
    soft = w.op("Softplus", scaled)
    if factor != 1:
        soft = w.op("Div", soft, constant_like(w, x, factor))
    limit = constant_like(w, x, w.real(threshold, "threshold"))
    return w.where(w.op("Greater", scaled, limit), x, soft)


@exports("aten::mish")
def mish(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    return w.op("Mul", x, w.op("Tanh", w.op("Softplus", x)))


@exports("aten::log_sigmoid")
def log_sigmoid(w: Writer, self: Item) -> Item:
    return w.op("Neg", w.op("Softplus", w.op("Neg", w.tensor(self))))


def _clip(w: Writer, x: Operand, low: float, high: float) -> Operand:
    return w.op("Clip", x, constant_like(w, x, low), constant_like(w, x, high))


@exports("aten::hardtanh")
def hardtanh(w: Writer, self: Item, min_val: Item = -1, max_val: Item = 1) -> Item:
    return _clip(w, w.tensor(self), w.real(min_val, "min_val"), w.real(max_val, "max_val"))


@exports("aten::relu6")
def relu6(w: Writer, self: Item) -> Item:
    return _clip(w, w.tensor(self), 0.0, 6.0)


@exports("aten::hardsigmoid")
def hardsigmoid(w: Writer, self: Item) -> Item:
    return w.op("HardSigmoid", w.tensor(self), alpha=1 / 6, beta=0.5)


@exports("aten::hardswish")
def hardswish(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    return w.op("Mul", x, w.op("HardSigmoid", x, alpha=1 / 6, beta=0.5))


@exports("aten::hardshrink")
def hardshrink(w: Writer, self: Item, lambd: Item = 0.5) -> Item:
    x = w.tensor(self)
    outside = w.op("Greater", w.op("Abs", x), constant_like(w, x, w.real(lambd, "lambd")))
    return w.where(outside, x, constant_like(w, x, 0.0))


@exports("aten::softshrink")
def softshrink(w: Writer, self: Item, lambd: Item = 0.5) -> Item:
    limit = w.real(lambd, "lambd")
    return w.op("Shrink", w.tensor(self), lambd=limit, bias=limit)


@exports("aten::threshold")
def threshold(w: Writer, self: Item, threshold: Item, value: Item) -> Item:
    x = w.tensor(self)
    return w.where(w.op("Greater", x, w.tensor(threshold, x.dtype)), x, w.tensor(value, x.dtype))


@exports("aten::glu")
def glu(w: Writer, self: Item, dim: Item = -1) -> Item:
    x = w.tensor(self)
    axis = w.axis(dim, w.rank(x))
    half = w.known_size(x, axis, "the size of the halved dimension") // 2
    one, two = w.slice(x, axis, 0, half), w.slice(x, axis, half, 2 * half)
    return w.op("Mul", one, w.op("Sigmoid", two))


@exports("aten::dropout", "aten::feature_dropout", "aten::alpha_dropout")
@exports("aten::feature_alpha_dropout")
def dropout(w: Writer, input: Item, p: Item, train: Item) -> Item:
    if train is True and w.real(p, "p") != 0:
        raise Unsupported("it draws random numbers in training; export the model in `eval()`")
    return input


@exports("aten::native_dropout")
def native_dropout(w: Writer, input: Item, p: Item, train: Item) -> Item:
    x = w.tensor(dropout(w, input, p, train))
    return x, w.op("Equal", x, x)


@exports(
    "aten::clone",
    "aten::contiguous",
    "aten::detach",
    "aten::alias",
    "aten::requires_grad_",
    takes_complex=True,
)
@exports(
    "aten::lift_fresh",
    "aten::resolve_conj",
    "aten::resolve_neg",
    "aten::positive",
    takes_complex=True,
)
@exports(
    "aten::cpu", "aten::lift", "aten::lift_fresh_copy", "aten::detach_copy", takes_complex=True
)
def itself(w: Writer, self: Item, *rest: Item) -> Item:
    return self
