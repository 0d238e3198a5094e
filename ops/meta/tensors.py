"""Tensors on the device `meta`: sizes, strides and a dtype, and no data.

Behind such a tensor stands an array over addresses without memory (`reserved`), so views and their
strides are those of any tensor.  Nobody reaches that array unawares: asking for it raises `OnMeta`
but where it is opened for a moment, as eager calls do, which then ask for sizes alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, NoReturn, ParamSpec, TypeVar

import numpy as np

from ..memory.dtype import DTYPES, META, Array, get_default_dtype
from ..memory.errors import OnMeta
from ..memory.reserved import reserved
from ..tensors import overriding
from ..tensors.tensor import Parameter, Shown, Tensor
from ..tensors.untyped_storage import Storage

__all__ = ["META", "MetaParameter", "MetaTensor", "closed", "is_meta", "on_meta", "opened"]


P = ParamSpec("P")
_T = TypeVar("_T")


class _Opened(threading.local):
    depth = 0


_OPENED: Final = _Opened()


@contextmanager
def opened() -> Iterator[None]:
    """Let this thread see the arrays behind meta tensors."""
    _OPENED.depth += 1
    try:
        yield
    finally:
        _OPENED.depth -= 1


@contextmanager
def closed() -> Iterator[None]:
    """Let a user's function see meta tensors as anybody does."""
    before, _OPENED.depth = _OPENED.depth, 0
    try:
        yield
    finally:
        _OPENED.depth = before


def is_meta(value: object) -> bool:
    """Whether a value is a tensor without data."""
    return type(value) in (MetaTensor, MetaParameter)


def on_meta(value: _T) -> _T:
    """The same value, its new tensors without data: where they share no memory, none is left."""
    _lose_data(value)
    return value


def _lose_data(value: object) -> None:
    if type(value) is Tensor or type(value) is Parameter:
        array = value._array
        if array.flags.writeable and array.size:
            value._array = reserved(array.shape, array.dtype, [abs(n) for n in array.strides])
        object.__setattr__(value, "__class__", _TWINS[type(value)])
    elif isinstance(value, (list, tuple)):
        for part in value:
            _lose_data(part)


_SLOT: Final = Tensor.__dict__["_array"]


def _array(self: Tensor) -> Array:
    if not _OPENED.depth:
        raise OnMeta("Cannot copy out of meta tensor; no data!")
    return _SLOT.__get__(self)  # type: ignore[no-any-return]


def _set_array(self: Tensor, array: Array) -> None:
    _SLOT.__set__(self, array)


def _of_form(name: str) -> object:
    """What Tensor says or does by that name, without looking at data; new tensors have none."""
    known = getattr(Tensor, name)
    if isinstance(known, property):
        assert known.fget is not None
        return property(_without_data(known.fget), known.fset and _without_data(known.fset))
    return _without_data(known)


def _without_data(function: Callable[P, _T]) -> Callable[P, _T]:
    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> _T:
        with opened():
            return on_meta(function(*args, **kwargs))

    return call


_FORM: Final = (
    *("shape", "dtype", "ndim", "itemsize", "nbytes", "is_quantized", "is_nested", "size"),
    *("stride", "data", "T", "mT", "mH", "H", "real", "imag", "requires_grad_", "is_leaf"),
    *("__len__", "grad", "grad_fn", "requires_grad", "_base", "_version"),
    *("_seen_unwatched", "_refresh", "_is_view", "output_nr", "register_hook", "retain_grad"),
)


_BOOL: Final = DTYPES["bool"]


if TYPE_CHECKING:
    _Base = Tensor
else:
    _Base = object


class _NoData(_Base):
    """What is otherwise about a tensor without data."""

    __slots__ = ()

    device = META
    is_meta = True
    is_cpu = False

    def data_ptr(self) -> int:
        """There is no memory to point to."""
        return 0

    def untyped_storage(self) -> Storage:
        """The memory that the tensor would lie in."""
        with opened():
            return Storage.over(self._array, META)

    def item(self) -> NoReturn:
        """There is nothing to read.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")

    __bool__ = __int__ = __float__ = __complex__ = __index__ = item

    def numpy(self, *, force: bool = False) -> NoReturn:
        """There is nothing to share.

        Raises:
            TypeError: always.
        """
        raise TypeError(
            "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
            "to host memory first."
        )

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NoReturn:
        self.numpy()

    def __getitem__(self, key: object) -> Tensor:
        parts = key if isinstance(key, tuple) else (key,)
        if any(is_meta(part) and part.dtype is _BOOL for part in parts):
            raise OnMeta("how many elements a mask takes depends on data")
        return _plain_get(self, key)

    def __setitem__(self, key: object, value: object) -> None:
        self[key].copy_(value if isinstance(value, Tensor) else Tensor._of(np.asarray(value)))

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(len(self)))

    def _as_parameter(self, of: Callable[[Array, bool], Shown], requires_grad: bool) -> Shown:
        with opened():
            return on_meta(Tensor._as_parameter(self, of, requires_grad))

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the tensor's type, or the tensor in another dtype."""
        if dtype is None:
            return f"torch.meta.{self.dtype.scalar_name}Tensor"
        return Tensor.type(self, dtype, non_blocking)

    def __reduce__(self) -> tuple[object, ...]:
        raise OnMeta("tensors without data cannot be pickled")

    def __repr__(self) -> str:
        said = ["...", f"device='{META}'", f"size={tuple(self.shape)}"]
        if self.dtype is not get_default_dtype():
            said.append(f"dtype={self.dtype}")
        kind = "Parameter containing:\n" if isinstance(self, Parameter) else ""
        return f"{kind}tensor({', '.join(said + self._history())})"

    def backward(self, *args: object, **kwargs: object) -> NoReturn:
        """Gradients of nothing are not computed.

        Raises:
            NotImplementedError: always.
        """
        raise OnMeta("backward() of a meta tensor: gradients are computed of data alone")


def _copied(tensor: Tensor) -> Tensor:
    return _deeply_copied(tensor, {})


def _deeply_copied(tensor: Tensor, memo: dict[int, object]) -> Tensor:
    kind = _SHOWN[type(tensor)]
    with opened():
        array = tensor._array
        copied = kind._of(reserved(array.shape, array.dtype, array.strides))
    copied.requires_grad_(tensor.requires_grad)
    memo[id(tensor)] = on_meta(copied)
    return copied


_plain_get: Final = _without_data(Tensor.__getitem__)


def _twin(kind: type[Tensor]) -> type[Tensor]:
    """A class of tensors without data that goes by the name of another, also to `isinstance`."""
    members: dict[str, object] = {name: _of_form(name) for name in _FORM}
    members |= {"__copy__": _copied, "__deepcopy__": _deeply_copied}
    members["_array"] = property(_array, _set_array)
    members["__class__"] = property(lambda self: kind)
    members["__new__"] = staticmethod(lambda cls, *args, **kwargs: kind(*args, **kwargs))
    members["__slots__"] = ()
    members["__torch_function__"] = staticmethod(overriding.disabled)
    made = type(kind.__name__, (_NoData, kind), members)
    overriding.make_plain(made)
    return made


MetaTensor: Final = _twin(Tensor)
MetaParameter: Final = _twin(Parameter)
_TWINS: Final[dict[type, type]] = {Tensor: MetaTensor, Parameter: MetaParameter}
_SHOWN: Final[dict[type, type[Tensor]]] = {MetaTensor: Tensor, MetaParameter: Parameter}
