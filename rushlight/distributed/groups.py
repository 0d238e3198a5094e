"""Groups of processes: the one of all processes, and others of some of them.

One process alone needs nothing; several talk over MPI.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from .backends import Backend, default_pg_timeout
from .communicators import Alone, Communicator
from .mpi import HOW_TO_START, all_processes

__all__ = [
    *("GroupMember", "ProcessGroup", "chosen_member", "destroy_process_group", "get_backend"),
    *("get_global_rank", "get_group_rank", "get_node_local_rank", "get_process_group_ranks"),
    *("get_rank", "get_world_size", "group", "group_of", "init_process_group", "is_initialized"),
    *("is_several", "member_of", "new_group"),
]

_NOT_INITIALIZED: Final = (
    "Default process group has not been initialized, please make sure to call init_process_group."
)


class ProcessGroup:
    """Some processes that do things together, of which this one is a member.

    Attributes:
        communicator: what they talk through.
        ranks: their numbers among all processes, by those in the group.
        timeout: how long one waits for the others.
    """

    def __init__(
        self,
        backend: str,
        communicator: Communicator | None = None,
        ranks: Sequence[int] = (0,),
        timeout: timedelta = default_pg_timeout,
        desc: str = "undefined",
    ) -> None:
        self._backend = backend
        self.communicator: Communicator = communicator or Alone()
        self.ranks = list(ranks)
        self.timeout = timeout
        self.group_name = _GROUPS.next_name()
        self.group_desc = desc

    def rank(self) -> int:
        """This process's number in the group."""
        return self.communicator.rank

    def size(self) -> int:
        """How many processes are in the group."""
        return self.communicator.size

    def name(self) -> str:
        """The name of its backend."""
        return self._backend


class _GroupMember(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all processes, once there is one."""
        return _GROUPS.world


class GroupMember(metaclass=_GroupMember):
    """`WORLD`, the group of all processes, and what stands for groups without this one."""

    NON_GROUP_MEMBER: Final = -100


group = GroupMember


class _Groups:
    """The group of all processes, if there is one, and how many were made since there was none."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """There is none."""
        self.world: ProcessGroup | None = None
        self._count = 0

    def next_name(self) -> str:
        """The name of another one."""
        self._count += 1
        return str(self._count - 1)


_GROUPS: Final = _Groups()


def is_initialized() -> bool:
    """Whether `init_process_group` was called."""
    return _GROUPS.world is not None


def _number(given: int, *variables: str) -> int:
    """A number that was given, else that of the environment; -1 if there is none."""
    if given >= 0:
        return given
    for name in variables:
        if name in os.environ:
            try:
                return int(os.environ[name])
            except ValueError:
                raise ValueError(
                    f"the environment's {name} is no whole number: {os.environ[name]!r}"
                ) from None
    return -1


def _backend_of_cpu(name: str | None) -> Backend:
    """The backend's name, of `device:backend,...` that of the CPU; "gloo" if none is named."""
    for part in (name or Backend.GLOO).split(","):
        device, colon, named = part.strip().partition(":")
        if not colon or device == "cpu":
            return Backend(named if colon else device)
    raise ValueError(f"the backend {name!r} names none for the CPU, where everything is")


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: object = None,
    group_name: str = "",
    pg_options: object = None,
    device_id: object = None,
) -> None:
    """Make the group of all processes, which all of them call.

    Their number is `world_size`, else that of the environment (`WORLD_SIZE`, or what mpiexec says),
    else 1.  Several talk over MPI, whatever backend is named ("mpi", "gloo" or none), and find
    each other by it: `init_method`, `store`, `MASTER_ADDR` and `MASTER_PORT` are not needed.

    Args:
        backend: "mpi" asks MPI for the number of processes, also where it is 1.
        timeout: how long one waits for the others, 30 minutes if None.
        rank: this process's number, else `RANK` of the environment, else MPI's.

    Raises:
        ValueError: there is such a group already; a rank is none of the processes'; MPI started
            another number of them.
        RuntimeError: there are several, and no MPI (the extra `mpi`); the backend is none of a CPU.
    """
    del init_method, store, group_name, pg_options, device_id
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    name = _backend_of_cpu(backend)
    size = _number(world_size, "WORLD_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE")
    number = _number(rank, "RANK")
    if size <= 1 and name != Backend.MPI:
        if number > 0:
            raise ValueError(f"rank {number} is no process's, there is one with rank 0")
        _GROUPS.world = ProcessGroup(name, timeout=timeout or default_pg_timeout)
        return
    if name not in (Backend.GLOO, Backend.MPI, Backend.UNDEFINED):
        raise RuntimeError(
            f"Distributed package doesn't have {name.upper()} built in: several processes talk "
            "over MPI here; name the backend 'mpi', or 'gloo', which means the same"
        )
    if number >= size >= 0:
        raise ValueError(f"rank {number} is no process's, there are {size}; {HOW_TO_START}")
    whole = all_processes(size, number)
    if name == Backend.GLOO and backend is not None and whole.rank == 0:
        warnings.warn(
            "init_process_group: several processes talk over MPI here, and 'gloo' is a name of it",
            stacklevel=2,
        )
    ranks, timeout = range(whole.size), timeout or default_pg_timeout
    _GROUPS.world = ProcessGroup(name, whole, ranks, timeout, "default_pg")


