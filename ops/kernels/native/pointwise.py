"""Kernels of float32 vectors: functions that NumPy would need several passes for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..threads import share
from .compile import compiled
from .maths import erf32, exp32, sigmoid32, tanh32

__all__ = ["apply", "combine"]

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


@compiled
def leaky_relu(start: int, stop: int, x: Any, out: Any, slope: Any) -> None:
    x, out = x[start:stop], out[start:stop]
    for i in range(x.size):
        out[i] = x[i] if x[i] > F(0) else x[i] * slope


@compiled
def clamp(start: int, stop: int, x: Any, out: Any, low: Any, high: Any) -> None:
    x, out = x[start:stop], out[start:stop]
    for i in range(x.size):  # NaN stays: both comparisons are false for it
        v = low if x[i] < low else x[i]
        out[i] = high if v > high else v


@compiled
def lerp(start: int, stop: int, x: Any, out: Any, end: Any, weight: Any) -> None:
    x, out, end = x[start:stop], out[start:stop], end[start:stop]
    rest = _ONE - weight
    if abs(weight) < _HALF:
        for i in range(x.size):
            out[i] = x[i] + weight * (end[i] - x[i])
    else:
        for i in range(x.size):
            out[i] = end[i] - (end[i] - x[i]) * rest


@compiled
def add_products(start: int, stop: int, x: Any, out: Any, a: Any, b: Any) -> None:
    x, out, a, b = x[start:stop], out[start:stop], a[start:stop], b[start:stop]
    for i in range(x.size):
        out[i] = x[i] + a[i] * b[i]


@compiled
def choose(start: int, stop: int, mask: Any, out: Any, x: Any, y: Any) -> None:
    mask, out, x, y = mask[start:stop], out[start:stop], x[start:stop], y[start:stop]
    for i in range(mask.size):
        out[i] = x[i] if mask[i] else y[i]


@compiled
def choose_number(start: int, stop: int, mask: Any, out: Any, number: Any, y: Any) -> None:
    mask, out, y = mask[start:stop], out[start:stop], y[start:stop]
    for i in range(mask.size):
        out[i] = number if mask[i] else y[i]


_KERNELS: dict[str, Any] = {
    "exp": exp,
    "sigmoid": sigmoid,
    "tanh": tanh,
    "erf": erf,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "silu": silu,
    "mish": mish,
    "leaky_relu": leaky_relu,
    "clamp": clamp,
    "lerp": lerp,
    "add_products": add_products,
    "choose": choose,
    "choose_number": choose_number,
}


def apply(name: str, x: Any) -> Any:
    """The named function of every element of a contiguous float32 array."""
    x = x[...]  # which no other thread can change
    out = np.empty_like(x)
    share(_KERNELS[name], x.size, 1 << 17, x.reshape(-1), out.reshape(-1))
    return out


def combine(name: str, x: Any, *others: Any) -> Any:
    """The named function of arrays of one size, all contiguous, and of float32 numbers."""
    out = np.empty(x.shape, F)
    flat = [o.reshape(-1) if o.ndim else F(o) for o in others]
    share(_KERNELS[name], x.size, 1 << 17, x.reshape(-1), out.reshape(-1), *flat)
    return out
