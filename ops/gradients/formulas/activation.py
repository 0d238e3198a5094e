"""Gradients of activations and softmax."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ...layers.dropout import FACTORS
from ...layers.leaky_noise import slope_bounds
from ...memory.dtype import Array, DType, Scalar
from ...random_numbers.random import Generator
from ...tensors.tensor import Tensor
from ..table.rows import Run, aten, composite, gradient, lying, rewritten, undifferentiated
from ..table.rules import is_narrow, rounded_once, widened

gradient("aten::relu", self=lambda g, result: aten.threshold_backward(g, result, 0))
gradient(
    "aten::relu6",
    self=lambda g, result: aten.hardtanh_backward(g, result, 0, 6),
    name="HardtanhBackward0",
)
gradient(
    "aten::hardtanh",
    self=lambda g, self, min_val, max_val: aten.hardtanh_backward(g, self, min_val, max_val),
)
gradient(
    "aten::leaky_relu",
    self=lambda g, self, negative_slope: aten.leaky_relu_backward(g, self, negative_slope, False),
)
gradient(
    "aten::threshold",
    self=lambda g, self, threshold: aten.threshold_backward(g, self, threshold),
)


@rounded_once
def _elu(
    g: Tensor, self: Tensor, alpha: Scalar = 1, scale: Scalar = 1, input_scale: Scalar = 1
) -> Tensor:
    below = g * (self * input_scale).exp() * (alpha * scale * input_scale)
    return aten.where(self <= 0, below, g * scale)


gradient("aten::elu", self=_elu)
gradient(
    "aten::selu",
    self=lambda g, self: _elu(g, self, 1.6732632423543772848170429916717, 1.0507009873554804934193),
    name="EluBackward0",
)
gradient("aten::celu", self=lambda g, self, alpha=1.0: _elu(g, self, alpha, 1, 1 / alpha))


KAPPA: Final = 0.044715
"""The share of the cube in what the form of gelu by tanh bends."""


@rounded_once
def gelu_slope(g: Tensor, self: Tensor, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        beta = math.sqrt(2 / math.pi)
        cube = self * self * self
        bent = ((self + cube * KAPPA) * beta).tanh()
        slope = (1 - bent * bent) * ((self * self * (3 * KAPPA) + 1) * beta)
        return g * ((bent + 1) * 0.5 + self * slope * 0.5)
    share = (aten.erf(self * math.sqrt(0.5)) + 1) * 0.5
    density = (self * self * -0.5).exp() * (1 / math.sqrt(2 * math.pi))
    return g * (share + self * density)


gradient("aten::gelu", self=gelu_slope)


@rounded_once
def _silu(g: Tensor, self: Tensor) -> Tensor:
    share = self.sigmoid()
    return g * (share * (self * (1 - share) + 1))


gradient("aten::silu", self=_silu)


@rounded_once
def _mish(g: Tensor, self: Tensor) -> Tensor:
    bent = aten.softplus(self).tanh()
    return g * (bent + self * self.sigmoid() * (1 - bent * bent))


gradient("aten::mish", self=_mish)
gradient(
    "aten::hardsigmoid",
    self=lambda g, self: aten.hardsigmoid_backward(g, self),
)
gradient(
    "aten::hardswish",
    self=lambda g, self: aten.hardswish_backward(g, self),
)
gradient(
    "aten::hardshrink",
    self=lambda g, self, lambd: aten.hardshrink_backward(g, self, lambd),
)
gradient(
    "aten::softshrink",
    self=lambda g, self, lambd: aten.softshrink_backward(g, self, lambd),
)
gradient(
    "aten::softplus",
    self=lambda g, self, beta, threshold: aten.softplus_backward(g, self, beta, threshold),
)


def log_sigmoid_slope(g: Tensor, self: Tensor) -> Tensor:
    """The gradient of log_sigmoid; of 16-bit floats by exp(-|x|) rounded, which torch keeps."""
    if not is_narrow(g):
        return g * (-self).sigmoid()
    kept = (-self.float().abs()).exp().to(self.dtype)
    wide, share = widened(g, kept)
    share = share / (share + 1)
    slope: Tensor = wide * aten.where(self < 0, 1 - share, share)
    return slope


gradient("aten::log_sigmoid", self=log_sigmoid_slope)


@composite("aten::glu")
def glu(self: Tensor, dim: int = -1) -> Tensor:
    """One half times the sigmoid of the other."""
    size = self.shape[dim] // 2
    return self.narrow(dim, 0, size) * self.narrow(dim, size, size).sigmoid()


@composite("aten::_prelu_kernel", name="PreluKernelBackward0")
def prelu_kernel(self: Tensor, weight: Tensor) -> Tensor:
    """Negative numbers times a weight that broadcasts."""
    return aten.where(self > 0, self, self * weight)


@composite("aten::prelu", name="PreluKernelBackward0")
def prelu(self: Tensor, weight: Tensor) -> Tensor:
    """Negative numbers times the weight of their channel."""
    if weight.ndim == 1 and self.ndim != 1 and weight.numel() != 1:
        weight = weight.reshape([1, -1] + [1] * (self.ndim - 2))
    elif not self.ndim:
        weight = weight.reshape([])
    return prelu_kernel(self, weight)


def _with_noise(twin: str) -> None:
    @rewritten("aten::rrelu" + twin)
    def rrelu(
        run: Run, self: Array, lower: Scalar, upper: Scalar, training: bool,
        generator: Generator | None,
    ) -> Array:  # fmt: skip
        bounds = slope_bounds(lower, upper)
        noise = np.empty_like(self)
        made: Array = run(
            f"aten::rrelu_with_noise{twin}", self, noise, *bounds, training, generator
        )
        return made


_with_noise("")
_with_noise("_")


def _by_slopes(
    g: Tensor, self: Tensor, noise: Tensor, lower: float, upper: float, training: bool
) -> Tensor:
    return g * noise if training else aten.where(self > 0, g, g * ((lower + upper) / 2))


gradient("aten::rrelu_with_noise", self=_by_slopes)
undifferentiated("noise", "rrelu_with_noise")
gradient(
    "aten::rrelu_with_noise_functional",
    self=lambda g, self, result1, lower, upper, training: _by_slopes(
        g, self, result1, lower, upper, training
    ),
    apart=(1,),
)


@rounded_once
def _softmax(g: Tensor, result: Tensor, dim: int, self_dtype: DType) -> Tensor:
    weighted = g * result
    return weighted - result * weighted.sum([dim], True) if result.ndim else weighted * 0


gradient("aten::softmax", "aten::_softmax", self=_softmax, name="SoftmaxBackward0")


def _safe_softmax(g: Tensor, result: Tensor, dim: int) -> Tensor:
    weighted = g * result
    return weighted - result * weighted.sum([dim], True)


def _masked_softmax(
    g: Tensor, result: Tensor, mask: Tensor, dim: int | None = None, mask_type: int | None = None
) -> Tensor:
    if mask.ndim != result.ndim and mask_type == 1:
        mask = mask.unsqueeze(1).unsqueeze(1)
    found: Tensor = aten._masked_softmax_backward(g, result, mask, dim)
    return found


gradient("aten::_safe_softmax", self=_safe_softmax)
gradient("aten::_masked_softmax", self=_masked_softmax)


@rounded_once
def _log_softmax(g: Tensor, result: Tensor, dim: int) -> Tensor:
    return g - result.exp() * (g.sum([dim], True) if g.ndim else g)


gradient("aten::log_softmax", "aten::_log_softmax", self=_log_softmax, name="LogSoftmaxBackward0")
gradient(
    "aten::_softmax_backward_data",
    grad_output=lambda g, output, dim: output * (g - (g * output).sum([dim], True)),
    output=lambda g, grad_output, output, dim: (
        g * (grad_output - (grad_output * output).sum([dim], True))
        - grad_output * (g * output).sum([dim], True)
    ),
)

# --------------------------------------------------------------------------- dropout


def _dropped(name: str, twin: str) -> None:
    factors = FACTORS[name]

    @rewritten(name + twin)
    def product(run: Run, self: Array, p: float, train: bool) -> Array:
        found = factors(self, p, train)
        if found is None:
            return self
        result: Array = run(f"aten::mul{twin}.Tensor", self, found[0])
        if len(found) == 2:
            result = run(f"aten::add{twin}.Tensor", result, found[1], 1)
        return result


for _name in FACTORS:
    _dropped(_name, "")
    _dropped(_name, "_")
lying(
    "by rows",
    *"softmax log_softmax _softmax _log_softmax".split(),
    "_softmax_backward_data",
)
