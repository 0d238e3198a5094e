"""`torch.functional`: functions of tensors, some of which script compiles from Python."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from . import functional_in_script
from .nn.sizes import scripted_as
from .ops.eager import functional, namespace
from .ops.eager.dispatch import eager_function
from .ops.eager.functional import (
    unravel_index,
)
from .ops.tensors.overriding import PLAIN, ask_for, asks
from .ops.tensors.tensor import Tensor

__all__ = [
    *("atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes"),
    *("broadcast_tensors", "cartesian_prod", "cdist", "chain_matmul", "einsum", "istft", "lu"),
    *("meshgrid", "norm", "split", "stft", "tensordot", "unique", "unique_consecutive"),
    "unravel_index",
]

_cdist: Callable[..., Tensor] = eager_function("aten::cdist")
istft: Callable[..., Tensor] = eager_function("aten::istft")

lu = scripted_as(functional_in_script.lu)(namespace.lu)
norm = scripted_as(functional_in_script.norm)(namespace.norm)
stft = scripted_as(functional_in_script.stft)(namespace.stft)
tensordot = scripted_as(functional_in_script.tensordot)(namespace.tensordot)
unique = scripted_as(functional_in_script.unique)(functional.unique)
unique_consecutive = scripted_as(functional_in_script.unique_consecutive)(
    functional.unique_consecutive
)


def __getattr__(name: str) -> object:
    if name in __all__ or name in ("pca_lowrank", "svd_lowrank"):  # the others are at the top
        return getattr(import_module(__package__), name)
    if name == "F":  # as torch's file calls it, and packages take it from there
        return import_module(f"{__package__}.nn.functional")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """The p-norm distance of every row of `x1` to every row of `x2`: (*, P, R).

    Raises:
        ValueError: `compute_mode` is not one of the three words.
    """
    if (type(x1) not in PLAIN or type(x2) not in PLAIN) and asks(x1, x2):
        return ask_for(cdist, locals())
    if compute_mode == "use_mm_for_euclid_dist_if_necessary":
        return _cdist(x1, x2, p, None)
    elif compute_mode == "use_mm_for_euclid_dist":
        return _cdist(x1, x2, p, 1)
    elif compute_mode == "donot_use_mm_for_euclid_dist":
        return _cdist(x1, x2, p, 2)
    else:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
