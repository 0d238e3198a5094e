"""`call_for_per_sample_grads`: a call of a module, for gradients of each sample."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ...func import functional_call
from ...ops.tensors.tensor import Tensor
from ...utils._pytree import tree_leaves
from ..modules.module import Module
from ._expanded_weights import ExpandedWeight

__all__ = ["call_for_per_sample_grads"]


def call_for_per_sample_grads(
    module: Module,
    *,
    batch_size: int | None = None,
    loss_reduction: str = "sum",
    batch_first: bool = True,
) -> Callable[..., Any]:
    """A function to call instead of a module: `backward` then gives each parameter a `grad_sample`
    with the gradients of the samples, stacked, and leaves its `grad` as it is.

    Args:
        module: made of layers that treat samples one by one (linear, convolution, embedding, group,
            instance and layer norm) and of functions without parameters.
        batch_size: the number of samples; that of the tensors given, if None.
        loss_reduction: `sum` or `mean`, as the loss puts the samples together.
        batch_first: whether samples lie along the first dimension of the tensors given.

    Raises:
        RuntimeError: an argument is another; a parameter has a `grad_sample` from an earlier call;
            later, if a parameter is used by another function.
    """
    _check_call(module, batch_size, loss_reduction)

    @wraps(module.forward)
    def call(*args: object, **kwargs: object) -> object:
        size = _batch_size(args, kwargs, batch_first) if batch_size is None else batch_size
        expanded = {
            name: ExpandedWeight(weight, size, loss_reduction) if weight.requires_grad else weight
            for name, weight in module.named_parameters()
        }
        return functional_call(module, expanded, args, kwargs)

    return call


def _check_call(module: Module, batch_size: object, loss_reduction: str) -> None:
    if not isinstance(module, Module):
        raise RuntimeError(f"Module passed must be nn.Module, got {type(module).__name__}")
    if not (batch_size is None or isinstance(batch_size, int)):
        kind = type(batch_size).__name__
        raise RuntimeError(f"Batch size passed must be None or an integer, got {kind}")
    if batch_size is not None and batch_size < 1:
        raise RuntimeError(f"Batch size must be positive, got {batch_size}")
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(
            f"Expected loss_reduction argument to be sum or mean, got {loss_reduction}"
        )
    for weight in module.parameters():
        if getattr(weight, "grad_sample", None) is not None:
            raise RuntimeError(
                "Current Expanded Weights accumulates the gradients, which will be incorrect for "
                f"multiple calls without clearing gradients. Please clear out the grad_sample "
                f"parameter of {weight} or post an issue to pytorch/pytorch to prioritize correct "
                "behavior"
            )


def _batch_size(args: tuple[object, ...], kwargs: dict[str, object], batch_first: bool) -> int:
    """The number of samples in the tensors given.

    Raises:
        RuntimeError: there is no tensor, or they do not agree.
    """
    found: int | None = None
    for each in tree_leaves((args, kwargs)):
        if not isinstance(each, Tensor):
            continue
        size = each.shape[0] if batch_first else each.shape[1]
        if found is not None and size != found:
            raise RuntimeError(
                "When computing batch size, found at least one input with batch size "
                f"{found} and one with batch size {size}. Please specify it explicitly using the "
                "batch size kwarg in call_for_per_sample_grads"
            )
        found = size
    if found is None:
        raise RuntimeError(
            "Unable to find a tensor in the passed args and kwargs. They may not be pytree-able "
            "and so ExpandedWeights cannot compute the batch size from the inputs. Please specify "
            "it explicitly"
        )
    return found
