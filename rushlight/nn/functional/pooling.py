"""Functions of layers: pooling by maxima and means.

A function that takes `return_indices` is two functions, one with and one without the places.
"""

# Script reads these bodies: they keep to its types.
# mypy: disable-error-code="no-any-return"
# ruff: noqa: UP045
from collections.abc import Callable
from typing import Optional

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.overriding import PLAIN, ask_for, asks
from ...ops.tensors.tensor import Tensor
from ..broadcasting import BroadcastingList1, BroadcastingList2, BroadcastingList3
from ..flag_dispatch import FlagDispatch
from ..sizes import annotate, list_with_default

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
]

Operator = Callable[..., Tensor]
Pair = Callable[..., tuple[Tensor, Tensor]]

avg_pool1d: Operator = eager_function("aten::avg_pool1d")
avg_pool2d: Operator = eager_function("aten::avg_pool2d")
avg_pool3d: Operator = eager_function("aten::avg_pool3d")
adaptive_avg_pool1d: Operator = eager_function("aten::adaptive_avg_pool1d")

_adaptive_avg_pool2d: Operator = eager_function("aten::adaptive_avg_pool2d")
_adaptive_avg_pool3d: Operator = eager_function("aten::adaptive_avg_pool3d")
_adaptive_max1d: Pair = eager_function("aten::adaptive_max_pool1d")
_adaptive_max2d: Pair = eager_function("aten::adaptive_max_pool2d")
_adaptive_max3d: Pair = eager_function("aten::adaptive_max_pool3d")
_max1d: Operator = eager_function("aten::max_pool1d")
_max2d: Operator = eager_function("aten::max_pool2d")
_max3d: Operator = eager_function("aten::max_pool3d")
_max1d_with_indices: Pair = eager_function("aten::max_pool1d_with_indices")
_max2d_with_indices: Pair = eager_function("aten::max_pool2d_with_indices")
_max3d_with_indices: Pair = eager_function("aten::max_pool3d_with_indices")


