"""`functorch`: `torch.func` under its first name, which `as_torch` stands in for too."""

from __future__ import annotations

from .._functorch.deprecated import (
    combine_state_for_ensemble,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    make_functional,
    make_functional_with_buffers,
    vjp,
    vmap,
)
from .._functorch.make_functional import FunctionalModule, FunctionalModuleWithBuffers
from ..fx.experimental.proxy_tensor import make_fx
from ..version import __version__ as __version__

__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "combine_state_for_ensemble",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "make_functional",
    "make_functional_with_buffers",
    "make_fx",
    "vjp",
    "vmap",
]
