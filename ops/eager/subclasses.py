"""Instances of users' subclasses of Tensor, over the memory of others or without any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..memory.dtype import (
    CPU,
    STRIDED,
    Device,
    DType,
    Layout,
    MemoryFormat,
    get_default_dtype,
)
from ..memory.errors import OnMeta
from ..tensors.dispatched import READ, Dispatched, hidden, undispatched
from ..tensors.overriding import DisableTorchFunctionSubclass
from ..tensors.tensor import Tensor
from .binding import type_name
from .dispatch import eager_function

__all__ = ["as_subclass", "make_subclass", "make_wrapper_subclass"]


def as_subclass(self: Tensor, cls: type[Tensor]) -> object:
    """The same memory as an instance of a subclass of Tensor, which gradients go through.

    Raises:
        TypeError: the class is no subclass of Tensor.
        NotImplementedError: the tensor is on `meta`, and the class another one.
    """
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type_name(cls)})")
    if not issubclass(cls, Tensor):
        raise TypeError(_NO_TENSOR)
    if self.is_meta and cls is not Tensor and not issubclass(type(self), Dispatched):
        raise OnMeta(f"tensors on the device meta have no other class, such as {cls.__name__}")
    with DisableTorchFunctionSubclass(), undispatched():
        alias = eager_function("aten::alias")(self)
        return _aliased(alias, cls)


def _aliased(alias: Tensor, cls: type[Tensor]) -> object:
    made = object.__new__(cls)
    made._array, made._view_of = alias._array, alias._view_of
    made._requires_grad = alias._requires_grad
    vars(made).update(vars(alias))
    return made


def make_subclass(
    cls: type[Tensor],
    data: Tensor,
    require_grad: bool = False,
    *,
    dispatch_sizes_strides_policy: str | None = None,
    dispatch_device: bool = False,
    dispatch_layout: bool = False,
    device_for_backend_keys: object = None,
) -> object:
    """An instance of a subclass that shares a tensor's memory, and is a leaf; over a tensor on
    `meta`, which has none, a wrapper.

    What else is said has no meaning: sizes, device and layout are those of the memory.

    Raises:
        TypeError: the class is no subclass of Tensor, or the data no tensor.
    """
    if not isinstance(cls, type):
        raise TypeError(
            f"_make_subclass(): argument 'cls' (position 1) must be type, not {type_name(cls)}"
        )
    if not isinstance(data, Tensor):
        raise TypeError(
            f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {type_name(data)}"
        )
    if not issubclass(cls, Tensor):
        raise TypeError("cls must be a type")
    if data.is_meta and issubclass(cls, Dispatched):
        return make_wrapper_subclass(
            cls,
            data.shape,
            strides=data.stride(),
            storage_offset=data.storage_offset(),
            dtype=data.dtype,
            device="meta",
            requires_grad=require_grad,
        )
    with undispatched():
        return cls._of(data._array.view(), require_grad)


def make_wrapper_subclass(
    cls: type[object],
    size: Sequence[int],
    strides: Sequence[int] | None = None,
    storage_offset: int | None = None,
    memory_format: MemoryFormat | None = None,
    dtype: DType | None = None,
    layout: Layout = STRIDED,
    device: Device | str | int | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    dispatch_sizes_strides_policy: str | None = None,
    dispatch_device: bool = False,
    dispatch_layout: bool = False,
    _extra_dispatch_keys: object = None,
    storage_size: int | None = None,
) -> Any:
    """An instance without memory of a class that computes in its `__torch_dispatch__`.

    Sizes, device and layout are those said here, whether or not the class is to be asked for them.

    Args:
        cls: the class.
        size: what the instance tells of its sizes.
        strides: of its strides, in elements; as a contiguous tensor lies if there are none.
        storage_offset: where the first element lies, in elements.
        memory_format: of the strides, where these are not said.
        dtype: of its elements; the default one if there is none.
        layout: what it tells of its layout.
        device: of its device.
        pin_memory: has no meaning.
        requires_grad: whether gradients of it are wanted.
        dispatch_sizes_strides_policy: has no meaning, nor has anything behind it.

    Raises:
        RuntimeError: the class has no `__torch_dispatch__`.
        TypeError: the class is no subclass of Tensor.
    """
    del pin_memory, dispatch_sizes_strides_policy, dispatch_device
    del dispatch_layout, _extra_dispatch_keys, storage_size
    if not issubclass(cls, Tensor):
        raise TypeError(_NO_TENSOR)
    if not issubclass(cls, Dispatched):
        raise RuntimeError(
            "_make_wrapper_subclass requires that the class have a __torch_dispatch__ method"
        )
    sizes = [int(n) for n in size]
    if strides is None and memory_format is not None:
        strides = eager_function("aten::empty")(
            sizes, memory_format=memory_format, device="meta"
        ).stride()
    place = CPU if device is None else Device(device)
    kind = get_default_dtype() if dtype is None else dtype
    return cls._of(hidden(sizes, kind, strides, place, layout, storage_offset or 0), requires_grad)


_NO_TENSOR: Final = (
    "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. "
    "Make sure your class inherits from Tensor."
)
READ.install(eager_function("aten::_local_scalar_dense"))
