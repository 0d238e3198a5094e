"""Tensors between processes: memory that processes share is told, all else is sent as a copy of
memory, whatever pickles in files hold."""

from __future__ import annotations

from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any, Protocol

from ..ops.memory.dtype import DType
from ..ops.memory.shared_memory import attached, shared_by
from ..ops.memory.storage import address, memory_of, view_of
from ..ops.tensors.tensor import Parameter, Tensor

__all__ = ["ForkingPickler"]

_Ints = tuple[int, ...]


class _Descriptor(Protocol):
    def detach(self) -> int:
        """The descriptor, in the process that reads it."""


def _sent(tensor: Tensor) -> Any:
    array = tensor._array
    pages = None if tensor.is_quantized else shared_by(array)
    if pages is None or not (tensor.is_leaf or not tensor.requires_grad):
        return tensor.__reduce__()
    begin = address(memory_of(array))
    layout = (array.shape, array.strides, address(array) - begin if array.size else 0)
    told = DupFd(pages.descriptor), len(pages), tensor.dtype, *layout, tensor.requires_grad
    return _received, (type(tensor), *told)


def _received(
    kind: type[Tensor],
    descriptor: _Descriptor,
    size: int,
    dtype: DType,
    shape: _Ints,
    strides: _Ints,
    offset: int,
    requires_grad: bool,
) -> Tensor:
    memory = attached(descriptor.detach(), size)
    made = Tensor._of(view_of(memory, shape, strides, offset, dtype.numpy))
    if kind is Parameter:
        return Parameter(made, requires_grad)
    return made.requires_grad_(requires_grad)


ForkingPickler.register(Tensor, _sent)
ForkingPickler.register(Parameter, _sent)
