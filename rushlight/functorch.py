"""`functorch`: `torch.func` under its first name, which `as_torch` stands in for too."""

from __future__ import annotations

from .func import (
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    vjp,
    vmap,
)
from .refused_names import refusing

__all__ = [
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "vjp",
    "vmap",
]

_REFUSED: dict[str, object] = refusing(
    "functorch",
    "FunctionalModule FunctionalModuleWithBuffers combine_state_for_ensemble make_functional "
    "make_functional_with_buffers",
    "modules are functions by torch.func.functional_call and torch.func.stack_module_state",
)
globals().update(_REFUSED)
