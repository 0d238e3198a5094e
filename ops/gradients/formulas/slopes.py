"""Gradients of slopes: of what gradients of activations and losses are made of."""

from __future__ import annotations

import math

import numpy as np

from ...memory.dtype import Scalar
from ...tensors.tensor import Tensor
from ..table.rows import aten, conj, gradient
from ..table.rules import rounded_once
from .loss import MEAN


@rounded_once
def _bend_of_tanh(g: Tensor, grad_output: Tensor, output: Tensor) -> Tensor:
    return conj(g) * (grad_output * conj(output) * -2)


@rounded_once
def _bend_of_sigmoid(g: Tensor, grad_output: Tensor, output: Tensor) -> Tensor:
    return conj(g) * (grad_output * (1 - conj(output) * 2))


@rounded_once
def _bend_of_softplus(
    g: Tensor, grad_output: Tensor, self: Tensor, beta: Scalar, threshold: Scalar
) -> Tensor:
    scaled = self if beta == 1 else self * beta
    bend = aten.sigmoid_backward(g * grad_output, scaled.sigmoid())
    found: Tensor = aten.where(scaled > threshold, 0, bend if beta == 1 else bend * beta)
    return found


@rounded_once
def _bend_of_hardswish(g: Tensor, grad_output: Tensor, self: Tensor) -> Tensor:
    return (g * grad_output / 3).masked_fill((self <= -3).logical_or(self >= 3), 0)


def _none(g: Tensor) -> Tensor:
    """The slope of what is straight in parts."""
    return g.new_zeros([]).expand(g.shape)


gradient(
    "aten::tanh_backward",
    grad_output=lambda g, output: aten.tanh_backward(g, conj(output)),
    output=_bend_of_tanh,
)
gradient(
    "aten::sigmoid_backward",
    grad_output=lambda g, output: aten.sigmoid_backward(g, conj(output)),
    output=_bend_of_sigmoid,
)
gradient(
    "aten::softplus_backward",
    grad_output=lambda g, self, beta, threshold: aten.softplus_backward(g, self, beta, threshold),
    self=_bend_of_softplus,
)
gradient(
    "aten::hardswish_backward",
    grad_output=lambda g, self: aten.hardswish_backward(g, self),
    self=_bend_of_hardswish,
)
gradient(
    "aten::threshold_backward",
    grad_output=lambda g, self, threshold: aten.threshold_backward(g, self, threshold),
    self=_none,
)
gradient(
    "aten::leaky_relu_backward",
    grad_output=lambda g, self, negative_slope: aten.leaky_relu_backward(
        g, self, negative_slope, False
    ),
    self=_none,
)
gradient(
    "aten::hardtanh_backward",
    grad_output=lambda g, self, min_val, max_val: aten.hardtanh_backward(g, self, min_val, max_val),
    self=_none,
)
gradient(
    "aten::hardshrink_backward",
    grad_out=lambda g, self, lambd: aten.hardshrink_backward(g, self, lambd),
    self=_none,
)
gradient(
    "aten::softshrink_backward",
    grad_output=lambda g, self, lambd: aten.softshrink_backward(g, self, lambd),
    self=_none,
)
gradient(
    "aten::hardsigmoid_backward",
    grad_output=lambda g, self: aten.hardsigmoid_backward(g, self),
    self=_none,
)


def _share(g: Tensor, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    shape = np.broadcast_shapes(self._array.shape, target._array.shape)
    count = max(math.prod(shape), 1) if reduction == MEAN else 1
    return g * (grad_output * (2.0 / count))


gradient(
    "aten::mse_loss_backward",
    grad_output=lambda g, self, target, reduction: aten.mse_loss_backward(
        g, self, target, reduction
    ),
    self=_share,
    target=lambda g, grad_output, self, target, reduction: (
        -_share(g, grad_output, self, target, reduction)
    ),
)
