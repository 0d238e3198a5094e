"""`torch.distributed.tensor`: tensors over several processes, of which there is one.

Placements can be named; what would make or share out such a tensor is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...module_names import names_of

__getattr__ = names_of(__name__)
__all__ = [
    *"DTensor distribute_module distribute_tensor empty full ones rand randn zeros".split(),
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
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
