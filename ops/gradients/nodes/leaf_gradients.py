"""How gradients are put into the `grad` of leaves."""

from __future__ import annotations

import numpy as np

from ...memory.dtype import Array
from ...memory.quiet import QUIET, enter, leave
from ...memory.storage import strides_of
from ...memory.versions import written
from ...table.grad_mode import is_recording
from ...table.layouts import like, strides_like
from ...tensors.dispatched import Dispatched
from ...tensors.overriding import STATE
from ...tensors.tensor import Tensor
from ...tensors.tracing import ACTIVE

__all__ = ["added_to", "copied", "is_own", "joined", "recorded_copy"]


def added_to(before: Tensor, grad: Tensor) -> bool:
    """Add a gradient to one of the same dtype and sizes, to which nobody listens; False if it is
    not like that."""
    if type(before) is not Tensor or type(grad) is not Tensor or STATE.below is not None or ACTIVE:
        return False
    one, other = before._array, grad._array
    if one.dtype is not other.dtype or one.dtype.char not in "fd" or one.shape != other.shape:
        return False
    if not one.flags.writeable:
        return False
    state = enter(QUIET)
    try:
        np.add(one, other, one)
    finally:
        leave(state)
    written(one)
    return True


def joined(before: Tensor | None, grad: Tensor) -> Tensor | None:
    """A leaf's gradient and one more, where one of them is sparse or its class is asked for
    operators; None of others.

    A sparse one is added to the former itself, where nobody can tell what that was.
    """
    if isinstance(grad, Dispatched) or isinstance(before, Dispatched):
        return grad.detach() if before is None else before + grad
    if type(grad) is not Tensor and grad.is_sparse:
        if before is None:
            return grad
        if grad._requires_grad or before._requires_grad or is_recording():
            return before + grad
        made: Tensor = before.add_(grad)
        return made
    if type(before) is not Tensor and before is not None and before.is_sparse:
        return grad + before
    return None


def is_own(grad: Array, leaf: Array) -> bool:
    """Whether a gradient owns its memory and lies as `copied` would have it."""
    flags = grad.flags
    return bool(
        flags.c_contiguous
        and flags.owndata
        and flags.writeable
        and leaf.flags.c_contiguous
        and grad.size > 1
        and 1 not in grad.shape
    )


def copied(grad: Array, leaf: Tensor) -> Array:
    """A gradient, laid out like its leaf if that has no gaps and no overlap, else contiguous."""
    lies = leaf._array
    if lies.flags.c_contiguous and lies.shape == grad.shape:
        return grad.copy("C")
    dense = lies.shape == grad.shape and strides_like(lies) == strides_of(lies)
    made = like(lies, grad.dtype) if dense else np.empty(grad.shape, grad.dtype)
    made[...] = grad
    return made


def recorded_copy(grad: Tensor, leaf: Tensor) -> Tensor:
    """A copy of a gradient that has a history, laid out like its leaf."""
    if type(grad) is not Tensor:
        return grad.clone()
    made: Tensor = Tensor._of(copied(grad._array, leaf)).copy_(grad)
    return made
