"""`torch.jit.annotations`: `BroadcastingList2[int]` and the like, which take one number as well."""

from __future__ import annotations

import typing
from types import GenericAlias
from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035

from ..module_names import names_of

__all__ = [
    "Any",
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "BroadcastingList4",
    "BroadcastingList5",
    "BroadcastingList6",
    "Dict",
    "List",
    "Optional",
    "Tuple",
    "Union",
]


class _BroadcastingList:
    """A list of a fixed length, for which one number stands that fills all its places.

    It is read where it is written; an alias of it means nothing.
    """

    def __class_getitem__(cls, element: object) -> GenericAlias:
        return GenericAlias(cls, (element,))


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


_OLD = frozenset("Any Callable Dict List Optional Tuple Union".split())
"""What packages take from here that `typing` has."""


def __getattr__(name: str) -> object:
    if name in _OLD:
        return getattr(typing, name)
    return names_of(__name__)(name)
