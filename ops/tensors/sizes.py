"""The sizes of a tensor, as Python sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import index
from typing import Any, Final, SupportsIndex, overload

import numpy as np

from .tracing import ACTIVE, current_tracer

__all__ = ["Size", "give_member", "made_of"]


def _size(value: Any, place: int) -> int:
    """A whole number as a size; NumPy's, and sizes that a trace knows, stay what they are.

    Raises:
        TypeError: it is none.
    """
    if type(value) is int or isinstance(value, np.integer):
        return value  # type: ignore[return-value]
    if ACTIVE and _is_traced(value):
        return value  # type: ignore[no-any-return]
    try:
        return index(value)
    except TypeError:
        pass
    kind = type(value)
    name = kind.__name__ if kind.__module__ in ("builtins", "__main__") else _full_name(value)
    raise TypeError(f"torch.Size() takes an iterable of 'int' (item {place} is '{name}')")


def _is_traced(value: object) -> bool:
    """Whether a trace shows where a tensor, which is a single number, comes from."""
    tracer = current_tracer()
    array = getattr(value, "_array", None)
    return tracer is not None and array is not None and not array.ndim and tracer.knows(value)


def _full_name(value: object) -> str:
    """The name of a class as C tells it: with its module, but for torch's tensors."""
    kind = type(value)
    name = str(getattr(kind, "__qualname__", kind.__name__))
    if name in ("Tensor", "Parameter"):
        return name
    module = kind.__module__.partition(".")[0]
    return {"dtype": "torch.dtype"}.get(name, f"{module}.{name}")


class Size(tuple[int, ...]):
    """The sizes of a tensor: a tuple of whole numbers with torch's text, `torch.Size([2, 3])`.

    Raises:
        TypeError: an element is no whole number.
    """

    __slots__ = ()

    def __new__(cls, values: Iterable[object] = (), /) -> Size:
        checked = (_size(value, place) for place, value in enumerate(values))
        return tuple.__new__(cls, checked)

    def numel(self) -> int:
        """The number of elements of a tensor of these sizes."""
        count = 1
        for size in self:
            count *= size
        return count

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> Size: ...
    def __getitem__(self, key: SupportsIndex | slice) -> int | Size:
        if isinstance(key, slice):
            return made_of(Size, tuple.__getitem__(self, key))
        return tuple.__getitem__(self, key)

    def __add__(self, other: object) -> Size:
        if not isinstance(other, tuple):
            name = type(other).__name__
            raise TypeError(f"can only concatenate tuple (not {name}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: object) -> Size:
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple.__add__(other, self))

    def __mul__(self, count: SupportsIndex) -> Size:
        if not hasattr(count, "__index__"):
            name = type(count).__name__
            raise TypeError(f"can't multiply sequence by non-int of type '{name}'")
        return made_of(Size, tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[object, ...]:
        return Size, (tuple(self),)


def give_member(name: str, member: Callable[..., object]) -> None:
    """Have a member of sizes be another one, which does the same."""
    setattr(Size, name, member)


made_of: Final = tuple.__new__
"""`made_of(Size, shape)` makes sizes of numbers that are known to be whole."""
