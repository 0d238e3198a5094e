"""Where objects of CPython hold others."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

__all__ = ["places_within"]


def places_within(holder: object, parts: Sequence[object]) -> list[int] | None:
    """How many bytes behind the beginning of an object its slots lie that hold some others.

    None where one is not found.
    """
    places = range(object.__basicsize__, type(holder).__basicsize__, 8)
    words = {ctypes.c_void_p.from_address(id(holder) + place).value: place for place in places}
    found = [words[id(part)] for part in parts if id(part) in words]
    return found if len(found) == len(parts) else None
