"""Kernels of one float32 vector: activations that NumPy would need several passes for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..threads import share
from .compile import compiled
from .maths import erf32, exp32, sigmoid32, tanh32

__all__ = ["apply"]

F = np.float32
_ONE, _HALF = F(1), F(0.5)
_INFINITY = F(np.inf)
_ROOT_HALF = F(0.7071067811865476)
_ROOT_TWO_OVER_PI = F(0.7978845608028654)
_CUBIC = F(0.044715)


@compiled
def exp(start: int, stop: int, x: Any, out: Any) -> None:
    x, out = x[start:stop], out[start:stop]
    for i in range(x.size):
        out[i] = exp32(x[i])


@compiled
def sigmoid(start: int, stop: int, x: Any, out: Any) -> None:
    x, out = x[start:stop], out[start:stop]
    for i in range(x.size):
        out[i] = sigmoid32(x[i])


@compiled
def tanh(start: int, stop: int, x: Any, out: Any) -> None:
    x, out = x[start:stop], out[start:stop]
    for i in range(x.size):
        out[i] = tanh32(x[i])


@compiled
def erf(start: int, stop: int, x: Any, out: Any) -> None:
    x, out = x[start:stop], out[start:stop]
    for i in range(x.size):
        out[i] = erf32(x[i])


@compiled
def gelu(start: int, stop: int, x: Any, out: Any) -> None:
    x, out = x[start:stop], out[start:stop]
    for i in range(x.size):
        v = x[i]
        made = v * _HALF * (_ONE + erf32(v * _ROOT_HALF))
        out[i] = v - v if v == _INFINITY else made  # NaN, as torch's vectors do


@compiled
def gelu_tanh(start: int, stop: int, x: Any, out: Any) -> None:
    x, out = x[start:stop], out[start:stop]
    for i in range(x.size):
        v = x[i]
        inner = _ROOT_TWO_OVER_PI * (v + _CUBIC * v * v * v)
        out[i] = _HALF * v * (_ONE + tanh32(inner))


@compiled
def silu(start: int, stop: int, x: Any, out: Any) -> None:
    x, out = x[start:stop], out[start:stop]
    for i in range(x.size):
        out[i] = x[i] / (_ONE + exp32(-x[i]))


@compiled
def mish(start: int, stop: int, x: Any, out: Any) -> None:
    x, out = x[start:stop], out[start:stop]
    for i in range(x.size):
        v = x[i]
        grown = exp32(F(20) if v > F(20) else v)
        part = grown * (grown + F(2))
        out[i] = v * (part / (part + F(2)))


_KERNELS = {
    "exp": exp,
    "sigmoid": sigmoid,
    "tanh": tanh,
    "erf": erf,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "silu": silu,
    "mish": mish,
}


def apply(name: str, x: Any) -> Any:
    """The named function of every element of a contiguous float32 array."""
    out = np.empty_like(x)
    share(_KERNELS[name], x.size, 1 << 17, x.reshape(-1), out.reshape(-1))
    return out