def destroy_process_group(group: object = None) -> None:
    """Take a group away; without an argument, that of all processes."""
    if group is None or group is GroupMember.WORLD:
        _GROUPS.forget()


def member_of(group: object = None) -> bool:
    """Whether this process is in a group.

    Raises:
        ValueError: no group is named, and there is none of all processes.
    """
    if group is None and not is_initialized():
        raise ValueError(_NOT_INITIALIZED)
    return group is None or isinstance(group, ProcessGroup)


def group_of(group: object = None) -> ProcessGroup:
    """A group that this process is a member of; None stands for that of all processes.

    Raises:
        ValueError: this process is not in it, or there is none.
    """
    if not member_of(group):
        raise ValueError("Invalid process group specified")
    found = group if isinstance(group, ProcessGroup) else _GROUPS.world
    assert found is not None
    return found


def is_several(group: object = None) -> bool:
    """Whether a group has several members, of which this process is one."""
    return member_of(group) and group_of(group).size() > 1


def chosen_member(
    group: ProcessGroup,
    global_rank: int | None,
    group_rank: int | None,
    otherwise: int | None = None,
) -> int:
    """The number in a group of a process that is named by that or by its number among all.

    Raises:
        ValueError: it is named in both ways, or in none and there is no other; it is no member.
    """
    if global_rank is not None and group_rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    if global_rank is not None:
        return get_group_rank(group, global_rank)
    chosen = otherwise if group_rank is None else group_rank
    if chosen is None:
        raise ValueError("Must specify global_rank or group_rank")
    get_global_rank(group, chosen)
    return chosen


def get_rank(group: object = None) -> int:
    """This process's number in a group; -1 if it is no member."""
    return group_of(group).rank() if member_of(group) else -1


def get_world_size(group: object = None) -> int:
    """How many processes are in a group; -1 if this one is no member."""
    return group_of(group).size() if member_of(group) else -1


def get_backend(group: ProcessGroup | None = None) -> str:
    """The name of a group's backend, as it was given."""
    return group_of(group).name()


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """This process's number on its machine (`LOCAL_RANK`).

    Raises:
        RuntimeError: the environment does not say it, and there is no other to fall back to.
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
        "`get_node_local_rank` to work, assuming you are not running in a multi-device context "
        "and want the code to run locally instead."
    )


def get_global_rank(group: object, group_rank: int) -> int:
    """The number among all processes of a group's member.

    Raises:
        ValueError: the group has no such member.
    """
    ranks = group_of(group).ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def get_group_rank(group: object, global_rank: int) -> int:
    """The number in a group of a process.

    Raises:
        ValueError: it is no member.
    """
    ranks = group_of(group).ranks
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def get_process_group_ranks(group: object = None) -> list[int]:
    """The numbers among all processes of a group's members."""
    return list(group_of(group).ranks) if member_of(group) else []


def new_group(
    ranks: list[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: object = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: object = None,
) -> Any:
    """A group of some of the processes, in the order of their numbers; all processes call this.

    Args:
        ranks: their numbers; all processes if None.

    Returns:
        The group, or what stands for one without this process.

    Raises:
        ValueError: there is no group of all processes, or no process of a given number; a number
            is given twice.
        NotImplementedError: `use_local_synchronization`, where only members call this.
    """
    del pg_options, device_id
    world = group_of()
    if use_local_synchronization and world.size() > 1:
        raise NotImplementedError(
            "new_group(use_local_synchronization=True): all processes make groups together here"
        )
    chosen = list(range(world.size())) if ranks is None else sorted(ranks)
    _check_ranks(chosen, world.size())
    part = world.communicator.part(chosen)
    if part is None:
        return GroupMember.NON_GROUP_MEMBER
    name = Backend(backend or world.name())
    return ProcessGroup(name, part, chosen, timeout or world.timeout, group_desc or "undefined")


def _check_ranks(ranks: Sequence[int], size: int) -> None:
    if len(ranks) > size:
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by "
            "init_process_group"
        )
    if len(set(ranks)) != len(ranks):
        raise ValueError(f"ranks list must not contain duplicate entries, got {list(ranks)}")
    for rank in ranks:
        if not 0 <= rank < size:
            raise ValueError(
                f"Rank {rank} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})"
            )
