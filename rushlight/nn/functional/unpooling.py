"""Functions of layers: maxima put back where pooling found them."""

# Script reads these bodies: they keep to its types.
# mypy: disable-error-code="arg-type, assignment, no-any-return"
# mypy: no-warn-unreachable
# ruff: noqa: RUF005, UP045
from collections.abc import Callable
from typing import Optional

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.overriding import PLAIN, ask_for, asks
from ...ops.tensors.tensor import Tensor
from ..broadcasting import BroadcastingList1, BroadcastingList2, BroadcastingList3
from ..sizes import pair, single, triple

__all__ = [
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

Operator = Callable[..., Tensor]

_max_unpool2d: Operator = eager_function("aten::max_unpool2d")
_max_unpool3d: Operator = eager_function("aten::max_unpool3d")


def _natural_sizes(
    input: Tensor, kernel: list[int], steps: list[int], padding: list[int]
) -> list[int]:
    """The smallest sizes that are pooled to those of the input."""
    space = input.size()[-len(kernel) :]
    return [(space[d] - 1) * steps[d] + kernel[d] - 2 * padding[d] for d in range(len(kernel))]


def _asked_sizes(asked: list[int], natural: list[int], steps: list[int]) -> list[int]:
    """The sizes of space among those that a caller gives.

    Raises:
        ValueError: they are too many, too few, or out of reach.
    """
    count = len(natural)
    space = asked[2:] if len(asked) == count + 2 else asked
    if len(space) != count:
        raise ValueError(
            f"output_size should be a sequence containing {count} or {count + 2} elements, "
            f"but it has a length of '{len(space)}'"
        )
    for d in range(count):
        low, high = natural[d] - steps[d], natural[d] + steps[d]
        if not low < space[d] < high:
            raise ValueError(
                f'invalid output_size "{space}" (dim {d} must be between {low} and {high})'
            )
    return space


def _unpooled_sizes(
    input: Tensor,
    kernel: list[int],
    steps: list[int],
    padding: list[int],
    asked: Optional[list[int]],
) -> list[int]:
    """The sizes of an unpooled tensor: those asked for, or what follows from the rest.

    Raises:
        ValueError: they cannot be had.
    """
    sizes = _natural_sizes(input, kernel, steps, padding)
    if asked is not None:
        sizes = _asked_sizes(asked, sizes, steps)
    for d in range(len(sizes)):
        if sizes[d] < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial dimensions, "
                f"but got output_size[{d}]={sizes[d]}"
            )
    return sizes


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList1[int],
    stride: Optional[BroadcastingList1[int]] = None,
    padding: BroadcastingList1[int] = 0,
    output_size: Optional[BroadcastingList1[int]] = None,
) -> Tensor:
    """Maxima put back where `max_pool1d` found them, zeros elsewhere."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(max_unpool1d, locals())
    kernel = single(kernel_size)
    steps = kernel if stride is None else single(stride)
    sizes = _unpooled_sizes(input, kernel, steps, single(padding), output_size)
    wide = list(sizes) + [1]
    return _max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), wide).squeeze(-1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList2[int],
    stride: Optional[BroadcastingList2[int]] = None,
    padding: BroadcastingList2[int] = 0,
    output_size: Optional[BroadcastingList2[int]] = None,
) -> Tensor:
    """Maxima put back where `max_pool2d` found them, zeros elsewhere."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(max_unpool2d, locals())
    kernel = pair(kernel_size)
    steps = kernel if stride is None else pair(stride)
    sizes = _unpooled_sizes(input, kernel, steps, pair(padding), output_size)
    return _max_unpool2d(input, indices, sizes)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList3[int],
    stride: Optional[BroadcastingList3[int]] = None,
    padding: BroadcastingList3[int] = 0,
    output_size: Optional[BroadcastingList3[int]] = None,
) -> Tensor:
    """Maxima put back where `max_pool3d` found them, zeros elsewhere."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(max_unpool3d, locals())
    kernel = triple(kernel_size)
    steps = kernel if stride is None else triple(stride)
    edges = triple(padding)
    sizes = _unpooled_sizes(input, kernel, steps, edges, output_size)
    return _max_unpool3d(input, indices, sizes, steps, edges)
