"""How Python's dicts count their changes: they did up to 3.11."""

from __future__ import annotations

import platform
import sys
from typing import Final

__all__ = ["VERSION_AT"]

_COUNTS: Final = (
    platform.python_implementation() == "CPython"
    and sys.version_info < (3, 12)
    and (object.__basicsize__, dict.__basicsize__) == (16, 48)
)

VERSION_AT: Final = 24 if _COUNTS else 0
"""Where the count of changes lies in a dict; 0 where there is none."""
