"""`torch.nn`: modules, the layers there are so far, and functions."""

from __future__ import annotations

from . import functional, init
from .activation import ReLU, Sigmoid, Softmax, Tanh
from .containers import ModuleDict, ModuleList, ParameterList, Sequential
from .linear import Identity, Linear
from .module import Module
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
