"""What commands print for programs: JSON, an object a line (`schemas.py` describes them)."""

from __future__ import annotations

import json
import sys

from .speech import tell_lines

__all__ = ["tell_data"]


def tell_data(data: object) -> None:
    """Print an object on a line of its own, at once."""
    tell_lines([json.dumps(data)])
    if sys.stdout is not None:
        sys.stdout.flush()
