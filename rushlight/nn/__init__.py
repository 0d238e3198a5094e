"""`torch.nn`: modules, the layers there are so far, and functions."""

from __future__ import annotations

from . import functional, init
from .modules import (
    Identity,
    Linear,
    Module,
    ModuleDict,
    ModuleList,
    ParameterList,
    ReLU,
    Sequential,
    Sigmoid,
    Softmax,
    Tanh,
)
from .parameter import Buffer, Parameter

__all__ = [
    "Buffer",
    "Identity",
    "Linear",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "ParameterList",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "functional",
    "init",
]
