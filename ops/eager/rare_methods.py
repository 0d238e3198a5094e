"""Methods of tensors that few programs call: functions over elements, other devices, old names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from numbers import Number
from typing import Any, Final, NoReturn

import numpy as np

from ..memory.dtype import Array, DType, Scalar
from ..memory.errors import no_device
from ..memory.versions import written
from ..tensors.dispatched import Dispatched
from ..tensors.tensor import Tensor
from ..tensors.tracing import ACTIVE, current_tracer
from .binding import type_name
from .storage_warning import warn_of_removal
from .typed_storage import TypedStorage, typed_memory

__all__ = ["ATTRIBUTES", "METHODS"]

_PACKAGE: Final = __name__.partition(".")[0]


# --------------------------------------------------------------------------- Python's functions


def _refuse_gradients(self: Tensor, name: str) -> None:
    if self.requires_grad:
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. "
            f"Use var.detach().{name}() instead."
        )


def _each(self: Tensor, function: Callable[..., Any], *others: Tensor) -> Tensor:
    """Every element replaced by what a function makes of it and of those of others."""
    if not callable(function):
        raise TypeError(f"'{type(function).__name__}' object is not callable")
    columns = [each.expand(self.shape).reshape(-1).tolist() for each in (self, *others)]
    made = [function(*row) for row in zip(*columns, strict=True)]
    kind = self._array.dtype
    for each in made:
        if not isinstance(each, (Number, Tensor)):
            name = type_name(each)
            raise TypeError(
                f"'{name}' object cannot be interpreted as an integer"
                if kind.kind in "biu"
                else f"must be real number, not {name}"
            )
    if kind.kind in "iu":
        made = [int(each) for each in made]
    written(self._array)
    self._array[...] = np.asarray(made, dtype=kind).reshape(self._array.shape)
    return self


def apply_(self: Tensor, callable: Callable[[Any], object]) -> Tensor:
    """Replace every element by what a function of Python's makes of it.

    Raises:
        RuntimeError: the tensor requires gradients.
        TypeError: it is no function, or makes what is no number.
    """
    _refuse_gradients(self, "apply_")
    return _each(self, callable)


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], object]) -> Tensor:
    """Replace every element by what a function makes of it and of that of another tensor.

    Raises:
        RuntimeError: a tensor requires gradients.
        TypeError: the other tensor has another dtype.
    """
    for each in (self, tensor):
        _refuse_gradients(each, "map_")
    _same_kind(self, tensor, "map_", "other")
    return _each(self, callable, tensor)


def map2_(
    self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], object]
) -> Tensor:
    """The same with the elements of two other tensors."""
    for each in (self, x, y):
        _refuse_gradients(each, "map2_")
    _same_kind(self, x, "map2_", "argument 'x'")
    _same_kind(self, y, "map2_", "argument 'y'")
    return _each(self, callable, x, y)


def _same_kind(self: Tensor, other: Tensor, name: str, word: str) -> None:
    if other.dtype is not self.dtype:
        shown = word if word.startswith("argument") else f"'{word}'"
        raise TypeError(f"{name}: expected {self.type()} for {shown} (got {other.type()})")


# --------------------------------------------------------------------------- other places


def pin_memory(self: Tensor, device: object = None) -> NoReturn:
    """A copy that a graphics card could read directly.

    Raises:
        RuntimeError: always, since there is none.
    """
    raise RuntimeError("Cannot access accelerator device when none is available.")


def _absent(name: str, error: Callable[[], Exception]) -> Callable[..., NoReturn]:
    def method(self: Tensor, *args: object, **kwargs: object) -> NoReturn:
        raise error()

    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    method.__doc__ = f"Move the tensor to a device of that kind: always an error, {error()}."
    return method


_NO_LAYOUT: Final = "to_mkldnn(): rushlight has no layout of oneDNN's own"
_DEVICES: Final[dict[str, Callable[[], Exception]]] = {
    **{kind: partial(no_device, kind) for kind in ("cuda", "xpu", "ipu", "mtia")},
    "record_stream": partial(RuntimeError, "unknown parameter type"),
    "to_mkldnn": partial(NotImplementedError, _NO_LAYOUT),
}


# --------------------------------------------------------------------------- old names


def index(self: Tensor, positions: object, dims: object) -> NoReturn:
    """Bind names to dimensions.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(
        "torch.Tensor.index: dimensions have no names here; torch.func.rearrange and torch.vmap do "
        "what is possible"
    )


