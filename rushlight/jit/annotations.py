"""`torch.jit.annotations`: `BroadcastingList2[int]` and the like, which take one number as well."""

from __future__ import annotations

import typing
from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035

from ..module_names import names_of
from ..nn.broadcasting import (
    BroadcastingList1,
    BroadcastingList2,
    BroadcastingList3,
    BroadcastingList4,
    BroadcastingList5,
    BroadcastingList6,
)

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


_OLD = frozenset("Any Callable Dict List Optional Tuple Union".split())
"""What packages take from here that `typing` has."""


def __getattr__(name: str) -> object:
    if name in _OLD:
        return getattr(typing, name)
    return names_of(__name__)(name)
