"""Functions of functions: `torch.func` and what it is made of."""

from __future__ import annotations

from ..module_names import names_of

__getattr__ = names_of(__name__, "apis", "config")
