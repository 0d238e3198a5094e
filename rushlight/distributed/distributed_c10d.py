"""`torch.distributed.distributed_c10d`: where programs look for groups and what they do."""

from __future__ import annotations

from ..module_names import names_of
from . import *  # noqa: F403
from .groups import GroupMember, ProcessGroup

__all__ = ["GroupMember", "ProcessGroup"]


def _get_default_group() -> ProcessGroup:
    """The group of all processes.

    Raises:
        ValueError: there is none.
    """
    found = GroupMember.WORLD
    if found is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
    return found


__getattr__ = names_of(__name__)
