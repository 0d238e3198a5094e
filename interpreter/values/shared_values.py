"""What lists and dicts that Python shares with scripted code have in common."""

from __future__ import annotations

from typing import Any

from ...typecheck.types.types import Type

__all__ = ["SharedValues"]


class SharedValues:
    """A container of the machine's that Python holds: its type, and the list or dict itself."""

    type: Type
    content: Any
