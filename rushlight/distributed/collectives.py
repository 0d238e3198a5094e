"""What the processes of a group do together, where there is one: it has all there is."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from ..ops.table.grad_mode import no_grad
from ..ops.tensors.tensor import Tensor
from .groups import ReduceOp, member_of

__all__ = [
    *("P2POp", "Work", "all_gather", "all_gather_into_tensor", "all_gather_object"),
    *("all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier"),
    *("batch_isend_irecv", "broadcast", "broadcast_object_list", "gather", "gather_object"),
    *("irecv", "isend", "monitored_barrier", "recv", "reduce", "reduce_scatter"),
    *("reduce_scatter_tensor", "scatter", "scatter_object_list", "send"),
]


class Work:
    """Something that was begun, and is done."""

    def wait(self, timeout: object = None) -> bool:
        """True, at once."""
        del timeout
        return True

    def is_completed(self) -> bool:
        """Yes."""
        return True

    def is_success(self) -> bool:
        """Yes."""
        return True


class P2POp:
    """What `batch_isend_irecv` is to do: an operation, its tensor and the other process.

    Raises:
        NotImplementedError: always; there is no other process.
    """

    def __init__(self, op: Callable[..., Any], tensor: Tensor, peer: int, *_: object) -> None:
        del tensor
        raise _no_peer(op.__name__, peer)


def _no_peer(name: str, peer: object) -> NotImplementedError:
    return NotImplementedError(
        f"torch.distributed.{name}: rushlight runs one process; there is none with rank {peer}"
    )


def _work(async_op: bool, group: object) -> Work | None:
    member_of(group)
    return Work() if async_op else None


def _root(name: str, rank: int | None, group_rank: int | None = None) -> None:
    """See that a process is the one there is, by its number or by that in its group."""
    chosen = group_rank if rank is None else rank
    if chosen not in (0, None):
        raise _no_peer(name, chosen)


def _only(name: str, given: Sequence[object] | None) -> Any:
    """The one part of a list that has a part for each process.

    Raises:
        ValueError: it has another number of parts.
    """
    if given is None or len(given) != 1:
        count = 0 if given is None else len(given)
        raise ValueError(f"{name}: 1 process takes part, and the list has {count} parts")
    return given[0]


def _filled(out: Tensor, values: Tensor) -> None:
    with no_grad():
        out.copy_(values.reshape(out.shape))


# ------------------------------------------------------------------------------------- tensors


def barrier(group: object = None, async_op: bool = False, device_ids: object = None) -> Work | None:
    """Wait for all processes of a group."""
    del device_ids
    return _work(async_op, group)


def monitored_barrier(
    group: object = None, timeout: object = None, wait_all_ranks: bool = False
) -> None:
    """Wait for all processes of a group."""
    del timeout, wait_all_ranks
    member_of(group)


def all_reduce(
    tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: object = None, async_op: bool = False
) -> Work | None:
    """Have a tensor be the sum (product, ...) of those of all processes: itself."""
    del tensor, op
    return _work(async_op, group)


def all_reduce_coalesced(
    tensors: Sequence[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: object = None,
    async_op: bool = False,
) -> Work | None:
    """`all_reduce` for several tensors."""
    del tensors, op
    return _work(async_op, group)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: ReduceOp = ReduceOp.SUM,
    group: object = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """`all_reduce`, of which one process has the result.

    Raises:
        NotImplementedError: it is another process.
    """
    del tensor, op
    _root("reduce", dst, group_dst)
    return _work(async_op, group)


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: object = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Have a tensor be that of one process: itself.

    Raises:
        NotImplementedError: it is another process.
    """
    del tensor
    _root("broadcast", src, group_src)
    return _work(async_op, group)


def all_gather(
    tensor_list: Sequence[Tensor], tensor: Tensor, group: object = None, async_op: bool = False
) -> Work | None:
    """Fill the tensors of a list with those of all processes.

    Raises:
        ValueError: the list has not one tensor for each process.
    """
    done = _work(async_op, group)
    _filled(_only("all_gather", tensor_list), tensor)
    return done


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: object = None, async_op: bool = False
) -> Work | None:
    """Fill a tensor with those of all processes, one after another."""
    done = _work(async_op, group)
    _filled(output_tensor, input_tensor)
    return done


all_gather_single = _all_gather_base = all_gather_into_tensor


