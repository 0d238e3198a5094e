"""What the processes of a group make of tensors together, as results with gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...autograd.function import Function, FunctionCtx
from ...module_names import names_of
from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Tensor
from .. import collectives
from ..backends import ReduceOp
from ..groups import get_group_rank, group_of

__all__ = [
    *("all_gather", "all_reduce", "all_to_all", "broadcast", "gather", "reduce"),
    *("reduce_scatter", "scatter"),
]


def _copy(tensor: Tensor) -> Tensor:
    return Tensor._of(np.array(tensor._array, order="C"))


def _like(tensor: Tensor) -> Tensor:
    return Tensor._of(np.zeros_like(tensor._array, order="C"))


class _Broadcast(Function):
    """Back: the sum of all gradients, for the process whose tensor it was."""

    @staticmethod
    def forward(ctx: FunctionCtx, src: int, group: object, tensor: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        made = _copy(tensor)
        collectives.broadcast(made, src, group)
        return made

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[object, ...]:
        return None, None, _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, grad)


class _Reduce(Function):
    """Back: the gradient of the process that has the result; the others have nothing of theirs."""

    @staticmethod
    def forward(ctx: FunctionCtx, dst: int, op: ReduceOp, group: object, tensor: Tensor) -> Tensor:
        ctx.dst, ctx.group = dst, group
        made = _copy(tensor)
        collectives.reduce(made, dst, op, group)
        members = group_of(group)
        return made if get_group_rank(members, dst) == members.rank() else _like(tensor)

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[object, ...]:
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, grad)


class _AllReduce(Function):
    """Back: the gradients of all processes, reduced in the same way."""

    @staticmethod
    def forward(ctx: FunctionCtx, op: ReduceOp, group: object, tensor: Tensor) -> Tensor:
        ctx.op, ctx.group = op, group
        made = _copy(tensor)
        collectives.all_reduce(made, op, group)
        return made

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[object, ...]:
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


class _AllToAll(Function):
    """Back: each gradient to where its tensor came from."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, group: object, outputs: Sequence[Tensor], *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        ctx.group, ctx.inputs = group, [_like(each) for each in tensors]
        made = [_like(each) for each in outputs]
        collectives.all_to_all(made, tensors, group)
        return tuple(made)

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Tensor) -> tuple[object, ...]:
        return None, None, *_AllToAll.apply(ctx.group, ctx.inputs, *grads)


def broadcast(tensor: Tensor, src: int, group: object = None) -> Tensor:
    """The tensor of a process."""
    made: Tensor = _Broadcast.apply(src, group, tensor)
    return made


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: object = None) -> Tensor:
    """The sum (product, ...) of the tensors of all processes."""
    made: Tensor = _AllReduce.apply(op, group, tensor)
    return made


def reduce(tensor: Tensor, dst: int, op: ReduceOp = ReduceOp.SUM, group: object = None) -> Tensor:
    """The same for one process; the others have zeros."""
    made: Tensor = _Reduce.apply(dst, op, group, tensor)
    return made


def all_gather(tensor: Tensor, group: object = None) -> tuple[Tensor, ...]:
    """The tensors of all processes, which are of the same sizes."""
    size = group_of(group).size()
    made: tuple[Tensor, ...] = _AllToAll.apply(group, [_like(tensor)] * size, *[tensor] * size)
    return made


def gather(tensor: Tensor, dst: int = 0, group: object = None) -> tuple[Tensor, ...]:
    """The same for one process; the others have zeros."""
    members = group_of(group)
    to = get_group_rank(members, dst)
    nothing = tensor.reshape(-1)[:0]
    sent = [tensor if at == to else nothing for at in range(members.size())]
    gets = members.rank() == to
    room = _like(tensor)
    outputs = [room if gets else _like(nothing)] * members.size()
    made: tuple[Tensor, ...] = _AllToAll.apply(group, outputs, *sent)
    # zeros that hang together with it, so that all processes walk back through the exchange
    return made if gets else tuple(_like(tensor) + part.sum() for part in made)


def scatter(tensors: Sequence[Tensor], src: int = 0, group: object = None) -> Tensor:
    """This process's tensor of the list that one process has."""
    members = group_of(group)
    source = get_group_rank(members, src)
    nothing = tensors[0].reshape(-1)[:0]
    sent = list(tensors) if members.rank() == source else [nothing] * members.size()
    room, none = _like(tensors[members.rank()]), _like(nothing)
    outputs = [room if at == source else none for at in range(members.size())]
    made: Tensor = _AllToAll.apply(group, outputs, *sent)[source]
    return made


def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: ReduceOp = ReduceOp.SUM, group: object = None
) -> Tensor:
    """This process's part of the sum (product, ...) of the lists; `output` is as large."""
    del output
    whole = _AllReduce.apply(op, group, eager_function("aten::stack")(list(input_list), 0))
    made: Tensor = whole[group_of(group).rank()]
    return made


def all_to_all(
    output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor], group: object = None
) -> tuple[Tensor, ...]:
    """A tensor from each process, of the sizes of `output_tensor_list`."""
    made: tuple[Tensor, ...] = _AllToAll.apply(group, output_tensor_list, *input_tensor_list)
    return made


__getattr__ = names_of(__name__)
