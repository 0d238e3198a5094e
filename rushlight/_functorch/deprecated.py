"""The functions of `functorch`, which say at each call where they are now."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from . import eager_transforms, jacobians, modules
from . import make_functional as _make_functional
from . import vmap as _vmap

__all__ = [
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
    "vjp",
    "vmap",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _moved(function: Callable[_P, _R], place: str) -> Callable[_P, _R]:
    """A function of `functorch` that warns that `place` is its successor."""
    text = (
        "We've integrated functorch into PyTorch. As the final step of the integration, "
        f"`functorch.{function.__name__}` is deprecated as of PyTorch 2.0 and will be deleted in a "
        f"future version of PyTorch >= 2.3. Please use `{place}` instead; see the PyTorch 2.0 "
        "release notes and/or the `torch.func` migration guide for more details "
        "https://pytorch.org/docs/main/func.migrating.html"
    )

    @functools.wraps(function)
    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        warnings.warn(text, FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    return wrapped


vmap = _moved(_vmap.vmap, "torch.vmap")
grad = _moved(eager_transforms.grad, "torch.func.grad")
grad_and_value = _moved(eager_transforms.grad_and_value, "torch.func.grad_and_value")
vjp = _moved(eager_transforms.vjp, "torch.func.vjp")
jvp = _moved(eager_transforms.jvp, "torch.func.jvp")
jacrev = _moved(jacobians.jacrev, "torch.func.jacrev")
jacfwd = _moved(jacobians.jacfwd, "torch.func.jacfwd")
hessian = _moved(jacobians.hessian, "torch.func.hessian")
functionalize = _moved(modules.functionalize, "torch.func.functionalize")
make_functional = _moved(_make_functional.make_functional, "torch.func.functional_call")
make_functional_with_buffers = _moved(
    _make_functional.make_functional_with_buffers, "torch.func.functional_call"
)
combine_state_for_ensemble = _moved(
    _make_functional.combine_state_for_ensemble, "torch.func.stack_module_state"
)
