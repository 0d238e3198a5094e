"""Functions of layers: windows made their norms."""

# Script reads these bodies: they keep to its types.
# mypy: disable-error-code="arg-type, assignment, no-any-return"
# mypy: no-warn-unreachable
# ruff: noqa: UP045
from collections.abc import Callable
from typing import Optional

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.overriding import PLAIN, ask_for, asks
from ...ops.tensors.tensor import Tensor
from ..broadcasting import BroadcastingList1, BroadcastingList2, BroadcastingList3
from ..sizes import pair, triple
from .activations import relu
from .pooling import avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d

__all__ = [
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
]

Operator = Callable[..., Tensor]

_sign: Operator = eager_function("aten::sign")
_abs: Operator = eager_function("aten::abs")


def _is_limit(norm_type: int | float, sign: float) -> bool:
    """Whether a norm is that of the greatest elements, or with sign -1 of the smallest."""
    return norm_type == sign * float("inf")


def _norms(out: Tensor, count: int, norm_type: int | float) -> Tensor:
    """Norms of `count` numbers, of `out`, the means of their powers."""
    return (_sign(out) * relu(_abs(out))).mul(count).pow(1.0 / norm_type)


def lp_pool1d(
    input: Tensor,
    norm_type: int | float,
    kernel_size: int,
    stride: Optional[BroadcastingList1[int]] = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The `norm_type`-norms of windows over one dimension; infinity gives maxima."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(lp_pool1d, locals())
    if _is_limit(norm_type, 1.0):
        return max_pool1d(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if _is_limit(norm_type, -1.0):
        return -max_pool1d(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if stride is None:
        out = avg_pool1d(input.pow(norm_type), kernel_size, padding=0, ceil_mode=ceil_mode)
    else:
        out = avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return _norms(out, kernel_size, norm_type)


def lp_pool2d(
    input: Tensor,
    norm_type: int | float,
    kernel_size: BroadcastingList2[int],
    stride: Optional[BroadcastingList2[int]] = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The `norm_type`-norms of windows over two dimensions; infinity gives maxima."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(lp_pool2d, locals())
    width, height = pair(kernel_size)
    if _is_limit(norm_type, 1.0):
        return max_pool2d(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if _is_limit(norm_type, -1.0):
        return -max_pool2d(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if stride is None:
        out = avg_pool2d(input.pow(norm_type), kernel_size, padding=0, ceil_mode=ceil_mode)
    else:
        out = avg_pool2d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return _norms(out, width * height, norm_type)


def lp_pool3d(
    input: Tensor,
    norm_type: int | float,
    kernel_size: BroadcastingList3[int],
    stride: Optional[BroadcastingList3[int]] = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The `norm_type`-norms of windows over three dimensions; infinity gives maxima."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(lp_pool3d, locals())
    depth, width, height = triple(kernel_size)
    if _is_limit(norm_type, 1.0):
        return max_pool3d(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if _is_limit(norm_type, -1.0):
        return -max_pool3d(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if stride is None:
        out = avg_pool3d(input.pow(norm_type), kernel_size, padding=0, ceil_mode=ceil_mode)
    else:
        out = avg_pool3d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return _norms(out, depth * width * height, norm_type)
