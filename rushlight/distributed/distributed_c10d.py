"""`torch.distributed.distributed_c10d`: where programs look for groups and what they do."""

from __future__ import annotations

import warnings

from ..module_names import names_of
from . import *  # noqa: F403
from .groups import GroupMember, ProcessGroup, get_global_rank

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


def _get_global_rank(group: object, rank: int) -> int:
    """`get_global_rank` by its old name, with torch's warning."""
    warnings.warn(
        "`torch.distributed.distributed_c10d._get_global_rank` is deprecated, please use "
        "`torch.distributed.distributed_c10d.get_global_rank` instead",
        FutureWarning,
        stacklevel=2,
    )
    return get_global_rank(group, rank)


__getattr__ = names_of(__name__)
