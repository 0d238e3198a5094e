"""What the processes of a group do with tensors together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from datetime import timedelta

import numpy as np

from ..ops.memory.dtype import Array
from ..ops.tensors.tensor import Tensor
from .backends import ReduceOp
from .communicators import Pending
from .groups import ProcessGroup, chosen_member, get_rank, group_of, member_of
from .staging import Reduced, Target, bytes_of, check_tensor, check_tensors, joined, shared_out
from .works import Work

__all__ = [
    *("all_gather", "all_gather_into_tensor", "all_reduce", "all_reduce_coalesced"),
    *("all_to_all", "all_to_all_single", "barrier", "broadcast", "gather", "is_outside"),
    *("monitored_barrier", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter"),
]


def is_outside(group: object, what: str) -> bool:
    """Whether this process is not in a group, which it is warned of: it does nothing then."""
    if member_of(group):
        return False
    warnings.warn(
        f"Running {what} on global rank {get_rank()} which does not belong to the given group.",
        stacklevel=3,
    )
    return True


def _begun(
    pending: Pending,
    what: str,
    group: ProcessGroup,
    finish: Callable[[], None] | None,
    results: Sequence[Tensor],
    async_op: bool,
) -> Work | None:
    """A work of what was begun; None after waiting for it, unless one is wanted."""
    work = Work(pending, what, group.timeout, finish, results, group.ranks)
    if async_op:
        return work
    work.wait()
    return None


# ------------------------------------------------------------------------------ all wait for all


def barrier(group: object = None, async_op: bool = False, device_ids: object = None) -> Work | None:
    """Wait for all processes of a group."""
    del device_ids
    if is_outside(group, "barrier"):
        return None
    members = group_of(group)
    return _begun(members.communicator.barrier(), "barrier", members, None, (), async_op)


def monitored_barrier(
    group: object = None, timeout: timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """Wait for all processes of a group, for a time.

    Raises:
        DistBackendError: some do not come.
    """
    del wait_all_ranks
    if not is_outside(group, "monitored_barrier"):
        members = group_of(group)
        work = Work(members.communicator.barrier(), "monitored_barrier", members.timeout)
        work.wait(timeout)


# -------------------------------------------------------------------------------------- one value


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: object = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Have a tensor be that of one process, which is named by its number among all or in the group.

    Raises:
        ValueError: there is no such process.
        TypeError: it is no tensor.
    """
    check_tensor(tensor, "tensor")
    if is_outside(group, "broadcast"):
        return None
    members = group_of(group)
    root, target = chosen_member(members, src, group_src), Target(tensor)
    pending = members.communicator.broadcast(target.bytes, root)
    return _begun(pending, "broadcast", members, target.finish, [tensor], async_op)


def _reduced(
    tensor: Tensor, op: ReduceOp, members: ProcessGroup, root: int | None, what: str
) -> tuple[Pending, Callable[[], None]]:
    """Begin to reduce a tensor, and what has it be filled then."""
    target = Target(tensor)
    numbers = Reduced(target.array, op, what, members.size())
    gets = root in (None, members.rank())
    values: Array = numbers.array
    if not gets and values is target.array:
        values = values.copy()  # MPI may use it, and the tensor is to stay

    def finish() -> None:
        if gets:
            numbers.result(values, target.array)
            target.finish()

    return members.communicator.reduce(values, op, root), finish


def all_reduce(
    tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: object = None, async_op: bool = False
) -> Work | None:
    """Have a tensor be the sum (product, mean, ...) of those of all processes.

    Raises:
        RuntimeError: numbers of its dtype cannot be reduced so.
        ValueError: complex ones cannot.
        TypeError: it is no tensor, or `op` no operation.
    """
    check_tensor(tensor, "tensor")
    if is_outside(group, "all_reduce"):
        return None
    members = group_of(group)
    pending, finish = _reduced(tensor, op, members, None, "all_reduce")
    return _begun(pending, "all_reduce", members, finish, [tensor], async_op)


