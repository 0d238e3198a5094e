"""Dicts of which native code keeps copies from call to call.

A module's vocabulary is the same at each call, and taking it in would cost more than what is done
with it.  Python counts the changes of its dicts, up to 3.11; where it does not, nothing is kept.
The copies lie in bytes of Python's, which go with the function; `kept.native` makes them.
"""

from __future__ import annotations

from typing import Final

from ...ir.graphs.graph import Value
from .kinds import BOOL, FLOAT, INT, STR, Kind
from .native_source import NativeSource

__all__ = ["is_keepable", "is_only_read", "note_sites"]

_WORDS: Final = 4
"""Of a site: the dict, its count of changes, the copy if there is one, and who uses that now."""


def is_keepable(kind: Kind) -> bool:
    """Whether what a dict holds changes only as the dict does."""
    return kind.family == "dict" and all(part in (INT, FLOAT, BOOL, STR) for part in kind.parts)


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
