"""`torch._utils`: how pickled tensors are put together again, and tensors as one vector."""

from __future__ import annotations

import sys
import traceback
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, NoReturn

from ._rebuilding import (
    _rebuild_meta_tensor_no_storage,
    _rebuild_qtensor,
    _rebuild_tensor_v3,
    _rebuild_wrapper_subclass,
)
from .ops.eager.dispatch import eager_function
from .ops.eager.typed_storage import TypedStorage
from .ops.memory.dtype import Device, DType, Layout
from .ops.sparse_tensors.tensors import compressed, coo
from .ops.tensors.tensor import Parameter, Tensor
from .serialization.weights.states import put_state as _set_obj_state
from .serialization.weights.states import set_state

__all__ = [
    "ExceptionWrapper",
    "_element_size",
    "_flatten_dense_tensors",
    "_rebuild_meta_tensor_no_storage",
    "_rebuild_parameter",
    "_rebuild_parameter_with_state",
    "_rebuild_qtensor",
    "_rebuild_sparse_tensor",
    "_rebuild_tensor",
    "_rebuild_tensor_v2",
    "_rebuild_tensor_v3",
    "_rebuild_wrapper_subclass",
    "_set_obj_state",
    "_unflatten_dense_tensors",
    "get_device_module",
]


def _element_size(dtype: DType) -> int:
    """The bytes of an element."""
    return dtype.itemsize


def _is_privateuse1_backend_available() -> bool:
    """Whether somebody added a kind of device: nobody can."""
    return False


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


def _rebuild_sparse_tensor(layout: Layout, data: Any) -> object:
    """A sparse tensor of its parts: places, values, sizes, and whether it is coalesced."""
    if layout.name == "sparse_coo":
        indices, values, sizes, *coalesced = data
        return coo(indices, values, sizes, coalesced == [True])
    starts, inner, values, sizes = data
    return compressed(starts, inner, values, sizes, layout.name == "sparse_csc")


def _rebuild_parameter_with_state(
    data: Tensor, requires_grad: bool, backward_hooks: OrderedDict[int, object], state: object
) -> Parameter:
    """A parameter with the attributes that a program gave it."""
    made = Parameter(data, requires_grad)
    set_state(made, state)
    return made


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


def get_device_module(device: object = None) -> object:
    """The module of a device, or of its name: `torch.cpu`, also for None.

    Raises:
        RuntimeError: it is no device, or has no module.
    """
    if device is None:
        return _get_device_module("cpu")
    if not isinstance(device, (str, Device)):
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    return _get_device_module(Device(device).type)


def _get_device_index(
    device: object, optional: bool = False, allow_cpu: bool = False
) -> int | None:
    """The number of a device: of the text, the device or the number that names it.

    Args:
        optional: take None, and a device without a number, for the current one; here there is none.
        allow_cpu: give -1 for the CPU.

    Raises:
        ValueError: it is the CPU, or has no number.
    """
    if isinstance(device, str):
        device = Device(device)
    if isinstance(device, Device):
        if device.type == "cpu":
            if not allow_cpu:
                raise ValueError(f"Expected a non cpu device, but got: {device}")
            return -1
        if device.index is not None:
            return device.index
    if isinstance(device, int):
        return device
    if optional:
        return None
    raise ValueError(
        f"Expected a torch.device with a specified index or an integer, but got:{device}"
    )


def _get_all_device_indices() -> None:
    """The numbers of the devices beside the CPU: there are none."""
    return


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """The tensors in groups of one kind, each of about so many bytes."""
    groups: dict[str, tuple[list[Tensor], int]] = {}
    for tensor in tensors:
        kind, size = str(tensor.type()), tensor.numel() * tensor.element_size()
        group, before = groups.get(kind, ([], 0))
        if before + size > size_limit and before > 0:
            yield group
            group, before = [], 0
        groups[kind] = [*group, tensor], before + size
    for group, _ in groups.values():
        if group:
            yield group


class ExceptionWrapper:
    """An exception with its traceback as text, which another thread or process can raise again.

    Args:
        exc_info: as `sys.exc_info` gives it; else what is handled now.
        where: where it was raised.
    """

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, raised, trace = exc_info or sys.exc_info()
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, raised, trace))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise an exception of that class that tells of it.

        Raises:
            RuntimeError: the class takes more than a message.
        """
        said = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            raise _KeyError(said)
        try:
            raised = self.exc_type(said)
        except Exception:
            raise RuntimeError(said) from None
        raise raised


class _KeyError(KeyError):
    """One whose text keeps its lines."""

    def __str__(self) -> str:
        return str(self.args[0])
