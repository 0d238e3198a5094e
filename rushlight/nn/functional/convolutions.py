"""Functions of layers: convolutions, products, and what rearranges their inputs."""

# mypy: disable-error-code="no-any-return"
from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.overriding import PLAIN, ask_for, asks
from ...ops.tensors.tensor import Tensor
from ..broadcasting import BroadcastingList2
from ..sizes import pair

__all__ = [
    "bilinear",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "fold",
    "linear",
    "native_channel_shuffle",
    "pixel_shuffle",
    "pixel_unshuffle",
    "unfold",
]

Operator = Callable[..., Tensor]

conv1d: Operator = eager_function("aten::conv1d")
conv2d: Operator = eager_function("aten::conv2d")
conv3d: Operator = eager_function("aten::conv3d")
conv_transpose1d: Operator = eager_function("aten::conv_transpose1d")
conv_transpose2d: Operator = eager_function("aten::conv_transpose2d")
conv_transpose3d: Operator = eager_function("aten::conv_transpose3d")
conv_tbc: Operator = eager_function("aten::conv_tbc")
linear: Operator = eager_function("aten::linear")
"""`linear(input, weight, bias=None)`: `input @ weight.T + bias`."""
bilinear: Operator = eager_function("aten::bilinear")
pixel_shuffle: Operator = eager_function("aten::pixel_shuffle")
pixel_unshuffle: Operator = eager_function("aten::pixel_unshuffle")
channel_shuffle: Operator = eager_function("aten::channel_shuffle")
native_channel_shuffle: Operator = eager_function("aten::native_channel_shuffle")

_im2col: Operator = eager_function("aten::im2col")
_col2im: Operator = eager_function("aten::col2im")


def unfold(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    dilation: BroadcastingList2[int] = 1,
    padding: BroadcastingList2[int] = 0,
    stride: BroadcastingList2[int] = 1,
) -> Tensor:
    """What each window of an image sees, as a column: (batch, channels * window, windows)."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(unfold, locals())
    return _im2col(input, pair(kernel_size), pair(dilation), pair(padding), pair(stride))


def fold(
    input: Tensor,
    output_size: BroadcastingList2[int],
    kernel_size: BroadcastingList2[int],
    dilation: BroadcastingList2[int] = 1,
    padding: BroadcastingList2[int] = 0,
    stride: BroadcastingList2[int] = 1,
) -> Tensor:
    """The image of sums that the columns of `unfold` make, each put back where it was."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(fold, locals())
    return _col2im(
        input,
        pair(output_size),
        pair(kernel_size),
        pair(dilation),
        pair(padding),
        pair(stride),
    )
