"""Objects of Python's that the processes of a group give each other, pickled.

Members of a group trust each other: they run the same program.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ops.memory.dtype import Array
from ..ops.tensors.tensor import Tensor
from .collectives import is_outside
from .communicators import Pending
from .groups import ProcessGroup, chosen_member, group_of
from .messages import recv, send
from .works import waited

__all__ = [
    *("all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list"),
    *("scatter_object_list", "send_object_list"),
]


def _pickled(value: object) -> Array:
    return np.frombuffer(pickle.dumps(value), np.uint8)


def _unpickled(values: Array) -> Any:
    return pickle.loads(values.tobytes())


def _done(pending: Pending, group: ProcessGroup, what: str) -> None:
    waited(pending, group.timeout.total_seconds(), what)


def _lengths(group: ProcessGroup, length: int, what: str) -> list[int]:
    """How many bytes each member has."""
    mine, all_of_them = np.array([length], np.int64), np.empty(group.size(), np.int64)
    counts = [8] * group.size()
    pending = group.communicator.gather(
        mine.view(np.uint8), all_of_them.view(np.uint8), counts, None
    )
    _done(pending, group, what)
    lengths: list[int] = all_of_them.tolist()
    return lengths


def _gathered(
    group: ProcessGroup, value: object, root: int | None, what: str
) -> list[object] | None:
    sent = _pickled(value)
    lengths = _lengths(group, sent.nbytes, what)
    gets = root in (None, group.rank())
    received = np.empty(sum(lengths), np.uint8) if gets else None
    _done(group.communicator.gather(sent, received, lengths, root), group, what)
    if received is None:
        return None
    parts = np.split(received, np.cumsum(lengths)[:-1])
    return [_unpickled(part) for part in parts]


def all_gather_object(object_list: list[object], obj: object, group: object = None) -> None:
    """Fill a list with objects of all processes, which are pickled.

    Raises:
        ValueError: the list has not one place for each process.
    """
    if is_outside(group, "all_gather_object"):
        return
    members = group_of(group)
    _check_places("all_gather_object", object_list, members)
    object_list[:] = _gathered(members, obj, None, "all_gather_object") or []


def _check_places(what: str, places: Sequence[object] | None, members: ProcessGroup) -> None:
    count = 0 if places is None else len(places)
    if count != members.size():
        raise ValueError(
            f"{what}: a place for each of {members.size()} processes is needed, and the list has "
            f"{count}"
        )


def gather_object(
    obj: object,
    object_gather_list: list[object] | None = None,
    dst: int | None = None,
    group: object = None,
    group_dst: int | None = None,
) -> None:
    """`all_gather_object`, of which one process (the first, if none is named) has the result.

    Raises:
        ValueError: there is no such process; it gives no list with a place for each, or another
            one does.
    """
    if is_outside(group, "gather_object"):
        return
    members = group_of(group)
    root = chosen_member(members, dst, group_dst, 0)
    if members.rank() != root:
        if object_gather_list:
            raise ValueError(
                "Argument ``gather_list`` must NOT be specified on non-destination ranks."
            )
        _gathered(members, obj, root, "gather_object")
        return
    if not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    _check_places("gather_object", object_gather_list, members)
    object_gather_list[:] = _gathered(members, obj, root, "gather_object") or []


def broadcast_object_list(
    object_list: list[object],
    src: int | None = None,
    group: object = None,
    device: object = None,
    group_src: int | None = None,
) -> None:
    """Have a list hold the objects of that of one process (the first, if none is named).

    Raises:
        ValueError: there is no such process; the lists have different lengths.
    """
    del device
    if is_outside(group, "broadcast_object_list"):
        return
    members = group_of(group)
    root, what = chosen_member(members, src, group_src, 0), "broadcast_object_list"
    mine = members.rank() == root
    sent = _pickled(list(object_list)) if mine else np.empty(0, np.uint8)
    length = np.array([sent.nbytes], np.int64)
    _done(members.communicator.broadcast(length.view(np.uint8), root), members, what)
    values = sent.copy() if mine else np.empty(int(length[0]), np.uint8)
    _done(members.communicator.broadcast(values, root), members, what)
    if not mine:
        received = _unpickled(values)
        if len(received) != len(object_list):
            raise ValueError(
                f"{what}: process {root} has {len(received)} objects, and the list has "
                f"{len(object_list)} places"
            )
        object_list[:] = received


def scatter_object_list(
    scatter_object_output_list: list[object],
    scatter_object_input_list: Sequence[object] | None = None,
    src: int | None = None,
    group: object = None,
    group_src: int | None = None,
) -> None:
    """Put this process's object of a list, which one process has, into the first place of another.

    Raises:
        ValueError: there is no such process; its list has not one object for each process; there
            is no first place.
    """
    if is_outside(group, "scatter_object_list"):
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError(
            "Expected argument scatter_object_output_list to be a list of size at least 1."
        )
    members = group_of(group)
    root, what = chosen_member(members, src, group_src, 0), "scatter_object_list"
    mine, sent = np.empty(1, np.int64), None
    lengths = np.zeros(members.size(), np.int64)
    if members.rank() == root:
        _check_places(what, scatter_object_input_list, members)
        parts = [_pickled(each) for each in scatter_object_input_list or ()]
        lengths[:] = [part.nbytes for part in parts]
        sent = np.concatenate(parts)
    eights = [8] * members.size()
    given = lengths.view(np.uint8) if sent is not None else None
    _done(members.communicator.scatter(given, eights, mine.view(np.uint8), root), members, what)
    received = np.empty(int(mine[0]), np.uint8)
    _done(members.communicator.scatter(sent, lengths.tolist(), received, root), members, what)
    scatter_object_output_list[0] = _unpickled(received)


def send_object_list(
    object_list: list[object],
    dst: int | None = None,
    group: object = None,
    device: object = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send the objects of a list to another process.

    Raises:
        as `send`.
    """
    del device, use_batch
    values = _pickled(list(object_list)).copy()
    send(Tensor._of(np.array([values.nbytes], np.int64)), dst, group, 0, group_dst)
    send(Tensor._of(values), dst, group, 0, group_dst)


def recv_object_list(
    object_list: list[object],
    src: int | None = None,
    group: object = None,
    device: object = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Fill a list with objects of another process; of any, if none is named.

    Returns:
        The number among all processes of the one that sent them.

    Raises:
        ValueError: it sent another number of them; else as `recv`.
    """
    del device, use_batch
    length = np.zeros(1, np.int64)
    source = recv(Tensor._of(length), src, group, 0, group_src)
    values = np.empty(int(length[0]), np.uint8)
    recv(Tensor._of(values), source, group, 0)
    received = _unpickled(values)
    if len(received) != len(object_list):
        raise ValueError(
            f"recv_object_list: process {source} sent {len(received)} objects, and the list has "
            f"{len(object_list)} places"
        )
    object_list[:] = received
    return source
