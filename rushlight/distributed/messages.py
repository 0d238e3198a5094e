"""What one process sends to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ops.tensors.tensor import Tensor
from .groups import ProcessGroup, chosen_member, get_global_rank, group_of, member_of
from .staging import Target, bytes_of, check_tensor
from .works import Work

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def _begun_sending(
    tensor: Tensor, dst: int | None, group: object, tag: int, group_dst: int | None
) -> Work:
    check_tensor(tensor, "tensor")
    members = group_of(group)
    to = chosen_member(members, dst, group_dst)
    if to == members.rank():
        raise ValueError(
            "Invalid destination rank: destination rank should not be the same as the rank of the "
            "current process."
        )
    _check_tag(tag)
    if not tensor.is_contiguous():
        raise RuntimeError("input tensor has to be contiguous")
    pending = members.communicator.send(bytes_of(tensor), to, tag)
    return Work(pending, "send", members.timeout, None, (), members.ranks)


def _begun_receiving(
    tensor: Tensor, src: int | None, group: object, tag: int, group_src: int | None
) -> Work:
    check_tensor(tensor, "tensor")
    members = group_of(group)
    source = None
    if src is not None or group_src is not None:
        source = chosen_member(members, src, group_src)
        if source == members.rank():
            raise ValueError(
                "Invalid source rank: source rank should not be the same as the rank of the "
                "current process."
            )
    _check_tag(tag)
    target = Target(tensor)
    pending = members.communicator.receive(target.bytes, source, tag)
    return Work(pending, "recv", members.timeout, target.finish, [tensor], members.ranks)


def _check_tag(tag: int) -> None:
    if not 0 <= tag < 1 << 15:
        raise ValueError(f"a tag is from 0 to 32767, which MPI has everywhere; {tag} is not")


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: object = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Send a tensor to another process.

    Raises:
        ValueError: there is no such process, or it is this one; the tag is not from 0 to 32767.
        RuntimeError: the tensor is not contiguous.
        DistBackendError: it is not taken in the group's time.
    """
    _begun_sending(tensor, dst, group, tag, group_dst).wait()


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: object = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Wait for a tensor of another process; of any, if none is named.

    Returns:
        The number among all processes of the one that sent it.

    Raises:
        ValueError: there is no such process, or it is this one; the tag is not from 0 to 32767.
        DistBackendError: nothing comes in the group's time, or more than the tensor holds.
    """
    work = _begun_receiving(tensor, src, group, tag, group_src)
    work.wait()
    return work.source_rank()


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: object = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:
    """`send` without waiting; the tensor is not to be changed before the work is done.

    Raises:
        as `send`.
    """
    return _begun_sending(tensor, dst, group, tag, group_dst)


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: object = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Work | None:
    """`recv` without waiting; the tensor is not to be used before the work is done.

    Raises:
        as `recv`.
    """
    return _begun_receiving(tensor, src, group, tag, group_src)


class P2POp:
    """What `batch_isend_irecv` is to do: `isend` or `irecv`, its tensor and the other process.

    Raises:
        ValueError: it is to do something else, or there is no such process.
    """

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Tensor,
        peer: int | None = None,
        group: ProcessGroup | None = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        members = group_of(group)
        self.op = op
        self.tensor = tensor
        self.group = group
        self.group_peer = chosen_member(members, peer, group_peer)
        self.peer = get_global_rank(members, self.group_peer)
        self.tag = tag


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Work]:
    """Begin what is in a list, in its order.

    Raises:
        ValueError: something in it is no `P2POp`.
    """
    if not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type "
            "``torch.distributed.P2POp``."
        )
    return [
        each.op(each.tensor, None, each.group, each.tag, each.group_peer)
        for each in p2p_op_list
        if member_of(each.group)
    ]
