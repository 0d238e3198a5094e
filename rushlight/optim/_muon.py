"""Muon: steps along the nearest orthogonal matrix of the gradients' momentum."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.eager.dispatch import eager_function
from ..ops.kernels import cast_by_kernel
from ..ops.linear_algebra.linalg import product
from ..ops.memory.dtype import DTYPES
from ..ops.tensors.tensor import Tensor
from .optimizer import Group, Optimizer, Params, check_one_rate, check_ranges

__all__ = ["Muon"]

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
    x = _rounded(matrix.detach().float()._array)
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.T
    size = _rounded(np.sqrt(np.square(x, dtype=np.float64).sum()))
    x = _rounded(x / max(size, _rounded(np.float32(group["eps"]))))
    first, third, fifth = map(np.float32, group["ns_coefficients"])
    for _ in range(group["ns_steps"]):
        square = _rounded(product(x, x.T))
        both = _rounded(third * square + fifth * product(square, square))
        x = _rounded(first * x + product(both, x))
    return Tensor._of(x.T if tall else x)


def _rounded(values: Any) -> Any:
    """Numbers rounded to bfloat16, as float32."""
    narrow = cast_by_kernel(np.asarray(values, np.float32), DTYPES["bfloat16"].numpy)
    return cast_by_kernel(narrow, np.dtype(np.float32))
