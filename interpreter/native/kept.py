"""Dicts of which native code keeps copies from call to call.

A module's vocabulary is the same at each call, and taking it in would cost more than what is done
with it.  Python counts the changes of its dicts, up to 3.11; where it does not, nothing is kept.
The copies lie in bytes of Python's, which go with the function; `kept.native` makes them.
"""

from __future__ import annotations

import platform
import sys
from typing import Final

from ...ir.graph import Value
from .kinds import BOOL, FLOAT, INT, STR, Kind
from .native_source import NativeSource

__all__ = ["VERSION_AT", "is_keepable", "is_only_read", "note_sites"]

_COUNTS: Final = (
    platform.python_implementation() == "CPython"
    and sys.version_info < (3, 12)
    and (object.__basicsize__, dict.__basicsize__) == (16, 48)
)

VERSION_AT: Final = 24 if _COUNTS else 0
"""Where the count of changes lies in a dict; 0 where there is none."""

_WORDS: Final = 4
"""Of a site: the dict, its count of changes, the copy if there is one, and who uses that now."""


def is_keepable(kind: Kind) -> bool:
    """Whether what a dict holds changes only as the dict does."""
    return (
        VERSION_AT > 0
        and kind.family == "dict"
        and all(part in (INT, FLOAT, BOOL, STR) for part in kind.parts)
    )


def is_only_read(mapping: Value) -> bool:
    """Whether a dict is neither changed nor passed on, wherever it goes from here."""
    return all(
        use.number == 0
        and use.user.kind.startswith("aten::")
        and use.user.signature is not None
        and not use.user.signature.is_mutable
        for use in mapping.uses
    )


def note_sites(source: NativeSource) -> None:
    """Have room for what is known of copies, and for the copies."""
    if source.sites:
        source.outer["sites"] = bytearray(8 * _WORDS * len(source.sites))
        source.outer["copies"] = [None] * len(source.sites)
