"""What commands print for programs: JSON, an object a line (`schemas.py` describes them)."""

from __future__ import annotations

import argparse
import json
import sys

from .speech import tell_lines

__all__ = ["add_json", "tell_data"]


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option for programs that read what a command prints; `schemas.py` describes it."""
    parser.add_argument("--json", action="store_true", help="print JSON, an object a line")


def tell_data(data: object) -> None:
    """Print an object on a line of its own, at once."""
    tell_lines([json.dumps(data)])
    if sys.stdout is not None:
        sys.stdout.flush()
