"""Collectives that give new tensors, `torch.distributed._functional_collectives`."""

from __future__ import annotations

from collections.abc import Sequence

from ..ops.eager.dispatch import eager_function
from ..ops.tensors.tensor import Tensor
from .backends import ReduceOp
from .groups import group_of
from .nn import functional

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


def _operation(name: str) -> ReduceOp:
    """
    Raises:
        ValueError: there is no such operation.
    """
    found = ReduceOp.__members__.get(name.upper())
    if found is None:
        raise ValueError(f"Unsupported reduce op: {name}")
    return found


def all_reduce(self: Tensor, reduceOp: str, group: object, tag: str = "") -> Tensor:
    """The sum, or what else `reduceOp` says, over all processes."""
    return functional.all_reduce(self, _operation(reduceOp), group)


def all_gather_tensor(self: Tensor, gather_dim: int, group: object, tag: str = "") -> Tensor:
    """The tensors of all processes behind each other along a dimension."""
    parts = functional.all_gather(self, group)
    made: Tensor = eager_function("aten::cat")(list(parts), gather_dim)
    return made


def reduce_scatter_tensor(
    self: Tensor, reduceOp: str, scatter_dim: int, group: object, tag: str = ""
) -> Tensor:
    """This process's part, along a dimension, of what `all_reduce` gives.

    Raises:
        ValueError: the dimension does not go into equal parts.
    """
    members = group_of(group)
    if self.shape[scatter_dim] % members.size():
        raise ValueError(
            f"input dimension {scatter_dim} ({self.shape[scatter_dim]} must be a multiple of "
            f"group_size {members.size()})"
        )
    whole = all_reduce(self, reduceOp, group)
    parts = eager_function("aten::chunk")(whole, members.size(), scatter_dim)
    made: Tensor = parts[members.rank()]
    return made


def broadcast(self: Tensor, src: int, group: object, tag: str = "") -> Tensor:
    """The tensor of process `src`.

    Raises:
        ValueError: there is no such process.
    """
    return functional.broadcast(self, src, group)


def permute_tensor(self: Tensor, src_dst: Sequence[int], group: object, tag: str = "") -> Tensor:
    """The tensor of the process that sends to this one: process `i` sends to `src_dst[i]`.

    Raises:
        ValueError: not every process is named once.
    """
    members = group_of(group)
    if sorted(src_dst) != list(range(members.size())):
        raise ValueError(f"permute_tensor: {list(src_dst)} names not every process once")
    sent = [self.shape[0] if to == src_dst[members.rank()] else 0 for to in range(members.size())]
    source = list(src_dst).index(members.rank())
    got = [self.shape[0] if at == source else 0 for at in range(members.size())]
    return all_to_all_single(self, got, sent, group)


def all_to_all_single(
    self: Tensor,
    output_split_sizes: Sequence[int] | None,
    input_split_sizes: Sequence[int] | None,
    group: object,
    tag: str = "",
) -> Tensor:
    """The parts, along the first dimension, that all processes have for this one.

    Raises:
        ValueError: sizes do not go into the tensor's, or not into equal ones if none are given.
    """
    count, rows = group_of(group).size(), self.shape[0]
    if rows % count and not (input_split_sizes and output_split_sizes):
        raise ValueError(f"all_to_all_single: {rows} rows are no equal parts for {count} processes")
    sent = list(input_split_sizes or [rows // count] * count)
    got = output_split_sizes or [rows // count] * count
    if len(sent) != count or len(got) != count or sum(sent) != rows:
        raise ValueError(f"all_to_all_single: {sent} of {rows} rows for {count} processes")
    parts = eager_function("aten::split_with_sizes")(self, sent)
    rooms = [self.detach().new_empty((size, *self.shape[1:])) for size in got]
    made: Tensor = eager_function("aten::cat")(list(functional.all_to_all(rooms, parts, group)))
    return made


all_to_all_single_autograd = all_to_all_single
all_gather_tensor_autograd = all_gather_tensor
reduce_scatter_tensor_autograd = reduce_scatter_tensor


def all_reduce_coalesced(
    self: Sequence[Tensor], reduceOp: str, group: object, tag: str = ""
) -> list[Tensor]:
    """`all_reduce` of several tensors."""
    return [all_reduce(each, reduceOp, group) for each in self]


def all_gather_into_tensor_coalesced(
    self: Sequence[Tensor], group: object, tag: str = ""
) -> list[Tensor]:
    """`all_gather_tensor` of several tensors."""
    return [all_gather_tensor(each, 0, group) for each in self]


def reduce_scatter_tensor_coalesced(
    inputs: Sequence[Tensor],
    reduceOp: str,
    scatter_dim: Sequence[int],
    group: object,
    tag: str = "",
) -> list[Tensor]:
    """`reduce_scatter_tensor` of several tensors."""
    pairs = zip(inputs, scatter_dim, strict=True)
    return [reduce_scatter_tensor(each, reduceOp, dim, group) for each, dim in pairs]
