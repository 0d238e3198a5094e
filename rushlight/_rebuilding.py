"""How the rarer kinds of pickled tensors are put together again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from .ops.eager.dispatch import eager_function
from .ops.eager.subclasses import make_wrapper_subclass
from .ops.eager.typed_storage import TypedStorage
from .ops.memory.dtype import Device, DType, Layout
from .ops.quantized_tensors.arrays import QuantizedArray, Quantizer
from .ops.tensors.tensor import Tensor
from .ops.tensors.untyped_storage import Storage
from .serialization.weights.states import set_state

__all__ = [
    "_rebuild_from_type_v2",
    "_rebuild_meta_tensor_no_storage",
    "_rebuild_qtensor",
    "_rebuild_tensor_v3",
    "_rebuild_wrapper_subclass",
]


def _rebuild_tensor_v3(
    storage: Storage | TypedStorage,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    backward_hooks: OrderedDict[int, object],
    dtype: DType,
    metadata: object = None,
) -> Tensor:
    """A tensor over bytes: its dtype has no storages of its own."""
    memory = storage._untyped_storage if isinstance(storage, TypedStorage) else storage
    empty: Tensor = eager_function("aten::empty")([0], dtype=dtype)
    made: Tensor = empty.set_(memory, storage_offset, tuple(size), tuple(stride))
    made.requires_grad = requires_grad
    return made


def _rebuild_qtensor(
    storage: TypedStorage,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    quantizer_params: tuple[Any, ...],
    requires_grad: bool,
    backward_hooks: OrderedDict[int, object],
) -> Tensor:
    """A quantized tensor.

    Args:
        quantizer_params: the scheme, scale and zero point, and the axis of those of channels.

    Raises:
        RuntimeError: the scales do not fit the sizes.
    """
    _, scale, zero_point, *axis = quantizer_params
    scale, zero_point = (p._array if isinstance(p, Tensor) else p for p in (scale, zero_point))
    found = Quantizer.fitting(scale, zero_point, axis[0] if axis else 0, tuple(size))
    if found is None:
        raise RuntimeError(f"scales that do not fit a tensor of sizes {tuple(size)}")
    parts = storage._flat().as_strided(tuple(size), tuple(stride), storage_offset)
    made = parts._array.view(QuantizedArray)
    made.quantizer = found
    return Tensor._of(made, requires_grad)


def _rebuild_meta_tensor_no_storage(
    dtype: DType, size: Sequence[int], stride: Sequence[int], requires_grad: bool
) -> Tensor:
    """A tensor without data."""
    made: Tensor = eager_function("aten::empty_strided")(
        tuple(size), tuple(stride), dtype=dtype, device="meta"
    )
    return made.requires_grad_(requires_grad)


def _rebuild_wrapper_subclass(
    cls: type[Tensor],
    dtype: DType,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int,
    layout: Layout,
    device: Device,
    requires_grad: bool,
) -> object:
    """A tensor without memory of a class that is asked for operators.

    Raises:
        RuntimeError: the class has no `__torch_dispatch__`.
    """
    return make_wrapper_subclass(
        cls,
        size,
        strides=stride,
        storage_offset=storage_offset,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def _rebuild_from_type_v2(
    func: Callable[..., Tensor], new_type: type, args: tuple[object, ...], state: object
) -> Tensor:
    """A tensor of a class of its own, or with attributes: what a function makes, and its state."""
    made = func(*args)
    if type(made) is not new_type:
        made = made.as_subclass(new_type)
    own = getattr(made, "__setstate__", None)
    if own is None:
        set_state(made, state)
    else:
        own(state)
    return made
