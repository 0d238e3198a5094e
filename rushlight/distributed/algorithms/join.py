"""`torch.distributed.algorithms.join`: processes that run out of batches at different times.

One process is the last to run out: there is nobody it would have to keep company.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from ...ops.memory.dtype import Device
from ..collectives import barrier
from ..groups import is_several
from ..works import Work

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What an object does when its process has no batches left."""

    def main_hook(self) -> None:
        """Done again and again while other processes still have batches."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Done once no process has any."""


@dataclass
class _JoinConfig:
    enable: bool = False
    throw_on_early_termination: bool = False
    is_first_joinable: bool = False


class Joinable(ABC):
    """An object that talks to other processes for each batch, and can do without some of them."""

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join_config = _JoinConfig()

    @abstractmethod
    def join_hook(self, **kwargs: object) -> JoinHook:
        """What to do when there are no batches left; options are those of `Join`."""

    @property
    @abstractmethod
    def join_device(self) -> Device:
        """Where it talks from."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """The processes it talks to."""


class Join:
    """A block in which processes may have uneven numbers of batches.

    Args:
        joinables: the objects that take part.
        enable: whether the numbers may be uneven; nothing is done otherwise.
        throw_on_early_termination: raise, in every process, when the first one has no batches left.
        kwargs: options that each `join_hook` takes.

    Raises:
        ValueError: there are no objects, or they are of several groups of processes; the process
            group was not initialized.
        NotImplementedError: there are several processes, whose numbers may be uneven.
    """

    def __init__(
        self,
        joinables: list[Joinable],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: object,
    ) -> None:
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._enable = enable
        self._join_hooks = [each.join_hook(**kwargs) for each in joinables]
        for each in joinables:
            _checked(each)
            each._join_config = _JoinConfig(enable, throw_on_early_termination, False)
        joinables[0]._join_config.is_first_joinable = True
        groups = [each.join_process_group for each in joinables]
        if any(group is not groups[0] for group in groups):
            raise ValueError("Using join context manager with multiple process groups")
        if is_several(groups[0]) and enable:
            raise NotImplementedError(
                "torch.distributed.algorithms.Join: uneven numbers of batches in several processes "
                "are not supported; give all of them as many (`DistributedSampler`)"
            )

    def __enter__(self) -> None:
        """Nothing is to be done before the first batch."""

    def __exit__(self, type: object, value: object, traceback: object) -> None:
        """This process has no batches left, and so has none."""
        if self._enable and type is None:
            for hook in self._join_hooks:
                hook.post_hook(True)

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Work | None:
        """Tell the other processes that this one has a batch, before it talks of it.

        Returns:
            What waits for them, for the first object of a block; None for others.
        """
        _checked(joinable)
        config = joinable._join_config
        if not (config.enable and config.is_first_joinable):
            return None
        return barrier(joinable.join_process_group, async_op=True)


def _checked(joinable: Joinable) -> None:
    if not hasattr(joinable, "_join_config"):
        raise AssertionError(
            f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor"
        )
