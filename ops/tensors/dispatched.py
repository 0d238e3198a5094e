"""What stands behind tensors whose class has a `__torch_dispatch__`, and who may see it.

Behind a wrapper (`Tensor._make_wrapper_subclass`) lies an array of its sizes over addresses without
memory, behind other such tensors the array of their elements.  Nobody gets either unawares:
`_array` is a `Form`, which tells sizes and a dtype and nothing else, but where it is opened, as
`ops/dispatching/` does while an operator is chosen and recorded.  So what computes with arrays
cannot pass by the class.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, NoReturn

import numpy as np

from ...frontend.foundations.port import Port
from ..memory.dtype import CPU, STRIDED, Array, Device, DType, Layout
from ..memory.errors import OnDispatch
from ..memory.reserved import reserved
from ..memory.storage import strides_of, view_of
from ..table.grad_mode import grad_mode_set
from . import overriding
from .display import is_unsaid
from .members import attributes_of, copy_attributes

__all__ = [
    *("READ", "Dispatched", "Form", "Hidden", "array_behind", "check_dispatched", "cloned"),
    *(
        "undispatched",
        "closed",
        "count_together",
        "disabled_dispatch",
        "dispatching",
        "exchangeable",
        "hidden",
        "is_dispatched",
    ),
    *("given_away", "is_off", "is_wrapper", "opened", "own_dispatch", "rebuilt", "resized"),
    "shown_by_form",
]


class _Seeing(threading.local):
    """Whether this thread sees arrays behind such tensors, and whether classes are not asked."""

    depth = 0
    is_off = False


_SEEING: Final = _Seeing()
_SLOT: Final[Port[Any]] = Port()
"""The place of the array in a tensor; nothing is installed while there is no class of such tensors,
which is all that most calls look at."""

READ: Final[Port[Callable[[object], object]]] = Port()
"""Reads the one element of such a tensor by the operator that its class is asked for."""


@contextmanager
def opened() -> Iterator[None]:
    """Let this thread see the arrays behind such tensors."""
    _SEEING.depth += 1
    try:
        yield
    finally:
        _SEEING.depth -= 1


@contextmanager
def _seeing(depth: int, is_off: bool) -> Iterator[None]:
    before = _SEEING.depth, _SEEING.is_off
    _SEEING.depth, _SEEING.is_off = depth, is_off
    try:
        yield
    finally:
        _SEEING.depth, _SEEING.is_off = before


def closed() -> AbstractContextManager[None]:
    """Let a user's function see such tensors as anybody does."""
    return _seeing(0, False)


def undispatched() -> AbstractContextManager[None]:
    """A block in which no class is asked: operators run on the elements of such tensors."""
    return _seeing(1, True)


def is_off() -> bool:
    """Whether no class is asked in this thread."""
    return _SEEING.is_off


# --------------------------------------------------------------------------- arrays


def _refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise OnDispatch(_NO_ELEMENTS)


class Hidden(np.ndarray[tuple[int, ...], np.dtype]):
    """The array of a wrapper: sizes, strides and a dtype, where it lies, and no elements."""

    place: Device = CPU
    layout: Layout = STRIDED
    counted_by: Array | None = None
    """What counts the writes of its memory, if it is a view of another wrapper."""

    def __array_finalize__(self, source: object) -> None:
        if isinstance(source, Hidden):
            self.place, self.layout = source.place, source.layout
            self.counted_by = source.counted_by

    __array_ufunc__ = __array_function__ = _refuse
    copy = astype = tolist = item = tobytes = fill = _refuse


def hidden(
    sizes: Sequence[int],
    dtype: DType,
    strides: Sequence[int] | None,
    place: Device = CPU,
    layout: Layout = STRIDED,
    offset: int = 0,
) -> Hidden:
    """The array of a wrapper of these sizes and strides, in elements, that begins at an offset."""
    steps = None if strides is None else [step * dtype.itemsize for step in strides]
    whole = reserved(sizes, dtype.numpy, steps)
    if offset and whole.size:
        reach = offset + 1 + sum((n - 1) * s for n, s in zip(sizes, strides_of(whole), strict=True))
        memory = reserved([reach], dtype.numpy)
        at = offset * dtype.itemsize
        whole = view_of(memory, sizes, whole.strides, at, dtype.numpy, writeable=False)
    made = whole.view(Hidden)
    made.place, made.layout = place, layout
    return made


