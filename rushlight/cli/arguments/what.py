"""The arguments of `rushlight what`."""

from __future__ import annotations

import argparse

from .options import add_json

__all__ = ["add"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Say of each file what it is and what can be done with it; nothing is loaded."
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file, or a folder of files")
    add_json(parser)
