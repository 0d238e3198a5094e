"""Collectives that give new tensors, `torch.distributed._functional_collectives`: one process."""

from __future__ import annotations

from collections.abc import Sequence

from ..ops.tensors.tensor import Tensor
from .groups import member_of

__all__ = [
    *("AsyncCollectiveTensor", "all_gather_into_tensor_coalesced", "all_gather_tensor"),
    *("all_reduce", "all_reduce_coalesced", "all_to_all_single", "broadcast", "permute_tensor"),
    *("reduce_scatter_tensor", "reduce_scatter_tensor_coalesced", "wait_tensor"),
]


class AsyncCollectiveTensor(Tensor):
    """A result that may be under way: none is, so no tensor is one."""


def wait_tensor(tensor: Tensor) -> Tensor:
    """The tensor, which is there."""
    return tensor


def _alone(tensor: Tensor, group: object) -> Tensor:
    """What one process has of a tensor when all have had their part: a copy."""
    member_of(group)
    copied: Tensor = tensor.clone()
    return copied


def all_reduce(self: Tensor, reduceOp: str, group: object, tag: str = "") -> Tensor:
    """The sum, or what else `reduceOp` says, over all processes."""
    return _alone(self, group)


def all_gather_tensor(self: Tensor, gather_dim: int, group: object, tag: str = "") -> Tensor:
    """The tensors of all processes behind each other."""
    return _alone(self, group)


def reduce_scatter_tensor(
    self: Tensor, reduceOp: str, scatter_dim: int, group: object, tag: str = ""
) -> Tensor:
    """This process's part of what `all_reduce` gives."""
    return _alone(self, group)


def broadcast(self: Tensor, src: int, group: object, tag: str = "") -> Tensor:
    """The tensor of process `src`.

    Raises:
        NotImplementedError: there is no such process.
    """
    return permute_tensor(self, [src], group, tag)


def permute_tensor(self: Tensor, src_dst: list[int], group: object, tag: str = "") -> Tensor:
    """The tensor of the process that sends to this one.

    Raises:
        NotImplementedError: another process is named.
    """
    if list(src_dst) != [0]:
        raise NotImplementedError(f"rushlight runs one process: {list(src_dst)} names others")
    return _alone(self, group)


def all_to_all_single(
    self: Tensor,
    output_split_sizes: list[int] | None,
    input_split_sizes: list[int] | None,
    group: object,
    tag: str = "",
) -> Tensor:
    """The parts that all processes have for this one."""
    return _alone(self, group)


all_to_all_single_autograd = all_to_all_single
all_gather_tensor_autograd = all_gather_tensor
reduce_scatter_tensor_autograd = reduce_scatter_tensor


def all_reduce_coalesced(
    self: Sequence[Tensor], reduceOp: str, group: object, tag: str = ""
) -> list[Tensor]:
    """`all_reduce` of several tensors."""
    return [_alone(each, group) for each in self]


def all_gather_into_tensor_coalesced(
    self: Sequence[Tensor], group: object, tag: str = ""
) -> list[Tensor]:
    """`all_gather_tensor` of several tensors."""
    return [_alone(each, group) for each in self]


def reduce_scatter_tensor_coalesced(
    inputs: Sequence[Tensor], reduceOp: str, scatter_dim: list[int], group: object, tag: str = ""
) -> list[Tensor]:
    """`reduce_scatter_tensor` of several tensors."""
    return [_alone(each, group) for each in inputs]
