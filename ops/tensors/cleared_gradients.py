"""Taking the gradients of tensors away before the next walk."""

from __future__ import annotations

from .tensor import Tensor

__all__ = ["clear_gradient"]


def clear_gradient(tensor: Tensor, set_to_none: bool) -> None:
    """Drop a tensor's gradient, or make it zero, in its own memory, whatever it held."""
    gradient = tensor.grad
    if gradient is None:
        return
    if set_to_none:
        tensor.grad = None
        return
    if gradient.grad_fn is not None:
        gradient.detach_()
    else:
        gradient.requires_grad_(False)
    gradient.zero_()