class _All:
    """Several things that were begun."""

    def __init__(self, parts: Sequence[Pending]) -> None:
        self._parts = parts

    def done(self) -> bool:
        left = [part for part in self._parts if not part.done()]  # all are to go on
        return not left

    def abandon(self) -> None:
        for part in self._parts:
            if not part.done():
                part.abandon()

    def source(self) -> int:
        return -1


def all_reduce_coalesced(
    tensors: Sequence[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: object = None,
    async_op: bool = False,
) -> Work | None:
    """`all_reduce` of several tensors."""
    check_tensors(tensors, "tensor")
    if is_outside(group, "all_reduce_coalesced"):
        return None
    members = group_of(group)
    begun = [_reduced(each, op, members, None, "all_reduce_coalesced") for each in tensors]

    def finish() -> None:
        for _, each in begun:
            each()

    pending = _All([each for each, _ in begun])
    return _begun(pending, "all_reduce_coalesced", members, finish, tensors, async_op)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: ReduceOp = ReduceOp.SUM,
    group: object = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """`all_reduce`, of which one process has the result; those of the others stay as they are.

    Raises:
        ValueError: there is no such process; else as `all_reduce`.
    """
    check_tensor(tensor, "tensor")
    if is_outside(group, "reduce"):
        return None
    members = group_of(group)
    root = chosen_member(members, dst, group_dst)
    pending, finish = _reduced(tensor, op, members, root, "reduce")
    return _begun(pending, "reduce", members, finish, [tensor], async_op)


# -------------------------------------------------------------------------- a value of each process


def _check_parts(tensors: Sequence[Tensor], like: Tensor, size: int, what: str) -> None:
    """
    Raises:
        RuntimeError: the list has not one tensor for each process, or one of other sizes.
        ValueError: their dtypes differ.
    """
    check_tensors([*tensors, like], what)
    if len(tensors) != size:
        raise RuntimeError(
            f"{what}: invalid tensor list at index 0 (expected length {size}, got {len(tensors)})"
        )
    for at, each in enumerate(tensors):
        if each.shape != like.shape:
            raise RuntimeError(
                f"{what}: invalid tensor size at index {at} (expected {_sizes(like)}, got "
                f"{_sizes(each)})"
            )


def _sizes(tensor: Tensor) -> str:
    return f"({', '.join(map(str, tensor.shape))})"


def _room(members: ProcessGroup, sent: Array) -> tuple[Array, list[int]]:
    """Bytes for those of all members, and how many are each one's."""
    counts = [sent.nbytes] * members.size()
    return np.empty(sum(counts), np.uint8), counts


def all_gather(
    tensor_list: Sequence[Tensor], tensor: Tensor, group: object = None, async_op: bool = False
) -> Work | None:
    """Fill the tensors of a list with those of all processes, which are alike.

    Raises:
        RuntimeError: the list has not one tensor of the same sizes for each process.
        ValueError: dtypes differ.
        TypeError: something is no tensor.
    """
    check_tensors(tensor_list, "tensor_list")
    check_tensor(tensor, "tensor")
    if is_outside(group, "all_gather"):
        return None
    members = group_of(group)
    _check_parts(tensor_list, tensor, members.size(), "all_gather")
    sent = bytes_of(tensor)
    received, counts = _room(members, sent)
    pending = members.communicator.gather(sent, received, counts, None)
    finish = shared_out(received, tensor_list)
    return _begun(pending, "all_gather", members, finish, tensor_list, async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: object = None, async_op: bool = False
) -> Work | None:
    """Fill a tensor with those of all processes, one after another.

    Raises:
        RuntimeError: it has not as many elements as all of them.
        ValueError: dtypes differ.
    """
    check_tensor(output_tensor, "output_tensor")
    check_tensor(input_tensor, "input_tensor")
    if is_outside(group, "all_gather_into_tensor"):
        return None
    members = group_of(group)
    _check_whole("all_gather_into_tensor", output_tensor, input_tensor, members.size())
    target, sent = Target(output_tensor), bytes_of(input_tensor)
    counts = [sent.nbytes] * members.size()
    pending = members.communicator.gather(sent, target.bytes, counts, None)
    return _begun(pending, "all_gather", members, target.finish, [output_tensor], async_op)


def _check_whole(what: str, whole: Tensor, part: Tensor, size: int) -> None:
    check_tensors([whole, part], what)
    if whole.numel() != part.numel() * size:
        raise RuntimeError(
            f"{what}: {size} parts of {part.numel()} elements are {part.numel() * size}, and the "
            f"tensor that holds all of them has {whole.numel()}"
        )


all_gather_single = _all_gather_base = all_gather_into_tensor


def gather(
    tensor: Tensor,
    gather_list: Sequence[Tensor] | None = None,
    dst: int | None = None,
    group: object = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """`all_gather`, of which one process (the first, if none is named) has the result.

    Raises:
        ValueError: there is no such process; it gives no list, or another one does.
        RuntimeError: the list has not one tensor of the same sizes for each process.
    """
    check_tensor(tensor, "tensor")
    if is_outside(group, "gather"):
        return None
    members = group_of(group)
    root = chosen_member(members, dst, group_dst, 0)
    sent = bytes_of(tensor)
    if members.rank() != root:
        if gather_list:
            raise ValueError(
                "Argument ``gather_list`` must NOT be specified on non-destination ranks."
            )
        counts = [sent.nbytes] * members.size()
        pending = members.communicator.gather(sent, None, counts, root)
        return _begun(pending, "gather", members, None, (), async_op)
    if not gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    _check_parts(gather_list, tensor, members.size(), "gather")
    received, counts = _room(members, sent)
    pending = members.communicator.gather(sent, received, counts, root)
    finish = shared_out(received, gather_list)
    return _begun(pending, "gather", members, finish, gather_list, async_op)


def scatter(
    tensor: Tensor,
    scatter_list: Sequence[Tensor] | None = None,
    src: int | None = None,
    group: object = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Fill a tensor with this process's part of a list, which one process (the first, if none is
    named) has.

    Raises:
        ValueError: there is no such process; it gives no list, or another one does.
        RuntimeError: the list has not one tensor of the same sizes for each process.
    """
    check_tensor(tensor, "tensor")
    if is_outside(group, "scatter"):
        return None
    members = group_of(group)
    root, target, sent = chosen_member(members, src, group_src, 0), Target(tensor), None
    if members.rank() == root:
        if not scatter_list:
            raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
        _check_parts(scatter_list, tensor, members.size(), "scatter")
        sent = joined(scatter_list)
    elif scatter_list:
        raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    counts = [target.array.nbytes] * members.size()
    pending = members.communicator.scatter(sent, counts, target.bytes, root)
    return _begun(pending, "scatter", members, target.finish, [tensor], async_op)


def reduce_scatter(
    output: Tensor,
    input_list: Sequence[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: object = None,
    async_op: bool = False,
) -> Work | None:
    """Fill a tensor with this process's part of the sum (product, ...) of the lists.

    Raises:
        RuntimeError: the list has not one tensor of the same sizes for each process.
        ValueError: dtypes differ; else as `all_reduce`.
    """
    check_tensor(output, "output")
    check_tensors(input_list, "input_list")
    if is_outside(group, "reduce_scatter"):
        return None
    members = group_of(group)
    _check_parts(input_list, output, members.size(), "reduce_scatter")
    sent = joined(input_list).view(output._array.dtype)
    return _reduce_scattered(output, sent, op, members, async_op)


def _reduce_scattered(
    output: Tensor, sent: Array, op: ReduceOp, members: ProcessGroup, async_op: bool
) -> Work | None:
    target = Target(output)
    numbers = Reduced(sent, op, "reduce_scatter", members.size())
    received = np.empty(target.array.shape, numbers.array.dtype)

    def finish() -> None:
        numbers.result(received, target.array)
        target.finish()

    pending = members.communicator.reduce_scatter(numbers.array, received, op)
    return _begun(pending, "reduce_scatter", members, finish, [output], async_op)


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: ReduceOp = ReduceOp.SUM,
    group: object = None,
    async_op: bool = False,
) -> Work | None:
    """Fill a tensor with this process's part of the sum (product, ...) of the inputs.

    Raises:
        RuntimeError: the input has not as many elements as all parts.
        ValueError: dtypes differ; else as `all_reduce`.
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    if is_outside(group, "reduce_scatter_tensor"):
        return None
    members = group_of(group)
    _check_whole("reduce_scatter_tensor", input, output, members.size())
    sent = bytes_of(input).view(input._array.dtype)
    return _reduce_scattered(output, sent, op, members, async_op)


reduce_scatter_single = reduce_scatter_tensor


def all_gather_coalesced(
    output_tensor_lists: Sequence[Sequence[Tensor]],
    input_tensor_list: Sequence[Tensor],
    group: object = None,
    async_op: bool = False,
) -> Work | None:
    """`all_gather` of several tensors: a list with the tensors of each process.

    Raises:
        RuntimeError: there is not one list for each process.
        ValueError: a list has not a tensor for each that is gathered.
    """
    if is_outside(group, "all_gather_coalesced"):
        return None
    members = group_of(group)
    if len(output_tensor_lists) != members.size():
        raise RuntimeError("output lists should be equal to world size")
    for at, tensor in enumerate(input_tensor_list):
        for results in output_tensor_lists:
            if len(results) != len(input_tensor_list):
                raise ValueError("all_gather_coalesced: a list of results has another length")
        all_gather([results[at] for results in output_tensor_lists], tensor, members)
    return barrier(members, async_op)


# ----------------------------------------------------------------------------------- each to each


def all_to_all(
    output_tensor_list: Sequence[Tensor],
    input_tensor_list: Sequence[Tensor],
    group: object = None,
    async_op: bool = False,
) -> Work | None:
    """Give each process its tensor, and take one from each; sizes may differ.

    Raises:
        RuntimeError: the lists have not one tensor for each process.
        ValueError: dtypes differ.
    """
    check_tensors(output_tensor_list, "output_tensor_list")
    check_tensors(input_tensor_list, "input_tensor_list")
    if is_outside(group, "all_to_all"):
        return None
    members = group_of(group)
    for name, given in (("input", input_tensor_list), ("output", output_tensor_list)):
        if len(given) != members.size():
            raise RuntimeError(
                f"alltoall: {name} tensor list size {len(given)} does not match world size "
                f"{members.size()}"
            )
    check_tensors([output_tensor_list[0], input_tensor_list[0]], "input_tensor_list")
    sent_counts = [each.nbytes for each in input_tensor_list]
    counts = [each.nbytes for each in output_tensor_list]
    received = np.empty(sum(counts), np.uint8)
    pending = members.communicator.all_to_all(
        joined(input_tensor_list), sent_counts, received, counts
    )
    finish = shared_out(received, output_tensor_list)
    return _begun(pending, "all_to_all", members, finish, output_tensor_list, async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: object = None,
    async_op: bool = False,
) -> Work | None:
    """`all_to_all` of parts of one tensor along its first dimension, alike if no sizes are given.

    Raises:
        RuntimeError: the sizes are not one for each process that go into the tensor's.
        ValueError: dtypes differ.
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    if is_outside(group, "all_to_all_single"):
        return None
    members = group_of(group)
    check_tensors([output, input], "input")
    target, sent = Target(output), bytes_of(input)
    sent_counts = _split(input, input_split_sizes, members.size())
    counts = _split(output, output_split_sizes, members.size())
    pending = members.communicator.all_to_all(sent, sent_counts, target.bytes, counts)
    return _begun(pending, "all_to_all", members, target.finish, [output], async_op)


def _split(tensor: Tensor, sizes: Sequence[int] | None, count: int) -> list[int]:
    """The bytes of each part of a tensor."""
    rows = tensor.shape[0] if tensor.ndim else 1
    if not sizes:
        if rows % count:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        return [tensor.nbytes // count] * count
    if len(sizes) != count:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(sizes) != rows or min(sizes) < 0:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return [tensor.nbytes // rows * each if rows else 0 for each in sizes]
