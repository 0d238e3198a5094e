"""Where torch lays gradients out in another order than the formulas leave them in.

`C`: contiguous, or with channels last; `F`: matrices stored by columns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from ..arithmetic.convert import is_channels_last
from ..memory.dtype import MEMORY_FORMATS
from ..memory.storage import contiguous_strides, strides_of
from ..tensors.tensor import Tensor

__all__ = ["layout_of"]

_CONTIGUOUS: Final = """
_adaptive_avg_pool2d _adaptive_avg_pool3d _convolution _upsample_bicubic2d_aa
_upsample_bilinear2d_aa _upsample_nearest_exact1d _upsample_nearest_exact2d
_upsample_nearest_exact3d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool2d avg_pool3d bilinear
conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution logcumsumexp
upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d
upsample_nearest3d upsample_trilinear3d
"""
_BY_COLUMNS: Final = "linalg_qr qr ormqr linalg_det linalg_slogdet logdet"


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


@cache
def layout_of(name: str) -> Callable[[Tensor], Tensor] | None:
    """What lays out the gradients of an operator's arguments; None if they stay as they are."""
    short = name.partition("::")[2]
    if short in _CONTIGUOUS.split():
        return _contiguous
    return _by_columns if short in _BY_COLUMNS.split() else None
