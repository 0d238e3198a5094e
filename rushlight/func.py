"""`torch.func`: functions of functions, and modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._functorch.eager_transforms import grad, grad_and_value, jvp, linearize, vjp
from ._functorch.jacobians import hessian, jacfwd, jacrev
from ._functorch.modules import (
    debug_unwrap,
    functionalize,
    replace_all_batch_norm_modules_,
    stack_module_state,
)
from ._functorch.rearrange import rearrange
from ._functorch.vmap import vmap
from .nn.modules.module import Module
from .nn.utils.stateless import _functional_call

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


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: object,
    args: object = None,
    kwargs: Mapping[str, object] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with tensors by name in place of its own.

    Args:
        module: the module; as before when the call is over, whether it fails or not.
        parameter_and_buffer_dicts: tensors by dotted names, in a dict or several.
        args: the arguments, a tuple, or one that is none.
        kwargs: arguments by keyword.
        tie_weights: whether a tensor under several names is exchanged under all of them.
        strict: whether all names must be given, and no others.

    Raises:
        RuntimeError: `strict` is set, and names are missing or unknown; or the module is scripted
            or traced, or code is being traced.
        ValueError: several dicts share names, or differ about one tensor.
        TypeError, AttributeError: a name leads to no tensor.
    """
    return _functional_call(
        module, parameter_and_buffer_dicts, args, kwargs, tie_weights=tie_weights, strict=strict
    )
