"""Slopes of activations and losses as operators: what walks back that are differentiated
themselves are made of, and what programs call that walk back by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..arithmetic.complex_numbers import conj
from ..arithmetic.maths import sigmoid
from ..kernels import by_formula, is_half
from ..memory.dtype import Array
from ..table.formula import formula
from ..table.pointwise import as_array, binary, cast, checked_operand
from ..table.promotion import common_dtype
from ..table.refusals import Refusal
from ..table.table import operator

_FLOAT32: Final = np.dtype(np.float32)
_FLOATS: Final = (_FLOAT32, np.dtype(np.float64))


def _wide(*tensors: Array) -> list[Array]:
    """Tensors in the dtype they meet in, 16-bit floats in float32."""
    dtype = common_dtype(*tensors)
    return [cast(each, _FLOAT32 if is_half(dtype) else dtype) for each in tensors]


def _slope(
    kernel: Callable[..., object],
    name: str,
    refuses: Refusal,
    numbers: tuple[int, ...],
    turned: bool,
    rounds: bool,
) -> Callable[..., Array]:
    """The forward of an operator of a gradient, a tensor, and numbers, of which those are read,
    which it `rounds` beside 16-bit floats."""

    def forward(grad_output: Array, self: Array, *given: Any) -> Array:
        dtype = common_dtype(grad_output, self)
        refuses(dtype)
        kept = dtype if rounds or not is_half(dtype) else _FLOAT32
        read = [checked_operand(given[at], kept) for at in numbers]
        pair = (self, grad_output) if turned else (grad_output, self)
        if dtype in _FLOATS and grad_output.dtype is self.dtype:
            found = by_formula(name, *pair, *read)
            if found is not None:
                return found
        if not is_half(dtype):
            return binary(lambda one, other: kernel(one, other, *read), *pair)
        wide = [each.astype(_FLOAT32) for each in read]
        made = binary(lambda one, other: kernel(one, other, *wide), *_wide(*pair))
        return made.astype(dtype)

    return forward


def _declare(
    name: str,
    other: str,
    arguments: str,
    kernel: Callable[..., object],
    refuses: Refusal,
    *numbers: int,
    slope: str = "",
    out: str = "grad_input grad_input",
    grad: str = "grad_output",
    turned: bool = False,
    rounds: bool = True,
) -> None:
    """Declare the slope of an activation by the kernel that gives its product with a gradient.

    One that is `turned` has the tensor before the gradient: results lie as the first one does.
    Numbers are rounded to the tensor's dtype unless torch compares with them as they are.
    """
    own = slope or f"{name}_slope"
    places = (1, 0) if turned else (0, 1)
    operator(
        f"aten::{name}_backward(Tensor {grad}, Tensor {other}{arguments}) -> Tensor",
        refuses=refuses,
        face="operator",
        out=out,
        formula=formula(own, *places, *(at + 2 for at in numbers), checks=bool(numbers)),
    )(_slope(kernel, own, refuses, numbers, turned, rounds))


def _of_tanh(g: Array, y: Array) -> object:
    return g * conj(as_array(1 - y * y))


def _of_sigmoid(g: Array, y: Array) -> object:
    return g * conj(as_array((1 - y) * y))


def _of_softplus(g: Array, x: Array, beta: Array, threshold: Array) -> object:
    scaled = as_array(x * beta)
    return np.where(scaled > threshold, g, g * sigmoid(scaled))


def _of_threshold(x: Array, g: Array, level: Array) -> object:
    return np.where(x <= level, _zero(g), g)


def _of_leaky_relu(x: Array, g: Array, slope: Array) -> object:
    return np.where(x > 0, g, g * slope)


def _of_hardtanh(g: Array, x: Array, low: Array, high: Array) -> object:
    return np.where((x <= low) | (x >= high), _zero(g), g)


def _of_shrink(g: Array, x: Array, bound: Array) -> object:
    return np.where((x >= -bound) & (x <= bound), _zero(g), g)


def _of_hardsigmoid(g: Array, x: Array) -> object:
    return np.where((x <= -3) | (x >= 3), _zero(g), g / 6)


def _of_hardswish(g: Array, x: Array) -> object:
    line = np.where(x >= 3, _one(x), x / 3 + 0.5)
    return np.where(x <= -3, _zero(g), g * line)


def _zero(like: Array) -> Array:
    return np.zeros((), like.dtype)


def _one(like: Array) -> Array:
    return np.ones((), like.dtype)


_declare("tanh", "output", "", _of_tanh, Refusal("biuq", "tanh_backward_cpu"))
_declare("sigmoid", "output", "", _of_sigmoid, Refusal("biuq", "sigmoid_backward_cpu"))
_declare(
    "softplus",
    "self",
    ", Scalar beta, Scalar threshold",
    _of_softplus,
    Refusal("biuqc", "softplus_backward_cpu"),
    *(0, 1),
)
_declare(
    "threshold",
    "self",
    ", Scalar threshold",
    _of_threshold,
    Refusal("buqc", "threshold_cpu"),
    0,
    turned=True,
    rounds=False,
)
_declare(
    "leaky_relu",
    "self",
    ", Scalar negative_slope, bool self_is_result",
    _of_leaky_relu,
    Refusal("biuqc", "leaky_relu_backward_cpu"),
    0,
    turned=True,
)
_declare(
    "hardtanh",
    "self",
    ", Scalar min_val, Scalar max_val",
    _of_hardtanh,
    Refusal("biuqc", "hardshrink_backward_cpu"),
    *(0, 1),
    rounds=False,
)
_refuse_shrink: Final = Refusal("biuqc", "shrink_backward_cpu")
for _name, _grad in (("hardshrink", "grad_out"), ("softshrink", "grad_output")):
    _declare(
        _name,
        "self",
        ", Scalar lambd",
        _of_shrink,
        _refuse_shrink,
        0,
        slope="shrink_slope",
        grad=_grad,
    )
_declare("hardsigmoid", "self", "", _of_hardsigmoid, Refusal("biuqc", "hardsigmoid_backward"))
_declare(
    "hardswish",
    "self",
    "",
    _of_hardswish,
    Refusal("biuqc", "hardswish_backward_cpu"),
    out="out",
)


@operator(
    "aten::mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) "
    "-> Tensor",
    refuses=Refusal("buqc", "mse_backward_cpu_out"),
    face="operator",
    out="grad_input grad_input",
)
def mse_loss_backward(grad_output: Array, self: Array, target: Array, reduction: int) -> Array:
    """The gradient of squared differences, or of their mean or sum."""
    dtype = common_dtype(self, target)
    apart = binary(np.subtract, *_wide(self, target))
    count = apart.size if reduction == 1 else 0
    share = cast(grad_output, apart.dtype) * checked_operand(
        2.0 / count if count else 2.0, apart.dtype
    )
    return binary(np.multiply, apart, as_array(share)).astype(dtype, copy=False)
