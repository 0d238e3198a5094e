"""`torch.func`: functions of functions, and modules as functions of their parameters."""

from __future__ import annotations

from ._functorch.jacobians import hessian, jacfwd, jacrev
from ._functorch.modules import (
    debug_unwrap,
    functionalize,
    replace_all_batch_norm_modules_,
    stack_module_state,
)
from ._functorch.rearrange import rearrange
from ._functorch.transforms import grad, grad_and_value, jvp, linearize, vjp
from ._functorch.vmap import vmap
from .nn.utils.stateless import _functional_call as functional_call

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
