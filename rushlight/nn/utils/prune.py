"""Pruning: a parameter times a mask of zeros and ones (`pruning_methods` has the ways)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Tensor
from ..modules.module import Module
from .pruning_amounts import (
    check_amount,
    check_dim,
    check_number,
    check_slices,
    norm_of_slices,
    number_of,
)
from .pruning_methods import (
    Amount,
    BasePruningMethod,
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    PruningContainer,
    RandomStructured,
    RandomUnstructured,
    hook_of,
)

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]

M = TypeVar("M", bound=Module)

# torch's names for what pruning methods of one's own use
_compute_norm = norm_of_slices
_compute_nparams_toprune = number_of
_validate_pruning_amount = check_number
_validate_pruning_amount_init = check_amount
_validate_pruning_dim = check_dim
_validate_structured_pruning = check_slices

_cat = eager_function("aten::cat")
_ones_like = eager_function("aten::ones_like")


def identity(module: M, name: str) -> M:
    """Give the parameter the names of a pruned one, and keep all of it."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: M, name: str, amount: Amount) -> M:
    """Prune elements by chance: a share of them (float) or so many (int)."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: M, name: str, amount: Amount, importance_scores: Tensor | None = None
) -> M:
    """Prune the elements (or those whose scores are) nearest to zero: a share, or so many."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: M, name: str, amount: Amount, dim: int) -> M:
    """Prune slices along `dim` by chance: a share of them (float) or so many (int)."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: M,
    name: str,
    amount: Amount,
    n: float | str,
    dim: int,
    importance_scores: Tensor | None = None,
) -> M:
    """Prune the slices along `dim` of the least norm of order `n`: a share, or so many."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: M, name: str, mask: Tensor) -> M:
    """Prune what has a zero in the mask."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: object,
    pruning_method: Callable[..., BasePruningMethod],
    importance_scores: object = None,
    **kwargs: object,
) -> None:
    """Prune several parameters, (module, name) each, as if they were one vector.

    Raises:
        TypeError: no list of pairs, no dict of scores by pair, or a method of slices.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    parameters = list(parameters)
    if importance_scores is not None and not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    given = importance_scores or {}
    values = [getattr(module, name) for module, name in parameters]
    scores = _cat([given.get(p, v).reshape(-1) for p, v in zip(parameters, values, strict=True)])
    kept = [
        getattr(m, n + "_mask", _ones_like(v)) for (m, n), v in zip(parameters, values, strict=True)
    ]
    chain = PruningContainer()
    chain._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
            f"Found method {pruning_method} of type {method.PRUNING_TYPE}"
        )
    chain.add_pruning_method(method)
    mask = chain.compute_mask(scores, _cat([m.reshape(-1) for m in kept]))
    start = 0
    for (module, name), value in zip(parameters, values, strict=True):
        end = start + value.numel()
        custom_from_mask(module, name, mask[start:end].view_as(value))
        start = end


def remove(module: M, name: str) -> M:
    """Make a pruned parameter a plain one again; its zeros stay.

    Raises:
        ValueError: it is not pruned.
    """
    key, hook = hook_of(module, name)
    if hook is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
        )
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module: Module) -> bool:
    """Whether the module or one in it has a pruned parameter."""
    return any(
        isinstance(hook, BasePruningMethod)
        for inner in module.modules()
        for hook in inner._forward_pre_hooks.values()
    )
