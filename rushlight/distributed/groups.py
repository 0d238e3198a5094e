"""Groups of processes: there is one process, and each group holds it alone or not at all."""

from __future__ import annotations

import os
from datetime import timedelta
from enum import Enum
from typing import Any, ClassVar, Final, Self

__all__ = [
    *("Backend", "DistBackendError", "DistError", "DistNetworkError", "DistStoreError"),
    *("GroupMember", "ProcessGroup", "ReduceOp", "default_pg_timeout"),
    *("destroy_process_group", "get_backend", "get_global_rank", "get_group_rank"),
    *("get_node_local_rank", "get_process_group_ranks", "get_rank", "get_world_size", "group"),
    *("init_process_group", "is_available", "is_backend_available", "is_gloo_available"),
    *("is_initialized", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched"),
    *("is_ucc_available", "is_xccl_available", "member_of", "new_group", "supports_complex"),
]

default_pg_timeout: Final = timedelta(minutes=30)


class DistError(RuntimeError):
    """What went wrong between processes."""


class DistBackendError(DistError):
    """What went wrong in a backend."""


class DistNetworkError(DistError):
    """What went wrong on the network."""


class DistStoreError(DistError):
    """What went wrong in a store."""


class ReduceOp(Enum):
    """How values of several processes become one."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    RedOpType: ClassVar[type[Self]]


ReduceOp.RedOpType = ReduceOp


class Backend(str):
    """The name of a backend, in small letters."""

    GLOO = "gloo"
    MPI = "mpi"
    NCCL = "nccl"
    UCC = "ucc"
    UNDEFINED = "undefined"
    backend_list: Final = [UNDEFINED, GLOO, NCCL, UCC, MPI]

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish: {name!r}")
        return super().__new__(cls, name.lower())


class ProcessGroup:
    """A group that this process is the only member of."""

    def __init__(self, backend: str) -> None:
        self._backend = backend

    def rank(self) -> int:
        """This process's number in the group: 0."""
        return 0

    def size(self) -> int:
        """How many processes are in the group: 1."""
        return 1

    def name(self) -> str:
        """The name of its backend."""
        return self._backend


class _NoMember:
    """The group of which this process is no member."""


class _GroupMember(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all processes, once there is one."""
        return _WORLD[0] if _WORLD else None


class GroupMember(metaclass=_GroupMember):
    """`WORLD`, the group of all processes, and what stands for groups without this one."""

    NON_GROUP_MEMBER: Final = _NoMember()


group = GroupMember
_WORLD: Final[list[ProcessGroup]] = []


def is_available() -> bool:
    """Whether there is `torch.distributed`: yes, for this process alone."""
    return True


def is_initialized() -> bool:
    """Whether `init_process_group` was called."""
    return bool(_WORLD)


def is_gloo_available() -> bool:
    """Whether groups of the CPU's backend can be made, which have one member here."""
    return True


def is_mpi_available() -> bool:
    """Never."""
    return False


is_nccl_available = is_ucc_available = is_xccl_available = is_mpi_available


def is_backend_available(backend: str) -> bool:
    """Whether a backend is there, by its name."""
    return backend.lower() == Backend.GLOO


def is_torchelastic_launched() -> bool:
    """Whether `torchrun` started the process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def supports_complex(reduceOp: ReduceOp) -> bool:
    """Whether complex numbers can be reduced so."""
    ordered = {ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PRODUCT}
    return reduceOp not in ordered | {ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR}


def _number(given: int, variable: str) -> int:
    return given if given >= 0 else int(os.environ.get(variable, given))


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
    """Make the group of all processes, which is this one.

    The number of processes is `world_size`, else that of the environment (`WORLD_SIZE`).

    Raises:
        ValueError: there is such a group already, or a rank is not 0.
        NotImplementedError: there are to be several processes.
    """
    del init_method, timeout, store, group_name, pg_options, device_id
    if _WORLD:
        raise ValueError("trying to initialize the default process group twice!")
    size, number = _number(world_size, "WORLD_SIZE"), _number(rank, "RANK")
    if size > 1:
        raise NotImplementedError(
            f"init_process_group(world_size={size}): rushlight runs one process; several are not "
            "supported"
        )
    if number > 0:
        raise ValueError(f"rank {number} is no process's, there is one with rank 0")
    _WORLD.append(ProcessGroup(Backend(backend or Backend.GLOO)))


def destroy_process_group(group: object = None) -> None:
    """Take a group away; without an argument, that of all processes."""
    if group is None or group is GroupMember.WORLD:
        _WORLD.clear()


def member_of(group: object = None) -> bool:
    """Whether this process is in a group.

    Raises:
        ValueError: no group is named, and there is none of all processes.
    """
    if group is None and not _WORLD:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
    return not isinstance(group, _NoMember)


def get_rank(group: object = None) -> int:
    """This process's number in a group; -1 if it is no member."""
    return 0 if member_of(group) else -1


def get_world_size(group: object = None) -> int:
    """How many processes are in a group; -1 if this one is no member."""
    return 1 if member_of(group) else -1


def get_backend(group: ProcessGroup | None = None) -> str:
    """The name of a group's backend."""
    member_of(group)
    return (group or _WORLD[0]).name()


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
    """The number among all processes of a group's member."""
    return group_rank


def get_group_rank(group: object, global_rank: int) -> int:
    """The number in a group of a process."""
    return global_rank


def get_process_group_ranks(group: object = None) -> list[int]:
    """The numbers of a group's members."""
    return [0] if member_of(group) else []


def new_group(
    ranks: list[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: object = None,
    **_: object,
) -> Any:
    """A group of some of the processes, which are this one or none.

    Raises:
        ValueError: there is no group of all processes, or no process of a given number.
    """
    del timeout, pg_options
    member_of()
    if any(rank != 0 for rank in ranks or ()):
        raise ValueError("the new group's rank should be within the world_size set by init")
    if ranks is not None and not ranks:
        return GroupMember.NON_GROUP_MEMBER
    return ProcessGroup(Backend(backend or get_backend()))