def resized(tensor: Any, sizes: Sequence[int], strides: Sequence[int]) -> None:
    """Have a wrapper tell other sizes, if they are others."""
    array = array_behind(tensor)
    steps = tuple(step * array.itemsize for step in strides)
    if isinstance(array, Hidden) and (array.shape != tuple(sizes) or array.strides != steps):
        made = reserved(sizes, array.dtype, steps).view(Hidden)
        made.place, made.layout, made.counted_by = array.place, array.layout, array
        tensor._array = made


def count_together(views: Iterable[object], base: Array) -> None:
    """Count the writes of new wrappers, which are views, with those of what they are views of."""
    for view in views:
        array = array_behind(view)
        if isinstance(array, Hidden) and array is not base:
            array.counted_by = base


def _told(name: str) -> property:
    return property(lambda self: getattr(self._hidden, name))


class Form:
    """What is told of the array behind a tensor that only its class may compute with."""

    __slots__ = ("_hidden", "_tensor")

    def __init__(self, array: Array, tensor: object) -> None:
        self._hidden, self._tensor = array, tensor

    def __getattr__(self, name: str) -> NoReturn:
        raise OnDispatch(_NO_ELEMENTS)

    shape, ndim, size, dtype = _told("shape"), _told("ndim"), _told("size"), _told("dtype")
    strides, flags = _told("strides"), _told("flags")
    itemsize, nbytes = _told("itemsize"), _told("nbytes")

    @property
    def base(self) -> Array:
        """The array itself, which counts the writes of its memory."""
        return self._hidden

    counted_by = base

    def item(self) -> object:
        """The one element, as the class reads it."""
        assert READ.installed is not None
        return READ.installed(self._tensor)

    def __len__(self) -> int:
        return len(self._hidden)

    def __getitem__(self, key: object) -> NoReturn:
        raise _NoItems(_NO_ELEMENTS)

    def tolist(self) -> NoReturn:
        """Elements are not listed.

        Raises:
            RuntimeError: always.
        """
        kind = type(self._tensor).__name__
        raise RuntimeError(f".tolist() is not supported for tensor subclasses, got {kind}")

    __array__ = __array_ufunc__ = __array_function__ = _refuse


_NO_ELEMENTS: Final = (
    "the elements of a tensor are asked for whose class has a __torch_dispatch__: only operators, "
    "which that class is asked for, compute with it"
)


class _NoItems(OnDispatch, IndexError):
    """No item is found: those who look for one by the array go on by operators."""


# --------------------------------------------------------------------------- classes


class Dispatched:
    """What comes before `Tensor` among the bases of a class with a `__torch_dispatch__`."""

    __slots__ = ()

    @property
    def _array(self) -> Any:
        array = array_behind(self)
        return array if _SEEING.depth else Form(array, self)

    @_array.setter
    def _array(self, array: Array) -> None:
        assert _SLOT.installed is not None
        _SLOT.installed.__set__(self, array)

    @property
    def _place(self) -> Device:
        return getattr(array_behind(self), "place", CPU)

    @property
    def _layout(self) -> Layout:
        return getattr(array_behind(self), "layout", STRIDED)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        return shown_by_form(self, tensor_contents)

    def __reduce__(self: Any) -> tuple[object, ...]:
        array: Array | None = array_behind(self)
        form = self.dtype, tuple(self.shape), self.stride(), self._place, self._layout
        if isinstance(array, Hidden):
            array = None
        return rebuilt, (type(self), array, *form, self.requires_grad), attributes_of(self)


def array_behind(tensor: Any) -> Array:
    """The array of any tensor that has one, whoever asks."""
    slot = _SLOT.installed
    found: Array = slot.__get__(tensor) if slot and is_dispatched(tensor) else tensor._array
    return found


def given_away(array: Array | Form) -> Array:
    """The array behind a tensor as others get it, who know nothing of tensors.

    Raises:
        RuntimeError: only a class may compute with it.
    """
    if isinstance(array, Form):
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")
    return array[...]


def is_wrapper(tensor: object) -> bool:
    """Whether a value is such a tensor without elements."""
    return isinstance(tensor, Dispatched) and isinstance(array_behind(tensor), Hidden)


def exchangeable(tensor: Any, other: Any) -> tuple[Array, Array]:
    """The arrays of two tensors, of which the first is to have the other's from now on.

    Raises:
        RuntimeError: they are of two kinds.
    """
    if other.layout is not STRIDED or is_wrapper(other) is not is_wrapper(tensor):
        raise RuntimeError(
            "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
            "incompatible tensor type."
        )
    return array_behind(tensor), array_behind(other)


