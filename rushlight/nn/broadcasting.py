"""`BroadcastingList2[int]` and the like: annotations of sizes for which one number stands, too."""

from __future__ import annotations

from collections.abc import Sequence
from types import GenericAlias
from typing import TYPE_CHECKING, TypeAlias, TypeVar

__all__ = [f"BroadcastingList{count}" for count in range(1, 7)]


class _BroadcastingList:
    """A list of a fixed length, for which one number stands that fills all its places.

    It is read where it is written; an alias of it means nothing.
    """

    def __class_getitem__(cls, element: object) -> GenericAlias:
        return GenericAlias(cls, element if isinstance(element, tuple) else (element,))


if TYPE_CHECKING:
    T = TypeVar("T")
    BroadcastingList1: TypeAlias = T | Sequence[T]
    BroadcastingList2: TypeAlias = T | Sequence[T]
    BroadcastingList3: TypeAlias = T | Sequence[T]
    BroadcastingList4: TypeAlias = T | Sequence[T]
    BroadcastingList5: TypeAlias = T | Sequence[T]
    BroadcastingList6: TypeAlias = T | Sequence[T]
else:

    class BroadcastingList1(_BroadcastingList):
        """A list of one."""

    class BroadcastingList2(_BroadcastingList):
        """A list of two."""

    class BroadcastingList3(_BroadcastingList):
        """A list of three."""

    class BroadcastingList4(_BroadcastingList):
        """A list of four."""

    class BroadcastingList5(_BroadcastingList):
        """A list of five."""

    class BroadcastingList6(_BroadcastingList):
        """A list of six."""
