"""Quantized tensors and weights, and the operators on them."""

from . import (
    arrays,
    convolution,
    embedding,
    fake_quantize,
    float_weights,
    halves,
    linear,
    observed_quantize,
    pointwise,
    pools,
    recurrent,
    unfilled,
)

__all__ = [
    "arrays",
    "convolution",
    "embedding",
    "fake_quantize",
    "float_weights",
    "halves",
    "linear",
    "observed_quantize",
    "pointwise",
    "pools",
    "recurrent",
    "unfilled",
]