def gather(
    tensor: Tensor,
    gather_list: Sequence[Tensor] | None = None,
    dst: int | None = None,
    group: object = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """`all_gather`, of which one process has the result.

    Raises:
        NotImplementedError: it is another process.
        ValueError: the list has not one tensor for each process.
    """
    _root("gather", dst, group_dst)
    done = _work(async_op, group)
    _filled(_only("gather", gather_list), tensor)
    return done


def scatter(
    tensor: Tensor,
    scatter_list: Sequence[Tensor] | None = None,
    src: int | None = None,
    group: object = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Fill a tensor with this process's part of a list.

    Raises:
        NotImplementedError: another process has the list.
        ValueError: the list has not one tensor for each process.
    """
    _root("scatter", src, group_src)
    done = _work(async_op, group)
    _filled(tensor, _only("scatter", scatter_list))
    return done


def reduce_scatter(
    output: Tensor,
    input_list: Sequence[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: object = None,
    async_op: bool = False,
) -> Work | None:
    """Fill a tensor with this process's part of the sum of the lists.

    Raises:
        ValueError: the list has not one tensor for each process.
    """
    del op
    done = _work(async_op, group)
    _filled(output, _only("reduce_scatter", input_list))
    return done


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: ReduceOp = ReduceOp.SUM,
    group: object = None,
    async_op: bool = False,
) -> Work | None:
    """Fill a tensor with this process's part of the sum of the inputs."""
    del op
    return all_gather_into_tensor(output, input, group, async_op)


reduce_scatter_single = reduce_scatter_tensor


def all_gather_coalesced(
    output_tensor_lists: Sequence[Sequence[Tensor]],
    input_tensor_list: Sequence[Tensor],
    group: object = None,
    async_op: bool = False,
) -> Work | None:
    """`all_gather` of several tensors: a list of results for each.

    Raises:
        ValueError: a list has not one tensor for each process.
    """
    done = _work(async_op, group)
    for results, tensor in zip(output_tensor_lists, input_tensor_list, strict=True):
        all_gather(results, tensor, group)
    return done


def all_to_all(
    output_tensor_list: Sequence[Tensor],
    input_tensor_list: Sequence[Tensor],
    group: object = None,
    async_op: bool = False,
) -> Work | None:
    """Give each process its part, and take one from each.

    Raises:
        ValueError: the lists have not one tensor for each process.
    """
    sent = _only("all_to_all", input_tensor_list)
    return all_gather(output_tensor_list, sent, group, async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: object = None,
    async_op: bool = False,
) -> Work | None:
    """`all_to_all` of parts of one tensor."""
    del output_split_sizes, input_split_sizes
    return all_gather_into_tensor(output, input, group, async_op)


def send(tensor: Tensor, dst: int | None = None, *arguments: object, **options: object) -> None:
    """Send a tensor to another process.

    Raises:
        NotImplementedError: always; there is none.
    """
    del tensor, arguments, options
    raise _no_peer("send", dst)


def recv(tensor: Tensor, src: int | None = None, *arguments: object, **options: object) -> int:
    """Wait for a tensor of another process.

    Raises:
        NotImplementedError: always; there is none.
    """
    del tensor, arguments, options
    raise _no_peer("recv", src)


def isend(tensor: Tensor, dst: int | None = None, *arguments: object, **options: object) -> Work:
    """`send` without waiting.

    Raises:
        NotImplementedError: always.
    """
    del tensor, arguments, options
    raise _no_peer("isend", dst)


def irecv(tensor: Tensor, src: int | None = None, *arguments: object, **options: object) -> Work:
    """`recv` without waiting.

    Raises:
        NotImplementedError: always.
    """
    del tensor, arguments, options
    raise _no_peer("irecv", src)


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Begin what is in the list: nothing, since no `P2POp` can be made."""
    return [Work() for _ in p2p_op_list]


# ------------------------------------------------------------------------------------- objects


def all_gather_object(object_list: list[object], obj: object, group: object = None) -> None:
    """Fill a list with objects of all processes, copied as a file would.

    Raises:
        ValueError: the list has not one place for each process.
    """
    member_of(group)
    _only("all_gather_object", object_list)
    object_list[0] = copy.deepcopy(obj)


def gather_object(
    obj: object,
    object_gather_list: list[object] | None = None,
    dst: int | None = None,
    group: object = None,
    group_dst: int | None = None,
) -> None:
    """`all_gather_object`, of which one process has the result.

    Raises:
        NotImplementedError: it is another process.
        ValueError: the list has not one place for each process.
    """
    _root("gather_object", dst, group_dst)
    all_gather_object(object_gather_list or [], obj, group)


def broadcast_object_list(
    object_list: Sequence[object],
    src: int | None = None,
    group: object = None,
    *_: object,
    **options: object,
) -> None:
    """Have a list hold the objects of one process: those it holds.

    Raises:
        NotImplementedError: it is another process.
    """
    del object_list, options
    _root("broadcast_object_list", src)
    member_of(group)


def scatter_object_list(
    scatter_object_output_list: list[object],
    scatter_object_input_list: Sequence[object] | None = None,
    src: int | None = None,
    group: object = None,
    group_src: int | None = None,
) -> None:
    """Put this process's object of a list into the first place of another.

    Raises:
        NotImplementedError: another process has the list.
        ValueError: the list has not one object for each process, or there is no first place.
    """
    _root("scatter_object_list", src, group_src)
    member_of(group)
    sent = _only("scatter_object_list", scatter_object_input_list)
    if not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at 1.")
    scatter_object_output_list[0] = copy.deepcopy(sent)
