"""Slopes of activations, times a gradient `g`: what operators named `..._backward` compute."""

from __future__ import annotations

from ..language.text import Value
from .formulas import FLOATS_ONLY, formula
from .scalars import sigmoid


@formula(FLOATS_ONLY, is_exact=True)
def tanh_slope(g: Value, result: Value) -> Value:
    """That of tanh, by its result."""
    return g * (1.0 - result * result)


@formula(FLOATS_ONLY, is_exact=True)
def sigmoid_slope(g: Value, result: Value) -> Value:
    """That of sigmoid, by its result."""
    return g * ((1.0 - result) * result)


@formula("fd", takes_whole=True)
def softplus_slope(g: Value, x: Value, beta: Value, threshold: Value) -> Value:
    """A sigmoid, or 1 beyond a threshold."""
    scaled = x * beta
    return g.code.choose(scaled > threshold, g, g * sigmoid(scaled))


@formula(FLOATS_ONLY, is_exact=True, takes_whole=True)
def threshold_slope(x: Value, g: Value, level: Value) -> Value:
    """1 above a level."""
    return g.code.choose(x <= level, 0.0, g)


@formula(FLOATS_ONLY, is_exact=True, takes_whole=True)
def leaky_relu_slope(x: Value, g: Value, slope: Value) -> Value:
    """1 where x is positive, else what is given."""
    return g.code.choose(x > 0.0, g, g * slope)


@formula(FLOATS_ONLY, is_exact=True, takes_whole=True)
def hardtanh_slope(g: Value, x: Value, low: Value, high: Value) -> Value:
    """1 between two bounds."""
    return g.code.choose(x <= low, 0.0, g.code.choose(x >= high, 0.0, g))


@formula(FLOATS_ONLY, is_exact=True, takes_whole=True)
def shrink_slope(g: Value, x: Value, bound: Value) -> Value:
    """1 but for small numbers."""
    return g.code.choose(x >= -bound, g.code.choose(x <= bound, 0.0, g), g)


@formula(FLOATS_ONLY, is_exact=True)
def hardsigmoid_slope(g: Value, x: Value) -> Value:
    """A sixth between -3 and 3."""
    return g.code.choose(x <= -3.0, 0.0, g.code.choose(x >= 3.0, 0.0, g / 6.0))


@formula(FLOATS_ONLY, is_exact=True)
def hardswish_slope(g: Value, x: Value) -> Value:
    """A line between -3 and 3, 0 below and 1 above."""
    line = g.code.choose(x >= 3.0, 1.0, x / 3.0 + 0.5)
    return g.code.choose(x <= -3.0, 0.0, g * line)