def _removed(name: str) -> Callable[..., NoReturn]:
    def method(self: Tensor, *args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError(
            "This function was deprecated since version 1.9 and is now removed. "
            f"`torch.{name}` is replaced by `torch.linalg.{_NOW[name]}`."
        )

    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    method.__doc__ = f"An old function: use `torch.linalg.{_NOW[name]}`."
    return method


_NOW: Final = {"eig": "eig", "lstsq": "lstsq", "solve": "solve", "symeig": "eigh"}


def reinforce(self: Tensor, reward: object) -> NoReturn:
    """A step of an old way to train.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError("reinforce() was removed. Use torch.distributions instead.")


def resize(self: Tensor, *sizes: Any) -> Tensor:
    """A view of other sizes with as many elements."""
    return self.contiguous().reshape(*sizes)


def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """The same, with the sizes of another tensor."""
    return resize(self, tensor.shape)


def __div__(self: Tensor, other: Tensor | Scalar) -> Tensor:
    """Python 2's division."""
    return self / other


def __idiv__(self: Tensor, other: Tensor | Scalar) -> Tensor:
    """Python 2's division, written into the tensor."""
    return self.div_(other)


def __long__(self: Tensor) -> int:
    """Python 2's conversion."""
    return int(self)


def __nonzero__(self: Tensor) -> bool:
    """Python 2's truth."""
    return bool(self)


# --------------------------------------------------------------------------- what it is


def const_data_ptr(self: Tensor) -> int:
    """The address of the first element."""
    return self.data_ptr()


def storage_type(self: Tensor) -> type:
    """The old class of storages of such elements."""
    warn_of_removal()
    found: type = import_module(f"{_PACKAGE}.storage").class_of(self.dtype)
    return found


def _typed_storage(self: Tensor) -> TypedStorage:
    """The memory the tensor lies in, as elements of its dtype."""
    return typed_memory(self)


def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """What a module's parameter becomes when a state is loaded: the other's values in its own
    memory, or (`assign`) the other's memory."""
    return (other if assign else self.copy_(other)).detach()


def _is_zerotensor(self: Tensor) -> bool:
    """Whether the tensor stands for zeros without memory: never."""
    return False


def _use_count(self: Tensor) -> int:
    """How many hold the tensor, below Python: one."""
    return 1


def _nothing(name: str) -> Callable[[Tensor], None]:
    def method(self: Tensor) -> None:
        return None

    method.__name__ = name
    method.__doc__ = "Nothing is to be done."
    return method


def grad_dtype(self: Tensor) -> DType | None:
    """The dtype of gradients: the tensor's own."""
    return self.dtype


def _address_of_object(self: Tensor) -> int:
    """A number of the tensor's own."""
    return id(self)


def __contains__(self: Tensor, element: object) -> bool:
    """Whether an element is a number, or any of another tensor's elements at its place."""
    if not isinstance(element, Tensor | bool | int | float | complex | np.number):
        raise RuntimeError(
            "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
            f"{type(element)}."
        )
    is_traced = ACTIVE and current_tracer() is not None
    if is_traced or isinstance(self, Dispatched) or isinstance(element, Dispatched | np.number):
        return bool((self == element).any().item())
    value = element._array if isinstance(element, Tensor) else element
    return bool(np.any(self._array == value))


def __delitem__(self: object, key: object) -> None:
    """Elements stay.

    Raises:
        TypeError: always.
    """
    raise TypeError("Tensor does not support deleting items")


def __reversed__(self: Tensor) -> object:
    """The elements of the first dimension from the last one on."""
    return self.flip(0) if self.ndim else self


def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Array:
    """What NumPy takes a tensor for: an array of the same memory."""
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


def names(self: Tensor) -> tuple[None, ...]:
    """Dimensions have no names."""
    return (None,) * self.ndim


def __array_wrap__(
    self: object, array: Array, context: object = None, scalar: bool = False
) -> Tensor:
    """What NumPy's functions make of a tensor is a tensor, truth values as bytes."""
    return Tensor._of(array.view(np.uint8) if array.dtype == bool else array)


METHODS: Final[dict[str, Any]] = {
    each.__name__: each
    for each in (
        *(__contains__, __delitem__, __reversed__, __array__, __array_wrap__),
        *(apply_, map_, map2_, pin_memory, index, reinforce, resize, resize_as),
        *(__div__, __idiv__, __long__, __nonzero__, const_data_ptr),
        *(storage_type, _typed_storage, module_load, _is_zerotensor, _use_count),
        *(_absent(name, error) for name, error in _DEVICES.items()),
        *map(_removed, _NOW),
        *map(_nothing, ("_fix_weakref", "_clear_non_serializable_cached_data")),
    )
}
"""What `Tensor.<name>` stands for, by name."""

ATTRIBUTES: Final[dict[str, object]] = {
    **{
        "names": property(names),
        "grad_dtype": property(grad_dtype),
        "_cdata": property(_address_of_object),
    },
    **dict.fromkeys(("name", "_backward_hooks", "_post_accumulate_grad_hooks")),
    **dict.fromkeys(("volatile", "_has_symbolic_sizes_strides"), False),
}
"""The attributes of tensors, by name."""
