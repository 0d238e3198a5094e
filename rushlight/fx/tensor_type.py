"""`torch.fx.tensor_type`: types of tensors by their sizes, some of which may be unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Dyn", "TensorType", "is_consistent", "is_more_precise"]


class TensorType:
    """The type of tensors of some sizes; an unknown one is `Dyn`."""

    def __init__(self, dim: Sequence[object]) -> None:
        self.__origin__ = TensorType
        self.__args__ = dim

    @property
    def dims(self) -> Sequence[object]:
        """The sizes."""
        return self.__args__

    def __repr__(self) -> str:
        return f"TensorType[{self.__args__}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and list(self.__args__) == list(other.__args__)

    __hash__ = object.__hash__

    @staticmethod
    def __class_getitem__(*args: object) -> TensorType:
        first = args[0]
        return TensorType(first if isinstance(first, tuple) else (first,))


class _DynType:
    """What is unknown."""

    def __init__(self) -> None:
        self.__name__ = "_DynType"

    def __eq__(self, other: object) -> bool:
        return self.__class__ == other.__class__

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return "Dyn"

    def __repr__(self) -> str:
        return "Dyn"


Dyn = _DynType()


def _each(t1: object, t2: object, compare: Callable[[Any, Any], bool]) -> bool:
    if not isinstance(t1, TensorType) or not isinstance(t2, TensorType):
        return False
    same = len(t1.dims) == len(t2.dims)
    return same and all(map(compare, t1.dims, t2.dims))


def is_consistent(t1: object, t2: object) -> bool:
    """Whether a value could be of both types."""
    return t1 in (t2, Dyn) or t2 == Dyn or _each(t1, t2, is_consistent)


def is_more_precise(t1: object, t2: object) -> bool:
    """Whether the first says all that the second does."""
    return t1 == t2 or isinstance(t2, _DynType) or _each(t1, t2, is_more_precise)