# --------------------------------------------------------------------------- maxima


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList1[int],
    stride: Optional[BroadcastingList1[int]] = None,
    padding: BroadcastingList1[int] = 0,
    dilation: BroadcastingList1[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Maxima of windows over one dimension, and their places if `return_indices`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(max_pool1d_with_indices, locals())
    if stride is None:
        stride = annotate(list[int], [])
    return _max1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


def _max_pool1d(
    input: Tensor,
    kernel_size: BroadcastingList1[int],
    stride: Optional[BroadcastingList1[int]] = None,
    padding: BroadcastingList1[int] = 0,
    dilation: BroadcastingList1[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    if type(input) not in PLAIN and asks(input):
        return ask_for(max_pool1d, locals())
    if stride is None:
        stride = annotate(list[int], [])
    return _max1d(input, kernel_size, stride, padding, dilation, ceil_mode)


max_pool1d = FlagDispatch("max_pool1d", "return_indices", 6, max_pool1d_with_indices, _max_pool1d)


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    stride: Optional[BroadcastingList2[int]] = None,
    padding: BroadcastingList2[int] = 0,
    dilation: BroadcastingList2[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Maxima of windows over two dimensions, and places if `return_indices`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(max_pool2d_with_indices, locals())
    if stride is None:
        stride = annotate(list[int], [])
    return _max2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


def _max_pool2d(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    stride: Optional[BroadcastingList2[int]] = None,
    padding: BroadcastingList2[int] = 0,
    dilation: BroadcastingList2[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    if type(input) not in PLAIN and asks(input):
        return ask_for(max_pool2d, locals())
    if stride is None:
        stride = annotate(list[int], [])
    return _max2d(input, kernel_size, stride, padding, dilation, ceil_mode)


max_pool2d = FlagDispatch("max_pool2d", "return_indices", 6, max_pool2d_with_indices, _max_pool2d)


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    stride: Optional[BroadcastingList3[int]] = None,
    padding: BroadcastingList3[int] = 0,
    dilation: BroadcastingList3[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Maxima of windows over three dimensions, and places if `return_indices`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(max_pool3d_with_indices, locals())
    if stride is None:
        stride = annotate(list[int], [])
    return _max3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


def _max_pool3d(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    stride: Optional[BroadcastingList3[int]] = None,
    padding: BroadcastingList3[int] = 0,
    dilation: BroadcastingList3[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    if type(input) not in PLAIN and asks(input):
        return ask_for(max_pool3d, locals())
    if stride is None:
        stride = annotate(list[int], [])
    return _max3d(input, kernel_size, stride, padding, dilation, ceil_mode)


max_pool3d = FlagDispatch("max_pool3d", "return_indices", 6, max_pool3d_with_indices, _max_pool3d)


# --------------------------------------------------------------------------- adaptive


def adaptive_max_pool1d_with_indices(
    input: Tensor,
    output_size: BroadcastingList1[int],
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Maxima of `output_size` windows over one dimension, and their places if `return_indices`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(adaptive_max_pool1d_with_indices, locals())
    return _adaptive_max1d(input, output_size)


def _adaptive_max_pool1d(
    input: Tensor,
    output_size: BroadcastingList1[int],
    return_indices: bool = False,
) -> Tensor:
    if type(input) not in PLAIN and asks(input):
        return ask_for(adaptive_max_pool1d, locals())
    return adaptive_max_pool1d_with_indices(input, output_size)[0]


adaptive_max_pool1d = FlagDispatch(
    "adaptive_max_pool1d",
    "return_indices",
    2,
    adaptive_max_pool1d_with_indices,
    _adaptive_max_pool1d,
)


def adaptive_max_pool2d_with_indices(
    input: Tensor,
    output_size: BroadcastingList2[int],
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Maxima of `output_size` windows over two dimensions, and places if `return_indices`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(adaptive_max_pool2d_with_indices, locals())
    _output_size = list_with_default(output_size, input.size())
    return _adaptive_max2d(input, _output_size)


def _adaptive_max_pool2d(
    input: Tensor,
    output_size: BroadcastingList2[int],
    return_indices: bool = False,
) -> Tensor:
    if type(input) not in PLAIN and asks(input):
        return ask_for(adaptive_max_pool2d, locals())
    return adaptive_max_pool2d_with_indices(input, output_size)[0]


adaptive_max_pool2d = FlagDispatch(
    "adaptive_max_pool2d",
    "return_indices",
    2,
    adaptive_max_pool2d_with_indices,
    _adaptive_max_pool2d,
)


def adaptive_max_pool3d_with_indices(
    input: Tensor,
    output_size: BroadcastingList3[int],
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Maxima of `output_size` windows over three dimensions, and places if `return_indices`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(adaptive_max_pool3d_with_indices, locals())
    _output_size = list_with_default(output_size, input.size())
    return _adaptive_max3d(input, _output_size)


def _adaptive_max_pool3d(
    input: Tensor,
    output_size: BroadcastingList3[int],
    return_indices: bool = False,
) -> Tensor:
    if type(input) not in PLAIN and asks(input):
        return ask_for(adaptive_max_pool3d, locals())
    return adaptive_max_pool3d_with_indices(input, output_size)[0]


adaptive_max_pool3d = FlagDispatch(
    "adaptive_max_pool3d",
    "return_indices",
    2,
    adaptive_max_pool3d_with_indices,
    _adaptive_max_pool3d,
)


def adaptive_avg_pool2d(input: Tensor, output_size: BroadcastingList2[int]) -> Tensor:
    """Means of as many windows over two dimensions as `output_size` says; None keeps a size."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(adaptive_avg_pool2d, locals())
    _output_size = list_with_default(output_size, input.size())
    return _adaptive_avg_pool2d(input, _output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: BroadcastingList3[int]) -> Tensor:
    """Means of as many windows over three dimensions as `output_size` says; None keeps a size."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(adaptive_avg_pool3d, locals())
    _output_size = list_with_default(output_size, input.size())
    return _adaptive_avg_pool3d(input, _output_size)
