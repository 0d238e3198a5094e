"""Gradients held within bounds."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.construct import tensor as make_tensor
from ...ops.tensors.tensor import Tensor

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]

Tensors = Tensor | Iterable[Tensor]

_stack = eager_function("aten::stack")
_vector_norm = eager_function("aten::linalg_vector_norm")


def _listed(tensors: Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _gradients(parameters: Tensors) -> list[Tensor]:
    found: list[Tensor | None] = [p.grad for p in _listed(parameters)]
    return [gradient for gradient in found if gradient is not None]


def _get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all elements of all tensors as one vector.

    Raises:
        RuntimeError: it is not finite, and `error_if_nonfinite` is set.
    """
    given, norm_type = _listed(tensors), float(norm_type)
    if not given:
        return make_tensor(0.0)
    total: Tensor = _vector_norm(_stack([_vector_norm(t, norm_type) for t in given]), norm_type)
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is "
            "non-finite, so it cannot be clipped. To disable this error and scale the gradients "
            "by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


get_total_norm = _get_total_norm


def _clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale all gradients so that a norm that is known is at most `max_norm`."""
    factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for gradient in _gradients(parameters):
        gradient.detach().mul_(factor)


clip_grads_with_norm_ = _clip_grads_with_norm_


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients so that their norm together is at most `max_norm`; gives it back."""
    parameters = _listed(parameters)
    total = get_total_norm(_gradients(parameters), float(norm_type), error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_norm(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The older name of `clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Hold every element of all gradients within ±`clip_value`."""
    limit = float(clip_value)
    for gradient in _gradients(parameters):
        gradient.detach().clamp_(-limit, limit)
