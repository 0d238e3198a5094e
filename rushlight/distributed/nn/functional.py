"""What the processes of a group make of tensors together, as results with gradients."""

from __future__ import annotations

from collections.abc import Sequence

from ...module_names import names_of
from ...ops.tensors.tensor import Tensor
from ..groups import ReduceOp, member_of

__all__ = [
    *("all_gather", "all_reduce", "all_to_all", "broadcast", "gather", "reduce"),
    *("reduce_scatter", "scatter"),
]


def _of_group(tensor: Tensor, group: object) -> Tensor:
    member_of(group)
    made: Tensor = tensor.clone()
    return made


def broadcast(tensor: Tensor, src: int, group: object = None) -> Tensor:
    """The tensor of a process."""
    del src
    return _of_group(tensor, group)


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: object = None) -> Tensor:
    """The sum (product, ...) of the tensors of all processes."""
    del op
    return _of_group(tensor, group)


def reduce(tensor: Tensor, dst: int, op: ReduceOp = ReduceOp.SUM, group: object = None) -> Tensor:
    """The same for one process."""
    del dst, op
    return _of_group(tensor, group)


def all_gather(tensor: Tensor, group: object = None) -> tuple[Tensor, ...]:
    """The tensors of all processes."""
    return (_of_group(tensor, group),)


def gather(tensor: Tensor, dst: int = 0, group: object = None) -> tuple[Tensor, ...]:
    """The same for one process."""
    del dst
    return (_of_group(tensor, group),)


def scatter(tensors: Sequence[Tensor], src: int = 0, group: object = None) -> Tensor:
    """This process's tensor of a list."""
    del src
    return _of_group(tensors[0], group)


def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: ReduceOp = ReduceOp.SUM, group: object = None
) -> Tensor:
    """This process's part of the sum of the lists."""
    del output, op
    return _of_group(input_list[0], group)


def all_to_all(
    output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor], group: object = None
) -> tuple[Tensor, ...]:
    """A tensor from each process."""
    del output_tensor_list
    return tuple(_of_group(each, group) for each in input_tensor_list)


__getattr__ = names_of(__name__)
