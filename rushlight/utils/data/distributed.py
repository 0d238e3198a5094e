"""DistributedSampler: the part of a data set that one of several processes reads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ... import distributed
from ...module_names import names_of
from ...ops.eager.dispatch import eager_function
from ...ops.random_numbers.random import Generator
from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th number, from `rank` on, in an order that all processes draw alike.

    The last numbers come twice where they do not go into equal parts, or are left out
    (`drop_last`).  `set_epoch` chooses the order.

    Raises:
        ValueError: a rank that is none of the replicas'.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        replicas = distributed.get_world_size() if num_replicas is None else num_replicas
        rank = distributed.get_rank() if rank is None else rank
        if not 0 <= rank < replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {replicas - 1}]"
            )
        self.dataset, self.num_replicas, self.rank = dataset, replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        parts = len(dataset) / replicas
        self.num_samples = math.floor(parts) if drop_last else math.ceil(parts)
        self.total_size = self.num_samples * replicas

    def set_epoch(self, epoch: int) -> None:
        """Have the next order be that of an epoch."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        order = list(range(count))
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            order = eager_function("aten::randperm")(count, generator=generator).tolist()
        if not self.drop_last and order:
            order *= math.ceil(self.total_size / count)
        return iter(order[: self.total_size][self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples


__getattr__ = names_of(__name__)
