"""What lays gradients as torch has them, where formulas leave them in another order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..arithmetic.convert import is_channels_last
from ..memory.dtype import MEMORY_FORMATS
from ..memory.storage import contiguous_strides, strides_of
from ..tensors.tensor import Tensor
from .rows import Lies

__all__ = ["LAYOUTS"]


def _contiguous(grad: Tensor) -> Tensor:
    array = grad._array
    if strides_of(array) == contiguous_strides(array.shape) or is_channels_last(array):
        return grad
    return grad.clone(memory_format=MEMORY_FORMATS["contiguous_format"])


def _by_columns(grad: Tensor) -> Tensor:
    """Matrices that are wide are stored by rows all the same."""
    if grad.ndim > 1 and grad.shape[-2] >= grad.shape[-1]:
        return _contiguous(grad.mT).mT
    return _contiguous(grad)


LAYOUTS: Final[dict[Lies, Callable[[Tensor], Tensor] | None]] = {
    "": None,
    "by rows": _contiguous,
    "by columns": _by_columns,
}
"""What lays out the gradients of an operator's arguments; None if they stay as they are."""
