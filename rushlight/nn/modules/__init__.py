"""The layers, under the module names that archives know them by (`torch.nn.modules.linear`)."""

from __future__ import annotations

from .activation import ReLU, Sigmoid, Softmax, Tanh
from .container import ModuleDict, ModuleList, ParameterList, Sequential
from .linear import Identity, Linear
from .module import Module

__all__ = [
    "Identity",
    "Linear",
    "Module",
    "ModuleDict",
    "ModuleList",
    "ParameterList",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
]