def shown_by_form(tensor: Any, contents: str | None) -> str:
    """How a tensor is printed whose elements nobody looks at, or that stands around `contents`."""
    told = []
    if contents is None:
        told.append(f"size={tuple(tensor.shape)}")
    elif tensor.device.type != "cpu":
        told.append(f"device='{tensor.device}'")
    if contents is None or not is_unsaid(tensor.dtype):
        told.append(f"dtype={tensor.dtype}")
    parts = ["..." if contents is None else contents, *told, *tensor._history()]
    text = f"{type(tensor).__name__}({', '.join(parts)})"
    return f"Parameter({text})" if getattr(tensor, "_is_param", False) is True else text


def is_dispatched(tensor: object) -> bool:
    """Whether a value is a tensor whose class is asked for operators."""
    return isinstance(tensor, Dispatched)


def rebuilt(
    cls: Any,
    array: Array | None,
    dtype: DType,
    size: Sequence[int],
    stride: Sequence[int],
    place: Device,
    layout: Layout,
    requires_grad: bool,
) -> object:
    """A tensor of such a class, made again as it was pickled: over an array or without any."""
    if array is None:
        array = hidden(size, dtype, stride, place, layout)
    return cls._of(array, requires_grad)


def cloned(tensor: Any, memo: dict[int, object]) -> Any:
    """A deep copy of a tensor whose class is asked for operators, by `clone`.

    Raises:
        RuntimeError: that gives no instance of the class.
    """
    word = "clone()" if is_wrapper(tensor) else "new_empty()"
    with grad_mode_set(False):
        copied = tensor.clone() if is_wrapper(tensor) else tensor.new_empty([])
    if type(copied) is not type(tensor):
        kind = "wrapper" if is_wrapper(tensor) else "non-wrapper"
        raise RuntimeError(
            f"The default implementation of __deepcopy__() for {kind} subclasses only works for "
            f"subclass types that properly implement {word} and for which "
            f"{'cloning' if kind == 'wrapper' else 'that function'} returns another instance of "
            f"the same subclass. You should either properly implement {word} for your subclass or "
            f"override __deepcopy__() if it is intended behavior for {word} to return an instance "
            "of a different type."
        )
    if not is_wrapper(tensor):
        copied._array = array_behind(tensor).copy()
    memo[id(tensor)] = copied
    copied.requires_grad_(tensor.requires_grad)
    copy_attributes(tensor, copied, memo)
    return copied


def disabled_dispatch(
    func: Callable[..., object],
    types: object,
    args: tuple[object, ...] = (),
    kwargs: Mapping[str, object] | None = None,
) -> object:
    """The `__torch_dispatch__` of `Tensor`: the operator on the elements themselves."""
    with undispatched():
        return func(*args, **(kwargs or {}))


def own_dispatch(cls: type) -> object:
    """The `__torch_dispatch__` of a class; None of one that leaves operators as they are."""
    found = getattr(cls, "__torch_dispatch__", None)
    return None if found is disabled_dispatch else found


def dispatching(cls: type, slot: object) -> None:
    """Have operators ask a new class of tensors, if it wants that; `slot` holds the array.

    Such a class is not asked for functions as well, unless it says so.
    """
    if own_dispatch(cls) is None:
        return
    asks = next(vars(each) for each in cls.__mro__ if "__torch_function__" in vars(each))
    if "_array" in asks:  # that of `Tensor`
        cls.__torch_function__ = staticmethod(overriding.disabled)  # type: ignore[attr-defined]
    if issubclass(cls, Dispatched):
        return
    if _SLOT.installed is None:
        _SLOT.install(slot)
    bases = list(cls.__bases__)
    place = next(i for i, base in enumerate(bases) if hasattr(base, "_array"))
    cls.__bases__ = (*bases[:place], Dispatched, *bases[place:])


def check_dispatched(args: Sequence[object], kwargs: Mapping[str, object]) -> None:
    """Have a call go on in the room of such tensors if there is one among its arguments.

    Raises:
        OnDispatch: there is.
    """
    if _SLOT.installed is None or _SEEING.depth:
        return
    for value in (*args, *kwargs.values()):
        if isinstance(value, Dispatched):
            raise OnDispatch(_NO_ELEMENTS)
        if isinstance(value, (list, tuple)) and any(isinstance(e, Dispatched) for e in value):
            raise OnDispatch(_NO_ELEMENTS)
