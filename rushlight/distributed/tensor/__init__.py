"""`torch.distributed.tensor`: tensors over several processes, of which there is one.

Placements can be named; what would make or share out such a tensor is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ops.tensors.tensor import Tensor
from ..one_process import refusing_class, refusing_function

__all__ = [
    "DTensor",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
    "empty",
    "full",
    "ones",
    "rand",
    "randn",
    "zeros",
]


class Placement:
    """How a tensor is shared out over a dimension of processes."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process has a part of it, along `dim` if that is given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether each process has all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether each process has something that is still to be put together."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """In parts along a dimension."""

    dim: int


@dataclass(frozen=True)
class _StridedShard(Shard):
    """In parts that lie apart, as where a dimension is shared out twice."""

    split_factor: int = 1


@dataclass(frozen=True)
class Replicate(Placement):
    """Whole in each process."""


@dataclass(frozen=True)
class Partial(Placement):
    """To be put together by an operation, a sum if none is named."""

    reduce_op: str = "sum"


DTensor = refusing_class("torch.distributed.tensor.DTensor", Tensor)
distribute_module = refusing_function("torch.distributed.tensor.distribute_module")
distribute_tensor = refusing_function("torch.distributed.tensor.distribute_tensor")
empty = refusing_function("torch.distributed.tensor.empty")
full = refusing_function("torch.distributed.tensor.full")
ones = refusing_function("torch.distributed.tensor.ones")
rand = refusing_function("torch.distributed.tensor.rand")
randn = refusing_function("torch.distributed.tensor.randn")
zeros = refusing_function("torch.distributed.tensor.zeros")
