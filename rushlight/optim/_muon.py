"""Muon: steps along the nearest orthogonal matrix of the gradients' momentum."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ..ops.eager.dispatch import eager_function
from ..ops.kernels import Prepared, cast_by_kernel, family
from ..ops.linear_algebra.linalg import product
from ..ops.memory.dtype import DTYPES, Array
from ..ops.reductions.folding import folded
from ..ops.tensors.tensor import Tensor
from .optimizer import Group, Optimizer, Params, check_one_rate, check_ranges

__all__ = ["Muon"]

_FLOAT32: Final = np.dtype(np.float32)
_BFLOAT16: Final = DTYPES["bfloat16"].numpy

RATES = (None, "original", "match_rms_adamw")


class Muon(Optimizer):
    """Muon (Jordan and others 2024), for matrices alone.

    Args:
        params: the parameters or groups of them, each of two dimensions.
        lr: how far the steps go.
        weight_decay: how much of the parameter is taken away, times lr.
        momentum: how much of the running mean of gradients is kept.
        nesterov: whether the step looks ahead by the momentum.
        ns_coefficients: what x, x**3 and x**5 count in a step of the iteration.
        eps: the least length by which the matrix is divided.
        ns_steps: how many steps of the iteration are made, below 100.
        adjust_lr_fn: how lr follows the shape: "original" (also None) or "match_rms_adamw".

    Raises:
        ValueError: an option is out of its range, or a parameter is no matrix.
    """

    takes_pairs = False

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_one_rate(lr)
        check_ranges(
            ("Learning rate", lr, 0.0),
            ("momentum", momentum, 0.0),
            ("weight decay", weight_decay, 0.0),
        )
        if adjust_lr_fn not in RATES:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults: Group = {
            **{"lr": lr, "weight_decay": weight_decay, "momentum": momentum},
            **{"nesterov": nesterov, "ns_coefficients": ns_coefficients, "eps": eps},
            **{"ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn},
        }
        super().__init__(params, defaults)
        for parameter in self._parameters():
            if parameter.dim() != 2:
                raise ValueError(
                    "Muon only supports 2D parameters whereas we found a parameter with size: "
                    f"{parameter.size()}"
                )

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        if parameter.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        if not state:
            state["momentum_buffer"] = eager_function("aten::zeros_like")(grad)
        momentum, lr = group["momentum"], float(group["lr"])
        mean = state["momentum_buffer"].lerp_(grad, 1 - momentum)
        change = _orthogonal(grad.lerp(mean, momentum) if group["nesterov"] else mean, group)
        parameter.mul_(1 - lr * group["weight_decay"])
        parameter.add_(change, alpha=-lr * _shape_factor(parameter, group["adjust_lr_fn"]))


def _shape_factor(parameter: Tensor, way: str | None) -> float:
    """What the rate is multiplied by for a parameter of this shape."""
    rows, columns = parameter.shape
    if way == "match_rms_adamw":
        return float(0.2 * max(rows, columns) ** 0.5)
    return float(max(1, rows / columns) ** 0.5)


def _orthogonal(matrix: Tensor, group: Group) -> Tensor:
    """The nearest orthogonal matrix, near enough: Newton and Schulz's iteration in bfloat16.

    Raises:
        ValueError: 100 steps or more, or not three coefficients.
    """
    if group["ns_steps"] >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(group["ns_coefficients"]) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    x = matrix.detach().float()._array
    tall = x.shape[0] > x.shape[1]
    first, third, fifth = map(float, group["ns_coefficients"])
    least, steps = _narrow(float(group["eps"])), int(group["ns_steps"])
    made = _KNOWN.call(x.T if tall else x, first, third, fifth, least, steps)
    return Tensor._of(made.T if tall else made)


def _iterated(
    matrix: Array, first: float, third: float, fifth: float, least: float, steps: int
) -> object:
    """The iteration over a matrix that is not tall, in float32, each result rounded to bfloat16."""
    x = _rounded(matrix)
    if not x.size:
        return x
    squares = folded(x, (0, 1), keepdim=True, operation="squares")
    if squares is None:
        squares = np.square(x).sum(keepdims=True)
    x = _divided(x, squares, least)
    for _ in range(steps):
        square = _rounded(product(x, x.T))
        both = _summed(square, third, product(square, square), fifth)
        x = _summed(x, first, product(both, x), 1.0)
    return x


_KNOWN: Final = Prepared(_iterated)


def _rounded(values: Array) -> Array:
    """Numbers rounded to bfloat16, as float32."""
    return cast_by_kernel(cast_by_kernel(values, _BFLOAT16), _FLOAT32)


@cache
def _narrow(value: float) -> float:
    """A number rounded to bfloat16."""
    return float(np.float32(value).astype(_BFLOAT16))


def _divided(x: Array, squares: Array, least: float) -> Array:
    """Numbers divided by the root of a sum of squares, or by the least that may be, rounded."""
    arrays = family("elementwise.arrays")
    if arrays is None:
        return _rounded(x / np.maximum(_rounded(np.sqrt(squares)), np.float32(least)))
    steps = [("sqrt", "f", (1,)), ("same", "E", (3,)), ("maximum", "f", (4, 2))]
    steps += [("divide", "f", (0, 5)), *_narrowed(6)]
    made: Array = arrays.evaluate(steps, "f", x, squares, least)
    return made


def _summed(one: Array, of_one: float, other: Array, of_other: float) -> Array:
    """Two matrices, each times a number, added up and rounded."""
    arrays = family("elementwise.arrays")
    if arrays is None:
        return _rounded(np.float32(of_one) * one + np.float32(of_other) * other)
    steps = [("multiply", "f", (0, 1)), ("multiply", "f", (2, 3)), ("add", "f", (4, 5))]
    made: Array = arrays.evaluate([*steps, *_narrowed(6)], "f", one, of_one, other, of_other)
    return made


def _narrowed(place: int) -> list[tuple[str, str, tuple[int, ...]]]:
    """The steps that round what stands at a place to bfloat16."""
    return [("same", "E", (place,)), ("same", "f", (place + 1,))]
