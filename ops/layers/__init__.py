"""Operators of layers: activations, convolutions, normalisation, attention, recurrence."""

from . import (
    activation,
    attention,
    batch_norm,
    convolution,
    convolution_backward,
    dropout,
    embedding,
    internals,
    leaky_noise,
    normalize,
    older_convolutions,
    packed_sequence,
    recurrent,
    slopes,
    softmax,
    weight_norm,
)

__all__ = [
    "activation",
    "attention",
    "batch_norm",
    "convolution",
    "convolution_backward",
    "dropout",
    "embedding",
    "internals",
    "leaky_noise",
    "normalize",
    "older_convolutions",
    "packed_sequence",
    "recurrent",
    "slopes",
    "softmax",
    "weight_norm",
]
