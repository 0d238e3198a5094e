"""Streams of every n-th sample, for those who share the work."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from itertools import islice

from ..datapipe import IterDataPipe, Sample
from ..decorators import functional_datapipe
from ..utils.common import length_of

__all__ = ["SHARDING_PRIORITIES", "ShardingFilterIterDataPipe"]


class SHARDING_PRIORITIES(IntEnum):
    """Who shares: machines before processes, or whoever it is."""

    DEFAULT = 1
    DISTRIBUTED = 2
    MULTIPROCESSING = 3


class _ShardingIterDataPipe(IterDataPipe[Sample]):
    """A pipe that is told how many share its samples."""

    def apply_sharding(
        self, num_of_instances: int, instance_id: int, sharding_group: SHARDING_PRIORITIES
    ) -> None:
        raise NotImplementedError


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(_ShardingIterDataPipe[Sample]):
    """One sharer's samples (functional name: ``sharding_filter``); all, until it is told.

    Args:
        sharding_group_filter: the group of sharers that it belongs to; None for all groups.
    """

    def __init__(
        self,
        source_datapipe: IterDataPipe[Sample],
        sharding_group_filter: SHARDING_PRIORITIES | None = None,
    ) -> None:
        super().__init__()
        self.source_datapipe, self.sharding_group_filter = source_datapipe, sharding_group_filter
        self.groups: dict[int, tuple[int, int]] = {}
        self.num_of_instances, self.instance_id = 1, 0

    def apply_sharding(
        self,
        num_of_instances: int,
        instance_id: int,
        sharding_group: SHARDING_PRIORITIES = SHARDING_PRIORITIES.DEFAULT,
    ) -> None:
        """Share with others.

        Args:
            num_of_instances: how many share.
            instance_id: which of them this one is, from 0.
            sharding_group: groups of higher numbers share among themselves first.

        Raises:
            RuntimeError: a group beside the default one.
            ValueError: there is no such one.
        """
        if instance_id >= num_of_instances:
            raise ValueError(
                f"instance_id({instance_id}) should be smaller than "
                f"num_of_instances({num_of_instances})"
            )
        default = SHARDING_PRIORITIES.DEFAULT
        if any((group == default) != (sharding_group == default) for group in self.groups):
            raise RuntimeError("ShardingFilter cannot mix DEFAULT and non DEFAULT groups")
        self.groups[sharding_group] = (num_of_instances, instance_id)
        self.num_of_instances, self.instance_id = 1, 0
        for group in sorted(self.groups, reverse=True):
            if self.sharding_group_filter in (None, group):
                number, place = self.groups[group]
                self.instance_id += self.num_of_instances * place
                self.num_of_instances *= number

    def __iter__(self) -> Iterator[Sample]:
        yield from islice(self.source_datapipe, self.instance_id, None, self.num_of_instances)

    def __len__(self) -> int:
        samples = length_of(self, [self.source_datapipe])[0]
        return len(range(self.instance_id, samples, self.num_of_instances))
