"""`torch._utils`: how pickled tensors are put together again, and tensors as one vector."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from importlib import import_module

from .ops.eager.dispatch import eager_function
from .ops.eager.typed_storage import TypedStorage
from .ops.memory.dtype import DType
from .ops.tensors.tensor import Parameter, Tensor

__all__ = [
    "_element_size",
    "_flatten_dense_tensors",
    "_rebuild_parameter",
    "_rebuild_tensor",
    "_rebuild_tensor_v2",
    "_unflatten_dense_tensors",
]


def _element_size(dtype: DType) -> int:
    """The bytes of an element."""
    return dtype.itemsize


def _rebuild_tensor(
    storage: TypedStorage, storage_offset: int, size: Sequence[int], stride: Sequence[int]
) -> Tensor:
    """A tensor over part of a storage."""
    empty: Tensor = eager_function("aten::empty")([0], dtype=storage.dtype)
    made: Tensor = empty.set_(storage, storage_offset, tuple(size), tuple(stride))
    return made


def _rebuild_tensor_v2(
    storage: TypedStorage,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    backward_hooks: OrderedDict[int, object],
    metadata: object = None,
) -> Tensor:
    """As `_rebuild_tensor`, with whether gradients are wanted, and the tensor's hooks."""
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    tensor.requires_grad = requires_grad
    return tensor


def _rebuild_parameter(
    data: Tensor, requires_grad: bool, backward_hooks: OrderedDict[int, object]
) -> Parameter:
    """A parameter."""
    return Parameter(data, requires_grad)


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """All elements as one vector."""
    vectors = [tensor.contiguous().view(-1) for tensor in tensors]
    flat: Tensor = vectors[0].clone() if len(vectors) == 1 else eager_function("aten::cat")(vectors)
    return flat


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The parts of a vector in the shapes of tensors, as views."""
    parts = []
    start = 0
    for tensor in tensors:
        parts.append(flat.narrow(0, start, tensor.numel()).view_as(tensor))
        start += tensor.numel()
    return tuple(parts)


def _get_available_device_type() -> str | None:
    """The kind of devices there are beside the CPU: none."""
    return None


def _get_device_module(device_type: str) -> object:
    """The module of a kind of devices, `torch.cpu`.

    Raises:
        RuntimeError: there is no such module.
    """
    module = getattr(import_module(__package__ or ""), device_type, None)
    if module is None:
        raise RuntimeError(
            f"Device '{device_type}' does not have a corresponding module registered as "
            f"'torch.{device_type}'."
        )
    return module
